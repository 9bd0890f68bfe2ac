import type { Field } from "./field.js";

/** A kind of record: a table of fields and the names it goes by at each door. */
export interface Kind {
  readonly name: KindName;
  /** GraphQL type and OpenAPI schema name. */
  readonly typeName: string;
  /** Plural used for GraphQL lists. */
  readonly plural: string;
  /** Prefix of its REST operations, without the slash; `null` when it has none (entities come from crates only). */
  readonly path: string | null;
  /** Class of the record in the graph, as a CURIE; added to what the document states. */
  readonly rdfClass: string;
  readonly description: string;
  /** Only its declared fields are shown to others: what else a user says of itself stays private. */
  readonly closed?: true;
  /** Written by crates only: a record holds whatever JSON-LD its crate states, and the table names what is usual. */
  readonly loose?: true;
  /** Crates bring records of this kind too; their required fields and limits are warnings there. */
  readonly fromCrates?: true;
  /** Keys in the order of the contract; `@context` and `@type` among them. */
  readonly fields: Readonly<Record<string, Field>>;
}

export const KIND_NAMES = [
  "user", "group", "organization", "project", "software", "dataset", "computation",
  "evidencegraph", "rocrate", "datadownload", "schema", "entity",
] as const;
export type KindName = (typeof KIND_NAMES)[number];

/** A kind's name in a sentence: "an Entity", but "a User". */
export const withArticle = (name: string): string => `${/^[aeio]/i.test(name) ? "an" : "a"} ${name}`;
