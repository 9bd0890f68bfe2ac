/** Which records use which stored bytes, and which crates use which records. */
import { arkKey } from "../../../identifiers/ark.js";
import type {
  ClosedMember,
  CrateBookkeeping,
  CrateUses as StatedUses,
  DanglingLink,
  Embargo,
  FileReference,
  ObjectBookkeeping,
  ObjectReference,
  Page,
  Viewer,
} from "../port.js";
import {
  type ClosedRow,
  closedPage,
  type CrateLinkRow,
  danglingPage,
  embargoPage,
  type EmbargoRow,
  type FileRow,
  filePage,
  LINKING,
  readNumberPair,
} from "../rows.js";
import { type Statement, type Statements, statement, type Value } from "../statements.js";
import { isStorableText } from "../text.js";
import { viewerKey } from "../visibility.js";

export type ReferenceRow = [
  sha256: string,
  size: number,
  mediaType: string,
  name: string,
  role: string,
];

/** `$1` is the key of a record and `$2` its identifier, or a crate's. */
export interface ObjectSql {
  /** Of role `$3` and name `$4`; null: of any. */
  readonly current: Statement<ReferenceRow>;
  /** The same in revision `$5`. */
  readonly atRevision: Statement<ReferenceRow>;
  /** Of at least `$5` bytes, behind object `$4` of record `$3`; at most `$6`, as `$7` sees them. */
  readonly files: Statement<FileRow>;
  /** More than 0 where there were objects of role `$3` and none is left. */
  readonly deleted: Statement<[number | null]>;
  /** Hashes behind `$1`, at most `$2`. */
  readonly referenced: Statement<[sha256: string]>;
}

export class Objects {
  readonly #statements: Statements;
  readonly #sql: ObjectSql;

  constructor(statements: Statements, sql: ObjectSql) {
    this.#statements = statements;
    this.#sql = sql;
  }

