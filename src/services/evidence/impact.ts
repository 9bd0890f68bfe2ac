import { looksLikeArk } from "../../identifiers/ark.js";
import type { Ark } from "../../identifiers/ark.js";
import type { KindName } from "../../model/kind.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { Assertions } from "./assertions.js";
import { type Asking, holderOf, recordsOfUrls } from "./descriptions.js";
import { askingOf, upToDate } from "./evidence-graph.js";
import type { AssertedBy, EvidenceDeps } from "./types.js";
import { seedsOf, walk } from "./walk.js";

export interface KindCount {
  kind: KindName;
  count: number;
}
/**
 * `owner` is null for records without one, `name` for an owner without a name or without a record
 * here.
 */
export interface OwnerCount {
  owner: string | null;
  name: string | null;
  count: number;
  kinds: KindCount[];
}

/**
 * The records that depend on a record: they are invalid if it is. A crate's own parts are not
 * counted.
 */
export interface Impact {
  "@id": string;
  /** Records that depend on it, directly or through others. */
  total: number;
  /** Records that depend on it directly. */
  direct: number;
  /** Steps to the furthest of them. */
  furthest: number;
  /** Largest first. */
  byKind: KindCount[];
  /** Largest first. */
  byOwner: OwnerCount[];
  /** Identifiers that depend on it, and that no record here describes. */
  unresolved: number;
  /** Omitted edges of third parties, if the request omits them. */
  hidden?: { thirdParty: number };
  /** Commit that the answer is as of. */
  asOf: number;
}

/** Records in one read. */
const BATCH = 500;

/**
 * Counts the records that depend on a record, by kind and by owner.
 * @param assertedBy as in {@link import("./types.js").EvidenceRequest}
 * @throws ServiceError as `evidenceGraph`
 */
export async function impactOf(
  ark: Ark,
  deps: EvidenceDeps,
  assertedBy: AssertedBy = "anyone",
): Promise<Impact> {
  const record = await upToDate(ark, deps);
  const ask = askingOf(deps);
  const seeds = await seedsOf(ask, record, deps.records);
  const only =
    assertedBy === "owner"
      ? new Assertions(ask, deps.records, { root: record.ark, aliases: seeds.self.slice(1) })
      : undefined;
  const { near, thirdParty } = await walk(ask, seeds, {
    direction: "downstream",
    depth: Number.POSITIVE_INFINITY,
    ...(only && { only }),
  });
  const steps = await stepsByRecord(ask, near);
  steps.delete(record.ark);
  const owners = new Map<string | null, Map<KindName, number>>();
  const kinds = new Map<KindName, number>();
  let total = 0;
  let direct = 0;
  for await (const { ark: found, kind, owner } of live([...steps.keys()], deps)) {
    total++;
    if (steps.get(found) === 1) direct++;
    add(kinds, kind);
    add(owners.get(owner) ?? owners.set(owner, new Map()).get(owner)!, kind);
  }
  const names = new Map<string, string | null>();
  for await (const owner of live(
    [...owners.keys()].filter((owner) => owner !== null),
    deps,
  ))
    names.set(owner.ark, owner.name);
  return {
    "@id": record.ark,
    total,
    direct,
    furthest: [...steps.values()].reduce((most, step) => Math.max(most, step), 0),
    byKind: inOrder(kinds),
    byOwner: [...owners]
      .map(([owner, counts]): OwnerCount => ({
        owner,
        name: owner === null ? null : (names.get(owner) ?? null),
        count: [...counts.values()].reduce((sum, count) => sum + count, 0),
        kinds: inOrder(counts),
      }))
      .toSorted((a, b) => b.count - a.count || ((a.owner ?? "") < (b.owner ?? "") ? -1 : 1)),
    unresolved: steps.size - total,
    ...(only && { hidden: { thirdParty } }),
    asOf: ask.oldest,
  };
}

/**
 * Steps to each record: an object inside a record counts as the record, a URL as the records that
 * stand for it.
 */
async function stepsByRecord(
  ask: Asking,
  near: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const reach = (ark: string, step: number): unknown =>
    found.set(ark, Math.min(step, found.get(ark) ?? step));
  const removed = [...near].filter(([, step]) => step > 0);
  const urls = removed
    .filter(([node]) => holderOf(node) === undefined && !looksLikeArk(node))
    .map(([url]) => url);
  const records = new Map<string, string[]>(urls.map((url) => [url, []]));
  for (const [url, ark] of await recordsOfUrls(ask, urls)) records.get(url)!.push(ark);
  for (const [node, step] of removed) {
    const behind = records.get(node);
    if (!behind) reach(holderOf(node) ?? node, step);
    else if (behind.length === 0) reach(node, step);
    else for (const ark of behind) reach(ark, step);
  }
  // Records that are the start under another name are removed.
  for (const [node, step] of near) if (step === 0) found.delete(holderOf(node) ?? node);
  return found;
}

async function* live(
  arks: readonly string[],
  { records }: EvidenceDeps,
): AsyncGenerator<StoredRecord> {
  for (let start = 0; start < arks.length; start += BATCH) {
    for (const record of await records.findMany(arks.slice(start, start + BATCH)))
      if (record && !record.tombstone) yield record;
  }
}

const add = (counts: Map<KindName, number>, kind: KindName): unknown =>
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
const inOrder = (counts: ReadonlyMap<KindName, number>): KindCount[] =>
  [...counts]
    .map(([kind, count]) => ({ kind, count }))
    .toSorted((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
