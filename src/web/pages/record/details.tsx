import { isObject, type JsonObject, type JsonValue, listOf } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { CopyButton, Facts, Outside } from "../../components.js";
import { countText, shortened } from "../../format.js";
import { type Names, textOf, Value } from "./values.js";

interface DetailsProps {
  kind: KindName;
  document: JsonObject;
  names: Names;
}

/** What only records of one kind have: how a run was made, the columns of a schema. */
export function Details({ kind, document, names }: DetailsProps) {
  if (kind === "computation" || kind === "experiment")
    return <Run document={document} names={names} />;
  if (kind === "software") return <Program document={document} names={names} />;
  if (kind === "schema") return <Columns document={document} />;
  return null;
}

/** Members of a document that {@link Details} shows. */
export const DETAILED: Readonly<Partial<Record<KindName, readonly string[]>>> = {
  computation: [
    "command",
    "container",
    "containerId",
    "containerDigest",
    "dateCreated",
    "dateFinished",
  ],
  experiment: ["experimentType", "datePerformed", "protocol"],
  software: ["version", "softwareVersion", "programmingLanguage", "codeRepository"],
  schema: [
    "properties",
    "required",
    "separator",
    "seperator",
    "header",
    "additionalProperties",
    "examples",
    "type",
  ],
};

type PartProps = Omit<DetailsProps, "kind">;

/** A row of a member, where the document has it. */
function row(
  { document, names }: PartProps,
  label: string,
  name: string,
): readonly [string, preact.ComponentChildren] {
  const value = document[name];
  const empty = value === undefined || value === null || value === "";
  return [label, !empty && <Value value={value} names={names} />];
}

function Run(props: PartProps) {
  const { document } = props;
  const command = commandOf(document["command"]);
  const digest = textOf(document["containerDigest"]);
  const facts = (
    <Facts
      rows={[
        row(props, "Type", "experimentType"),
        row(props, "Began", "dateCreated"),
        row(props, "Ended", "dateFinished"),
        row(props, "Performed", "datePerformed"),
        row(props, "Protocol", "protocol"),
        row(props, "Container image", "container"),
        row(props, "Container of the run", "containerId"),
        ["Ran in this registry", digest !== null && <code>{shortened(digest, 100)}</code>],
      ]}
    />
  );
  return (
    <section id="run">
      <h2>How it was done</h2>
      {command !== null && (
        <div class="command">
          <pre tabIndex={0} aria-label="Command">
            {shortened(command, 4000)}
          </pre>
          <CopyButton text={shortened(command, 4000)} label="Copy the command" />
        </div>
      )}
      {facts}
    </section>
  );
}

/** A command as a shell reads it. */
function commandOf(value: JsonValue | undefined): string | null {
  if (typeof value === "string") return value.trim() === "" ? null : value;
  if (!Array.isArray(value) || value.length === 0) return null;
  return value
    .slice(0, 200)
    .map((word) => textOf(word) ?? "")
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}

function Program(props: PartProps) {
  const { document } = props;
  const source = textOf(document["codeRepository"]);
  const language = textOf(document["programmingLanguage"]);
  const version = textOf(document["version"]) ?? textOf(document["softwareVersion"]);
  if (source === null && language === null && version === null) return null;
  return (
    <section id="program">
      <h2>Program</h2>
      <Facts
        rows={[
          ["Version", version !== null && <bdi>{shortened(version, 200)}</bdi>],
          row(props, "Language", "programmingLanguage"),
          ["Source code", source !== null && <Outside href={source} />],
        ]}
      />
    </section>
  );
}

/** Columns of a schema that are shown. */
const MOST_COLUMNS = 200;

function Columns({ document }: { document: JsonObject }) {
  const properties = isObject(document["properties"]) ? document["properties"] : {};
  const required = new Set(listOf(document["required"]).map(textOf));
  const columns = Object.entries(properties)
    .map(([name, column]) => ({ name, column: isObject(column) ? column : {} }))
    .map((column) => ({ ...column, index: indexOf(column.column["index"]) }));
  columns.sort((a, b) => a.index - b.index);
  const separator = textOf(document["separator"]) ?? textOf(document["seperator"]);
  const separators: Readonly<Record<string, string>> = {
    ",": "comma",
    "\t": "tab",
    ";": "semicolon",
  };
  return (
    <section id="columns">
      <h2>
        Columns <span class="count">{countText(columns.length)}</span>
      </h2>
      {columns.length === 0 ? (
        <p class="quiet">The schema describes no column.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Columns of the schema">
          <table>
            <thead>
              <tr>
                <th scope="col">Column</th>
                <th scope="col">Type</th>
                <th scope="col">Description</th>
                <th scope="col">Must be</th>
                <th scope="col">Means</th>
              </tr>
            </thead>
            <tbody>
              {columns.slice(0, MOST_COLUMNS).map(({ name, column }) => (
                <tr>
                  <th scope="row">
                    <bdi>{shortened(name, 120)}</bdi>
                  </th>
                  <td>{typeOf(column)}</td>
                  <td dir="auto">{shortened(textOf(column["description"]) ?? "", 400)}</td>
                  <td>
                    <Rules rules={rulesOf(column, required.has(name))} />
                  </td>
                  <td>
                    {textOf(column["valueURL"]) !== null && (
                      <Outside href={textOf(column["valueURL"])!} />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {columns.length > MOST_COLUMNS && (
        <p class="quiet">
          The first {MOST_COLUMNS} are shown. All of them are in the metadata under “Formats”.
        </p>
      )}
      <Facts
        rows={[
          ["Separator", separator !== null && (separators[separator] ?? <code>{separator}</code>)],
          ["First row", document["header"] === true && "names the columns"],
          [
            "Other columns",
            document["additionalProperties"] === false ? "are not allowed" : "are allowed",
          ],
        ]}
      />
    </section>
  );
}

/** Columns without a place come last, in the order of the document. */
const indexOf = (value: JsonValue | undefined): number => {
  const index = typeof value === "string" ? parseInt(value, 10) : value;
  return typeof index === "number" && Number.isFinite(index) ? index : Number.MAX_SAFE_INTEGER;
};

function typeOf(column: JsonObject): string {
  const type = listOf(column["type"]).map(textOf).join(" or ");
  const items = isObject(column["items"]) ? typeOf(column["items"]) : "";
  return shortened(items === "" ? type : `${type} of ${items}`, 80);
}

/** The rules of a column in words. */
function rulesOf(column: JsonObject, required: boolean): string[] {
  const stated = (name: string, words: (value: string) => string): string[] => {
    const value = column[name];
    const text = textOf(value);
    return text === null ? [] : [words(shortened(text, 200))];
  };
  const choices = listOf(column["enum"]).map((choice) => textOf(choice) ?? "");
  return [
    ...(required ? ["present"] : []),
    ...stated("pattern", (pattern) => `like ${pattern}`),
    ...stated("format", (format) => `a ${format}`),
    ...stated("minimum", (least) => `at least ${least}`),
    ...stated("maximum", (most) => `at most ${most}`),
    ...stated("minLength", (least) => `at least ${least} characters`),
    ...stated("maxLength", (most) => `at most ${most} characters`),
    ...stated("minItems", (least) => `at least ${least} values`),
    ...stated("maxItems", (most) => `at most ${most} values`),
    ...(choices.length > 0 ? [`one of ${shortened(choices.join(", "), 200)}`] : []),
  ];
}

const Rules = ({ rules }: { rules: readonly string[] }) => <bdi>{rules.join("; ")}</bdi>;