  async objectsOf(
    ark: string,
    { role, name, revision }: Parameters<ObjectBookkeeping["objectsOf"]>[1] = {},
  ): Promise<ObjectReference[]> {
    if (!isStorableText(ark) || (name !== undefined && !isStorableText(name))) return [];
    const asked = [arkKey(ark), ark, role ?? null, name ?? null];
    const rows = await (revision === undefined
      ? this.#statements.query(this.#sql.current, asked)
      : this.#statements.query(this.#sql.atRevision, [...asked, revision]));
    return rows.map(([sha256, size, mediaType, called, is]) => ({
      sha256,
      size,
      mediaType,
      name: called,
      role: is as ObjectReference["role"],
    }));
  }

  async filesOf(
    crate: string,
    { after = "0.0", limit, minSize = 0, viewer }: Parameters<ObjectBookkeeping["filesOf"]>[1],
  ): Promise<Page<FileReference>> {
    if (!isStorableText(crate)) return { items: [] };
    const asked = [arkKey(crate), crate, ...readNumberPair(after), minSize];
    const values = [...asked, limit + 1, viewerKey(viewer)];
    return filePage(await this.#statements.query(this.#sql.files, values), limit);
  }

  async contentWasDeleted(
    ark: string,
    role: ObjectReference["role"] = "content",
  ): Promise<boolean> {
    if (!isStorableText(ark)) return false;
    const row = await this.#statements.first(this.#sql.deleted, [arkKey(ark), ark, role]);
    return (row?.[0] ?? 0) > 0;
  }

  async referenced({
    after = "",
    limit,
  }: Parameters<ObjectBookkeeping["referenced"]>[0]): Promise<{ items: string[]; next?: string }> {
    const from = isStorableText(after) ? after : "";
    const rows = await this.#statements.query(this.#sql.referenced, [from, limit + 1]);
    const items = rows.slice(0, limit).map(([sha256]) => sha256);
    const next = items.at(-1);
    return next !== undefined && rows.length > limit ? { items, next } : { items };
  }
}

export interface CrateUseSql {
  /** Of crate `$1`, as viewer `$2` sees them. */
  readonly of: Statement<[ark: string]>;
  /** Those of the identifiers `$1` that another crate than `$2` uses, in their order. */
  readonly elsewhere: Statement<[ark: string]>;
  /** Of crate `$1` behind record `$2`, at most `$3`. */
  readonly members: Statement<[id: number]>;
  /** Of the records `$1`. */
  readonly closed: Statement<ClosedRow>;
  /** Behind record `$1`, at most `$2`. */
  readonly embargoes: Statement<EmbargoRow>;
  /**
   * The crate of key `$1` and identifier `$2` and its members behind record `$3`, at most `$4`, as
   * viewer `$5` sees them.
   */
  readonly linking: Statement<[id: number]>;
  /**
   * Of the records `$1`, from position `$3` of record `$2` on, at most `$4` and of each record no
   * more: positions have no gaps. Whether viewer `$5` sees a live target, and any.
   */
  readonly links: Statement<CrateLinkRow>;
  /**
   * Of the crate of key `$1` and identifier `$2` and its live members. Private ones of an open crate
   * would show, so they do not count.
   */
  readonly state: Statement<[count: number, revisions: number | null, newest: number | null]>;
  /** Crate `$1` uses the records of the identifiers `$2`. */
  readonly add: Statement;
  /** Condition that `record` has one of the identifiers `$1`. */
  readonly isOneOf: string;
  /** Ends uses of the records `$1` by the crate that they belong to. */
  readonly settle: Statement;
}

/** Gives records to the first crate that uses them. */
const HAND_OVER = `UPDATE record SET crate = (SELECT min(u.crate) FROM crate_use AS u
    WHERE u.record = record.id) WHERE deleted_at IS NULL AND EXISTS (SELECT 1
    FROM crate_use AS u WHERE u.record = record.id)`;

export class CrateUses implements CrateBookkeeping {
  readonly #statements: Statements;
  readonly #sql: CrateUseSql;
  readonly #drop: Statement;
  readonly #handOver: Statement<[id: number]>;
  readonly #handOverAll: Statement<[id: number]>;

  constructor(statements: Statements, sql: CrateUseSql) {
    this.#statements = statements;
    this.#sql = sql;
    const ofCrates = statements.isOneOf("crate", "$1");
    this.#drop = statement(`DELETE FROM crate_use WHERE ${ofCrates}`);
    this.#handOver = statement(`${HAND_OVER} AND ${sql.isOneOf} RETURNING id`);
    this.#handOverAll = statement(`${HAND_OVER} AND ${ofCrates} RETURNING id`);
  }

  /** What a crate uses from now on. */
  async replace({ crate, arks, released = [] }: StatedUses): Promise<void> {
    await this.#statements.run(this.#drop, [[crate]]);
    if (arks.length > 0)
      await this.#statements.run(this.#sql.add, [crate, this.#statements.arkList(arks)]);
    if (released.length > 0) await this.#move(this.#handOver, this.#statements.arkList(released));
  }

  /**
   * Deleted crates use nothing any more. Records minted for them that stay belong to the crates that
   * use them.
   */
  async end(deleted: readonly string[]): Promise<void> {
    await this.#statements.run(this.#drop, [deleted]);
    await this.#move(this.#handOverAll, deleted);
  }

  async usesOf(crate: string, viewer?: Viewer): Promise<string[]> {
    if (!isStorableText(crate)) return [];
    const rows = await this.#statements.query(this.#sql.of, [crate, viewerKey(viewer)]);
    return rows.map(([ark]) => ark);
  }

  async usedElsewhere(arks: readonly string[], crate: string): Promise<string[]> {
    const asked = this.#statements.arkList(arks.filter(isStorableText));
    return (await this.#statements.query(this.#sql.elsewhere, [asked, crate])).map(([ark]) => ark);
  }

  async closedMembers(
    crate: string,
    { after = "0", limit }: { after?: string; limit: number },
  ): Promise<Page<ClosedMember>> {
    const ids = await this.#ids(this.#sql.members, crate, [crate, Number(after), limit]);
    const rows = ids.length === 0 ? [] : await this.#statements.query(this.#sql.closed, [ids]);
    return closedPage(ids, rows, limit);
  }

  async embargoes({
    after = "0",
    limit,
  }: Parameters<CrateBookkeeping["embargoes"]>[0]): Promise<Page<Embargo>> {
    const rows = await this.#statements.query(this.#sql.embargoes, [Number(after), limit]);
    return embargoPage(rows, limit);
  }

  async danglingLinks(
    crate: string,
    { after = "0.0", limit, viewer }: Parameters<CrateBookkeeping["danglingLinks"]>[1],
  ): Promise<Page<DanglingLink>> {
    const [record, position] = readNumberPair(after);
    const key = viewerKey(viewer);
    const begin = [arkKey(crate), crate, record - 1, LINKING, key];
    const ids = await this.#ids(this.#sql.linking, crate, begin);
    const asked = [ids, record, position, limit, key];
    const rows = ids.length === 0 ? [] : await this.#statements.query(this.#sql.links, asked);
    return danglingPage(ids, rows, limit);
  }

  /** Two states with one count and one sum of revisions differ in when the last change was. */
  async stateOfCrate(crate: string): Promise<string> {
    if (!isStorableText(crate)) return "";
    const state = await this.#statements.one(this.#sql.state, [arkKey(crate), crate]);
    return state.map((number) => (number ?? 0).toString(36)).join(".");
  }

  async #move(handOver: Statement<[id: number]>, list: Value): Promise<void> {
    const moved = await this.#statements.query(handOver, [list]);
    if (moved.length > 0) await this.#statements.run(this.#sql.settle, [moved.flat()]);
  }

  async #ids(
    asked: Statement<[id: number]>,
    crate: string,
    values: readonly Value[],
  ): Promise<number[]> {
    if (!isStorableText(crate)) return [];
    return (await this.#statements.query(asked, values)).map(([id]) => id);
  }
}
