import type { JsonValue } from "../../../model/field.js";
import { PROVENANCE } from "../../../model/provenance.js";
import { isObject, listOf } from "../json-path.js";

/** Local names of properties whose plain texts are references, as the older layout writes them. */
const NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(PROVENANCE), "wasGeneratedBy", "wasDerivedFrom", "wasAssociatedWith", "wasAttributedTo", "wasInformedBy", "isBasedOn",
  "object", "result", "instrument", "agent", "input", "output",
  "usedByComputation", "usedByExperiment", "usedByDataset", "hasPart", "isPartOf", "about", "mainEntity", "mentions", "subjectOf",
  "schema", "hasSchema", "distribution", "hasDistribution", "encodesCreativeWork", "exampleOfWork", "workExample",
  "author", "creator", "contributor", "publisher", "sourceOrganization", "sourceProject", "memberOf", "member", "members", "owner",
  "includedInDataCatalog", "hasEvidenceGraph", "localEvidenceGraph", "isVersionOf", "hasVersion",
].map((name) => name.toLowerCase()));

const localName = (key: string): string => key.slice(Math.max(key.lastIndexOf("#"), key.lastIndexOf("/"), key.lastIndexOf(":")) + 1);

/**
 * Tells whether texts of a property are references: by its name, or because the context says so
 * (`"@type": "@id"`, JSON-LD 1.1 section 4.2.3).
 */
export function referenceFields(context: JsonValue | undefined): (key: string) => boolean {
  const coerced = coercedTerms(context);
  return (key) => coerced.has(key) || isReferenceName(key);
}

/** Whether a property's name says that its texts are references. */
export const isReferenceName = (key: string): boolean => NAMES.has(localName(key).toLowerCase());

/** Terms whose texts the context makes references. */
export function coercedTerms(context: JsonValue | undefined): ReadonlySet<string> {
  const coerced = new Set<string>();
  for (const part of listOf(context)) {
    if (!isObject(part)) continue;
    for (const [term, definition] of Object.entries(part)) if (isObject(definition) && definition["@type"] === "@id") coerced.add(term);
  }
  return coerced;
}
