/** What a record's document says: values, details, the whole of it, and how to cite it. */
import type { ComponentChildren } from "preact";
import { EntityIds } from "../../../identifiers/entity-ids.js";
import { connectionsOf } from "../../../model/connections.js";
import { isObject, type JsonObject, type JsonValue, listOf } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { labelOf as labelOfDocument } from "../../../model/labels.js";
import { plainText } from "../../../model/texts.js";
import { CopyButton, Facts, isWebAddress, Outside, Section } from "../../components.js";
import { RecordLink } from "../../record-components.js";
import type { CitationsFragment } from "../../documents.js";
import { type Term, termsOf } from "../../format.js";
import { countText, dateText, labelOf, shortened } from "../../words.js";
import type { Stored } from "./access.js";

/**
 * What is known of the records that a document names, by identifier; by URL, with the identifier,
 * where their crate names them so.
 */
export type Names = ReadonlyMap<string, { id?: string; name: string | null; kind: string | null }>;

/** URLs of a document that are looked up among the records of its crate. */
const MAX_URLS = 1000;

/** The same names, and those of records that the document names by URLs. */
export function withUrls(names: Names, document: JsonObject, crate: string | null): Names {
  if (crate === null) return names;
  const ids = new EntityIds(crate);
  const all = new Map(names);
  const open: JsonValue[] = [document];
  let seen = 0;
  for (let value = open.pop(); value !== undefined && seen < MAX_URLS; value = open.pop()) {
    // One by one: all values of an entity of megabytes would not fit on the stack.
    if (Array.isArray(value)) for (const each of value.slice(0, MAX_URLS)) open.push(each);
    else if (isObject(value)) for (const each of Object.values(value)) open.push(each);
    if (typeof value !== "string" || !isWebAddress(value)) continue;
    seen++;
    const entity = ids.of(value, "");
    const known = entity.rule === "url" ? names.get(entity.ark) : undefined;
    if (entity.rule === "url" && known) all.set(value, { ...known, id: entity.ark });
  }
  return all;
}

/** Entries of a list, members of an object and levels that are shown. */
const [MAX_ITEMS, MAX_MEMBERS, MAX_DEPTH] = [20, 30, 3];
/** Characters of a text that are shown at once, and at all. */
const [SHORT_TEXT_CHARS, MAX_TEXT_CHARS] = [600, 20_000];

const isArk = (text: string): boolean =>
  text.length <= 2000 && /^\s*ark:\/?\d{5,}\/\S+\s*$/i.test(text);
/** As stored: without the slash that older spellings have. */
const arkOf = (text: string): string => text.trim().replace(/^ark:\/?/i, "ark:");

/** Whether a value names a record: it is an identifier, alone or as a reference. */
const namesRecord = (value: JsonValue): boolean =>
  typeof value === "string"
    ? isArk(value)
    : isObject(value) && typeof value["@id"] === "string" && isArk(value["@id"]);

/** A value of a document, as people read it; nothing of it is run or trusted. */
export function Value(props: { value: JsonValue; names: Names; level?: number }) {
  const { value, names, level = 0 } = props;
  if (typeof value === "string") return <Text text={value} names={names} />;
  if (value === null) return <span class="quiet">none</span>;
  if (typeof value === "boolean") return <>{value ? "Yes" : "No"}</>;
  if (typeof value === "number") return <>{String(value)}</>;
  if (level >= MAX_DEPTH) return <code>{shortened(JSON.stringify(value), 200)}</code>;
  return Array.isArray(value) ? (
    <List values={value} names={names} level={level} />
  ) : (
    <Members object={value} names={names} level={level} />
  );
}

function Text({ text, names }: { text: string; names: Names }): ComponentChildren {
  if (isArk(text)) {
    const id = arkOf(text);
    const known = names.get(id);
    return <RecordLink record={{ id, ...known }} glyph={known !== undefined} />;
  }
  if (isWebAddress(text)) {
    // In a crate a person, an organization, a licence or a file is named by its URL.
    const known = names.get(text);
    return known?.id === undefined ? (
      <Outside href={text} />
    ) : (
      <RecordLink record={{ ...known, id: known.id }} glyph />
    );
  }
  if (/^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/.test(text))
    return <time dateTime={text}>{dateText(text)}</time>;
  const shown = /<\/[a-z]/i.test(text) ? plainText(text) : text;
  if (shown.length <= SHORT_TEXT_CHARS) return <bdi class="text">{shown}</bdi>;
  return (
    <details class="more">
      <summary>
        <bdi>{shortened(shown, SHORT_TEXT_CHARS / 3)}</bdi>
      </summary>
      <bdi class="text">{shortened(shown, MAX_TEXT_CHARS)}</bdi>
    </details>
  );
}

interface Inside {
  names: Names;
  level: number;
}

