import DataLoader from "dataloader";
import { LRUCache } from "lru-cache";
import { type Ark, arkKey } from "../../../../identifiers/ark.js";
import type { KindName } from "../../../../model/kind.js";
import { unpackQuads } from "../../codecs.js";
import type {
  ChangeLogPage,
  ClosedMember,
  DanglingLink,
  Embargo,
  FileReference,
  Found,
  Holder,
  LogPosition,
  ObjectBookkeeping,
  ObjectReference,
  Page,
  Revision,
  StoredRecord,
  Viewer,
} from "../../port.js";
import { storedJson } from "../../refusals.js";
import {
  type CrateLinkRow,
  danglingPage,
  embargoPage,
  type EmbargoRow,
  filePage,
  type FileRow,
  LINKING,
  readNumberPair,
  CHANGE_COLUMNS,
  changeLogPage,
  type ChangeRow,
  RECORD_COLUMNS,
  recordOf,
  type RecordRow,
  closedPage,
} from "../../rows.js";
import { isStorableText } from "../../text.js";
import { seenSql, viewerKey } from "../../visibility.js";
import { type Database, statement } from "../statement.js";

/** Statements on their way at a time: one of them may be slow without holding up the others. */
const UNDER_WAY = 2;
/** Viewers whose questions are gathered at a time. */
const MAX_VIEWERS = 1000;
/** Questions of one statement. */
const LARGEST = 100;

/**
 * Sends one query for keys that callers asked for one by one, at the same time or while the earlier
 * questions were on their way: under load a statement for each would cost more than the reading
 * itself. Nothing is cached, and no caller waits for others to come.
 *
 * @param ask answers in the order of the keys
 */
function gathered<K, V>(ask: (keys: readonly K[]) => Promise<V[]>): (key: K) => Promise<V> {
  let underWay = 0;
  const waiting: (() => void)[] = [];
  const loader = new DataLoader<K, V>(
    async (keys) => {
      underWay++;
      try {
        return await ask(keys);
      } finally {
        underWay--;
        waiting.shift()?.();
      }
    },
    {
      cache: false,
      maxBatchSize: LARGEST,
      batchScheduleFn(send) {
        if (underWay < UNDER_WAY) setImmediate(send);
        else waiting.push(send);
      },
    },
  );
  return (key) => loader.load(key);
}

const FROM = "record AS r JOIN state AS s ON s.id = r.state";
const MANY = statement<RecordRow>(
  `SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE r.ark = ANY($1::text[])
    AND ${seenSql("r", "$2::text")}`,
);
const MANY_BY_KEY = statement<RecordRow>(
  `SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE r.key = ANY($1::text[])
    AND ${seenSql("r", "$2::text")} ORDER BY r.ark`,
);
const HOLDERS = statement<[string, string, string, string | null, number]>(
  `SELECT r.ark, r.key, r.kind, r.owner, (r.deleted_at IS NOT NULL)::int FROM record AS r
    WHERE r.key = ANY($1::text[]) AND ${seenSql("r", "$2::text")}`,
);
const AT_REVISION = statement<[Uint8Array, string, number]>(
  `SELECT s.document, v.action, v.at FROM record AS r JOIN revision AS v ON v.record = r.id
    JOIN state AS s ON s.id = v.state WHERE r.ark = $1 AND v.revision = $2`,
);
const HISTORY = statement<
  [number, number, string | null, string, string | null]
>(`SELECT v.revision, v.at, v.by, v.action, v.changed FROM record AS r JOIN revision AS v
    ON v.record = r.id WHERE r.ark = $1 AND v.revision < $2 ORDER BY v.revision DESC LIMIT $3`);
