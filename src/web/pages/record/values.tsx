import type { ComponentChildren } from "preact";
import { isObject, type JsonObject, type JsonValue } from "../../../model/field.js";
import { isWebAddress, Outside, RecordLink } from "../../components.js";
import { countText, dateText, shortened } from "../../format.js";
import { labelOf } from "../../labels.js";

/** What is known of the records that a document names, by identifier. */
export type Names = ReadonlyMap<string, { name: string | null; kind: string | null }>;

/** Entries of a list, members of an object and levels that are shown. */
const [MOST_ITEMS, MOST_MEMBERS, DEEPEST] = [20, 30, 3];
/** Characters of a text that are shown at once, and at all. */
const [SHORT, LONGEST] = [600, 20_000];

const isArk = (text: string): boolean =>
  text.length <= 2000 && /^\s*ark:\/?\d{5,}\/\S+\s*$/i.test(text);
/** As stored: without the slash that older spellings have. */
const arkOf = (text: string): string => text.trim().replace(/^ark:\/?/i, "ark:");

/** Whether a value names a record: it is an identifier, alone or as a reference. */
export const namesRecord = (value: JsonValue): boolean =>
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
  if (level >= DEEPEST) return <code>{shortened(JSON.stringify(value), 200)}</code>;
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
  if (isWebAddress(text)) return <Outside href={text} />;
  if (/^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/.test(text))
    return <time dateTime={text}>{dateText(text)}</time>;
  if (text.length <= SHORT) return <bdi class="text">{text}</bdi>;
  return (
    <details class="more">
      <summary>
        <bdi>{shortened(text, SHORT / 3)}</bdi>
      </summary>
      <bdi class="text">{shortened(text, LONGEST)}</bdi>
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
      {values.slice(0, MOST_ITEMS).map((item) => (
        <li>
          <Value value={item} names={names} level={level + 1} />
        </li>
      ))}
      {values.length > MOST_ITEMS && (
        <li class="quiet">and {countText(values.length - MOST_ITEMS)} more</li>
      )}
    </ul>
  );
}

function Members({ object, names, level }: Inside & { object: JsonObject }) {
  const { "@id": id, "@value": literal, ...rest } = object;
  if (literal !== undefined) return <Value value={literal} names={names} level={level} />;
  const members = Object.entries(rest);
  if (typeof id === "string" && members.length === 0) return <Text text={id} names={names} />;
  if (members.length === 0) return <span class="quiet">none</span>;
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
      {members.slice(0, MOST_MEMBERS).map(([name, value]) => (
        <div>
          <dt>{shortened(labelOf(name), 80)}</dt>
          <dd>
            <Value value={value} names={names} level={level + 1} />
          </dd>
        </div>
      ))}
      {members.length > MOST_MEMBERS && (
        <div>
          <dt />
          <dd class="quiet">and {countText(members.length - MOST_MEMBERS)} more</dd>
        </div>
      )}
    </dl>
  );
}

/** A number of a document, however it is stated. */
export const textOf = (value: JsonValue | undefined): string | null => {
  const first = Array.isArray(value) ? value[0] : value;
  if (typeof first === "string") return first.trim() === "" ? null : first;
  if (typeof first === "number") return String(first);
  if (!isObject(first)) return null;
  return textOf(first["name"] ?? first["@value"] ?? first["@id"]);
};
