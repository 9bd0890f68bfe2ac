import { arkKey } from "../../../../identifiers/ark.js";
import type { KindName } from "../../../../model/kind.js";
import type { Found, Holder, Revision, StoredRecord } from "../../port.js";
import { unpackQuads } from "../../quads-codec.js";
import { storedJson } from "../../unavailable.js";
import { RECORD_COLUMNS, recordOf, type RecordRow } from "../../record-row.js";
import { isStorableText } from "../../storable.js";
import { type Database, statement } from "../statement.js";
import { gathered } from "./gathered.js";

const FROM = "record AS r JOIN state AS s ON s.id = r.state";
const MANY = statement<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE r.ark = ANY($1::text[])`);
const MANY_BY_KEY = statement<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE r.key = ANY($1::text[]) ORDER BY r.ark`);
const HOLDERS = statement<[string, string, string, string | null, number]>("SELECT ark, key, kind, owner, (deleted_at IS NOT NULL)::int FROM record WHERE key = ANY($1::text[])");
const AT_REVISION = statement<[Uint8Array, string, number]>("SELECT s.document, v.action, v.at FROM record AS r JOIN revision AS v ON v.record = r.id JOIN state AS s ON s.id = v.state WHERE r.ark = $1 AND v.revision = $2");
const HISTORY = statement<[number, number, string | null, string, string | null]>(`SELECT v.revision, v.at, v.by, v.action, v.changed FROM record AS r JOIN revision AS v ON v.record = r.id
  WHERE r.ark = $1 AND v.revision < $2 ORDER BY v.revision DESC LIMIT $3`);
const QUADS = statement<[Uint8Array]>("SELECT coalesce(s.projected, s.quads) FROM record AS r JOIN state AS s ON s.id = r.state WHERE r.ark = $1 AND r.deleted_at IS NULL");

/** Single records, their revisions and their graphs. */
export class RecordReads {
  readonly #find = gathered((arks) => this.#findAll(arks));

  constructor(private readonly database: Database) {}

  /** One statement for all that are asked for at a time when their identifiers are spelled as stored, two otherwise. */
  async find(ark: string): Promise<Found | undefined> {
    return isStorableText(ark) ? this.#find(ark) : undefined;
  }

  /** Two statements at most, however many are asked for. */
  async findMany(arks: readonly string[]): Promise<(StoredRecord | undefined)[]> {
    const asked = [...new Set(arks.filter(isStorableText))];
    if (asked.length === 0) return arks.map(() => undefined);
    const byArk = new Map((await this.database.query(MANY, [asked])).map((row) => [row[0], recordOf(row)]));
    const missing = [...new Set(asked.filter((ark) => !byArk.has(ark)).map(arkKey))];
    const byKey = new Map<string, StoredRecord | undefined>();
    if (missing.length > 0) {
      for (const row of await this.database.query(MANY_BY_KEY, [missing])) byKey.set(row[1], byKey.has(row[1]) ? undefined : recordOf(row));
    }
    return arks.map((ark) => byArk.get(ark) ?? byKey.get(arkKey(ark)));
  }

  async holders(keys: readonly string[]): Promise<Holder[]> {
    const asked = [...new Set(keys.filter(isStorableText))];
    const rows = asked.length === 0 ? [] : await this.database.query(HOLDERS, [asked]);
    return rows.map(([ark, key, kind, owner, deleted]) => ({ ark, key, kind: kind as KindName, owner, deleted: deleted === 1 }));
  }

  async atRevision(ark: string, revision: number): Promise<{ document: Uint8Array; action: Revision["action"]; at: number } | undefined> {
    if (!isStorableText(ark) || !Number.isSafeInteger(revision)) return undefined;
    const [row] = await this.database.query(AT_REVISION, [ark, revision]);
    return row && { document: row[0], action: row[1] as Revision["action"], at: row[2] };
  }

  async history(ark: string, { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number; limit: number }): Promise<Revision[]> {
    if (!isStorableText(ark)) return [];
    return (await this.database.query(HISTORY, [ark, before, limit])).map(([revision, at, by, action, changed]) => ({
      revision, at, by, action: action as Revision["action"], changed: changed === null ? [] : storedJson<string[]>(changed, "a list of changes"),
    }));
  }

  async quads(ark: string): Promise<string | undefined> {
    const [row] = isStorableText(ark) ? await this.database.query(QUADS, [ark]) : [];
    return row && unpackQuads(row[0]);
  }
  async #findAll(arks: readonly string[]): Promise<(Found | undefined)[]> {
    const byArk = new Map((await this.database.query(MANY, [[...new Set(arks)]])).map((row) => [row[0], recordOf(row)]));
    const missing = new Set(arks.filter((ark) => !byArk.has(ark)).map(arkKey));
    const byKey = new Map<string, StoredRecord[]>();
    if (missing.size > 0) for (const row of await this.database.query(MANY_BY_KEY, [[...missing]])) byKey.set(row[1], [...(byKey.get(row[1]) ?? []), recordOf(row)]);
    return arks.map((ark) => {
      const stored = byArk.get(ark);
      if (stored) return { record: stored };
      const others = byKey.get(arkKey(ark)) ?? [];
      return others.length > 1 ? { ambiguous: others.map((other) => other.ark) } : others[0] && { record: others[0] };
    });
  }
}
