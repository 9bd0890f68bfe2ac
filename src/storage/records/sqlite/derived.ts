import { arkKey } from "../../../identifiers/ark.js";
import { repacked } from "../codecs.js";
import { type ChangedText, MAX_EMBEDDED_CHARACTERS, type VectorStep } from "../port.js";
import { type ChangedRow, changedTexts } from "../rows.js";
import { readPlace, readStep, writePlace } from "../vectors.js";
import type { Connection } from "./statement.js";

/** Vectors of searchable text; see {@link import("../port.js").VectorStore}. */
export class VectorWrites {
  readonly #begin;
  readonly #go;
  readonly #keep;
  readonly #remove;
  readonly #forgetReaches;
  readonly #forget;

  constructor(connection: Connection) {
    this.#begin = connection.prepare(
      `INSERT INTO embedding_reach (model, sequence, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    this.#go = connection.prepare(
      `UPDATE embedding_reach SET sequence = ?4, record = ?5
        WHERE model = ?1 AND sequence = ?2 AND record = ?3`,
    );
    this.#keep = connection.prepare(`INSERT INTO embedding (model, record, digest, vector)
          SELECT ?1, id, ?4, ?5 FROM record WHERE key = ?2 AND ark = ?3
          ON CONFLICT (model, record) DO UPDATE SET digest = excluded.digest,
          vector = excluded.vector`);
    this.#remove = connection.prepare(
      `DELETE FROM embedding WHERE model = ?1 AND record = (SELECT id FROM record
        WHERE key = ?2 AND ark = ?3)`,
    );
    this.#forgetReaches = connection.prepare(
      `DELETE FROM embedding_reach WHERE model IN (SELECT model FROM embedding_reach
        WHERE model <> ? LIMIT ?)`,
    );
    // Not `<>`, which would read all rows of the model that stays.
    this.#forget = connection.prepare(
      `DELETE FROM embedding WHERE rowid IN (SELECT rowid FROM embedding WHERE model < ?1
        UNION ALL SELECT rowid FROM embedding WHERE model > ?1 LIMIT ?2)`,
    );
  }

  keep(model: string, { vectors, ...ends }: VectorStep): boolean {
    const { after, to } = readStep(ends);
    const isFirst = writePlace(after) === "";
    const moved = isFirst
      ? this.#begin.run([model, to.sequence, to.record])
      : this.#go.run([model, after.sequence, after.record, to.sequence, to.record]);
    if (moved === 0) return false;
    for (const { ark, digest, vector } of vectors) {
      if (vector === null) this.#remove.put([model, arkKey(ark), ark]);
      else this.#keep.put([model, arkKey(ark), ark, digest, bytesOf(vector)]);
    }
    return true;
  }

  /** Reaches first: while vectors of a model are missing, it must not seem to reach further. */
  forget(exceptModel: string, limit: number): number {
    const reaches = this.#forgetReaches.run([exceptModel, limit]);
    return reaches + this.#forget.run([exceptModel, limit - reaches]);
  }
}

/** The bytes of an F32_BLOB, as libSQL compares them. */
export const bytesOf = (vector: Float32Array): Uint8Array => new Uint8Array(vector.slice().buffer);

export class VectorReads {
  readonly #reach;
  readonly #changed;

  constructor(connection: Connection) {
    this.#reach = connection.prepare<[sequence: number, record: number]>(
      "SELECT sequence, record FROM embedding_reach WHERE model = ?",
    );
    const cut = (column: string): string => `substr(t.${column}, 1, ${MAX_EMBEDDED_CHARACTERS})`;
    // Only live records have a text.
    this.#changed =
      connection.prepare<ChangedRow>(`SELECT c.sequence, c.record, r.ark, ${cut("name")}, ${cut("keywords")},
          ${cut("description")}, e.digest FROM (SELECT sequence, record FROM change_log
          WHERE (sequence, record) > (?2, ?3) ORDER BY sequence, record LIMIT ?4) AS c CROSS
          JOIN record AS r ON r.id = c.record LEFT JOIN text AS t ON t.id = c.record LEFT
          JOIN embedding AS e ON e.model = ?1 AND e.record = c.record
          ORDER BY c.sequence, c.record`);
  }

  reach(model: string): string {
    const row = this.#reach.get([model]);
    return row ? writePlace({ sequence: row[0], record: row[1] }) : "";
  }

  changed(
    model: string,
    after: string,
    limit: number,
  ): { texts: ChangedText[]; to: string | undefined } {
    const { sequence, record } = readPlace(after);
    const rows = this.#changed.all([model, sequence, record, limit]);
    return changedTexts(rows);
  }
}

/** Quads of earlier versions; see {@link import("../port.js").QuadsRewrite}. */
export class QuadsRewrites {
  readonly #states;
  readonly #rewrite;

  constructor(connection: Connection) {
    this.#states = connection.prepare<[number, Uint8Array, Uint8Array | null]>(
      "SELECT id, quads, projected FROM state WHERE id > ? ORDER BY id LIMIT ?",
    );
    this.#rewrite = connection.prepare("UPDATE state SET quads = ?2, projected = ?3 WHERE id = ?1");
  }

  rewrite(after: number, limit: number): number | undefined {
    const states = this.#states.all([after, limit]);
    for (const [id, quads, projected] of states) {
      const again = [repacked(quads), projected === null ? undefined : repacked(projected)];
      if (again.some((bytes) => bytes !== undefined))
        this.#rewrite.put([id, again[0] ?? quads, again[1] ?? projected]);
    }
    return states.at(-1)?.[0];
  }
}
