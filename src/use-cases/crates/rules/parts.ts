import type { JsonObject } from "../../../model/field.js";
import type { Findings } from "../findings.js";
import { referencesIn } from "../json-path.js";
import { typeNames } from "../kinds.js";
import type { CrateDescription, CrateEntity } from "../layout/description.js";
import { bareId } from "../layout/descriptor.js";

const DATA = new Set(["File", "MediaObject", "Dataset"]);

/**
 * Tells of files and folders that nobody finds who starts at the crate: data entities are linked from the root by
 * hasPart, directly or through other parts (RO-Crate 1.1, "Core Metadata for Data Entities").
 */
export function adviseOnParts({ file, context, root, entities }: CrateDescription, findings: Findings): void {
  const parts = new Map<string, string[]>();
  for (const { id, value } of entities) {
    for (const part of named(value, "hasPart")) push(parts, placeOf(id), placeOf(part));
    for (const whole of named(value, "isPartOf")) push(parts, placeOf(whole), placeOf(id));
  }
  const reached = new Set([placeOf(root.id)]);
  for (const whole of reached) for (const part of parts.get(whole) ?? []) reached.add(part);
  const isData = ({ value, embedded, descriptor }: CrateEntity) => !embedded && !descriptor && typeNames(value, context, value["@context"]).some((type) => DATA.has(type));
  for (const entity of entities) {
    if (isData(entity) && !reached.has(placeOf(entity.id)))
      findings.warn("NOT_PART", `${entity.id.slice(0, 200)} is not reached from the crate by hasPart; name it there.`, { file, pointer: entity.pointer });
  }
}

/** One text for every spelling of a path: identifiers made of them are equal too. */
function placeOf(id: string): string {
  const bare = bareId(id.replace(/^\/+/, ""));
  try {
    return bare.includes("%") ? decodeURIComponent(bare) : bare;
  } catch {
    return bare;
  }
}

function push(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

const named = (value: JsonObject, name: string): string[] =>
  [name, `schema:${name}`, `http://schema.org/${name}`, `https://schema.org/${name}`].flatMap((key) => referencesIn(value[key]));