const QUADS = statement<[Uint8Array]>(
  `SELECT coalesce(s.projected, s.quads) FROM record AS r JOIN state AS s ON s.id = r.state
    WHERE r.ark = $1 AND r.deleted_at IS NULL`,
);
/** One snapshot, in which no commit is visible before an earlier one: see `counter`. */
const CHANGES = statement<ChangeRow>(
  `SELECT ${CHANGE_COLUMNS} FROM (SELECT sequence, record FROM change_log
    WHERE (sequence, record) > ($1::bigint, $2::bigint) ORDER BY sequence, record
    LIMIT $3) AS c JOIN record AS r ON r.id = c.record ORDER BY c.sequence, c.record`,
);

/** Single records, their revisions and their graphs. */
export class RecordReads {
  /** By {@link viewerKey}: those of other viewers go with other statements. */
  readonly #finds = new LRUCache<string, (ark: Ark) => Promise<Found | undefined>>({
    max: MAX_VIEWERS,
  });

  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * One statement for all records requested at a time when their identifiers are spelled as stored,
   * two otherwise.
   */
  async find(ark: Ark, viewer?: Viewer): Promise<Found | undefined> {
    if (!isStorableText(ark.stored)) return undefined;
    const key = viewerKey(viewer);
    const name = key === null ? "all" : `viewer ${key}`;
    let find = this.#finds.get(name);
    if (!find)
      this.#finds.set(name, (find = gathered((arks: readonly Ark[]) => this.#findAll(arks, key))));
    return find(ark);
  }

  /** Two statements at most, for any number of records. */
  async findMany(arks: readonly string[], viewer?: Viewer): Promise<(StoredRecord | undefined)[]> {
    const asked = [...new Set(arks.filter(isStorableText))];
    if (asked.length === 0) return arks.map(() => undefined);
    const byArk = new Map(
      (await this.#database.query(MANY, [asked, viewerKey(viewer)])).map((row) => [
        row[0],
        recordOf(row),
      ]),
    );
    const missing = [...new Set(asked.filter((ark) => !byArk.has(ark)).map(arkKey))];
    const byKey = new Map<string, StoredRecord | undefined>();
    if (missing.length > 0) {
      for (const row of await this.#database.query(MANY_BY_KEY, [missing, viewerKey(viewer)]))
        byKey.set(row[1], byKey.has(row[1]) ? undefined : recordOf(row));
    }
    return arks.map((ark) => byArk.get(ark) ?? byKey.get(arkKey(ark)));
  }

  async holders(keys: readonly string[], viewer?: Viewer): Promise<Holder[]> {
    const asked = [...new Set(keys.filter(isStorableText))];
    const rows =
      asked.length === 0 ? [] : await this.#database.query(HOLDERS, [asked, viewerKey(viewer)]);
    return rows.map(([ark, key, kind, owner, deleted]) => ({
      ark,
      key,
      kind: kind as KindName,
      owner,
      deleted: deleted === 1,
    }));
  }

  async atRevision(
    ark: string,
    revision: number,
  ): Promise<{ document: Uint8Array; action: Revision["action"]; at: number } | undefined> {
    if (!isStorableText(ark) || !Number.isSafeInteger(revision)) return undefined;
    const [row] = await this.#database.query(AT_REVISION, [ark, revision]);
    return row && { document: row[0], action: row[1] as Revision["action"], at: row[2] };
  }

  async history(
    ark: string,
    { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number; limit: number },
  ): Promise<Revision[]> {
    if (!isStorableText(ark)) return [];
    return (await this.#database.query(HISTORY, [ark, before, limit])).map(
      ([revision, at, by, action, changed]) => ({
        revision,
        at,
        by,
        action: action as Revision["action"],
        changed: changed === null ? [] : storedJson<string[]>(changed, "a list of changes"),
      }),
    );
  }

  async quads(ark: string): Promise<string | undefined> {
    const [row] = isStorableText(ark) ? await this.#database.query(QUADS, [ark]) : [];
    return row && unpackQuads(row[0]);
  }

  async changes(after: LogPosition, limit: number): Promise<ChangeLogPage> {
    const rows = await this.#database.query(CHANGES, [after.sequence, after.record, limit + 1]);
    return changeLogPage(rows, after, limit);
  }
  async #findAll(arks: readonly Ark[], viewer: string | null): Promise<(Found | undefined)[]> {
    const asked = [...new Set(arks.map(({ stored }) => stored))];
    const byArk = new Map(
      (await this.#database.query(MANY, [asked, viewer])).map((row) => [row[0], recordOf(row)]),
    );
    const missing = new Set(arks.filter(({ stored }) => !byArk.has(stored)).map(({ key }) => key));
    const byKey = new Map<string, StoredRecord[]>();
    if (missing.size > 0)
      for (const row of await this.#database.query(MANY_BY_KEY, [[...missing], viewer]))
        byKey.set(row[1], [...(byKey.get(row[1]) ?? []), recordOf(row)]);
    return arks.map((ark) => {
      const record = byArk.get(ark.stored);
      if (record) return { record };
      const others = byKey.get(ark.key) ?? [];
      return others.length > 1
        ? { ambiguous: others.map((other) => other.ark) }
        : others[0] && { record: others[0] };
    });
  }
}