function List({ values, names, level }: Inside & { values: readonly JsonValue[] }) {
  if (values.length === 0) return <span class="quiet">none</span>;
  if (values.length === 1) return <Value value={values[0]!} names={names} level={level} />;
  return (
    <ul class="plain">
      {values.slice(0, MAX_ITEMS).map((item) => (
        <li>
          <Value value={item} names={names} level={level + 1} />
        </li>
      ))}
      {values.length > MAX_ITEMS && (
        <li class="quiet">and {countText(values.length - MAX_ITEMS)} more</li>
      )}
    </ul>
  );
}

/** Members that say what an object is called; one with only these is shown by its label. */
const NAMING: ReadonlySet<string> = new Set(
  `@type name givenName familyName value minValue maxValue unitText unitCode propertyID text
   position rdfs:label`.split(/\s+/),
);

function Members({ object, names, level }: Inside & { object: JsonObject }) {
  const { "@id": id, "@value": literal, ...rest } = object;
  if (literal !== undefined) return <Value value={literal} names={names} level={level} />;
  const members = Object.entries(rest);
  if (typeof id === "string" && members.length === 0) return <Text text={id} names={names} />;
  if (members.length === 0) return <span class="quiet">none</span>;
  const label = members.every(([name]) => NAMING.has(name)) ? labelOfDocument(object) : null;
  if (label !== null)
    return typeof id === "string" && isWebAddress(id) && !names.has(id) ? (
      <Outside href={id}>{label}</Outside>
    ) : typeof id === "string" && names.has(id) ? (
      <Text text={id} names={names} />
    ) : (
      <bdi class="text">{label}</bdi>
    );
  return (
    <dl class="facts nested">
      {typeof id === "string" && (
        <div>
          <dt>Identifier</dt>
          <dd>
            <Text text={id} names={names} />
          </dd>
        </div>
      )}
      {members.slice(0, MAX_MEMBERS).map(([name, value]) => (
        <div>
          <dt>{shortened(labelOf(name), 80)}</dt>
          <dd>
            <Value value={value} names={names} level={level + 1} />
          </dd>
        </div>
      ))}
      {members.length > MAX_MEMBERS && (
        <div>
          <dt />
          <dd class="quiet">and {countText(members.length - MAX_MEMBERS)} more</dd>
        </div>
      )}
    </dl>
  );
}

/** A number of a document, however it is stated. */
const textOf = (value: JsonValue | undefined): string | null => {
  const first = Array.isArray(value) ? value[0] : value;
  if (typeof first === "string") return first.trim() === "" ? null : first;
  if (typeof first === "number") return String(first);
  if (!isObject(first)) return null;
  return textOf(first["name"] ?? first["@value"] ?? first["@id"]);
};

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
const DETAILED: Readonly<Partial<Record<KindName, readonly string[]>>> = {
  computation: ["command", "container", "containerId", "containerDigest"],
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
  const { began, ended } = timesOf(document);
  const facts = [
    row(props, "Type", "experimentType"),
    row(props, "Began", began),
    row(props, "Ended", ended),
    row(props, "Performed", "datePerformed"),
    row(props, "Protocol", "protocol"),
    row(props, "Container image", "container"),
    row(props, "Container of the run", "containerId"),
    ["Ran in this registry", digest !== null && <code>{shortened(digest, 100)}</code>] as const,
  ].filter(([, value]) => value !== false);
  if (command === null && facts.length === 0) return null;
  return (
    <Section id="run" title="How it was done">
      {command !== null && (
        <div class="command">
          <pre tabIndex={0} aria-label="Command">
            {shortened(command, 4000)}
          </pre>
          <CopyButton text={shortened(command, 4000)} label="Copy the command" />
        </div>
      )}
      <Facts rows={facts} />
    </Section>
  );
}

/** The members with the times of a run; what RO-Crates describe has those of an action. */
const timesOf = (document: JsonObject): { began: string; ended: string } => ({
  began: document["dateCreated"] === undefined ? "startTime" : "dateCreated",
  ended: document["dateFinished"] === undefined ? "endTime" : "dateFinished",
});

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
    <Section id="program" title="Program">
      <Facts
        rows={[
          ["Version", version !== null && <bdi>{shortened(version, 200)}</bdi>],
          row(props, "Language", "programmingLanguage"),
          ["Source code", source !== null && <Outside href={source} />],
        ]}
      />
    </Section>
  );
}

