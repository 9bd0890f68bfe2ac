import { type Ark, arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import { unpackQuads } from "../codecs.js";
import type {
  FeedAnswer,
  FeedGraph,
  FeedRequest,
  Found,
  Holder,
  StoredRecord,
  Viewer,
} from "../port.js";
import { storedJson } from "../refusals.js";
import { RECORD_COLUMNS, recordOf, type RecordRow } from "../rows.js";
import { isStorableText } from "../text.js";
import { actsForSql, NOBODY, ofLinkSql, seenSql, viewerKey, withinLinkSql } from "../visibility.js";
import { type Connection, textArray } from "./statement.js";

const FROM = "record AS r JOIN state AS s ON s.id = r.state";
const IS = "r.key = ?1 AND r.ark = ?2";
/** With owners as a JSON array. A search in its text takes a microsecond, `json_each` ten. */
const seen = (viewer: string, owners: string): string =>
  seenSql("r", viewer, `instr(${owners}, json_quote(r.owner_key)) > 0`);

/**
 * Single records. What a user acts for is read before a record that is not open is looked for: a
 * private record takes others as long as an identifier that nobody has.
 */
export class RecordReads {
  readonly #owners;
  readonly #byArk;
  readonly #byKey;
  readonly #many;
  readonly #holders;

  constructor(connection: Connection) {
    this.#owners = connection.prepare<[string]>(
      `SELECT json_group_array(key) FROM (${actsForSql("?1")})`,
    );
    this.#byArk = connection.prepare<RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE ${IS} AND ${seenSql("r", "?3")}`,
    );
    this.#byKey = connection.prepare<RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE r.key = ?1 AND ${seen("?2", "?3")}
        ORDER BY r.ark`,
    );
    this.#many = connection.prepare<RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM json_each(?1) AS asked CROSS JOIN record AS r
        ON r.key = asked.value AND ${seen("?2", "?3")} JOIN state AS s ON s.id = r.state`,
    );
    // As one text: a row of libSQL's takes ten times as long as its part of that.
    this.#holders = connection.prepare<[string]>(
      `SELECT json_group_array(json_array(r.ark, r.key, r.kind, r.owner, r.deleted_at IS NOT NULL))
        FROM json_each(?1) AS asked CROSS JOIN record AS r ON r.key = asked.value
        AND ${seenSql("r", "?2")}`,
    );
  }

  /** One statement when the identifier is spelled as stored. */
  find(ark: Ark, viewer?: Viewer): Found | undefined {
    if (!isStorableText(ark.stored)) return undefined;
    const open = this.#findOpen(ark, viewer);
    if (open) return { record: recordOf(open) };
    const rows = this.#byKey.all([ark.key, ...this.#seenBy(viewer)]);
    const exact = rows.find(([spelled]) => spelled === ark.stored);
    if (exact) return { record: recordOf(exact) };
    if (rows.length > 1) return { ambiguous: rows.map(([ark]) => ark) };
    return rows[0] && { record: recordOf(rows[0]) };
  }

  /** One statement for any number of keys, or two. */
  findMany(arks: readonly string[], viewer?: Viewer): (StoredRecord | undefined)[] {
    // The commonest question, and the plainest statement for it.
    const [ark, ...more] = arks;
    const only =
      ark !== undefined && more.length === 0 && isStorableText(ark)
        ? this.#findOpen({ key: arkKey(ark), stored: ark }, viewer)
        : undefined;
    if (only) return [recordOf(only)];
    const byArk = new Map<string, StoredRecord>();
    const byKey = new Map<string, StoredRecord | undefined>();
    for (const row of this.#many.all([
      textArray([...new Set(arks.filter(isStorableText).map(arkKey))]),
      ...this.#seenBy(viewer),
    ])) {
      const record = recordOf(row);
      byArk.set(record.ark, record);
      byKey.set(row[1], byKey.has(row[1]) ? undefined : record);
    }
    return arks.map((ark) => byArk.get(ark) ?? byKey.get(arkKey(ark)));
  }

  /** In its stored spelling. A user gets open records only: what it acts for is not read. */
  #findOpen({ key, stored }: Pick<Ark, "key" | "stored">, viewer?: Viewer): RecordRow | undefined {
    const of = viewer?.user ? viewerKey(NOBODY) : viewerKey(viewer);
    return this.#byArk.get([key, stored, of]);
  }

  #seenBy(viewer?: Viewer): [string | null, string] {
    const owners = viewer?.user ? this.#owners.one([viewer.user])[0] : textArray([]);
    return [viewerKey(viewer), owners];
  }

  holders(keys: readonly string[], viewer?: Viewer): Holder[] {
    const asked = textArray(keys.filter(isStorableText));
    const [rows] = this.#holders.one([asked, viewerKey(viewer)]);
    return storedJson<[string, string, KindName, string | null, number][]>(
      rows,
      "a list of records",
    ).map(([ark, key, kind, owner, deleted]) => ({
      ark,
      key,
      kind,
      owner,
      deleted: deleted === 1,
    }));
  }
}

