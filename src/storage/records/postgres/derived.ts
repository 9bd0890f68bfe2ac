import { repacked } from "../codecs.js";
import {
  type ChangedText,
  MAX_EMBEDDED_CHARACTERS,
  type VectorStep,
  type VectorStore,
} from "../port.js";
import { type ChangedRow, changedTexts } from "../rows.js";
import { checkedVectors, readPlace, readStep, writePlace } from "../vectors.js";
import { type Database, statement } from "./statement.js";

const REACH = statement<[sequence: number, record: number]>(
  "SELECT sequence, record FROM embedding_reach WHERE model = $1",
);
/**
 * Both this statement and the next one wait for another transaction that moves the same reach, and
 * then see its result.
 */
const BEGIN = statement<[model: string]>(
  `INSERT INTO embedding_reach (model, sequence, record) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING RETURNING model`,
);
const GO = statement<[model: string]>(
  `UPDATE embedding_reach SET sequence = $4, record = $5
    WHERE model = $1 AND sequence = $2 AND record = $3 RETURNING model`,
);
const KEEP_VECTOR = statement(
  `INSERT INTO embedding (model, record, digest, vector)
    SELECT $1, id, $3, $4::real[] FROM record WHERE ark = $2
    ON CONFLICT (model, record) DO UPDATE SET digest = excluded.digest, vector = excluded.vector`,
);
const REMOVE_VECTORS = statement(
  `DELETE FROM embedding WHERE model = $1
    AND record IN (SELECT id FROM record WHERE ark = ANY($2::text[]))`,
);

const cut = (column: string): string => `left(t.${column}, ${MAX_EMBEDDED_CHARACTERS})`;
/**
 * One snapshot, in which no commit is visible before an earlier one: see `counter`. Deleted records
 * have no text.
 */
const CHANGED =
  statement<ChangedRow>(`SELECT c.sequence, c.record, r.ark, ${cut("name")}, ${cut("keywords")}, ${cut("description")},
      e.digest FROM (SELECT sequence, record FROM change_log
      WHERE (sequence, record) > ($2::bigint, $3::bigint) ORDER BY sequence, record
      LIMIT $4) AS c JOIN record AS r ON r.id = c.record LEFT JOIN text AS t
      ON t.state = r.state AND r.deleted_at IS NULL LEFT JOIN embedding AS e
      ON e.model = $1 AND e.record = c.record ORDER BY c.sequence, c.record`);

const FORGET_REACHES = statement<[model: string]>(
  `DELETE FROM embedding_reach WHERE model IN (SELECT model FROM embedding_reach WHERE model <> $1
    LIMIT $2) RETURNING model`,
);
/** Not `<>`, which would read all rows of the model that stays. */
const FORGET_VECTORS = statement<
  [record: number]
>(`DELETE FROM embedding WHERE (model, record) IN ( (SELECT model, record FROM embedding
    WHERE model < $1 ORDER BY model, record LIMIT $2) UNION ALL (SELECT model, record
    FROM embedding WHERE model > $1 ORDER BY model, record LIMIT $2) LIMIT $2) RETURNING record`);

/**
 * Independent of the database's own default: a statement that waited for a row sees its new state.
 */
const MODE = "ISOLATION LEVEL READ COMMITTED";

/**
 * Vectors wait for no commit. A transaction with an unknown outcome may be repeated: it then moves
 * nothing.
 */
export class Vectors implements VectorStore {
  readonly #reading: Database;
  readonly #writing: Database;

  constructor(reading: Database, writing: Database) {
    this.#reading = reading;
    this.#writing = writing;
  }

  async vectorsReach(model: string): Promise<string> {
    const row = (await this.#reading.query(REACH, [model]))[0];
    return row ? writePlace({ sequence: row[0], record: row[1] }) : "";
  }

  async changedTexts(
    model: string,
    after: string,
    limit: number,
  ): Promise<{ texts: ChangedText[]; to: string | undefined }> {
    const { sequence, record } = readPlace(after);
    const rows = await this.#reading.query(CHANGED, [model, sequence, record, limit]);
    return changedTexts(rows);
  }

  async storeVectors(model: string, { vectors, ...ends }: VectorStep): Promise<boolean> {
    const { after, to } = readStep(ends);
    const checked = checkedVectors(vectors);
    return this.#writing.transaction(MODE, async (session) => {
      const isFirst = writePlace(after) === "";
      const moved = isFirst
        ? await session.query(BEGIN, [model, to.sequence, to.record])
        : await session.query(GO, [model, after.sequence, after.record, to.sequence, to.record]);
      if (moved.length === 0) return false;
      const removed = checked.filter(({ vector }) => vector === null).map(({ ark }) => ark);
      if (removed.length > 0) await session.query(REMOVE_VECTORS, [model, removed]);
      for (const { ark, digest, vector } of checked)
        if (vector) await session.query(KEEP_VECTOR, [model, ark, digest, [...vector]]);
      return true;
    });
  }

  /** Reaches first: while vectors of a model are missing, it must not seem to reach further. */
  async forgetVectors(exceptModel: string, limit: number): Promise<number> {
    return this.#writing.transaction(MODE, async (session) => {
      const reaches = (await session.query(FORGET_REACHES, [exceptModel, limit])).length;
      return reaches + (await session.query(FORGET_VECTORS, [exceptModel, limit - reaches])).length;
    });
  }
}

const STATES = statement<[id: number, quads: Uint8Array, projected: Uint8Array | null]>(
  "SELECT id, quads, projected FROM state WHERE id > $1 ORDER BY id LIMIT $2",
);
const REWRITE = statement(
  `UPDATE state SET quads = decode(again.hex, 'hex')
    FROM unnest($1::bigint[], $2::text[]) AS again (id, hex) WHERE state.id = again.id`,
);
// A commit may have written others meanwhile, in the coding of now.
const REWRITE_PROJECTED = statement(
  `UPDATE state SET projected = decode(again.hex, 'hex')
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS again (id, hex, earlier)
    WHERE state.id = again.id AND state.projected = decode(again.earlier, 'hex')`,
);

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Quads of earlier versions; see {@link import("../port.js").QuadsRewrite}. */
export class QuadsRewrites {
  readonly #writing: Database;

  constructor(writing: Database) {
    this.#writing = writing;
  }

  async rewriteQuads(after: number, limit: number): Promise<number | undefined> {
    const states = await this.#writing.query(STATES, [after, limit]);
    const written = states.flatMap(([id, quads]) => {
      const again = repacked(quads);
      return again ? [{ id, again: hexOf(again) }] : [];
    });
    const projected = states.flatMap(([id, , earlier]) => {
      const again = earlier && repacked(earlier);
      return again ? [{ id, again: hexOf(again), earlier: hexOf(earlier) }] : [];
    });
    if (written.length > 0)
      await this.#writing.query(REWRITE, [
        written.map(({ id }) => id),
        written.map(({ again }) => again),
      ]);
    if (projected.length > 0)
      await this.#writing.query(REWRITE_PROJECTED, [
        projected.map(({ id }) => id),
        projected.map(({ again }) => again),
        projected.map(({ earlier }) => earlier),
      ]);
    return states.at(-1)?.[0];
  }
}
