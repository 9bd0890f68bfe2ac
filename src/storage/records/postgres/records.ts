import DataLoader from "dataloader";
import { LRUCache } from "lru-cache";
import { type Ark, arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type { Found, Holder, StoredRecord, Viewer } from "../port.js";
import { RECORD_COLUMNS, recordOf, type RecordRow } from "../rows.js";
import { isStorableText } from "../text.js";
import { actsForSql, NOBODY, seenSql, viewerKey } from "../visibility.js";
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
    AND ${seenSql("r", "$2::text", "r.owner_key = ANY($3::text[])")} ORDER BY r.ark`,
);
const OWNERS = statement<[string]>(actsForSql("$1::text"));
const HOLDERS = statement<[string, string, string, string | null, number]>(
  `SELECT r.ark, r.key, r.kind, r.owner, (r.deleted_at IS NOT NULL)::int FROM record AS r
    WHERE r.key = ANY($1::text[]) AND ${seenSql("r", "$2::text")}`,
);

/**
 * Single records. What a user acts for is read before records that are not open are looked for: a
 * private record takes others as long as an identifier that nobody has.
 */
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
   * two or three otherwise.
   */
  async find(ark: Ark, viewer?: Viewer): Promise<Found | undefined> {
    if (!isStorableText(ark.stored)) return undefined;
    const key = viewerKey(viewer);
    const name = key === null ? "all" : `viewer ${key}`;
    let find = this.#finds.get(name);
    if (!find)
      this.#finds.set(
        name,
        (find = gathered((arks: readonly Ark[]) => this.#findAll(arks, viewer))),
      );
    return find(ark);
  }

  /** Three statements at most, for any number of records. */
  async findMany(arks: readonly string[], viewer?: Viewer): Promise<(StoredRecord | undefined)[]> {
    const asked = arks.filter(isStorableText).map((ark) => ({ stored: ark, key: arkKey(ark) }));
    if (asked.length === 0) return arks.map(() => undefined);
    const { byArk, byKey } = await this.#read(asked, viewer);
    return arks.map((ark) => {
      const record = byArk.get(ark);
      if (record) return record;
      const [other, ...more] = byKey.get(arkKey(ark)) ?? [];
      return more.length > 0 ? undefined : other;
    });
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

  async #findAll(arks: readonly Ark[], viewer?: Viewer): Promise<(Found | undefined)[]> {
    const { byArk, byKey } = await this.#read(arks, viewer);
    return arks.map((ark) => {
      const record = byArk.get(ark.stored);
      if (record) return { record };
      const others = byKey.get(ark.key) ?? [];
      return others.length > 1
        ? { ambiguous: others.map((other) => other.ark) }
        : others[0] && { record: others[0] };
    });
  }

  /** Records by their spelling, and by key those that were not found so. */
  async #read(
    arks: readonly Pick<Ark, "stored" | "key">[],
    viewer?: Viewer,
  ): Promise<{ byArk: Map<string, StoredRecord>; byKey: Map<string, StoredRecord[]> }> {
    const byArk = new Map<string, StoredRecord>();
    const byKey = new Map<string, StoredRecord[]>();
    const asked = [...new Set(arks.map(({ stored }) => stored))];
    const first = viewer?.user ? NOBODY : viewer;
    for (const row of await this.#database.query(MANY, [asked, viewerKey(first)]))
      byArk.set(row[0], recordOf(row));
    const missing = new Set(arks.filter(({ stored }) => !byArk.has(stored)).map(({ key }) => key));
    if (missing.size === 0) return { byArk, byKey };
    const owners = viewer?.user ? await this.#database.query(OWNERS, [viewer.user]) : [];
    const seen = [viewerKey(viewer), owners.flat()] as const;
    for (const row of await this.#database.query(MANY_BY_KEY, [[...missing], ...seen])) {
      const record = recordOf(row);
      byArk.set(record.ark, record);
      byKey.set(record.key, [...(byKey.get(record.key) ?? []), record]);
    }
    return { byArk, byKey };
  }
}