/** Columns of a schema that are shown. */
const MAX_COLUMNS = 200;

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
    <Section id="columns" title="Columns" count={countText(columns.length)}>
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
              {columns.slice(0, MAX_COLUMNS).map(({ name, column }) => (
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
      {columns.length > MAX_COLUMNS && (
        <p class="quiet">
          The first {MAX_COLUMNS} are shown. All of them are in the metadata under “Formats”.
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
    </Section>
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

/** Members that the head of the page shows. */
const SHOWN = new Set(["name", "description", "keywords", "license", "owner", "author", "creator"]);
/** Members of a document that a page shows: more is in its formats. */
const MAX_TERMS = 150;

interface MetadataProps {
  kind: KindName;
  document: JsonObject;
  names: Names;
  content: Stored | undefined;
}

/** Everything else that a record states, under readable labels; unknown terms below. */
export function Metadata({ kind, document, names, content }: MetadataProps) {
  const { known, other } = termsOf(kind, document);
  const named = propertiesOf(document["additionalProperty"]);
  const relations = connectionsOf(kind);
  const detailed = new Set(DETAILED[kind]);
  if (kind === "computation" || kind === "experiment")
    for (const name of Object.values(timesOf(document))) detailed.add(name);
  // What is stored here says the same once more.
  const repeated = new Set<unknown>(
    content && [content.sha256, content.mediaType, content.address, String(content.size)],
  );
  const rows = (terms: readonly Term[]): [Term, JsonValue][] =>
    terms.flatMap((term): [Term, JsonValue][] => {
      if (named.length > 0 && term.name === "additionalProperty") return [];
      if (SHOWN.has(term.name) || detailed.has(term.name)) return [];
      const value = document[term.name]!;
      // Records that a relation leads to are listed there, with their numbers.
      const rest = Object.hasOwn(relations, term.name) ? withoutRecords(value) : value;
      return isEmpty(rest) || repeated.has(rest) ? [] : [[term, rest]];
    });
  const [usual, further] = [rows(known), rows(other)];
  return (
    <Section id="metadata" title="All metadata">
      <dl class="facts metadata">
        {usual.slice(0, MAX_TERMS).map(([term, value]) => (
          <div>
            <dt title={term.description ?? undefined}>{shortened(term.label, 80)}</dt>
            <dd>
              <Value value={value} names={names} />
            </dd>
          </div>
        ))}
        {named.slice(0, MAX_TERMS).map(([name, value]) => (
          <div>
            <dt>
              <bdi>{shortened(name, 80)}</bdi>
            </dt>
            <dd>
              <Value value={value} names={names} />
            </dd>
          </div>
        ))}
      </dl>
      {further.length > 0 && (
        <>
          <h3>Further terms of the record</h3>
          <dl class="facts metadata">
            {further.slice(0, MAX_TERMS).map(([term, value]) => (
              <div>
                <dt title={shortened(term.name, 200)}>{shortened(term.label, 80)}</dt>
                <dd>
                  <Value value={value} names={names} />
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {Math.max(usual.length, further.length) > MAX_TERMS && (
        <p class="quiet">
          More is stated than is shown: <a href="#formats">see the formats</a>.
        </p>
      )}
    </Section>
  );
}

/** Properties that a record names itself: schema.org's `PropertyValue`. */
export function propertiesOf(value: JsonValue | undefined): [string, JsonValue][] {
  const properties = listOf(value).map((item): [string, JsonValue] | undefined => {
    if (!isObject(item)) return undefined;
    const name = textOf(item["name"]);
    return name === null || item["value"] === undefined ? undefined : [name, item["value"]];
  });
  return properties.includes(undefined) ? [] : (properties as [string, JsonValue][]);
}

function withoutRecords(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.filter((item) => !namesRecord(item));
  return namesRecord(value) ? null : value;
}

const isEmpty = (value: JsonValue | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0);

/** Most characters of metadata in the head of a page. */
const MAX_DATA = 16 * 2 ** 10;
/** What is left of a longer document there. */
const SUMMARY = [
  "@context",
  "@id",
  "@type",
  "name",
  "description",
  "keywords",
  "license",
  "author",
];

/** The document for programs that read the page; of a long one its summary. */
export function headData(document: JsonObject, length: number): JsonObject | undefined {
  if (length <= MAX_DATA) return document;
  const summary = Object.fromEntries(
    SUMMARY.flatMap((name) => {
      const value = document[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  return JSON.stringify(summary).length <= MAX_DATA ? summary : undefined;
}

/** Characters of a citation that are shown. */
const MAX_CITATION_CHARS = 6_000;

/** How to cite the record: as a sentence, and for reference managers. */
export function Cite({ citations }: { citations: Partial<CitationsFragment> }) {
  const { citation, bibtex, ris } = citations;
  if (!citation) return null;
  const sentence = citation.text.trim();
  return (
    <div class="panel" id="cite">
      <h2>Cite</h2>
      <p class="citation" dir="auto">
        {shortened(sentence, MAX_CITATION_CHARS)}
      </p>
      <p>
        <CopyButton text={shortened(sentence, MAX_CITATION_CHARS)} label="Copy the citation" />
      </p>
      <Form name="BibTeX" text={bibtex?.text} />
      <Form name="RIS" text={ris?.text} />
    </div>
  );
}

function Form({ name, text }: { name: string; text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <details class="more">
      <summary>{name}</summary>
      <div class="command">
        <pre tabIndex={0} aria-label={name}>
          {shortened(text, MAX_CITATION_CHARS)}
        </pre>
        <CopyButton
          text={shortened(text, MAX_CITATION_CHARS)}
          label={`Copy the citation as ${name}`}
        />
      </div>
    </details>
  );
}
