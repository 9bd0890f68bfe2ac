import { ServiceError } from "../../../errors.js";
import { arkKey, looksLikeArk } from "../../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf, referencesIn } from "../../../model/field.js";
import type { ObjectReference, RecordStore, StoredRecord } from "../../../storage/records/port.js";
import { rootGaps } from "../../crates/advise.js";
import { referencePointer } from "../../records/links.js";
import { crateRecords, stateOf } from "../../records/of-crate.js";
import { describedCrate } from "../../crates/layout.js";
import type { Deps } from "../../deps.js";
import { gone, NothingStored } from "../../records/find.js";
import { parseDocument } from "../../records/view.js";
import { CrateFacts, Fields, type RootFacts, Share } from "./fields.js";
import { Breather, Outside, Relations, type UrlLink, urlLinks } from "./relations.js";
import { Formats, type Member, type SurveyTools, survey, Terms } from "./survey.js";
import { pairs } from "../../../pairs.js";

/** Most references of the root that are followed, and most actors of one role that are read. */
const MAX_RELATED = 200;
const ACTORS = ["author", "creator", "publisher", "principalInvestigator"];
/** Keys whose entities state required facts of the root. */
const FOLLOWED =
  /(?:^|[:/#])(?:author|creator|publisher|principalInvestigator|license|additionalProperty)$/i;

/** Identifiers of entities with facts about a root: people, licences, properties. */
export function relatedOf(record: StoredRecord): string[] {
  const found = Object.entries(parseDocument(record.document)).flatMap(([key, value]) =>
    FOLLOWED.test(key) ? referencesIn(value).filter(looksLikeArk) : [],
  );
  return [...new Set(found)].slice(0, MAX_RELATED);
}

/**
 * The root with the entities that state facts about it.
 * @param related as returned by {@link relatedOf}
 * @param naan of this registry
 */
export async function rootFacts(
  records: Pick<RecordStore, "findMany">,
  record: StoredRecord,
  related: readonly string[],
  naan: string,
): Promise<RootFacts> {
  const document = parseDocument(record.document);
  const found = related.length === 0 ? [] : await records.findMany(related);
  const entities = new Map<string, JsonObject>();
  for (const [ark, entity] of pairs(related, found))
    if (entity && !entity.tombstone) entities.set(ark, parseDocument(entity.document));
  const fields = new Fields(record.ark, document, entities);
  const actors = new Share();
  for (const name of ACTORS) {
    const field = fields.first(name);
    if (field)
      for (const actor of listOf(field.value).slice(0, MAX_RELATED))
        actors.add(namesOf(actor, entities).some(isPersistentName), field.place);
  }
  return {
    name: record.name,
    revision: record.revision,
    status: record.publicationStatus,
    isOwn: record.ark.startsWith(`ark:${naan}/`),
    fields,
    actors,
    gaps: rootGaps(document, document["@context"]),
    licences: listOf(fields.first("license")?.value).flatMap((licence) =>
      namesOf(licence, entities),
    ),
    hasContext: listOf(document["@context"]).length > 0,
  };
}

/** Every text that may name a value: its own, and those of the entity that it refers to. */
function namesOf(value: JsonValue, entities: ReadonlyMap<string, JsonObject>): string[] {
  const own = referencesIn(value);
  const stated = [
    ...(isObject(value) ? [value] : []),
    ...own.map((id) => entities.get(id)).filter((entity) => entity !== undefined),
  ];
  return [
    ...own,
    ...stated.flatMap((entity) =>
      ["sameAs", "identifier", "url", "license"].flatMap((key) => referencesIn(entity[key])),
    ),
  ];
}

/** ORCID iDs with a valid check digit (ISO 7064 MOD 11-2), and ROR identifiers. */
export function isPersistentName(text: string): boolean {
  if (/(?:^|\/\/)(?:www\.)?ror\.org\/0[a-hj-km-np-tv-z0-9]{6}\d{2}\/?$/i.test(text.trim()))
    return true;
  const digits = /(?:^|orcid(?:\.org\/|:)\s*)(\d{4})-(\d{4})-(\d{4})-(\d{3}[\dX])(?:\D|$)/i
    .exec(text.trim())
    ?.slice(1)
    .join("");
  if (digits === undefined) return false;
  let total = 0;
  for (const digit of digits.slice(0, 15)) total = (total + Number(digit)) * 2;
  const check = (12 - (total % 11)) % 11;
  return digits.charAt(15).toUpperCase() === (check === 10 ? "X" : String(check));
}

type GatherDeps = Pick<Deps, "records" | "config">;

/** The states that a score depends on, as they were read: of crates, and of records beside them. */
export interface Grounds {
  crates: ReadonlyMap<string, string>;
  outside: ReadonlyMap<string, string>;
}

/** A table of the crate that names its schema. */
export interface NamedTable {
  ark: string;
  schema: string;
  place: string;
}

interface Gathered {
  facts: CrateFacts;
  grounds: Grounds;
  tables: NamedTable[];
}

/** Kinds whose content is read. */
const WITH_CONTENT: ReadonlySet<string> = new Set([
  "datadownload",
  "dataset",
  "software",
  "mlmodel",
]);

/**
 * Reads a crate, its sub-crates, and their references, in pages. Memory use is a few hundred bytes
 * for each record.
 * @param report called with the number of records read
 * @throws ServiceError `TOO_LARGE` past SCORE_MAX_RECORDS, `GONE`; the signal's reason
 */
export async function gather(
  deps: GatherDeps,
  asked: StoredRecord,
  signal: AbortSignal,
  report: (done: number) => void = () => {},
): Promise<Gathered> {
  const { records, config } = deps;
  const breather = new Breather(signal);
  // States are read before the records: a change in between makes the score outdated, never wrongly
  // current.
  const crates = new Map([[asked.ark, await stateOf(deps, asked)]]);
  const [record] = await records.findMany([asked.ark]);
  if (!record) throw new NothingStored(`Nothing is stored under ${asked.ark}.`);
  if (record.tombstone) throw gone(record);
  const outside = new Outside(records, breather);
  const related = relatedOf(record);
  await outside.look(related);
  const root = await rootFacts(records, record, related, config.ARK_NAAN);
  const facts = new CrateFacts(root);
  const members = new Map<string, Member>();
  const urls = new Map<string, string>();
  const byUrl: UrlLink[] = [];
  const relations = new Relations(records, members, outside, breather);
  const assertBounded = (): void => {
    if (members.size + outside.size + byUrl.length > config.SCORE_MAX_RECORDS)
      throw new ServiceError(
        "TOO_LARGE",
        `${record.ark}, with its sub-crates and what they refer to, has more than ` +
          `${config.SCORE_MAX_RECORDS} records and references by URL (SCORE_MAX_RECORDS): it ` +
          "is not scored.",
      );
  };
  const tools: SurveyTools = { formats: await Formats.load(), terms: new Terms() };
  const waiting = [record];
  for (const crate of waiting) {
    const fresh: string[] = [];
    for await (const page of crateRecords(deps, crate)) {
      for (const each of page) {
        const key = arkKey(each.ark);
        // A descriptor is about the metadata, not about the data.
        if (members.has(key) || describedCrate(each.ark) !== undefined) continue;
        const content = await contentOf(records, each);
        const document = parseDocument(each.document);
        const { member, url } = survey(facts, each, document, content, tools);
        members.set(member.key, member);
        if (url !== undefined) urls.set(url, member.key);
        for (const link of urlLinks(member.key, document)) byUrl.push(link);
        fresh.push(member.key);
        // A separate crate that this one describes: its records are read under it.
        if (each.kind === "rocrate" && each.crate === null && !crates.has(each.ark))
          await add(each);
        await breather.pause();
      }
      assertBounded();
      report(members.size);
    }
    for (const found of await records.findMany(await relations.follow(facts, fresh)))
      if (found && !found.tombstone && !crates.has(found.ark)) await add(found);
    assertBounded();

    async function add(sub: StoredRecord): Promise<void> {
      crates.set(sub.ark, await stateOf(deps, sub));
      waiting.push(sub);
    }
  }
  const tables = tablesOf(members.values());
  await outside.look(tables.map(({ schema }) => schema).filter((ark) => !members.has(arkKey(ark))));
  await relations.followUrls(byUrl, urls);
  await relations.conclude(facts, arkKey(record.ark));
  for (const { source, target } of relations.dangling)
    facts.references.lacking.push(await placeOf(deps, source, target));
  return { facts, grounds: { crates, outside: outside.states }, tables };
}

async function contentOf(
  records: GatherDeps["records"],
  { ark, kind }: StoredRecord,
): Promise<ObjectReference | undefined> {
  if (!WITH_CONTENT.has(kind)) return undefined;
  const [content] = await records.objectsOf(ark, { role: "content" });
  return content;
}

const tablesOf = (members: Iterable<Member>): NamedTable[] =>
  [...members].flatMap(({ ark, table }) =>
    table?.ark === undefined ? [] : [{ ark, schema: table.ark, place: table.place }],
  );

/** Where a record's document refers to another. */
async function placeOf({ records }: GatherDeps, source: string, target: string): Promise<string> {
  const [record] = await records.findMany([source]);
  const pointer = record && referencePointer(parseDocument(record.document), target);
  return `${source}#${pointer ?? ""}`;
}
