import type { JsonObject } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds/index.js";
import type { Findings, Place } from "../findings.js";

/** Kept by the registry, not by the entity. */
const NOT_ASKED = new Set(["@context", "@type", "owner", "contentUrl", "contentSize", "sha256", "uploadDate"]);

/** Names under which crates say the same: schema.org actions, the run profiles of RO-Crate, PROV. */
const SAID_AS: Readonly<Record<string, readonly string[]>> = {
  usedDataset: ["object", "used", "prov:used"], usedSoftware: ["instrument"], generated: ["result", "prov:generated"],
  author: ["agent", "creator", "associatedWith"], dateCreated: ["startTime"], dateFinished: ["endTime"], container: ["containerImage"],
  encodesCreativeWork: ["isPartOf"], encodingFormat: ["fileFormat"],
};

/** What a record written over the API must have is only advice for an entity of a crate. */
export function adviseOn(kind: KindName, document: JsonObject, place: Place, findings: Findings): void {
  const missing: string[] = [];
  for (const [name, field] of Object.entries(KINDS[kind].fields)) {
    if (NOT_ASKED.has(name)) continue;
    const value = document[name];
    if (field.required && value === undefined && !SAID_AS[name]?.some((other) => document[other] !== undefined)) missing.push(name);
    if (typeof value !== "string" || (field.maxLength === undefined && field.minLength === undefined)) continue;
    // Lengths count code points.
    const length = [...value].length;
    if (field.maxLength !== undefined && length > field.maxLength)
      findings.warn("FIELD_LENGTH", `The ${name} has ${length} characters; ${field.maxLength} are usual for a ${KINDS[kind].typeName}.`, { ...place, pointer: `${place.pointer ?? ""}/${name}` });
    if (field.minLength !== undefined && length < field.minLength)
      findings.warn("FIELD_LENGTH", `The ${name} has ${length} characters; a ${KINDS[kind].typeName} has at least ${field.minLength}.`, { ...place, pointer: `${place.pointer ?? ""}/${name}` });
  }
  if (missing.length > 0) findings.warn("FIELD_MISSING", `A ${KINDS[kind].typeName} should have ${missing.join(", ")}.`, place);
}
