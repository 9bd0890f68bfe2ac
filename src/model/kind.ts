/** A kind of records, and the kind that an entity of a crate has. */
import { type Field, isObject, type JsonObject, type JsonValue, listOf } from "./field.js";

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
  /** Records of the kind are activities: they use and generate others. */
  readonly activity?: true;
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
  "mlmodel",
  "sample",
  "instrument",
  "experiment",
  "annotation",
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

const SCHEMA_ORG = /^https?:\/\/(?:www\.)?schema\.org\/(.*)$/;
const EVI = /^https?:\/\/w3id\.org\/evi#(.*)$/i;
const BIOSCHEMAS = /^https?:\/\/bioschemas\.org\/(?:terms\/|types\/)?(.*)$/;
/** FAIR4ML, with or without its version. */
const FAIR4ML = /^https?:\/\/w3id\.org\/fair4ml(?:\/\d[\d.]*)?[#/](.*)$/i;
/** Prefixes that mean the same whether a context declares them or not. */
const PREFIXES = /^(?:evi|schema|sdo|schemaorg|bioschemas|bs|fair4ml):(.*)$/i;

const VOCABULARIES = [SCHEMA_ORG, EVI, BIOSCHEMAS, FAIR4ML, PREFIXES];

/** Types that define each kind, in order of precedence; the first match is the record's kind. */
const BY_TYPE: readonly [KindName, RegExp][] = [
  ["rocrate", /^ROCrate$/],
  ["computation", /^(?:Computation|\w*Action)$/],
  // Bioschemas' LabProcess, as ISA and ARC crates have it.
  ["experiment", /^(?:Experiment|LabProcess)$/],
  ["schema", /^Schema$/],
  ["software", /^(?:Software|SoftwareSourceCode|SoftwareApplication|ComputationalWorkflow)$/],
  ["mlmodel", /^MLModel$/],
  ["datadownload", /^(?:File|MediaObject|DataDownload)$/],
  ["dataset", /^Dataset$/],
  ["sample", /^(?:Sample|BioSample)$/],
  ["instrument", /^Instrument$/],
  ["annotation", /^Annotation$/],
];

/**
 * Name of the metadata file, and `@id` of the entity that describes it (RO-Crate 1.2, "RO-Crate
 * Metadata Descriptor").
 */
export const DESCRIPTOR = "ro-crate-metadata.json";
/** Whether a record is that of a metadata file, which is of no other kind, whatever its types. */
export const isDescriptor = (ark: string): boolean => ark.endsWith(`/${DESCRIPTOR}`);

/** Kind of an entity by its types alone. */
export function kindOfTypes(types: readonly string[]): KindName {
  return BY_TYPE.find(([, pattern]) => types.some((type) => pattern.test(type)))?.[0] ?? "entity";
}

/**
 * Plain names of an entity's types, `metadataType` among them. Prefixes, full IRIs, http or https
 * and the case of EVI do not matter; a type of another vocabulary is left out.
 * @param contexts contexts that may declare a prefix or a term: the crate's context, the entity's
 * own
 */
export function typeNames(entity: JsonObject, ...contexts: (JsonValue | undefined)[]): string[] {
  const stated = [
    ...listOf(entity["@type"]),
    ...["metadataType", "evi:metadataType", "EVI:metadataType"].flatMap((key) =>
      listOf(entity[key]),
    ),
  ];
  return stated.flatMap((type) => {
    const name = typeof type === "string" ? plainName(type, contexts) : undefined;
    return name === undefined ? [] : [name];
  });
}

function plainName(type: string, contexts: (JsonValue | undefined)[]): string | undefined {
  const iri = expand(type, contexts) ?? type;
  // Most types are plain names, and a crate has five times as many to look at as entities.
  if (!iri.includes(":")) return iri;
  for (const pattern of VOCABULARIES) {
    const match = pattern.exec(iri);
    if (match) return match[1];
  }
  return undefined;
}

/**
 * A term or prefix that an inline context declares. Remote contexts map the names that matter to
 * the vocabularies known here.
 */
function expand(type: string, contexts: (JsonValue | undefined)[]): string | undefined {
  for (const context of contexts.flatMap((value) => listOf(value)).toReversed()) {
    if (!isObject(context)) continue;
    const whole = iriOf(context, type);
    if (whole !== undefined) return whole;
    const colon = type.indexOf(":");
    const namespace = colon > 0 ? iriOf(context, type.slice(0, colon)) : undefined;
    if (namespace !== undefined && !type.startsWith("//", colon + 1))
      return namespace + type.slice(colon + 1);
  }
  return undefined;
}

function iriOf(context: JsonObject, term: string): string | undefined {
  const value = Object.hasOwn(context, term) ? context[term] : undefined;
  const iri = isObject(value) ? value["@id"] : value;
  return typeof iri === "string" && iri.includes(":") ? iri : undefined;
}
