import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import type { Deps } from "../../deps.js";
import { parseDocument } from "../../records/view.js";
import { mergeEntities } from "../identifiers/merge.js";
import { isObject, listOf, referencesIn } from "../json-path.js";
import { DESCRIPTOR, descriptorArk } from "../layout/descriptor.js";
import { CrateContext, UsedContexts, madeContext } from "./crate-context.js";
import { crateEntity, entitiesInside, entityUrl, withoutSameAs, type EntityNames } from "./crate-entity.js";
import { crateRecords } from "./crate-records.js";

/** Text is handed on in pieces of about this size. */
const PIECE = 64 * 1024;
/** Records read at a time to compare them with what stands inside others. */
const COMPARED = 100;

/** The record that a crate was given its metadata descriptor as. */
export interface Descriptor { record: StoredRecord; document: JsonObject }
/** What is known of a crate that was gone through. */
export interface CrateSurvey {
  context: CrateContext;
  known: Map<string, string>;
  descriptor: Descriptor | undefined;
  /** Version of RO-Crate that a crate without a descriptor claims. */
  conformsTo: string;
  /** What is stated inside other entities without a type, by `@id`. */
  untyped: ReadonlyMap<string, JsonObject[]>;
}

/** What of a record's document is told, and how. */
export type Told = (record: StoredRecord, document: JsonObject) => JsonObject;
const asItIs: Told = (_record, document) => document;

/** Goes through a crate once, to know what can be named in it and what its terms mean. */
export async function surveyCrate(deps: Pick<Deps, "records">, root: StoredRecord, visit: (record: StoredRecord, document: JsonObject) => Promise<void> | void = () => {}): Promise<CrateSurvey> {
  const known = new Map<string, string>();
  const used = new UsedContexts();
  const untyped = new Map<string, JsonObject[]>();
  let descriptor: Descriptor | undefined;
  for await (const page of crateRecords(deps, root)) {
    for (const record of page) {
      const document = parseDocument(record.document);
      known.set(record.ark, record.ark);
      const url = entityUrl(record, document);
      if (url !== undefined) known.set(url, record.ark);
      if (record.ark === descriptorArk(root.ark)) descriptor = { record, document };
      used.add(document);
      for (const { id, value } of entitiesInside(document)) if (value["@type"] === undefined) untyped.set(id, [...(untyped.get(id) ?? []), value]);
      await visit(record, document);
    }
  }
  const made = madeContext(parseDocument(root.document)["@context"]);
  return { known, untyped, descriptor, conformsTo: made.conformsTo, context: new CrateContext(descriptor ? descriptor.document["@context"] : made.context, used) };
}

/**
 * The entity that says what the metadata describes (RO-Crate 1.2, "RO-Crate Metadata Descriptor"): as it was given, or
 * made for a crate that came without one or was not uploaded.
 * @param root ARK of the crate
 * @param id what the crate is called in its metadata
 */
export function descriptorEntity(root: string, { descriptor, conformsTo }: Pick<CrateSurvey, "descriptor" | "conformsTo">, names: EntityNames, id = names.paths.get(root) ?? root): JsonObject {
  const about = { "@id": id };
  if (!descriptor) return { "@id": DESCRIPTOR, "@type": "CreativeWork", conformsTo: { "@id": conformsTo }, about };
  const { record, document } = descriptor;
  const entity: JsonObject = { ...crateEntity(record, document, names), "@id": DESCRIPTOR };
  // Whoever edited it must not have made the crate unreadable.
  return ["about", "schema:about"].some((key) => referencesIn(document[key]).some((reference) => names.known.get(reference) === root)) ? entity : { ...entity, about: [...listOf(entity["about"]), about] };
}

/** Whether a record states no more than what is made for a crate without a descriptor. */
export function isMadeDescriptor({ "@context": _context, ...said }: JsonObject, root: string): boolean {
  const { "@id": _id, "@type": type, conformsTo, about, ...more } = said;
  const only = (value: JsonValue | undefined): JsonValue | undefined => (isObject(value) && Object.keys(value).length === 1 ? value["@id"] : undefined);
  return Object.keys(more).length === 0 && type === "CreativeWork" && only(about) === root && /^https:\/\/w3id\.org\/ro\/crate\/\d/.test(String(only(conformsTo)));
}

/** RO-Crate metadata of a crate from its records as they are now, in pieces of JSON text. */
export async function* crateMetadata(deps: Pick<Deps, "records">, root: StoredRecord, survey: CrateSurvey, names: EntityNames, { told = asItIs, without }: { told?: Told; without?: ReadonlySet<string> } = {}): AsyncGenerator<string> {
  const context = names.context.whole === undefined ? "" : `"@context":${JSON.stringify(names.context.whole)},`;
  let piece = `{${context}"@graph":[${JSON.stringify(descriptorEntity(root.ark, survey, names))}`;
  for await (const page of crateRecords(deps, root)) {
    for (const record of page) {
      if (record.ark === descriptorArk(root.ark) || without?.has(record.ark)) continue;
      const document = told(record, parseDocument(record.document));
      if (standsInside(record, document, survey, names)) continue;
      piece += `,${JSON.stringify(crateEntity(record, document, names, await outdatedIn(deps, document, names, told)))}`;
      if (piece.length < PIECE) continue;
      yield piece;
      piece = "";
    }
  }
  yield `${piece}]}`;
}

/**
 * Whether all that a record states stands inside other entities, and is no entity by itself: RO-Crate asks those
 * for a type.
 */
function standsInside(record: StoredRecord, { "@context": context, ...document }: JsonObject, { untyped }: CrateSurvey, { context: whole }: EntityNames): boolean {
  if (document["@type"] !== undefined) return false;
  const url = entityUrl(record, document);
  const parts = untyped.get(url ?? record.ark);
  if (!parts || whole.own(context, document) !== undefined) return false;
  const { "@id": _id, ...said } = url === undefined ? document : withoutSameAs(document, url);
  const { "@id": _same, ...inside } = mergeEntities(parts);
  return isDeepStrictEqual(said, inside);
}

/**
 * Entities inside a document that state what their own records no longer state: only their names are written, or an
 * upload would take what they state for new.
 */
async function outdatedIn({ records }: Pick<Deps, "records">, document: JsonObject, { known }: EntityNames, told: Told): Promise<ReadonlySet<JsonObject> | undefined> {
  const inside = entitiesInside(document).flatMap(({ id, value }) => (known.has(id) ? [{ ark: known.get(id)!, value }] : []));
  if (inside.length === 0) return undefined;
  const outdated = new Set<JsonObject>();
  for (let start = 0; start < inside.length; start += COMPARED) {
    const batch = inside.slice(start, start + COMPARED);
    const found = await records.findMany(batch.map(({ ark }) => ark));
    for (const [index, { value }] of batch.entries()) {
      const record = found[index];
      const current = record && !record.tombstone ? told(record, parseDocument(record.document)) : undefined;
      if (!current || !states(current, value)) outdated.add(value);
    }
  }
  return outdated;
}

/** Whether an entity states all that a part of the metadata states of it. */
function states(entity: JsonObject, part: JsonObject): boolean {
  const merged = mergeEntities([entity, part]);
  return Object.keys(merged).every((key) => merged[key] === entity[key]);
}

/** The same as one value, for what is known to be small. */
export const metadataOf = (context: JsonValue | undefined, entities: readonly JsonObject[]): string => JSON.stringify({ ...(context === undefined ? {} : { "@context": context }), "@graph": entities });
