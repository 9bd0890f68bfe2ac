/** What people call a record: its name, else what its type says of it. */
import { nameOfAgent } from "./agent-names.js";
import { isObject, type JsonObject, type JsonValue, listOf } from "./field.js";
import { plainLine, textOf } from "./texts.js";
import { timeText } from "./times.js";

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

/** `Create action, 2 Jan 2026`: what was done, and when. Midnight is how programs write a day. */
function actionLabel(document: JsonObject, type: string): string | null {
  const when = first(document, "endTime", "dateFinished", "startTime", "dateCreated");
  const what = type.replace(
    /([a-z])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  );
  return when === null ? null : `${what}, ${timeText(when.replace(MIDNIGHT, ""))}`;
}

const MIDNIGHT = /T00:00(?::00(?:\.0+)?)?(?:Z|\+00:?00)?$/i;

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

/** How things of a type are called. */
interface Rule {
  /** The types that it is for; absent: all. */
  readonly types?: RegExp;
  /** No later rule is asked for these types. */
  readonly isLast?: true;
  label(document: JsonObject, type: string): string | null;
}

/** In this order: the first rule that finds a label decides. */
const RULES: readonly Rule[] = [
  // Also where it has a name: a name without its value says little.
  { types: /^PropertyValue$/, isLast: true, label: propertyLabel },
  { types: /^HowTo(?:Step|Direction|Item)$/, isLast: true, label: stepLabel },
  { label: (document) => first(document, ...NAMES) },
  {
    types: /^(?:Person|Organization)$/,
    isLast: true,
    label: (document) => nameOfAgent(document)?.name ?? null,
  },
  {
    types: /^Comment$/,
    isLast: true,
    label: (document) => first(document, "text", "description"),
  },
  {
    types: /Action$/,
    isLast: true,
    label: (document, type) => actionLabel(document, type) ?? first(document, "description"),
  },
  // A person whose type nobody stated.
  { label: (document) => nameOfAgent({ ...document, "@type": "Person" })?.name ?? null },
];

/** The label of what a document describes; null where it says nothing that people would call it. */
export function labelOf(document: JsonObject): string | null {
  const types = typesOf(document);
  for (const { types: wanted, isLast, label } of RULES) {
    const type = wanted ? types.find((one) => wanted.test(one)) : "";
    if (type === undefined) continue;
    const found = label(document, type);
    if (found !== null) return short(found);
    if (isLast) return null;
  }
  return null;
}

/** The hash at the end of an identifier that was minted for an entity. */
const ENTITY_HASH = /(\/entity\/[^/]+?)-[0-9a-f]{8,64}$/;

/** What a crate is called that has no name, and came without a file of one: never its identifier. */
const NAMELESS_CRATE = "Crate without a name";

/**
 * The name of a record; of one without, the end of its identifier, which is the path in a crate.
 * @param kind in any spelling
 */
export function nameText({
  id,
  name,
  kind,
}: {
  id: string;
  name?: string | null;
  kind?: string | null;
}): string {
  const plain = plainLine(name ?? "");
  if (plain !== "") return plain;
  if (kind === "rocrate" || kind === "RO_CRATE") return NAMELESS_CRATE;
  const [, , ...path] = id.replace(ENTITY_HASH, "$1").split("/");
  const last = path.at(-1);
  if (last === undefined || last === "") return id;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
