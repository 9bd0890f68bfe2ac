import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "../../errors.js";
import { type Ark, sameArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { RecordWrite, StoredRecord } from "../../storage/records/port.js";
import { assertMayOwn, type Caller, mayChange } from "../access/rules.js";
import { isPrivate } from "../access/visibility.js";
import type { Deps } from "../deps.js";
import { gone } from "../records/find.js";
import { creationOf, revisionOf } from "../records/state.js";
import { retried } from "../records/write-queue.js";
import { documentBytes, parseDocument } from "../records/view.js";
import { changesOf, type LineageChange, readEvents } from "./events.js";
import { getOrInsert } from "../../get-or-insert.js";

/** What a request of events did. */
export interface LineageReceipt {
  /** Events that were read. */
  events: number;
  /** The records that they are about: runs, datasets, schemas and software. */
  records: LineageRecord[];
}
export interface LineageRecord {
  ark: string;
  kind: KindName;
  /** `linked`: a record that the caller may not change, or that was deleted; it stays as it is. */
  change: "created" | "changed" | "unchanged" | "linked";
}

/** Identifiers in one query. */
const BATCH = 500;
/** How a request ends when another one writes the same records at the same time. */
const CONFLICTS = ["DUPLICATE", "REVISION_MISMATCH"] as const;

/**
 * Records the runs, datasets and software of OpenLineage events, all of a request in one commit.
 * Events may be sent again, and in any order: runs have their identifier from the run id.
 * @param input one event, or a list of them
 * @param options.owner who owns the records: the caller by default
 * @param options.at where the events are in the request
 * @throws ValidationError with every problem; ServiceError `FORBIDDEN`, `GONE` for a run whose
 * record was deleted, `TOO_LARGE` past MAX_LINEAGE_RECORDS
 */
export async function recordLineage(
  deps: Deps,
  caller: Caller,
  input: JsonValue | undefined,
  { owner: asked, at }: { owner?: Ark | undefined; at?: readonly (string | number)[] } = {},
): Promise<LineageReceipt> {
  const events = readEvents(input, at);
  const owner = asked?.stored ?? caller.user;
  if (asked) await assertMayOwn(deps.records, caller, asked);
  const changes = new Map<string, LineageChange[]>();
  for (const event of events)
    for (const change of changesOf(event, owner))
      getOrInsert(changes, change.ark, (): LineageChange[] => []).push(change);
  const { MAX_LINEAGE_RECORDS: most } = deps.config;
  if (changes.size > most)
    throw new ServiceError(
      "TOO_LARGE",
      `The events are about ${changes.size} records; MAX_LINEAGE_RECORDS=${most}. Send fewer ` +
        "events in one request.",
    );
  const records = await retried(CONFLICTS, () => written(deps, caller, owner, changes));
  return { events: events.length, records };
}

async function written(
  deps: Deps,
  caller: Caller,
  owner: string,
  changes: ReadonlyMap<string, readonly LineageChange[]>,
): Promise<LineageRecord[]> {
  const writes: RecordWrite[] = [];
  const records: LineageRecord[] = [];
  const all = [...changes];
  for (let start = 0; start < all.length; start += BATCH) {
    const batch = all.slice(start, start + BATCH);
    const found = await deps.records.findMany(batch.map(([ark]) => ark));
    for (const [index, [ark, steps]] of batch.entries()) {
      const record = found[index];
      const [first] = steps;
      if (!first) continue;
      const { kind, isRun } = first;
      if (record && !(await mayWrite(deps, caller, owner, record, kind))) {
        if (isRun) throw refusal(record);
        records.push({ ark: record.ark, kind: record.kind, change: "linked" });
        continue;
      }
      const before = record && parseDocument(record.document);
      let document = first.apply(before);
      for (const step of steps.slice(1)) document = step.apply(document);
      const write = await writeOf(deps, ark, kind, owner, record, before, document);
      if (write) writes.push(write);
      records.push({
        ark,
        kind,
        change: !write ? "unchanged" : record ? "changed" : "created",
      });
    }
  }
  if (writes.length > 0)
    await deps.records.commit({
      by: caller.user,
      at: Date.now(),
      records: writes,
      within: deps.config.COMMIT_LIMIT,
    });
  return records;
}

const mayWrite = async (
  { records }: Deps,
  caller: Caller,
  owner: string,
  record: StoredRecord,
  kind: KindName,
): Promise<boolean> =>
  record.tombstone === null &&
  record.kind === kind &&
  ((record.owner !== null && sameArk(record.owner, owner)) ||
    (await mayChange(records, caller, record)));

function refusal(record: StoredRecord): ServiceError {
  if (record.tombstone) return gone(record);
  return new ServiceError(
    "FORBIDDEN",
    `The run is recorded as ${record.ark}, which you may not change: only its owner ` +
      `${record.owner ?? "(none)"} may. Send the event with the owner's token, or under another ` +
      "run id.",
  );
}

/** The write that makes the document the record's next state; none where it says the same. */
async function writeOf(
  deps: Deps,
  ark: string,
  kind: KindName,
  owner: string,
  record: StoredRecord | undefined,
  before: JsonObject | undefined,
  document: JsonObject,
): Promise<RecordWrite | undefined> {
  if (before && isDeepStrictEqual(before, document)) return undefined;
  const most = Math.max(deps.config.MAX_BODY_BYTES, record?.document.length ?? 0);
  if (documentBytes(document).length > most)
    throw new ServiceError(
      "TOO_LARGE",
      `The record ${ark} would be larger than ${most} bytes (MAX_BODY_BYTES): its events name ` +
        "too many datasets or fields.",
    );
  if (record) return revisionOf(deps, record, document);
  const write = await creationOf(deps, KINDS[kind], ark, document, { ownerBefore: owner });
  return { ...write, private: isPrivate(deps.config, kind, undefined) };
}
