// Asks what files without metadata are.
import { Field } from "../../components.js";
import { LICENCES } from "../../licences.js";
import { countText } from "../../words.js";
import { METADATA } from "./archive.js";

interface DescribeFormProps {
  /** Number of the files. */
  files: number;
  onDescribed(fields: Record<string, string>): void;
}

export function DescribeForm({ files, onDescribed }: DescribeFormProps) {
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        onDescribed(Object.fromEntries(fields) as Record<string, string>);
      }}
    >
      <h2>Describe what you bring</h2>
      <p>
        {countText(files)} files without {METADATA}: say what they are.
      </p>
      <Field label="Title" name="name" required maxLength={300} />
      <Field label="Description" name="description" required lines={4} />
      <Field label="Keywords, separated by commas" name="keywords" />
      <Field label="Licence" name="licence" options={LICENCES} />
      <p class="actions">
        <button>Continue</button>
      </p>
    </form>
  );
}
