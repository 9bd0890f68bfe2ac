import { eventLoop, MAX_BYTES_PER_TURN } from "../../event-loop-budget.js";
import { invalid } from "../../errors.js";
import { arkKey, referencedArk, sameArk } from "../../identifiers/ark.js";
import { type Backlink, type JsonObject, type JsonValue, listOf } from "../../model/field.js";
import { type Kind, type KindName, publicView } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { StoredRecord, Viewer } from "../../storage/records/port.js";
import { damaged } from "../../storage/records/refusals.js";
import type { Caller } from "../access/rules.js";
import { NOBODY } from "../../storage/records/visibility.js";
import type { Deps } from "../deps.js";
import { isShortened, withoutForgotten } from "./forgotten.js";
import { pairs } from "../../pairs.js";

/** A record as one caller sees it. */
export interface RecordView {
  record: StoredRecord;
  /** The document with derived entries, UTF-8 JSON. */
  bytes: Uint8Array;
  /** Revision and newest back-link, in quotes. */
  etag: string;
  /**
   * Set when there are more derived entries than BACKLINK_LIMIT: the next position, by field;
   * {@link writeBacklinkCursor} prints it.
   */
  next?: BacklinkPositions;
  /**
   * The whole document, where it differs from the graph: that of an earlier revision, or without
   * parts that were deleted elsewhere.
   */
  past?: JsonObject;
}

/** Positions in the derived lists that are not complete yet, by field name. */
type BacklinkPositions = Readonly<Record<string, string>>;

export const writeBacklinkCursor = (positions: BacklinkPositions): string =>
  Buffer.from(JSON.stringify(positions)).toString("base64url");

/** @throws ValidationError for a text that {@link writeBacklinkCursor} did not write */
export function readBacklinkCursor(text: string): BacklinkPositions {
  try {
    const positions: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (
      positions !== null &&
      typeof positions === "object" &&
      !Array.isArray(positions) &&
      Object.values(positions).every((position) => typeof position === "string")
    )
      return positions as BacklinkPositions;
  } catch {
    // Reported below.
  }
  throw invalid(
    ["query", "backlinks"],
    "Value error, not a cursor of this service: take it from the Link header of the " +
      "previous answer",
  );
}

const decoder = new TextDecoder("utf-8", { fatal: true });
/** @throws ServiceError `STORE_DAMAGED` when the bytes are not a document */
export function parseDocument(bytes: Uint8Array): JsonObject {
  try {
    return JSON.parse(decoder.decode(bytes)) as JsonObject;
  } catch (error) {
    throw damaged(`a document is not JSON (${(error as Error).message.slice(0, 80)})`);
  }
}
const encoder = new TextEncoder();
/**
 * In a separate buffer, which is transferred to other threads without copying it out of a larger
 * one.
 */
export const documentBytes = (document: JsonObject): Uint8Array =>
  encoder.encode(JSON.stringify(document));

const derivedFields = Object.fromEntries(
  Object.values(KINDS).map(({ name, fields }) => [
    name,
    Object.entries(fields).flatMap(([field, { backlink }]) =>
      backlink ? [{ field, backlink }] : [],
    ),
  ]),
) as Record<KindName, { field: string; backlink: Backlink }[]>;

/** The user itself and administrators see account fields. */
export const seesPrivate = (record: StoredRecord, caller: Caller | null): boolean =>
  caller !== null && (caller.admin || sameArk(caller.user, record.ark));

/** One record; the stored bytes themselves where nothing is derived or hidden. */
export async function viewOf(
  deps: Deps,
  record: StoredRecord,
  caller: Caller | null,
  after?: BacklinkPositions,
): Promise<RecordView> {
  return plainView(record) ?? (await viewsOf(deps, [record], caller, after))[0]!;
}

/** A record of which every caller sees the stored bytes; undefined where it may be another. */
export function plainView(record: StoredRecord): RecordView | undefined {
  return isPlain(record) && record.kind !== "evidencegraph"
    ? { record, bytes: record.document, etag: etagOf(record) }
    : undefined;
}

/** True when the stored bytes are the answer for every caller. */
export function isPlain(record: StoredRecord): boolean {
  return (
    !KINDS[record.kind].closed &&
    (record.newestBacklink === 0 || derivedFields[record.kind].length === 0)
  );
}

export function etagOf(record: StoredRecord, variant = ""): string {
  return `"${record.revision}-${record.newestBacklink}${variant}"`;
}

/** A page of records: one read per derived field returns the back-links of all of them. */
export async function viewsOf(
  deps: Deps,
  stored: readonly StoredRecord[],
  caller: Caller | null,
  after?: BacklinkPositions,
): Promise<RecordView[]> {
  const records = await withoutForgotten(deps, stored);
  const views = new Map<StoredRecord, RecordView>();
  for (const record of records) if (isPlain(record)) views.set(record, storedView(record));
  const others = records.filter((record) => !views.has(record));
  for (const name of new Set(others.map(({ kind }) => kind))) {
    const ofKind = others.filter(({ kind }) => kind === name);
    for (const view of await derivedViews(deps, KINDS[name], ofKind, caller, after))
      views.set(view.record, view);
  }
  return records.flatMap((record) => views.get(record) ?? []);
}

const storedView = (record: StoredRecord): RecordView => ({
  record,
  bytes: record.document,
  ...(isShortened(record)
    ? { etag: etagOf(record, "f"), past: parseDocument(record.document) }
    : { etag: etagOf(record) }),
});

