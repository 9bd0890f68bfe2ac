import { ServiceError } from "../../errors.js";
import { instantOf } from "../../model/dates.js";
import type { PublicationStatus, KindName } from "../../model/kind.js";
import type {
  ChangeLogPage,
  ChangedRecord,
  ChangedText,
  ClosedMember,
  DanglingLink,
  Embargo,
  FileReference,
  LogPosition,
  Page,
  StoredRecord,
} from "./port.js";
import type { AddressPage } from "./port/selection.js";
import { writePlace } from "./vectors.js";

/** Columns of a stored record, for `record AS r JOIN state AS s ON s.id = r.state`. */
export const RECORD_COLUMNS =
  `r.ark, r.key, r.kind, r.name, r.owner, r.revision, r.created_at, r.modified_at, r.status, ` +
  `r.embargoed_until,
  r.crate, r.newest_backlink, s.document, r.deleted_at, r.deleted_by, r.delete_reason, ` +
  `r.successor, r.private`;
export type RecordRow = [
  ark: string,
  key: string,
  kind: string,
  name: string | null,
  owner: string | null,
  revision: number,
  createdAt: number,
  modifiedAt: number,
  status: string,
  embargoedUntil: string | null,
  crate: string | null,
  newestBacklink: number,
  document: Uint8Array,
  deletedAt: number | null,
  deletedBy: string | null,
  reason: string | null,
  successor: string | null,
  isPrivate: number,
];

/** The embargo of a record has ended. */
const hasEnded = (status: string, until: string | null): boolean =>
  status === "EMBARGOED" && until !== null && (instantOf(until) ?? Infinity) <= Date.now();

export type EmbargoRow = [
  id: number,
  ark: string,
  revision: number,
  until: string,
  crate: string | null,
];

export function embargoPage(rows: readonly EmbargoRow[], limit: number): Page<Embargo> {
  const items = rows.map(([, ark, revision, until, crate]) => ({ ark, revision, until, crate }));
  const last = rows.at(-1);
  return !last || rows.length < limit ? { items } : { items, next: String(last[0]) };
}

/**
 * A row of {@link RECORD_COLUMNS} as the port returns it. A record whose embargo has ended is
 * PUBLISHED before upkeep stores it; one that came with a crate only when its crate is.
 */
export function recordOf(row: RecordRow): StoredRecord {
  const at = row[13];
  const ended = row[10] === null && hasEnded(row[8], row[9]);
  return {
    ark: row[0],
    key: row[1],
    kind: row[2] as KindName,
    name: row[3],
    owner: row[4],
    revision: row[5],
    createdAt: row[6],
    modifiedAt: row[7],
    publicationStatus: ended ? "PUBLISHED" : (row[8] as PublicationStatus),
    embargoedUntil: ended ? null : row[9],
    private: row[17] === 1,
    crate: row[10],
    newestBacklink: row[11],
    document: row[12],
    tombstone: at === null ? null : { at, by: row[14], reason: row[15], successor: row[16] },
    archived: at === null && row[8] === "ARCHIVED" ? { reason: row[15], successor: row[16] } : null,
  };
}

/**
 * Columns of an entry of the change log, for `change_log AS c JOIN record AS r`. Only a DRAFT is
 * asked for its past: only an act of publication sets a status.
 */
export const CHANGE_COLUMNS =
  "c.sequence, c.record, r.ark, r.key, r.kind, r.owner, r.revision, r.modified_at, r.status, " +
  "r.crate, r.deleted_at, r.deleted_by, r.delete_reason, r.successor, r.private, CASE WHEN r.status = 'DRAFT' " +
  "AND EXISTS (SELECT 1 FROM revision AS v WHERE v.record = r.id AND v.action = 'publish') " +
  "THEN 1 ELSE 0 END";
export type ChangeRow = [
  sequence: number,
  record: number,
  ark: string,
  key: string,
  kind: string,
  owner: string | null,
  revision: number,
  modifiedAt: number,
  status: string,
  crate: string | null,
  deletedAt: number | null,
  deletedBy: string | null,
  reason: string | null,
  successor: string | null,
  isPrivate: number,
  withdrawn: number,
];

