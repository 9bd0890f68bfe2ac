import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, step } from "../json-path.js";
import type { CrateEntity } from "./description.js";

/**
 * Objects inside an entity that have an `@id` and say more than that: each is an entity of its own, as
 * JSON-LD flattening has it (JSON-LD 1.1 API, section 4.2). Objects without `@id` belong to their holder.
 */
export function embeddedEntities({ value, pointer }: CrateEntity): CrateEntity[] {
  const found: CrateEntity[] = [];
  const contexts = contextsOf(value, []);
  for (const [key, inner] of Object.entries(value)) if (isProperty(key)) collect(inner, pointer + step(key), contexts, found);
  return found;
}

/** @param contexts of the entities around it, which say what its terms mean too */
function collect(value: JsonValue, pointer: string, contexts: readonly JsonValue[], found: CrateEntity[]): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, pointer + step(index), contexts, found);
  } else if (isObject(value)) {
    const id = value["@id"];
    const own = contextsOf(value, contexts);
    if (typeof id === "string" && saysMore(value)) found.push({ id, pointer, value: contexts.length === 0 ? value : { ...value, "@context": [...own] }, embedded: true });
    for (const [key, inner] of Object.entries(value)) if (isProperty(key)) collect(inner, pointer + step(key), own, found);
  }
}

const contextsOf = (value: JsonObject, around: readonly JsonValue[]): readonly JsonValue[] =>
  (value["@context"] === undefined ? around : [...around, ...(Array.isArray(value["@context"]) ? value["@context"] : [value["@context"]])]);

/** Keywords whose values hold no entities: `@context`, `@type`, `@value` and the like. */
const isProperty = (key: string): boolean => !key.startsWith("@") || key === "@list" || key === "@set" || key === "@graph" || key === "@included" || key === "@reverse";

const saysMore = (value: JsonObject): boolean => Object.keys(value).some((key) => key !== "@id" && key !== "@context");
