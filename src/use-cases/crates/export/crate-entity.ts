import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import { EntityIds } from "../identifiers/entity-ids.js";
import { isObject, listOf, objectFrom } from "../json-path.js";
import type { CrateContext } from "./crate-context.js";

/** How the entities of one crate are named and written. */
export interface EntityNames {
  context: CrateContext;
  /** Records of the crate by what refers to them: ARKs, and the URLs of {@link entityUrl}. */
  known: ReadonlyMap<string, string>;
  /** What an entity is called in this crate, where that is not its ARK: paths of files and folders, the descriptor. */
  paths: ReadonlyMap<string, string>;
}

/** The URL that a crate knows an entity by: its record has an ARK made from it and names it by `sameAs`. */
export function entityUrl({ ark, crate }: Pick<StoredRecord, "ark" | "crate">, document: JsonObject): string | undefined {
  if (crate === null || !ark.startsWith(`${crate}/entity/`)) return undefined;
  return listOf(document["sameAs"]).map(urlOf).find((url) => {
    const id = url === undefined ? undefined : new EntityIds(crate).of(url, "");
    return id?.rule === "url" && id.ark === ark;
  });
}

function urlOf(value: JsonValue): string | undefined {
  const url = isObject(value) ? value["@id"] : value;
  return typeof url === "string" ? url : undefined;
}

/**
 * A record as an entity of the crate's graph, under the crate's context, by the name that the crate has for it.
 * @param document the record's, without what is not to be told in this crate
 * @param outdated objects inside it that state what the records they are about no longer do
 */
export function crateEntity(record: StoredRecord, document: JsonObject, names: EntityNames, outdated?: ReadonlySet<JsonObject>): JsonObject {
  const { "@context": context, "@id": _id, ...said } = document;
  const url = entityUrl(record, document);
  const id = names.paths.get(record.ark) ?? url ?? record.ark;
  const own = names.context.own(context, said);
  const body = Object.entries(url === undefined ? said : withoutSameAs(said, url));
  const written = new Writer(names.paths, outdated);
  return { ...(own === undefined ? {} : { "@context": own }), "@id": id, ...objectFrom(body.map(([key, value]): [string, JsonValue] => [key, written.value(key, value)])) };
}

/** Calls entities by the names that they have in the crate. */
class Writer {
  constructor(private readonly paths: EntityNames["paths"], private readonly outdated: ReadonlySet<JsonObject> | undefined) {}

  value(key: string, value: JsonValue): JsonValue {
    if (key === "@type" || key === "@context") return value;
    if (Array.isArray(value)) return value.map((item) => this.value(key, item));
    if (!isObject(value) || Object.hasOwn(value, "@value")) return key === "@id" && typeof value === "string" ? (this.paths.get(value) ?? value) : value;
    const entries = this.outdated?.has(value) ? [["@id", value["@id"]!] as const] : Object.entries(value);
    return objectFrom(entries.map(([name, inner]): [string, JsonValue] => [name, this.value(name, inner)]));
  }
}

/** Objects with an `@id` that stand inside a record's document and state something. */
export function entitiesInside(document: JsonObject): { id: string; value: JsonObject }[] {
  const found: { id: string; value: JsonObject }[] = [];
  const look = (key: string, value: JsonValue): void => {
    if (key === "@context" || key === "@value" || typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === "object") look(key, item);
      return;
    }
    const id = value["@id"];
    if (typeof id === "string" && Object.keys(value).length > 1) found.push({ id, value });
    for (const [name, inner] of Object.entries(value)) look(name, inner);
  };
  for (const [key, value] of Object.entries(document)) look(key, value);
  return found;
}

/** Without the `sameAs` that intake adds for the URL. */
export function withoutSameAs(said: JsonObject, url: string): JsonObject {
  const { sameAs, ...rest } = said;
  const stated = listOf(sameAs);
  const added = stated.findLastIndex((value) => isObject(value) && Object.keys(value).length === 1 && value["@id"] === url);
  const left = stated.toSpliced(added, added < 0 ? 0 : 1);
  if (left.length === 0) return rest;
  return { ...said, sameAs: left.length === 1 ? left[0]! : left };
}