type ReferenceRow = [sha256: string, size: number, mediaType: string, name: string, role: string];

const SELECT = `SELECT o.sha256, o.size, o.media_type, o.name, o.role FROM record AS r JOIN object_ref AS o
    ON o.record = r.id WHERE r.ark = $1 AND ($2::text IS NULL OR o.role = $2) AND ($3::text IS NULL
    OR o.name = $3) AND o.dropped = false`;
const NOW = statement<ReferenceRow>(`${SELECT} AND o.ended IS NULL ORDER BY o.id`);
const THEN = statement<ReferenceRow>(
  `${SELECT} AND o.since <= $4 AND (o.ended IS NULL OR o.ended > $4) ORDER BY o.id`,
);
const FILES = statement<FileRow>(
  `SELECT r.id, o.id, r.ark, o.sha256, o.size, o.media_type, o.name, o.role FROM (
    SELECT id FROM record WHERE crate = $1 AND deleted_at IS NULL AND id >= $2
    UNION ALL SELECT record FROM crate_use WHERE crate = $1 AND record >= $2
    UNION ALL SELECT id FROM record WHERE ark = $1 AND id >= $2) AS m
    JOIN record AS r ON r.id = m.id JOIN object_ref AS o ON o.record = r.id
    WHERE r.deleted_at IS NULL AND ${seenSql("r", "$6::text")}
    AND o.ended IS NULL AND o.dropped = false
    AND o.role IN ('content', 'member') AND o.size >= $4 AND (r.id > $2 OR o.id > $3)
    ORDER BY 1, 2 LIMIT $5`,
);
const DELETED = statement<[number]>(
  `SELECT count(o.ended) FROM record AS r JOIN object_ref AS o ON o.record = r.id
    WHERE r.ark = $1 AND o.role = $2 HAVING count(*) = count(o.ended)`,
);
const REFERENCED = statement<
  [string]
>(`SELECT sha256 FROM ( SELECT sha256 FROM object_ref WHERE dropped = false AND sha256 > $1
    UNION SELECT sha256 FROM submission WHERE status IN ('queued', 'running') AND sha256 > $1) AS
    needed ORDER BY sha256 LIMIT $2`);