/** A page of {@link CHANGE_COLUMNS} as the port returns it. @param rows one more than `limit` */
export function changeLogPage(
  rows: readonly ChangeRow[],
  after: LogPosition,
  limit: number,
): ChangeLogPage {
  const page = rows.slice(0, limit);
  const following = rows[limit];
  const last = page.at(-1);
  const position = last ? { sequence: last[0], record: last[1] } : after;
  // Commits enter the log whole: the last commit of the page goes on only in the following entry.
  const isCut = following !== undefined && following[0] === position.sequence;
  return {
    changes: page.map(changeOf),
    position,
    complete: isCut ? position.sequence - 1 : position.sequence,
    more: following !== undefined,
  };
}

const changeOf = (row: ChangeRow): ChangedRecord => ({
  sequence: row[0],
  ark: row[2],
  key: row[3],
  kind: row[4] as KindName,
  owner: row[5],
  revision: row[6],
  modifiedAt: row[7],
  publicationStatus: row[8] as PublicationStatus,
  crate: row[9],
  tombstone:
    row[10] === null ? null : { at: row[10], by: row[11], reason: row[12], successor: row[13] },
  private: row[14] === 1,
  withdrawn: row[15] === 1,
});

/** @throws ServiceError `BAD_REQUEST`: a position that the list did not return */
export function badPosition(): never {
  throw refused();
}
const refused = (): ServiceError =>
  new ServiceError("BAD_REQUEST", "The cursor is not from this list; start again without it.");
const NUMBER = /^\d{1,15}$/;

/** A page with positions, from `limit + 1` rows that begin with their number. */
export function numberedPage<R extends readonly [number: number, ...unknown[]], Item>(
  rows: readonly R[],
  limit: number,
  itemOf: (row: R) => Item,
): { items: Item[]; positions: string[]; next?: string } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(itemOf),
    positions: page.map(([number]) => String(number)),
    ...(last && rows.length > limit ? { next: String(last[0]) } : {}),
  };
}

/**
 * A position that is one whole number.
 * @throws ServiceError `BAD_REQUEST`
 */
export function readNumber(text: string): number {
  if (!NUMBER.test(text)) throw refused();
  return Number(text);
}

/**
 * A position made of two whole numbers, e.g. `17.4`.
 * @throws ServiceError `BAD_REQUEST`
 */
export function readNumberPair(text: string): [number, number] {
  const [first = "", second = "", ...more] = text.split(".");
  if (more.length > 0) throw refused();
  return [readNumber(first), readNumber(second)];
}

/**
 * A position made of whole numbers, e.g. `17` or `17.4.0`.
 * @throws ServiceError `BAD_REQUEST` when `text` is not one of `count` numbers
 */
export function readNumbers(text: string, count: number): number[] {
  const parts = text.split(".");
  if (parts.length !== count) throw refused();
  return parts.map(readNumber);
}

/**
 * A link of a crate's record: both by number, the link itself, and whether a live record and any
 * record have its target.
 */
export type CrateLinkRow = [
  record: number,
  position: number,
  source: string,
  kind: string,
  predicate: string,
  target: string,
  targetKey: string,
  isLive: number,
  isKnown: number,
];

/** Records whose links are read at once: more have more links than one page examines. */
export const LINKING = 200;

/**
 * The page of {@link import("./port.js").CrateBookkeeping.danglingLinks}.
 * @param ids records whose links were read, at most {@link LINKING}
 * @param rows at most `limit` of their links
 */
export function danglingPage(
  ids: readonly number[],
  rows: readonly CrateLinkRow[],
  limit: number,
): Page<DanglingLink> {
  const items = rows
    .filter(([, , , , , , , isLive]) => isLive === 0)
    .map(
      ([
        record,
        position,
        source,
        kind,
        predicate,
        target,
        targetKey,
        ,
        isKnown,
      ]): DanglingLink => ({
        source,
        sourceKind: kind as KindName,
        // Where to go on: with the link behind it.
        position: `${record}.${position + 1}`,
        predicate,
        target,
        targetKey,
        deleted: isKnown === 1,
      }),
    );
  const last = rows.at(-1);
  if (last && rows.length === limit) return { items, next: `${last[0]}.${last[1] + 1}` };
  const lastId = ids.at(-1);
  return lastId === undefined || ids.length < LINKING
    ? { items }
    : { items, next: `${lastId + 1}.0` };
}

