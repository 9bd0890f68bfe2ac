/** The records that a request names: one, or many one after the other. */
import { invalid, ServiceError } from "../../errors.js";
import { type Ark, lookupArk } from "../../identifiers/ark.js";
import { type KindName, withArticle } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { RecordStore, StoredRecord } from "../../storage/records/port.js";
import { type Caller, mayChange } from "../access/rules.js";
import type { Deps } from "../deps.js";

interface Finds {
  records: Pick<RecordStore, "find">;
}

/**
 * The ARK that a request names, in any accepted spelling. REST and GraphQL parse it with this, once.
 * @throws ServiceError `NOT_FOUND`
 */
export function askedArk(id: string): Ark {
  const ark = lookupArk(id);
  if (ark) return ark;
  throw new ServiceError(
    "NOT_FOUND",
    `${id.trim() === "" ? "An empty identifier" : quote(id)} is not an ARK: ` +
      "identifiers have the form ark:NAAN/name, NAAN being five digits or more.",
  );
}

/** `NOT_FOUND` for a well-formed identifier that nothing is stored under. */
export class NothingStored extends ServiceError {
  constructor(message: string) {
    super("NOT_FOUND", message);
  }
}

/** The result, or null where nothing is stored under the identifier. */
export async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof NothingStored) return null;
    throw error;
  }
}

/**
 * The record of an identifier; tombstones included.
 * @throws NothingStored; ServiceError `AMBIGUOUS`
 */
export async function findRecord({ records }: Finds, ark: Ark): Promise<StoredRecord> {
  const found = await records.find(ark);
  if (!found) throw new NothingStored(`Nothing is stored under ${quote(ark.stored)}.`);
  if ("ambiguous" in found) {
    throw new ServiceError(
      "AMBIGUOUS",
      `Several identifiers differ from ${quote(ark.stored)} in hyphens only: ask for one of ` +
        `${found.ambiguous.join(", ")}.`,
      { candidates: found.ambiguous },
    );
  }
  return found.record;
}

/**
 * The identifiers that an ARK may stand for: that of the record stored under it, several where
 * records differ in hyphens only, or none.
 */
export async function storedUnder({ records }: Finds, ark: Ark): Promise<readonly string[]> {
  const found = await records.find(ark);
  if (!found) return [];
  return "ambiguous" in found ? found.ambiguous : [found.record.ark];
}

/**
 * As {@link findRecord}; the record is alive and, if the caller names a kind, of that kind.
 * @throws ServiceError also `GONE`; `NOT_FOUND` naming the right path
 */
export async function findLive(deps: Finds, ark: Ark, kind?: KindName): Promise<StoredRecord> {
  const record = await findRecord(deps, ark);
  assertKind(record, kind);
  if (record.tombstone) throw gone(record);
  return record;
}

/**
 * The same with the record's history: a deleted record only for callers who may change it, who may
 * read its past.
 * @throws as {@link findLive}
 */
export async function findPast(
  deps: Deps,
  ark: Ark,
  caller: Caller | null,
  kind?: KindName,
): Promise<StoredRecord> {
  const record = await findRecord(deps, ark);
  assertKind(record, kind);
  if (record.tombstone && !(await mayChange(deps.records, caller, record))) throw gone(record);
  return record;
}

/** @throws ServiceError `NOT_FOUND` naming the right path */
export function assertKind(record: StoredRecord, kind: KindName | undefined): void {
  if (kind !== undefined && record.kind !== kind)
    throw new ServiceError(
      "NOT_FOUND",
      `${record.ark} is ${describe(record.kind)}: ask for ${pathOf(record)}.`,
    );
}

export function describe(kind: KindName): string {
  return withArticle(KINDS[kind].typeName);
}

/** Path of a record by its kind. */
export function pathOf(record: { kind: KindName; ark: string }): string {
  const { path } = KINDS[record.kind];
  return path === null ? `/${record.ark}` : `/${path}/${record.ark}`;
}

/** `GONE`, with the record that was deleted. */
export class RecordGone extends ServiceError {
  /** @param ark the stored identifier, however it was asked for */
  constructor(
    readonly ark: string,
    message: string,
    extra: Readonly<Record<string, unknown>>,
  ) {
    super("GONE", message, extra);
  }
}

export function gone(record: StoredRecord): RecordGone {
  const { by, reason, successor } = record.tombstone!;
  const members = tombstoneMembers(record);
  const when = members.deletedAt;
  const sentence =
    `${record.ark} was deleted on ${when}${by ? ` by ${by}` : ""}${reason ? `: ${reason}` : ""}.` +
    (successor ? ` Its successor is ${successor}.` : "");
  return new RecordGone(record.ark, sentence, members);
}

/** What anyone may know of a deleted record. */
export function tombstoneMembers(record: StoredRecord): {
  deletedAt: string;
  deletedBy: string | null;
  reason?: string;
  successor?: string;
} {
  const { at, by, reason, successor } = record.tombstone!;
  return {
    deletedAt: new Date(at).toISOString(),
    deletedBy: by,
    ...(reason ? { reason } : {}),
    ...(successor ? { successor } : {}),
  };
}

const quote = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** What became of one record of a list. */
export interface BulkResult {
  /** The identifier as the caller wrote it. */
  id: string;
  done: boolean;
  /** Why it was left unchanged; null where it was not. */
  code: string | null;
  message: string | null;
}

/**
 * Does the same with many records, one after the other, each in a commit of its own. A record that
 * is refused does not prevent the others; each has its own result, in the order of the list.
 * @throws ValidationError for a list that is too long, or names an identifier twice
 */
export async function forEachRecord(
  { config, log }: Pick<Deps, "config" | "log">,
  ids: readonly string[],
  work: (id: string) => Promise<unknown>,
): Promise<BulkResult[]> {
  const { MAX_BULK_RECORDS: most } = config;
  if (ids.length > most)
    throw invalid(
      ["body", "ids"],
      `List should have at most ${most} items, not ${ids.length} (MAX_BULK_RECORDS)`,
      "too_long",
      { max_length: most },
    );
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined)
    throw invalid(
      ["body", "ids", ids.lastIndexOf(twice)],
      "Value error, the identifier occurs twice: name it once",
    );
  const results: BulkResult[] = [];
  for (const id of ids) {
    try {
      await work(id);
      results.push({ id, done: true, code: null, message: null });
    } catch (error) {
      if (!(error instanceof ServiceError))
        log.error({ err: error, record: id.slice(0, 200) }, "a record of a list was not changed");
      const known = error instanceof ServiceError;
      results.push({
        id,
        done: false,
        code: known ? error.code : "INTERNAL",
        message: known ? error.message : "Internal error of the service; its log has the details.",
      });
    }
  }
  return results;
}
