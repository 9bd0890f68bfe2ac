import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import { EntityIds } from "../identifiers/entity-ids.js";
import { isObject, listOf, objectFrom } from "../json-path.js";
import type { CrateContext } from "./crate-context.js";

/** How the entities of one crate are named and written. */
export interface EntityNames {
  /** ARK of the crate. */
  crate: string;
  context: CrateContext;
  /** Identifiers of the crate's entities: ARKs, and the URLs of {@link entityUrl}. */
  known: ReadonlySet<string>;
  /** What an entity is called in this crate, where that is not its ARK: paths of files and folders. */
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

const urlOf = (value: JsonValue): string | undefined => (isObject(value) && typeof value["@id"] === "string" ? value["@id"] : undefined);

/**
 * A record as an entity of the crate's graph: flat, under the crate's context, by the name that the crate has for it.
 * @param document the record's, without what is not to be told in this crate
 */
export function crateEntity(record: StoredRecord, document: JsonObject, names: EntityNames): JsonObject {
  const { "@context": context, "@id": _id, ...said } = document;
  const url = entityUrl(record, document);
  const id = names.paths.get(record.ark) ?? url ?? record.ark;
  const body = objectFrom(Object.entries(url === undefined ? said : withoutSameAs(said, url)).map(([key, value]): [string, JsonValue] => [key, written(key, value, names)]));
  const own = names.context.own(context, body);
  return { ...(own === undefined ? {} : { "@context": own }), "@id": id, ...body };
}

/** Where a value refers to, or holds, another entity of the crate only its name is written: the entity stands for itself. */
function written(key: string, value: JsonValue, names: EntityNames): JsonValue {
  if (key === "@type" || key === "@context") return value;
  if (Array.isArray(value)) return value.map((item) => written(key, item, names));
  if (!isObject(value) || Object.hasOwn(value, "@value")) return value;
  const id = value["@id"];
  if (typeof id === "string" && names.known.has(id)) return { "@id": names.paths.get(id) ?? id };
  return objectFrom(Object.entries(value).map(([name, inner]): [string, JsonValue] => [name, written(name, inner, names)]));
}

/** Without the `sameAs` that intake adds for the URL. */
function withoutSameAs(said: JsonObject, url: string): JsonObject {
  const { sameAs, ...rest } = said;
  const left = listOf(sameAs).filter((value) => !(isObject(value) && Object.keys(value).length === 1 && value["@id"] === url));
  if (left.length === 0) return rest;
  return { ...said, sameAs: left.length === 1 ? left[0]! : left };
}
