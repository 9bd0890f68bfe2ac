// Asks what files without metadata are.
import { Field } from "../../components.js";
import { countText } from "../../words.js";
import { METADATA } from "./archive.js";

const LICENCES = [
  ["https://creativecommons.org/licenses/by/4.0/", "CC BY 4.0: others may use it and name you"],
  ["https://creativecommons.org/publicdomain/zero/1.0/", "CC0: no conditions"],
  ["https://creativecommons.org/licenses/by-nc/4.0/", "CC BY-NC 4.0: not for commercial use"],
  ["https://spdx.org/licenses/MIT", "MIT (software)"],
  ["https://spdx.org/licenses/Apache-2.0", "Apache 2.0 (software)"],
] as const;

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
