import { isObject, type JsonObject, type JsonValue, listOf } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { connectionsOf } from "../../../model/connections.js";
import { shortened } from "../../format.js";
import { type Term, termsOf } from "../../labels.js";
import { DETAILED } from "./details.js";
import type { Stored } from "./access.js";
import { type Names, namesRecord, textOf, Value } from "./values.js";

/** Members that the head of the page shows. */
const SHOWN = new Set(["name", "description", "keywords", "license", "owner", "author", "creator"]);
/** Members of a document that a page shows: more is in its formats. */
const MOST_TERMS = 150;

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
    <section id="metadata">
      <h2>All metadata</h2>
      <dl class="facts metadata">
        {usual.slice(0, MOST_TERMS).map(([term, value]) => (
          <div>
            <dt title={term.description ?? undefined}>{shortened(term.label, 80)}</dt>
            <dd>
              <Value value={value} names={names} />
            </dd>
          </div>
        ))}
        {named.slice(0, MOST_TERMS).map(([name, value]) => (
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
            {further.slice(0, MOST_TERMS).map(([term, value]) => (
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
      {Math.max(usual.length, further.length) > MOST_TERMS && (
        <p class="quiet">
          More is stated than is shown: <a href="#formats">see the formats</a>.
        </p>
      )}
    </section>
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
const MOST_DATA = 16 * 2 ** 10;
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
  if (length <= MOST_DATA) return document;
  const summary = Object.fromEntries(
    SUMMARY.flatMap((name) => {
      const value = document[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  return JSON.stringify(summary).length <= MOST_DATA ? summary : undefined;
}