/** A row of a crate's files: record and object by number, the record's ARK, and the reference. */
export type FileRow = [
  record: number,
  object: number,
  ark: string,
  sha256: string,
  size: number,
  mediaType: string,
  name: string,
  role: string,
];

/** The page of {@link import("./port.js").ObjectBookkeeping.filesOf} from `limit + 1` rows. */
export function filePage(rows: readonly FileRow[], limit: number): Page<FileReference> {
  const items = rows
    .slice(0, limit)
    .map(([record, object, ark, sha256, size, mediaType, name, role]) => ({
      ark,
      sha256,
      size,
      mediaType,
      name,
      role: role as FileReference["role"],
      position: `${record}.${object}`,
    }));
  return rows.length > limit ? { items, next: items.at(-1)?.position ?? "0.0" } : { items };
}

export type AddressRow = [id: number, ark: string, modifiedAt: number];

/** The page of `addresses` from `limit + 1` rows. */
export function addressPage(rows: readonly AddressRow[], limit: number): AddressPage {
  const page = rows.slice(0, limit);
  const items = page.map(([, ark, modifiedAt]) => ({ ark, modifiedAt }));
  const last = page.at(-1);
  return last && rows.length > limit ? { items, next: last[0] } : { items };
}

/**
 * A link of a record as it is stored, at its position; `via` stands for predicate and kind of the
 * source.
 */
export interface StatedLink {
  via: number;
  target: string;
  targetKey: string;
  /** Of the commit that first stated it. */ sequence: number;
}

/**
 * The links that a record states from now on, each with its age: a link that was stated before
 * keeps its age, a new one is of commit `sequence`. A link may be stated twice.
 *
 * @param touch called with the target's key of every new link, and of every dropped one
 */
export function restate(
  before: readonly StatedLink[],
  now: readonly Omit<StatedLink, "sequence">[],
  sequence: number,
  touch: (targetKey: string) => void,
): StatedLink[] {
  const ages = new Map<string, { targetKey: string; sequences: number[] }>();
  const sayingOf = ({ via, target, targetKey }: Omit<StatedLink, "sequence">): string =>
    `${via} ${target} ${targetKey}`;
  for (const link of before) {
    const same = ages.get(sayingOf(link));
    if (same) same.sequences.push(link.sequence);
    else ages.set(sayingOf(link), { targetKey: link.targetKey, sequences: [link.sequence] });
  }
  const stated = now.map((link) => {
    const age = before.length === 0 ? undefined : ages.get(sayingOf(link))?.sequences.shift();
    const { via, target, targetKey } = link;
    if (age === undefined) touch(targetKey);
    return { via, target, targetKey, sequence: age ?? sequence };
  });
  for (const { targetKey, sequences } of ages.values()) if (sequences.length > 0) touch(targetKey);
  return stated;
}

export type ChangedRow = [
  sequence: number,
  record: number,
  ark: string,
  name: string | null,
  keywords: string | null,
  description: string | null,
  digest: Uint8Array | null,
];

/** A page of texts whose vectors are to be made, and the place where the next begins. */
export function changedTexts(rows: readonly ChangedRow[]): {
  texts: ChangedText[];
  to: string | undefined;
} {
  const last = rows.at(-1);
  return {
    texts: rows.map(changedText),
    to: last && writePlace({ sequence: last[0], record: last[1] }),
  };
}

const changedText = ([, , ark, name, keywords, description, digest]: ChangedRow): ChangedText => ({
  ark,
  text: name === null ? null : { name, keywords: keywords ?? "", description: description ?? "" },
  digest,
});

export type ClosedRow = [
  ark: string,
  kind: string,
  owner: string | null,
  status: string,
  embargoedUntil: string | null,
  crate: string | null,
  isPrivate: number,
];

/** @param ids of the members that were examined, of which `rows` are closed */
export function closedPage(
  ids: readonly number[],
  rows: readonly ClosedRow[],
  limit: number,
): Page<ClosedMember> {
  const items = rows.map(([ark, kind, owner, status, embargoedUntil, crate, isPrivate]) => ({
    ark,
    kind: kind as KindName,
    owner,
    publicationStatus: status as PublicationStatus,
    embargoedUntil,
    crate,
    private: isPrivate === 1,
  }));
  return ids.length < limit ? { items } : { items, next: String(ids.at(-1)) };
}