/** Counts of live private records, in all and of those that a viewer sees. */
export class PrivateCounts {
  readonly #all;
  readonly #seen;
  readonly #linked;

  constructor(connection: Connection) {
    const live = `SELECT count(*) FROM record AS r INDEXED BY live_private WHERE r.private = 1
      AND r.deleted_at IS NULL AND r.kind IN (SELECT value FROM json_each(?1))`;
    this.#all = connection.prepare<[number]>(live);
    this.#seen = connection.prepare<[number]>(`${live} AND r.owner_key IN (${actsForSql("?2")})`);
    const linked = (which: string): string => `SELECT count(*) FROM record AS r WHERE r.private = 1
      AND r.deleted_at IS NULL AND r.kind IN (SELECT value FROM json_each(?1)) AND ${which}`;
    this.#linked = connection.prepare<[number]>(
      `SELECT (${linked(ofLinkSql("r", "?2"))}) + (${linked(withinLinkSql("r", "?2"))})`,
    );
  }

  of(viewer: Viewer | undefined, kinds: readonly KindName[]): number {
    const list = textArray(kinds);
    if (viewer === undefined) return this.#all.one([list])[0];
    if (viewer.link !== undefined) return this.#linked.one([list, viewerKey(viewer)])[0];
    return viewer.user === null ? 0 : this.#seen.one([list, viewer.user])[0];
  }
}

/** The column has a value that a SELECT finds. */
export const isOneOf = (column: string, select: string): string => `${column} IN (${select})`;

type GraphRow = [id: number, ark: string, quads: Uint8Array | null];

/** Answers the questions of a graph index; each answer is one snapshot. */
export class FeedReads {
  readonly #sequence;
  readonly #total;
  readonly #live;
  readonly #end;
  readonly #changed;

  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;

    this.#sequence = connection.prepare<[number]>(
      "SELECT coalesce(max(sequence), 0) FROM change_log",
    );
    this.#total = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
    this.#live =
      connection.prepare<GraphRow>(`SELECT r.id, r.ark, coalesce(s.projected, s.quads) FROM record AS r CROSS
          JOIN state AS s ON s.id = r.state WHERE r.id > ? AND r.deleted_at IS NULL
          AND r.private = 0 ORDER BY r.id LIMIT ?`);
    // The last sequence of an answer: that of its limit-th change, so that no commit is cut.
    this.#end = connection.prepare<[number]>(
      "SELECT sequence FROM change_log WHERE sequence > ? ORDER BY sequence LIMIT 1 OFFSET ?",
    );
    this.#changed =
      connection.prepare<GraphRow>(`SELECT r.id, r.ark, CASE WHEN r.deleted_at IS NULL AND r.private = 0
          THEN coalesce(s.projected, s.quads) END
          FROM (SELECT record, max(sequence) AS last FROM change_log
          WHERE sequence > ? AND sequence <= ? GROUP BY record) AS c CROSS JOIN record AS r
          ON r.id = c.record CROSS JOIN state AS s ON s.id = r.state ORDER BY c.last, r.id`);
  }

  answer(request: FeedRequest): FeedAnswer {
    return this.#connection.transaction(
      () => ("all" in request ? this.#all(request) : this.#since(request)),
      "DEFERRED",
    );
  }

  #all({ id, all: { after, limit } }: Extract<FeedRequest, { all: unknown }>): FeedAnswer {
    const sequence = this.#sequence.one()[0];
    const rows = this.#live.all([after, limit + 1]);
    const page = rows.slice(0, limit);
    const total = this.#total.one()[0];
    const answer = { id, graphs: page.map(graphOf), sequence, total };
    const last = page.at(-1);
    return last && rows.length > limit ? { ...answer, next: last[0] } : answer;
  }

  #since({ id, since: { sequence, limit } }: Extract<FeedRequest, { since: unknown }>): FeedAnswer {
    const newest = this.#sequence.one()[0];
    const end = this.#end.get([sequence, Math.max(0, limit - 1)])?.[0] ?? newest;
    return {
      id,
      graphs: this.#changed.all([sequence, end]).map(graphOf),
      sequence: Math.max(end, sequence),
      more: end < newest,
    };
  }
}

const graphOf = ([, ark, quads]: GraphRow): FeedGraph => ({
  ark,
  nquads: quads && unpackQuads(quads),
});
