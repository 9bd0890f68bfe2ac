// Asks what files without metadata are.
import type { Description } from "../../../model/described-folder.js";
import { Field } from "../../components.js";
import { LICENCES } from "../../licences.js";
import { counted, countText, sizeText } from "../../words.js";
import { type Item, METADATA } from "./archive.js";

/** Files that can be left out one by one; of more the folder itself is tidied first. */
const LISTED = 500;

interface DescribeFormProps {
  items: readonly Item[];
  suggested: Pick<Description, "name" | "description">;
  onDescribed(fields: Record<string, string>, items: Item[]): void;
}

export function DescribeForm({ items, suggested, onDescribed }: DescribeFormProps) {
  const listed = items.slice(0, LISTED);
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const chosen = new Set(fields.getAll("file"));
        fields.delete("file");
        onDescribed(
          Object.fromEntries(fields) as Record<string, string>,
          items.filter(({ path }, at) => at >= LISTED || chosen.has(path)),
        );
      }}
    >
      <h2>Describe what you bring</h2>
      <p>
        {counted(items.length, "file")} without {METADATA}: say what they are.
      </p>
      <Field label="Title" name="name" value={suggested.name} required maxLength={300} />
      <Field
        label="Description"
        name="description"
        value={suggested.description}
        required
        lines={4}
      />
      <Field label="Keywords, separated by commas" name="keywords" />
      <Field label="Licence" name="licence" options={LICENCES} />
      <details class="more">
        <summary>Leave out single files</summary>
        <ul class="plain leave-out">
          {listed.map(({ path, file }) => (
            <li>
              <label>
                <input type="checkbox" name="file" value={path} defaultChecked /> <bdi>{path}</bdi>{" "}
                <span class="quiet">{sizeText(file.size)}</span>
              </label>
            </li>
          ))}
        </ul>
        {items.length > LISTED && (
          <p class="quiet">and {countText(items.length - LISTED)} more, which all go up</p>
        )}
      </details>
      <p class="actions">
        <button>Continue</button>
      </p>
    </form>
  );
}
