import DataLoader from "dataloader";
import { LRUCache } from "lru-cache";
import { type Ark, arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type { Found, Holder, StoredRecord, Viewer } from "../port.js";
import { RECORD_COLUMNS, recordOf, type RecordRow } from "../rows.js";
import { isStorableText } from "../text.js";
import { seenSql, viewerKey } from "../visibility.js";
import { type Database, statement } from "./statement.js";

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
/** Single records. */
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
