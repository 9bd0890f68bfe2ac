import { invalid, ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { stepName } from "../../model/json/pointer.js";
import { isPublicName, type KindName, publicView } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { Revision, StoredRecord } from "../../storage/records/port.js";
import { type Caller, mayChange } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { type QueryStrings, wholeNumber } from "../query-parameters.js";
import { findPast } from "./find.js";
import { forgetIn, recordWithoutForgotten } from "./forgotten.js";
import { changedBetween } from "./state.js";
import { documentBytes, parseDocument, type RecordView, seesPrivate } from "./view.js";
import { ownValue } from "../../own.js";

/** Whether the caller may change the record: a write would not be refused for its owner. */
export const isChangeable = (
  { records }: Pick<Deps, "records">,
  record: StoredRecord,
  caller: Caller | null,
): Promise<boolean> => mayChange(records, caller, record);

/**
 * An earlier state. Only the owner and administrators may read those of a deleted record.
 * @throws ServiceError `NOT_FOUND`, `GONE`
 */
export async function readRevision(
  deps: Deps,
  ark: Ark,
  revision: number,
  caller: Caller | null,
  kind?: KindName,
): Promise<RecordView> {
  const found = await findPast(deps, ark, caller, kind);
  const record = await recordWithoutForgotten(deps, found);
  const state = await deps.records.atRevision(record.ark, revision);
  if (!state)
    throw new ServiceError(
      "NOT_FOUND",
      `${record.ark} has no revision ${revision}: it has 1 to ${record.revision}.`,
      { revision: record.revision },
    );
  const whole = parseDocument(state.document);
  const document = await forgetIn(deps, record, whole);
  const shown: JsonObject = seesPrivate(record, caller)
    ? document
    : publicView(KINDS[record.kind], document);
  return {
    record,
    bytes: documentBytes(shown),
    etag: `"${revision}-r${shown === whole ? "" : shown === document ? "f" : "v"}"`,
    ...(revision === record.revision && !record.tombstone && document === whole
      ? {}
      : { past: document }),
  };
}

/** A member of a document that differs between two revisions. */
export interface Difference {
  /** JSON pointer (RFC 6901) of the member. */ pointer: string;
  kind: "ADDED" | "REMOVED" | "CHANGED";
  /** Its value in the earlier revision; absent where it was added. */ before?: JsonValue;
  /** Its value in the later revision; absent where it was removed. */ after?: JsonValue;
}

/**
 * What differs between two states of a record, member by member, as the caller sees them.
 * @throws as {@link readRevision}
 */
export async function differencesBetween(
  deps: Deps,
  ark: Ark,
  [from, to]: readonly [from: number, to: number],
  caller: Caller | null,
): Promise<Difference[]> {
  const older = await readRevision(deps, ark, from, caller);
  const newer = await readRevision(deps, ark, to, caller);
  const pointers = await changedBetween(deps, older.bytes, newer.bytes);
  if (pointers.length === 0) return [];
  return differencesAt(pointers, parseDocument(older.bytes), parseDocument(newer.bytes));
}

/** The values of two documents at the members that these pointers name. */
export function differencesAt(
  pointers: readonly string[],
  before: JsonObject,
  after: JsonObject,
): Difference[] {
  return pointers.map((pointer) => {
    const name = nameOf(pointer);
    const [was, is] = [ownValue(before, name), ownValue(after, name)];
    return {
      pointer,
      kind: was === undefined ? "ADDED" : is === undefined ? "REMOVED" : "CHANGED",
      ...(was === undefined ? {} : { before: was }),
      ...(is === undefined ? {} : { after: is }),
    };
  });
}

/** `revision=N` of a query string. @throws ValidationError */
export function revisionParameter(raw: string): number {
  if (!/^[1-9]\d{0,8}$/.test(raw))
    throw invalid(
      ["query", "revision"],
      "Input should be a valid integer, unable to parse string as an integer",
      "int_parsing",
    );
  return Number(raw);
}

/** Most revisions of one answer; also the default limit. */
const MAX_REVISIONS = 1000;

export interface HistoryPage {
  /** Revisions older than this one. */ before?: number;
  limit: number;
}
export interface History {
  record: StoredRecord;
  revisions: Revision[];
  /** `before` of the next page. */ next?: number;
}

/**
 * States of a record, newest first. Only callers who may change a deleted record may read its
 * states.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`
 */
export async function readHistory(
  deps: Deps,
  ark: Ark,
  page: HistoryPage,
  caller: Caller | null,
  kind?: KindName,
): Promise<History> {
  const record = await findPast(deps, ark, caller, kind);
  const revisions = await historyOf(deps, record, page, caller);
  const last = revisions.at(-1);
  return {
    record,
    revisions,
    ...(revisions.length === page.limit && last && last.revision > 1
      ? { next: last.revision }
      : {}),
  };
}

/**
 * The same for a record that was found already. Only callers who see private fields see their
 * names.
 */
export async function historyOf(
  deps: Deps,
  record: StoredRecord,
  page: HistoryPage,
  caller: Caller | null,
): Promise<Revision[]> {
  const revisions = await deps.records.history(record.ark, page);
  if (!KINDS[record.kind].closed || seesPrivate(record, caller)) return revisions;
  return revisions.map((revision) => ({
    ...revision,
    changed: revision.changed.filter((pointer) =>
      isPublicName(KINDS[record.kind], nameOf(pointer)),
    ),
  }));
}

const nameOf = (pointer: string): string => stepName(pointer.slice(1).replace(/\/.*/s, ""));

/** The history as clients read it. */
export function historyView({ record, revisions }: History): {
  "@id": string;
  revisions: object[];
} {
  return {
    "@id": record.ark,
    revisions: revisions.map(({ revision, at, by, action, changed }) => ({
      revision,
      at: new Date(at).toISOString(),
      by,
      action,
      changed,
    })),
  };
}

/** `before` and `limit` of a query string. @throws ValidationError with all that is wrong */
export function historyParameters(query: QueryStrings): HistoryPage {
  const problems: ValidationItem[] = [];
  const read = (name: string, most: number): number | undefined => {
    const raw = query[name];
    return raw === undefined ? undefined : wholeNumber(problems, name, raw, { least: 1, most });
  };
  const before = read("before", 999_999_999);
  const limit = read("limit", MAX_REVISIONS) ?? MAX_REVISIONS;
  if (problems.length > 0) throw new ValidationError(problems);
  return { limit, ...(before === undefined ? {} : { before }) };
}
