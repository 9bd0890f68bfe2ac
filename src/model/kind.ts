import type { Field, JsonObject } from "./field.js";

/** A kind of record: a table of fields and its names in each API. */
export interface Kind {
  readonly name: KindName;
  /** GraphQL type and OpenAPI schema name. */
  readonly typeName: string;
  /** Plural used for GraphQL lists. */
  readonly plural: string;
  /**
   * Prefix of its REST operations, without the slash; `null` when it has none (entities come from
   * crates only).
   */
  readonly path: string | null;
  /** Class of the record in the graph, as a CURIE; added to the statements of the document. */
  readonly rdfClass: string;
  readonly description: string;
  /** Only its declared fields are shown to others: all other fields of a user stay private. */
  readonly closed?: true;
  /**
   * Written by crates only: a record holds any JSON-LD that its crate states, and the table names
   * the usual fields.
   */
  readonly loose?: true;
  /** Crates bring records of this kind too; their required fields and limits are warnings there. */
  readonly fromCrates?: true;
  /** Keys in the order of the contract; `@context` and `@type` among them. */
  readonly fields: Readonly<Record<string, Field>>;
  /**
   * Members that crates state and GraphQL shows as text, by name, with their descriptions. They are
   * no fields: a client may store any JSON under these names, as under every other.
   */
  readonly alsoShown?: Readonly<Record<string, string>>;
  /** Records of the kind may have stored bytes. */
  readonly hasContent?: true;
}

export const KIND_NAMES = [
  "user",
  "group",
  "organization",
  "project",
  "software",
  "dataset",
  "computation",
  "evidencegraph",
  "rocrate",
  "datadownload",
  "schema",
  "entity",
] as const;
export type KindName = (typeof KIND_NAMES)[number];

/** Who may read the content of a record: everyone once it is PUBLISHED. */
export const PUBLICATION_STATUSES = ["DRAFT", "PUBLISHED", "EMBARGOED", "ARCHIVED"] as const;
export type PublicationStatus = (typeof PUBLICATION_STATUSES)[number];

/** A kind's name in a sentence: "an Entity", but "a User". */
export const withArticle = (name: string): string =>
  `${/^[aeio]/i.test(name) ? "an" : "a"} ${name}`;

/** One stated relation between two records, read off the record's own quads. */
export interface Link {
  /** CURIE of {@link import("./field.js").PREFIXES} where one fits, else the full IRI. */
  predicate: string;
  /** Stored form of the target, spelled as written here. */
  target: string;
  /** Identity key of the target. */
  targetKey: string;
}

/** True for fields that anyone may see. */
export const isPublic = (field: Field): boolean => !field.secret && !field.private;

/**
 * The public part of a document: resolver, lists, graph, search and GraphQL show no more than this.
 */
export function publicView(kind: Kind, document: JsonObject): JsonObject {
  if (isOpen(kind)) return document;
  // Keys are the client's: `constructor` and `__proto__` must find no field and must not set a
  // prototype.
  return Object.fromEntries(Object.entries(document).filter(([name]) => isPublicName(kind, name)));
}

const open = new WeakMap<Kind, boolean>();
/** Whether all fields of a record of the kind are public: called for each record that is shown. */
function isOpen(kind: Kind): boolean {
  let known = open.get(kind);
  if (known === undefined)
    open.set(kind, (known = !kind.closed && Object.values(kind.fields).every(isPublic)));
  return known;
}

/** True when any caller may see a document's value under this name. */
export function isPublicName(kind: Kind, name: string): boolean {
  if (name === "@id") return true;
  const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
  return field ? isPublic(field) : !kind.closed;
}
