import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { Findings, Place } from "../findings.js";
import { listOf, referencesIn } from "../json-path.js";
import { typeNames } from "../kinds.js";
import type { CrateDescription, CrateEntity } from "../layout/description.js";
import { adviseOnParts } from "./parts.js";
import { adviseOnReferences } from "./references.js";

/** What no URI reference holds (RFC 3986, with the characters of RFC 3987), and `%` that begins no escape. */
// eslint-disable-next-line no-control-regex
const NOT_IN_URI = /[\u0000-\u0020\u007f<>"{}|\\^`]|%(?![0-9A-Fa-f]{2})/;
const DATE = /^\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])(?:[T ](?:[01]\d|2[0-4]):?[0-5]\d(?::?[0-6]\d(?:[.,]\d+)?)?(?:Z|[+-][01]\d(?::?[0-5]\d)?)?)?)?)?$/;
const VERSION = /ro\/?-?crate\/(?:specification\/)?(\d+\.\d+)/;

/**
 * Compares metadata with what RO-Crate 1.0 to 1.3 asks for (MUST and SHOULD of "RO-Crate Metadata Document", "Root
 * Data Entity" and "Data Entities"). Whatever it finds is advice: a record can do without it.
 */
export function adviseOnCrate(description: CrateDescription, findings: Findings): void {
  const { file, context, descriptor, entities, hasGraph } = description;
  if (context === undefined || context === null) findings.warn("CONTEXT_MISSING", "The metadata has no @context; its terms are kept under a vocabulary of the registry's own. Add the context of RO-Crate.", { file, pointer: "" });
  if (descriptor) {
    adviseOnDescriptor(descriptor, description, findings);
    adviseOnParts(description, findings);
  } else {
    const layout = hasGraph ? "The crate is one object with its own @graph, as before RO-Crate 1.0" : "The crate has no @graph; it is read as one object that is the crate";
    findings.warn("OLDER_LAYOUT", `${layout}. Write a flat @graph with a descriptor.`, { file, pointer: "" });
  }
  adviseOnRoot(description, findings);
  adviseOnReferences(description, findings);
  for (const { id, value, pointer, embedded, descriptor: isDescriptor } of entities) {
    if (isDescriptor) continue;
    if (NOT_IN_URI.test(id)) findings.warn("ID_NOT_URI", `The @id ${JSON.stringify(id.slice(0, 200))} is no URI; percent-encode it (a blank as %20).`, { file, pointer });
    if (!embedded && isAbsent(value["@type"]) && isAbsent(value["metadataType"])) findings.warn("TYPE_MISSING", "The entity has no @type; say what it is.", { file, pointer });
  }
  const held = entities.filter(({ embedded }) => embedded);
  if (held.length > 0)
    findings.warn("NOT_FLATTENED", `${held.length === 1 ? "An entity stands" : `${held.length} entities stand`} inside another one; list entities in @graph, and refer to them by @id.`, { file, pointer: held[0]!.pointer });
}

function adviseOnDescriptor({ value, pointer }: CrateEntity, { file, context }: CrateDescription, findings: Findings): void {
  const place: Place = { file, pointer };
  const version = versionIn(referencesIn(value["conformsTo"]));
  const missing = [...(typeNames(value, context).includes("CreativeWork") ? [] : ["the @type CreativeWork"]), ...(version === undefined ? ["a conformsTo with the version of RO-Crate"] : [])];
  if (missing.length > 0) findings.warn("DESCRIPTOR_INCOMPLETE", `The descriptor lacks ${missing.join(" and ")}.`, place);
  const used = versionIn(listOf(context).filter((part) => typeof part === "string"));
  if (version === undefined || context === undefined || used === version) return;
  // From 1.2 on the context of the very version must be named.
  if (used !== undefined) findings.warn("CONTEXT_VERSION", `The context is that of RO-Crate ${used}, and the descriptor conforms to ${version}; name one version in both.`, { file, pointer: "/@context" });
  else if (version !== "1.0" && version !== "1.1") findings.warn("CONTEXT_VERSION", `The descriptor conforms to RO-Crate ${version}, whose context is not named; add https://w3id.org/ro/crate/${version}/context.`, { file, pointer: "/@context" });
}

const versionIn = (iris: readonly string[]): string | undefined => iris.map((iri) => VERSION.exec(iri)?.[1]).find((version) => version !== undefined);

function adviseOnRoot({ file, context, root: { id, value, pointer } }: CrateDescription, findings: Findings): void {
  const place: Place = { file, pointer };
  if (id !== "./" && !/^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(id)) findings.warn("ROOT_ID", `The crate's @id is ${JSON.stringify(id.slice(0, 200))}; call it "./".`, place);
  const missing = rootGaps(value, context);
  if (missing.length > 0) findings.warn("ROOT_INCOMPLETE", `The crate lacks ${missing.join(", ")}.`, place);
  for (const date of listOf(value["datePublished"])) {
    if (typeof date !== "object" && !isDate(date)) findings.warn("DATE_INVALID", `The datePublished ${JSON.stringify(String(date).slice(0, 100))} is no date of ISO 8601; write it like 2024-05-03.`, { file, pointer: `${pointer}/datePublished` });
  }
}

/** What a root must have and this one lacks ("Root Data Entity", direct properties). @param context that of the crate */
export function rootGaps(root: JsonObject, context: JsonValue | undefined): string[] {
  return [
    ...(typeNames(root, context, root["@context"]).includes("Dataset") ? [] : ["the @type Dataset"]),
    ...["name", "description", "license", "datePublished"].filter((name) => [name, `schema:${name}`].every((key) => isAbsent(root[key]))),
  ];
}

/** A date of ISO 8601, as precise as its author liked. */
export const isDate = (value: JsonValue): boolean => DATE.test(String(value));

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
