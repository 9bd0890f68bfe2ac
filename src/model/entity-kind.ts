import { isObject, type JsonObject, type JsonValue, listOf } from "./field.js";
import type { KindName } from "./kind.js";

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
  ["experiment", /^Experiment$/],
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
