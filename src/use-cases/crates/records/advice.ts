import type { JsonObject } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds/index.js";
import type { Findings, Place } from "../findings.js";

/**
 * Lengths that bind records written over the API are only advice for an entity of a crate. What such records must
 * have besides is this registry's own rule, and nothing that RO-Crate asks for: crates get no warning about it.
 */
export function adviseOn(kind: KindName, document: JsonObject, place: Place, findings: Findings): void {
  const { typeName, fields } = KINDS[kind];
  for (const [name, { maxLength, minLength }] of Object.entries(fields)) {
    const value = document[name];
    if (typeof value !== "string" || (maxLength === undefined && minLength === undefined)) continue;
    // Lengths count code points.
    const length = [...value].length;
    const at = { ...place, pointer: `${place.pointer ?? ""}/${name}` };
    if (maxLength !== undefined && length > maxLength) findings.warn("FIELD_LENGTH", `The ${name} has ${length} characters; ${maxLength} are usual for a ${typeName}.`, at);
    if (minLength !== undefined && length < minLength) findings.warn("FIELD_LENGTH", `The ${name} has ${length} characters; a ${typeName} has at least ${minLength}.`, at);
  }
}
