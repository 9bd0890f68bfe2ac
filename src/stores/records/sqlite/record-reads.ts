import { arkKey } from "../../../identifiers/ark.js";
import type { Found, Revision, StoredRecord } from "../port.js";
import { unpackQuads } from "../quads-codec.js";
import { RECORD_COLUMNS, recordOf, type RecordRow } from "../record-row.js";
import { type Connection, textArray } from "./statement.js";
import { isStorableText } from "../storable.js";

const FROM = "record AS r JOIN state AS s ON s.id = r.state";

/** Single records, their revisions and their graphs. */
export class RecordReads {
  readonly #byArk;
  readonly #byKey;
  readonly #many;
  readonly #manyByKey;
  readonly #atRevision;
  readonly #history;
  readonly #quads;

  constructor(connection: Connection) {
    this.#byArk = connection.prepare<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE r.ark = ?`);
    this.#byKey = connection.prepare<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE r.key = ? ORDER BY r.ark`);
    this.#many = connection.prepare<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM json_each(?) AS asked CROSS JOIN record AS r ON r.ark = asked.value JOIN state AS s ON s.id = r.state`);
    this.#manyByKey = connection.prepare<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM json_each(?) AS asked CROSS JOIN record AS r ON r.key = asked.value JOIN state AS s ON s.id = r.state`);
    this.#atRevision = connection.prepare<[Uint8Array, string, number]>("SELECT s.document, v.action, v.at FROM record AS r JOIN revision AS v ON v.record = r.id JOIN state AS s ON s.id = v.state WHERE r.ark = ? AND v.revision = ?");
    this.#history = connection.prepare<[number, number, string | null, string, string | null]>(`SELECT v.revision, v.at, v.by, v.action, v.changed FROM record AS r JOIN revision AS v ON v.record = r.id
      WHERE r.ark = ? AND v.revision < ? ORDER BY v.revision DESC LIMIT ?`);
    this.#quads = connection.prepare<[Uint8Array]>("SELECT coalesce(s.projected, s.quads) FROM record AS r JOIN state AS s ON s.id = r.state WHERE r.ark = ? AND r.deleted_at IS NULL");
  }

  /** One statement when the identifier is spelled as stored. */
  find(ark: string): Found | undefined {
    if (!isStorableText(ark)) return undefined;
    const row = this.#byArk.get([ark]);
    if (row) return { record: recordOf(row) };
    const rows = this.#byKey.all([arkKey(ark)]);
    if (rows.length > 1) return { ambiguous: rows.map(([stored]) => stored) };
    return rows[0] && { record: recordOf(rows[0]) };
  }

  /** Two statements at most, however many are asked for. */
  findMany(arks: readonly string[]): (StoredRecord | undefined)[] {
    // The commonest question, and the plainest statement for it.
    const only = arks.length === 1 && isStorableText(arks[0]!) ? this.#byArk.get([arks[0]!]) : undefined;
    if (only) return [recordOf(only)];
    const asked = arks.filter(isStorableText);
    const byArk = new Map(this.#many.all([textArray([...new Set(asked)])]).map((row) => [row[0], recordOf(row)]));
    const missing = new Set(asked.filter((ark) => !byArk.has(ark)).map(arkKey));
    const byKey = new Map<string, StoredRecord | undefined>();
    if (missing.size > 0) {
      for (const row of this.#manyByKey.all([textArray([...missing])])) byKey.set(row[1], byKey.has(row[1]) ? undefined : recordOf(row));
    }
    return arks.map((ark) => byArk.get(ark) ?? byKey.get(arkKey(ark)));
  }

  atRevision(ark: string, revision: number): { document: Uint8Array; action: Revision["action"]; at: number } | undefined {
    if (!isStorableText(ark) || !Number.isSafeInteger(revision)) return undefined;
    const row = this.#atRevision.get([ark, revision]);
    return row && { document: row[0], action: row[1] as Revision["action"], at: row[2] };
  }

  history(ark: string, { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number; limit: number }): Revision[] {
    if (!isStorableText(ark)) return [];
    return this.#history.all([ark, before, limit]).map(([revision, at, by, action, changed]) => ({
      revision, at, by, action: action as Revision["action"], changed: changed === null ? [] : JSON.parse(changed) as string[],
    }));
  }

  quads(ark: string): string | undefined {
    const row = isStorableText(ark) ? this.#quads.get([ark]) : undefined;
    return row && unpackQuads(row[0]);
  }
}
