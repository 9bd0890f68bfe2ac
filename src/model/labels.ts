/** What people call a record: its name, else what its type says of it. */
import { nameOfAgent } from "./agent-names.js";
import { isObject, type JsonObject, type JsonValue, listOf } from "./field.js";
import { plainLine, textOf } from "./texts.js";

/** Characters of a text that is a label. */
const MAX_LABEL_CHARS = 120;

const lineOf = (value: JsonValue | undefined): string | null =>
  plainLine(textOf(value) ?? "") || null;
const short = (text: string): string => {
  if (text.length <= MAX_LABEL_CHARS) return text;
  const cut = text.slice(0, MAX_LABEL_CHARS - 1).toWellFormed();
  const space = cut.lastIndexOf(" ");
  return `${cut.slice(0, space > MAX_LABEL_CHARS / 2 ? space : cut.length)}…`;
};
/** The end of an address: `Temperature` of `https://vocabulary.example/Temperature`. */
const ending = (text: string): string =>
  /^[a-z][a-z0-9+.-]*:/i.test(text) ? (/([^/#:?]+)[/#]*$/.exec(text)?.[1] ?? text) : text;

const first = (document: JsonObject, ...names: readonly string[]): string | null => {
  for (const name of names) {
    const found = lineOf(document[name]);
    if (found !== null) return found;
  }
  return null;
};

/** `Temperature: 21.5 °C`: a name without its value says little. */
function propertyLabel(document: JsonObject): string | null {
  const id = document["propertyID"];
  const named =
    first(document, "name", "alternateName") ??
    (isObject(id) ? (textOf(id["@id"]) ?? textOf(id)) : textOf(id));
  const [least, most] = [first(document, "minValue"), first(document, "maxValue")];
  const value =
    first(document, "value") ??
    (least === null || most === null ? (least ?? most) : `${least}–${most}`);
  const unit = first(document, "unitText") ?? first(document, "unitCode");
  const measured =
    value === null ? null : [value, ...(unit === null ? [] : [ending(unit)])].join(" ");
  if (named === null) return measured;
  return measured === null ? ending(named) : `${ending(named)}: ${measured}`;
}

/** `1. Weigh the sample` */
function stepLabel(document: JsonObject): string | null {
  const text = first(document, "name", "text", "itemListElement", "description");
  const position = first(document, "position");
  if (text === null) return position === null ? null : `Step ${position}`;
  return position === null ? text : `${position}. ${text}`;
}

/** `Create action, 2026-01-02`: what was done, and when. */
function actionLabel(document: JsonObject, type: string): string | null {
  const when = first(document, "endTime", "dateFinished", "startTime", "dateCreated");
  const what = type.replace(
    /([a-z])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  );
  return when === null ? null : `${what}, ${when}`;
}

const typesOf = (document: JsonObject): string[] =>
  [...listOf(document["@type"]), ...listOf(document["metadataType"])].flatMap((type) =>
    typeof type === "string" ? [ending(type)] : [],
  );

/** Names that vocabularies other than schema.org have. */
const NAMES = [
  "name",
  "schema:name",
  "http://schema.org/name",
  "https://schema.org/name",
  "rdfs:label",
  "http://www.w3.org/2000/01/rdf-schema#label",
  "label",
  "skos:prefLabel",
  "prefLabel",
  "title",
  "dct:title",
  "dcterms:title",
  "dc:title",
  "alternateName",
  "headline",
  "caption",
];

/**
 * The label of what a document describes; null where it says nothing that people would call it. A
 * property of an experiment is shown with its value, also where it has a name.
 */
export function labelOf(document: JsonObject): string | null {
  const types = typesOf(document);
  const type = types.find((one) =>
    /^(?:PropertyValue|HowTo\w*|Comment|Person|Organization|\w*Action)$/.test(one),
  );
  const label = (): string | null => {
    if (type === "PropertyValue") return propertyLabel(document);
    if (type === "HowToStep" || type === "HowToDirection" || type === "HowToItem")
      return stepLabel(document);
    const name = first(document, ...NAMES);
    if (name !== null) return name;
    if (type === "Person" || type === "Organization") return nameOfAgent(document)?.name ?? null;
    if (type === "Comment") return first(document, "text", "description");
    if (type?.endsWith("Action"))
      return actionLabel(document, type) ?? first(document, "description");
    return nameOfAgent({ ...document, "@type": "Person" })?.name ?? null;
  };
  const found = label();
  return found === null ? null : short(found);
}

/** The hash at the end of an identifier that was minted for an entity. */
const ENTITY_HASH = /(\/entity\/[^/]+?)-[0-9a-f]{8,64}$/;

/** The name of a record; of one without, the end of its identifier, which is the path in a crate. */
export function nameText({ id, name }: { id: string; name?: string | null }): string {
  const plain = plainLine(name ?? "");
  if (plain !== "") return plain;
  const [, , ...path] = id.replace(ENTITY_HASH, "$1").split("/");
  const last = path.at(-1);
  if (last === undefined || last === "") return id;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
