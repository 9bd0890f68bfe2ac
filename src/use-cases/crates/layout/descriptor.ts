import { isObject, listOf, referencesIn } from "../json-path.js";
import type { CrateEntity } from "./description.js";

/**
 * Name of the metadata file, and `@id` of the entity that describes it (RO-Crate 1.2, "RO-Crate Metadata
 * Descriptor").
 */
export const DESCRIPTOR = "ro-crate-metadata.json";
const NAMES = [DESCRIPTOR, "ro-crate-metadata.jsonld"];
const SPECIFICATION = /^https?:\/\/w3id\.org\/ro\/crate(?:\/|$)/;

/** How the identifiers of descriptors' records end. Lists of what a crate consists of leave them out. */
export const DESCRIPTOR_END = `/${DESCRIPTOR}`;

/** Identifier of the record that holds what a crate's metadata descriptor says. */
export const descriptorArk = (crate: string): string => `${crate}/${DESCRIPTOR}`;

/** The crate whose descriptor has this identifier; undefined for every other identifier. */
export const describedCrate = (ark: string): string | undefined => (ark.endsWith(`/${DESCRIPTOR}`) ? ark.slice(0, -DESCRIPTOR.length - 1) : undefined);

/** `./a/` and `a` name one thing; `./`, `.` and nothing name the folder itself. */
export const bareId = (id: string): string => withoutLast(id.replace(/^(?:\.\/+)+/, ""), "/").replace(/^\.$/, "");

/** Without the characters at its end that are all this one. A pattern for it takes the square of the length of a hostile text. */
export function withoutLast(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/** Whether an `@id` is that of the metadata file. */
export const isDescriptorName = (id: string): boolean => NAMES.includes(bareId(id));

/**
 * The entity that describes the metadata file itself: by its name (RO-Crate 1.2 and later, the `.jsonld` of
 * 1.0 as fallback), by a URL that ends in it, or by what it conforms to (RO-Crate 1.1, "Finding the root").
 */
export function findDescriptor(entities: readonly CrateEntity[]): CrateEntity | undefined {
  const pointing = entities.filter(({ value }) => referencesIn(value["about"]).length > 0 || referencesIn(value["schema:about"]).length > 0);
  for (const name of NAMES) {
    const named = pointing.find(({ id }) => bareId(id) === name);
    if (named) return named;
  }
  return (
    pointing.find(({ id }) => NAMES.some((name) => id.endsWith(`/${name}`)) && listOf(id).length > 0) ??
    pointing.find(({ value }) => referencesIn(value["conformsTo"]).some((iri) => SPECIFICATION.test(iri)) && isMetadata(value["@type"]))
  );
}

/** The root entity: what the descriptor is about. Never found by position. */
export function findRoot(descriptor: CrateEntity, entities: readonly CrateEntity[]): CrateEntity | undefined {
  const ids = [...referencesIn(descriptor.value["about"]), ...referencesIn(descriptor.value["schema:about"])];
  const [exact, bare] = [new Map<string, CrateEntity>(), new Map<string, CrateEntity>()];
  for (const entity of entities) {
    if (entity === descriptor) continue;
    if (!exact.has(entity.id)) exact.set(entity.id, entity);
    if (!bare.has(bareId(entity.id))) bare.set(bareId(entity.id), entity);
  }
  const named = ids.find((id) => exact.has(id)) ?? ids.find((id) => bare.has(bareId(id)));
  if (named !== undefined) return exact.get(named) ?? bare.get(bareId(named));
  // The descriptor may hold the root instead of naming it.
  const held = listOf(descriptor.value["about"]).find((value) => isObject(value) && Object.keys(value).length > 1);
  return isObject(held) && typeof held["@id"] === "string" ? { id: held["@id"], pointer: `${descriptor.pointer}/about`, value: held } : undefined;
}

function isMetadata(type: unknown): boolean {
  return listOf(type as string | string[] | undefined).some((name) => typeof name === "string" && /(?:^|[/:#])CreativeWork$/.test(name));
}
