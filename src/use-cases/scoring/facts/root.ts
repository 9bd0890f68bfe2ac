import { looksLikeArk } from "../../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { RecordStore, StoredRecord } from "../../../stores/records/port.js";
import { isObject, listOf, referencesIn } from "../../crates/json-path.js";
import { rootGaps } from "../../crates/rules/advise.js";
import { parseDocument } from "../../records/view.js";
import type { RootFacts } from "./crate-facts.js";
import { Fields } from "./fields.js";
import { Share } from "./share.js";

/** References of the root that are followed, and actors of one role that are looked at, at the most. */
const MOST_RELATED = 200;
const ACTORS = ["author", "creator", "publisher", "principalInvestigator"];
/** Keys that name entities which say what is asked of the root. */
const FOLLOWED = /(?:^|[:/#])(?:author|creator|publisher|principalInvestigator|license|additionalProperty)$/i;

/** Identifiers of the entities that speak for a root: people, licences, properties. */
export function relatedOf(record: StoredRecord): string[] {
  const found = Object.entries(parseDocument(record.document)).flatMap(([key, value]) => (FOLLOWED.test(key) ? referencesIn(value).filter(looksLikeArk) : []));
  return [...new Set(found)].slice(0, MOST_RELATED);
}

/** The root with the entities that speak for it. @param related as {@link relatedOf} tells @param naan of this registry */
export async function rootFacts(records: Pick<RecordStore, "findMany">, record: StoredRecord, related: readonly string[], naan: string): Promise<RootFacts> {
  const document = parseDocument(record.document);
  const found = related.length === 0 ? [] : await records.findMany(related);
  const entities = new Map<string, JsonObject>();
  for (const [index, entity] of found.entries()) if (entity && !entity.tombstone) entities.set(related[index]!, parseDocument(entity.document));
  const fields = new Fields(record.ark, document, entities);
  const actors = new Share();
  for (const name of ACTORS) {
    const field = fields.first(name);
    if (field) for (const actor of listOf(field.value).slice(0, MOST_RELATED)) actors.add(namesOf(actor, entities).some(isPersistentName), field.place);
  }
  return {
    name: record.name, revision: record.revision, status: record.publicationStatus, isOwn: record.ark.startsWith(`ark:${naan}/`), fields, actors, gaps: rootGaps(document, document["@context"]),
    licences: listOf(fields.first("license")?.value).flatMap((licence) => namesOf(licence, entities)), hasContext: listOf(document["@context"]).length > 0,
  };
}

/** Every text that may name what a value stands for: its own, and those of the entity that it refers to. */
function namesOf(value: JsonValue, entities: ReadonlyMap<string, JsonObject>): string[] {
  const own = referencesIn(value);
  const told = [...(isObject(value) ? [value] : []), ...own.flatMap((id) => (entities.has(id) ? [entities.get(id)!] : []))];
  return [...own, ...told.flatMap((entity) => ["sameAs", "identifier", "url", "license"].flatMap((key) => referencesIn(entity[key])))];
}

/** ORCID iDs with a right check digit (ISO 7064 MOD 11-2), and ROR identifiers. */
export function isPersistentName(text: string): boolean {
  if (/(?:^|\/\/)(?:www\.)?ror\.org\/0[a-hj-km-np-tv-z0-9]{6}\d{2}\/?$/i.test(text.trim())) return true;
  const digits = /(?:^|orcid(?:\.org\/|:)\s*)(\d{4})-(\d{4})-(\d{4})-(\d{3}[\dX])(?:\D|$)/i.exec(text.trim())?.slice(1).join("");
  if (digits === undefined) return false;
  let total = 0;
  for (const digit of digits.slice(0, 15)) total = (total + Number(digit)) * 2;
  const check = (12 - (total % 11)) % 11;
  return digits[15]!.toUpperCase() === (check === 10 ? "X" : String(check));
}