export class ObjectReads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async of(
    ark: string,
    { role, name, revision }: Parameters<ObjectBookkeeping["objectsOf"]>[1] = {},
  ): Promise<ObjectReference[]> {
    if (!isStorableText(ark) || (name !== undefined && !isStorableText(name))) return [];
    const asked = [ark, role ?? null, name ?? null];
    const rows = await (revision === undefined
      ? this.#database.query(NOW, asked)
      : this.#database.query(THEN, [...asked, revision]));
    return rows.map(([sha256, size, mediaType, called, is]) => ({
      sha256,
      size,
      mediaType,
      name: called,
      role: is as ObjectReference["role"],
    }));
  }

  async files(
    crate: string,
    { after = "0.0", limit, minSize = 0, viewer }: Parameters<ObjectBookkeeping["filesOf"]>[1],
  ): Promise<Page<FileReference>> {
    if (!isStorableText(crate)) return { items: [] };
    const [record, object] = readNumberPair(after);
    return filePage(
      await this.#database.query(FILES, [
        crate,
        record,
        object,
        minSize,
        limit + 1,
        viewerKey(viewer),
      ]),
      limit,
    );
  }

  async contentWasDeleted(
    ark: string,
    role: ObjectReference["role"] = "content",
  ): Promise<boolean> {
    return (
      isStorableText(ark) && ((await this.#database.query(DELETED, [ark, role]))[0]?.[0] ?? 0) > 0
    );
  }

  async referenced({
    after = "",
    limit,
  }: Parameters<ObjectBookkeeping["referenced"]>[0]): Promise<{ items: string[]; next?: string }> {
    const hashes = (
      await this.#database.query(REFERENCED, [isStorableText(after) ? after : "", limit + 1])
    ).map(([sha256]) => sha256);
    const items = hashes.slice(0, limit);
    const next = items.at(-1);
    return next !== undefined && hashes.length > limit ? { items, next } : { items };
  }
}

const OF = statement<[string]>(
  `SELECT r.ark FROM crate_use AS u JOIN record AS r ON r.id = u.record
    WHERE u.crate = $1 AND r.deleted_at IS NULL AND ${seenSql("r", "$2::text")} ORDER BY u.record`,
);
const ELSEWHERE = statement<
  [string]
>(`SELECT r.ark FROM unnest($1::text[]) WITH ORDINALITY AS asked (ark, place) JOIN record AS r
    ON r.ark = asked.ark WHERE EXISTS (SELECT 1 FROM crate_use AS u
    WHERE u.record = r.id AND u.crate <> $2) ORDER BY asked.place`);
const MEMBERS = statement<[number]>(
  `(SELECT id FROM record WHERE crate = $1 AND deleted_at IS NULL AND id > $2 ORDER BY id LIMIT $3)
  UNION ALL (SELECT record FROM crate_use WHERE crate = $1 AND record > $2 ORDER BY record ` +
    `LIMIT $3) ORDER BY 1 LIMIT $3`,
);
const CLOSED = statement<
  [string, string, string | null, string, string | null, string | null, number]
>(`SELECT min(r.ark), r.kind, r.owner, r.status, r.embargoed_until, r.crate, r.private FROM record AS r
    WHERE r.id = ANY($1::bigint[]) AND r.deleted_at IS NULL AND r.status <> 'PUBLISHED' AND EXISTS
    (SELECT 1 FROM object_ref AS o WHERE o.record = r.id AND o.role = 'content' AND o.ended IS NULL)
    GROUP BY r.kind, r.owner, r.status, r.embargoed_until, r.crate, r.private`);
const EMBARGOES =
  statement<EmbargoRow>(`SELECT id, ark, revision, embargoed_until, crate FROM record
    WHERE status = 'EMBARGOED' AND id > $1 AND deleted_at IS NULL AND embargoed_until IS NOT NULL
    ORDER BY id LIMIT $2`);
const MEMBERS_LINKING = statement<[number]>(
  `(SELECT r.id FROM record AS r WHERE r.crate = $1 AND r.deleted_at IS NULL AND r.id > $2
    AND ${seenSql("r", "$4::text")} ORDER BY r.id LIMIT $3)
  UNION ALL (SELECT u.record FROM crate_use AS u JOIN record AS r ON r.id = u.record
    WHERE u.crate = $1 AND u.record > $2 AND ${seenSql("r", "$4::text")} ORDER BY u.record LIMIT $3)
  UNION ALL SELECT id FROM record WHERE ark = $1 AND id > $2 ORDER BY 1 LIMIT $3`,
);
// Targets are looked up for one page of links only, and of each record no more are read: their
// positions have no gaps.
const LINKS = statement<CrateLinkRow>(
  `SELECT page.source, page.position, r.ark, r.kind, v.predicate, page.target, page.target_key,
    (EXISTS (SELECT 1 FROM record AS t WHERE t.key = page.target_key AND t.deleted_at IS NULL
      AND ${seenSql("t", "$5::text")}))::int,
    (EXISTS (SELECT 1 FROM record AS t WHERE t.key = page.target_key
      AND ${seenSql("t", "$5::text")}))::int
    FROM (SELECT source, position, via, target, target_key FROM link
    WHERE source = ANY($1::bigint[]) AND (source > $2 OR position >= $3) AND position < $4 +
    CASE WHEN source = $2 THEN $3 ELSE 0 END
    ORDER BY source, position LIMIT $4) AS page JOIN record AS r ON r.id = page.source
    JOIN via AS v ON v.id = page.via ORDER BY page.source, page.position`,
);
// Live records only: a deletion lowers the count. Two states with one count and sum differ in when
// the last change was. Private ones of an open crate would show.
const STATE = statement<
  [number, number, number]
>(`SELECT count(*), coalesce(sum(revision), 0)::bigint, coalesce(max(modified_at), 0)::bigint
    FROM ( SELECT revision, modified_at, private FROM record WHERE ark = $1 UNION ALL
    SELECT revision, modified_at, private FROM record WHERE crate = $1 AND deleted_at IS NULL
    UNION ALL SELECT r.revision, r.modified_at, r.private FROM crate_use AS u JOIN record AS r
    ON r.id = u.record WHERE u.crate = $1 AND r.deleted_at IS NULL) AS mine
    WHERE private = 0 OR EXISTS (SELECT 1 FROM record WHERE ark = $1 AND private = 1)`);

export class CrateUseReads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async of(crate: string, viewer?: Viewer): Promise<string[]> {
    return isStorableText(crate)
      ? (await this.#database.query(OF, [crate, viewerKey(viewer)])).map(([ark]) => ark)
      : [];
  }

  async elsewhere(arks: readonly string[], crate: string): Promise<string[]> {
    return (await this.#database.query(ELSEWHERE, [arks.filter(isStorableText), crate])).map(
      ([ark]) => ark,
    );
  }

  async closedMembers(
    crate: string,
    { after = "0", limit }: { after?: string; limit: number },
  ): Promise<Page<ClosedMember>> {
    const ids = isStorableText(crate)
      ? (await this.#database.query(MEMBERS, [crate, Number(after), limit])).map(([id]) => id)
      : [];
    const rows = ids.length === 0 ? [] : await this.#database.query(CLOSED, [ids]);
    return closedPage(ids, rows, limit);
  }

  async embargoes({
    after = "0",
    limit,
  }: {
    after?: string;
    limit: number;
  }): Promise<Page<Embargo>> {
    return embargoPage(await this.#database.query(EMBARGOES, [Number(after), limit]), limit);
  }

  async danglingLinks(
    crate: string,
    {
      after = "0.0",
      limit,
      viewer,
    }: { after?: string; limit: number; viewer?: Viewer | undefined },
  ): Promise<Page<DanglingLink>> {
    const [record, position] = readNumberPair(after);
    const ids = isStorableText(crate)
      ? (
          await this.#database.query(MEMBERS_LINKING, [
            crate,
            record - 1,
            LINKING,
            viewerKey(viewer),
          ])
        ).map(([id]) => id)
      : [];
    const rows =
      ids.length === 0
        ? []
        : await this.#database.query(LINKS, [ids, record, position, limit, viewerKey(viewer)]);
    return danglingPage(ids, rows, limit);
  }

  async state(crate: string): Promise<string> {
    return isStorableText(crate)
      ? (await this.#database.one(STATE, [crate])).map((number) => number.toString(36)).join(".")
      : "";
  }
}
