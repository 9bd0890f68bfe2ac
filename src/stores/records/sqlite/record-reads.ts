import { arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type { Found, Holder, Revision, StoredRecord } from "../port.js";
import { unpackQuads } from "../quads-codec.js";
import { storedJson } from "../unavailable.js";
import { RECORD_COLUMNS, recordOf, type RecordRow } from "../record-row.js";
import { type Connection, textArray } from "./statement.js";
import { isStorableText } from "../storable.js";

const FROM = "record AS r JOIN state AS s ON s.id = r.state";
const IS = "r.key = ?1 AND r.ark = ?2";

/** Single records, their revisions and their graphs. */
export class RecordReads {
  readonly #byArk;
  readonly #byKey;
  readonly #many;
  readonly #holders;
  readonly #atRevision;
  readonly #history;
  readonly #quads;

  constructor(connection: Connection) {
    this.#byArk = connection.prepare<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE ${IS}`);
    this.#byKey = connection.prepare<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE r.key = ? ORDER BY r.ark`);
    this.#many = connection.prepare<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM json_each(?) AS asked CROSS JOIN record AS r ON r.key = asked.value JOIN state AS s ON s.id = r.state`);
    // As one text: a row of libSQL's takes ten times as long as its part of that.
    this.#holders = connection.prepare<[string]>("SELECT json_group_array(json_array(r.ark, r.key, r.kind, r.owner, r.deleted_at IS NOT NULL)) FROM json_each(?) AS asked CROSS JOIN record AS r ON r.key = asked.value");
    this.#atRevision = connection.prepare<[Uint8Array, string, number]>(`SELECT s.document, v.action, v.at FROM record AS r JOIN revision AS v ON v.record = r.id JOIN state AS s ON s.id = v.state WHERE ${IS} AND v.revision = ?3`);
    this.#history = connection.prepare<[number, number, string | null, string, string | null]>(`SELECT v.revision, v.at, v.by, v.action, v.changed FROM record AS r JOIN revision AS v ON v.record = r.id
      WHERE ${IS} AND v.revision < ?3 ORDER BY v.revision DESC LIMIT ?4`);
    this.#quads = connection.prepare<[Uint8Array]>(`SELECT coalesce(s.projected, s.quads) FROM ${FROM} WHERE ${IS} AND r.deleted_at IS NULL`);
  }

  /** One statement when the identifier is spelled as stored. */
  find(ark: string): Found | undefined {
    if (!isStorableText(ark)) return undefined;
    const key = arkKey(ark);
    const row = this.#byArk.get([key, ark]);
    if (row) return { record: recordOf(row) };
    const rows = this.#byKey.all([key]);
    if (rows.length > 1) return { ambiguous: rows.map(([stored]) => stored) };
    return rows[0] && { record: recordOf(rows[0]) };
  }

  /** One statement, however many are asked for, or two. */
  findMany(arks: readonly string[]): (StoredRecord | undefined)[] {
    // The commonest question, and the plainest statement for it.
    const only = arks.length === 1 && isStorableText(arks[0]!) ? this.#byArk.get([arkKey(arks[0]!), arks[0]!]) : undefined;
    if (only) return [recordOf(only)];
    const byArk = new Map<string, StoredRecord>();
    const byKey = new Map<string, StoredRecord | undefined>();
    for (const row of this.#many.all([textArray([...new Set(arks.filter(isStorableText).map(arkKey))])])) {
      const record = recordOf(row);
      byArk.set(record.ark, record);
      byKey.set(row[1], byKey.has(row[1]) ? undefined : record);
    }
    return arks.map((ark) => byArk.get(ark) ?? byKey.get(arkKey(ark)));
  }

  holders(keys: readonly string[]): Holder[] {
    const [rows] = this.#holders.get([textArray(keys.filter(isStorableText))])!;
    return storedJson<[string, string, KindName, string | null, number][]>(rows, "a list of records").map(([ark, key, kind, owner, deleted]) => ({ ark, key, kind, owner, deleted: deleted === 1 }));
  }

  atRevision(ark: string, revision: number): { document: Uint8Array; action: Revision["action"]; at: number } | undefined {
    if (!isStorableText(ark) || !Number.isSafeInteger(revision)) return undefined;
    const row = this.#atRevision.get([arkKey(ark), ark, revision]);
    return row && { document: row[0], action: row[1] as Revision["action"], at: row[2] };
  }

  history(ark: string, { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number; limit: number }): Revision[] {
    if (!isStorableText(ark)) return [];
    return this.#history.all([arkKey(ark), ark, before, limit]).map(([revision, at, by, action, changed]) => ({
      revision, at, by, action: action as Revision["action"], changed: changed === null ? [] : storedJson<string[]>(changed, "a list of changes"),
    }));
  }

  quads(ark: string): string | undefined {
    const row = isStorableText(ark) ? this.#quads.get([arkKey(ark), ark]) : undefined;
    return row && unpackQuads(row[0]);
  }
}