/** Records of one kind with derived entries, and without what the caller may not see. */
async function derivedViews(
  deps: Deps,
  kind: Kind,
  records: readonly StoredRecord[],
  caller: Caller | null,
  after: BacklinkPositions | undefined,
): Promise<RecordView[]> {
  const drafts: ViewDraft[] = [];
  let parsed = 0;
  for (const record of records) {
    drafts.push({ record, document: parseDocument(record.document) });
    if ((parsed += record.document.length) < MAX_BYTES_PER_TURN) continue;
    parsed = 0;
    await eventLoop.nextTurn();
  }
  await addBacklinks(deps, kind, drafts, after);
  const views: RecordView[] = [];
  for (const { record, document, next } of drafts) {
    await eventLoop.turnFor(record.document.length);
    const isWhole = kind.closed === true && seesPrivate(record, caller);
    views.push({
      record,
      bytes: documentBytes(isWhole ? document : publicView(kind, document)),
      etag: etagOf(record, isWhole ? "p" : ""),
      ...(next ? { next } : {}),
    });
  }
  return views;
}

/** A record while derived entries are added to its document. */
interface ViewDraft {
  record: StoredRecord;
  document: JsonObject;
  /** Positions of truncated lists. */
  next?: Record<string, string>;
}

/**
 * Adds derived entries after the client's statements, without duplicates. Of an open record they are
 * the same for everybody, and private records add none: its ETag says nothing of them.
 * @param after continues there: lists that were complete are left empty
 */
async function addBacklinks(
  deps: Deps,
  kind: Kind,
  drafts: readonly ViewDraft[],
  after?: BacklinkPositions,
): Promise<void> {
  const [open, hidden] = [false, true].map((isPrivate) =>
    drafts.filter(({ record }) => record.private === isPrivate),
  ) as [ViewDraft[], ViewDraft[]];
  if (open.length > 0) await addLinksOf(deps, kind, open, { viewer: NOBODY }, after);
  if (hidden.length > 0) await addLinksOf(deps, kind, hidden, {}, after);
}

async function addLinksOf(
  deps: Deps,
  kind: Kind,
  drafts: readonly ViewDraft[],
  asker: { viewer?: Viewer },
  after?: BacklinkPositions,
): Promise<void> {
  const keys = drafts.map(({ record }) => record.key);
  for (const { field: name, backlink } of derivedFields[kind.name]) {
    const kinds = (
      typeof backlink.kind === "string" ? [backlink.kind] : backlink.kind
    ) as KindName[];
    const position = after && (Object.hasOwn(after, name) ? after[name] : null);
    if (position === null) {
      for (const { document } of drafts) if (Array.isArray(document[name])) document[name] = [];
      continue;
    }
    const pages = await deps.records.linksTo(keys, {
      predicates: backlink.via,
      kinds,
      limit: deps.config.BACKLINK_LIMIT,
      ...asker,
      ...(position === undefined ? {} : { after: position }),
    });
    for (const [draft, page] of pairs(drafts, pages)) {
      // To read the links of a page and to add them may take some ten ms each.
      await eventLoop.pause();
      const { document } = draft;
      if (page.next !== undefined) (draft.next ??= {})[name] = page.next;
      const stated = document[name] ?? [];
      if (!Array.isArray(stated)) continue;
      const seen = entryKeys(stated);
      const derived: JsonValue[] = [];
      for (const link of page.items) {
        const key = arkKey(link.source);
        if (seen.has(key)) continue;
        seen.add(key);
        derived.push(link.source);
      }
      if (derived.length > 0 || after) document[name] = [...(after ? [] : stated), ...derived];
    }
  }
}

/** Entries of a list are the same with equal keys: an identifier in any spelling. */
export function entryKey(entry: JsonValue | undefined): string {
  const ark = typeof entry === "string" ? referencedArk(entry) : undefined;
  return ark?.key ?? JSON.stringify(entry);
}

const entryKeys = (value: JsonValue | undefined): Set<string> =>
  new Set(Array.isArray(value) ? value.map(entryKey) : []);

/**
 * A document that a client sends without the derived entries, which it may send back as it read
 * them: they are not its own statements.
 * @param seen the record as it was read for this write; absent: it is read here
 */
export async function withoutDerived(
  deps: Deps,
  record: StoredRecord,
  document: JsonObject,
  seen?: JsonObject,
): Promise<JsonObject> {
  const fields = derivedFields[record.kind].filter(({ field }) => Array.isArray(document[field]));
  if (fields.length === 0 || record.newestBacklink === 0) return document;
  const stored = parseDocument(record.document);
  const shown = seen ?? (await withEverything(deps, record));
  const own = { ...document };
  for (const { field: name } of fields) {
    const sent = listOf(document[name]);
    const before = entryKeys(stored[name]);
    const derived = entryKeys(shown[name]);
    const left = sent.filter((entry) => {
      const key = entryKey(entry);
      return before.has(key) || !derived.has(key);
    });
    // Only derived entries came back: the stored statement (null, for example) remains.
    const isUntouched = left.length === 0 && left.length < sent.length && before.size === 0;
    own[name] = isUntouched ? (stored[name] === undefined ? left : stored[name]) : left;
  }
  return own;
}

/** The record with derived entries and what only its account sees. */
async function withEverything(deps: Deps, record: StoredRecord): Promise<JsonObject> {
  return parseDocument((await viewOf(deps, record, { user: record.ark, admin: true })).bytes);
}
