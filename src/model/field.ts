/**
 * One field of a record kind, declared once. GraphQL field, JSON Schema, RDF term and SHACL
 * property all come out of this declaration; nothing about a field is written anywhere else.
 */
export interface Field {
  /** JSON type of the value; `nullable` adds null. */
  readonly json: JsonType;
  /** Must be present as a key. */
  readonly required: boolean;
  readonly nullable: boolean;
  /** Filled in when the key is absent; `undefined` means no default. */
  readonly default?: JsonValue;
  /** RDF term as a CURIE of {@link PREFIXES}. */
  readonly term: string;
  /** One sentence for the contract documents. */
  readonly description: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** The one value allowed. */
  readonly const?: string;
  /** The value (each item of a list) is an ARK in any spelling and links two records. */
  readonly ark?: boolean;
  /**
   * The value is a reference when it has the form of one (an ARK), else text: fields that the
   * contract leaves untyped.
   */
  readonly link?: boolean;
  /** Answered from links of other records that point here, after what the client stated. */
  readonly backlink?: Backlink;
  /** An RFC 3339 / ISO 8601 date or date-time, stored as sent. */
  readonly date?: boolean;
  /** Accepted on writing, never answered, stored or projected (a password). */
  readonly secret?: boolean;
  /** Answered to the owner and administrators only (an e-mail address). */
  readonly private?: boolean;
  /** Only in the service's own answers; a client's value is ignored. */
  readonly computed?: boolean;
  /** Why GraphQL marks the field as deprecated: what to use in its place. */
  readonly deprecated?: string;
  /**
   * Filled in by the registry alone, and stored: a client may send the stored value back, or leave
   * it out.
   */
  readonly reserved?: boolean;
}

/** `types` is the string of an `@type`; `list` an array of anything. */
type JsonType =
  "string" | "stringList" | "stringOrList" | "list" | "object" | "stringMap" | "boolean" | "types";
export type JsonValue =
  string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** The values of a member that JSON-LD states alone or in a list. */
export const listOf = (value: JsonValue | undefined): JsonValue[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** Identifiers that a value refers to: texts, and `@id` of objects. */
export function referencesIn(value: JsonValue | undefined): string[] {
  return listOf(value).flatMap((item) =>
    typeof item === "string"
      ? [item]
      : isObject(item) && typeof item["@id"] === "string"
        ? [item["@id"]]
        : [],
  );
}

/** Records of `kind` whose `via` fields name this record. */
export interface Backlink {
  readonly kind: string | readonly string[];
  /** Field names of the other kind, e.g. `owner`. */
  readonly via: readonly string[];
}

/** Namespaces of the product's terms. schema.org is https here, whatever a document used. */
export const PREFIXES = {
  schema: "https://schema.org/",
  evi: "https://w3id.org/EVI#",
  prov: "http://www.w3.org/ns/prov#",
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  xsd: "http://www.w3.org/2001/XMLSchema#",
  dcterms: "http://purl.org/dc/terms/",
  sh: "http://www.w3.org/ns/shacl#",
} as const;

/** Namespace of terms that no context explains, so that no statement of a crate is dropped. */
export const FALLBACK_VOCABULARY = "urn:arkgraph:term:";

/** `evi:usedDataset` → `https://w3id.org/EVI#usedDataset`. */
export function expandCurie(curie: string): string {
  const colon = curie.indexOf(":");
  const namespace = PREFIXES[curie.slice(0, colon) as keyof typeof PREFIXES];
  if (!namespace) throw new Error(`unknown prefix in ${curie}`);
  return namespace + curie.slice(colon + 1);
}

type Options = Partial<Omit<Field, "json" | "term" | "description">>;

function field(json: JsonType, term: string, description: string, options: Options = {}): Field {
  return { json, term, description, required: false, nullable: false, ...options };
}

export const text = (term: string, description: string, options?: Options) =>
  field("string", term, description, options);
export const textList = (term: string, description: string, options?: Options) =>
  field("stringList", term, description, { default: [], ...options });
export const ark = (term: string, description: string, options?: Options) =>
  field("string", term, description, { ark: true, ...options });
export const arkList = (term: string, description: string, options?: Options) =>
  field("stringList", term, description, { ark: true, default: [], ...options });
export const date = (term: string, description: string, options?: Options) =>
  field("string", term, description, { date: true, nullable: true, ...options });
export const custom = field;
