/** Vectors of searchable text by model, and how far they reach in the change log: derived data. */
import { arkKey } from "../../../identifiers/ark.js";
import type { ChangedText, VectorStep, VectorStore } from "../port.js";
import { type ChangedRow, changedTexts } from "../rows.js";
import { type Statement, type Statements, statement, type Value } from "../statements.js";
import { checkedVectors, readPlace, readStep, writePlace } from "../vectors.js";

export interface VectorSql {
  /**
   * Records in the order of the change log behind record `$3` of commit `$2`, at most `$4`, with
   * their text and the digest of their vector of model `$1`.
   */
  readonly changed: Statement<ChangedRow>;
  /** Of model `$1` for the record of key `$2` and identifier `$3`: digest `$4` and vector `$5`. */
  readonly keep: Statement;
  vectorOf(vector: Float32Array): Value;
}

const REACH = statement<[sequence: number, record: number]>(
  "SELECT sequence, record FROM embedding_reach WHERE model = $1",
);
/**
 * In PostgreSQL both this statement and the next one wait for another transaction that moves the
 * same reach, and then see its result.
 */
const BEGIN = statement(
  `INSERT INTO embedding_reach (model, sequence, record) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING`,
);
const GO = statement(
  `UPDATE embedding_reach SET sequence = $4, record = $5
    WHERE model = $1 AND sequence = $2 AND record = $3`,
);
const REMOVE = statement(
  `DELETE FROM embedding WHERE model = $1
    AND record = (SELECT id FROM record WHERE key = $2 AND ark = $3)`,
);
const FORGET_REACHES = statement(
  `DELETE FROM embedding_reach WHERE model IN (SELECT model FROM embedding_reach
    WHERE model <> $1 LIMIT $2)`,
);
// Not `<>`, which would read all rows of the model that stays.
const FORGET = statement(
  `DELETE FROM embedding WHERE (model, record) IN (SELECT model, record FROM (
      SELECT model, record FROM embedding WHERE model < $1
      UNION ALL SELECT model, record FROM embedding WHERE model > $1) AS others LIMIT $2)`,
);

export class Vectors implements VectorStore {
  readonly #statements: Statements;
  readonly #sql: VectorSql;

  constructor(statements: Statements, sql: VectorSql) {
    this.#statements = statements;
    this.#sql = sql;
  }

  async vectorsReach(model: string): Promise<string> {
    const row = await this.#statements.first(REACH, [model]);
    return row ? writePlace({ sequence: row[0], record: row[1] }) : "";
  }

  async changedTexts(
    model: string,
    after: string,
    limit: number,
  ): Promise<{ texts: ChangedText[]; to: string | undefined }> {
    const { sequence, record } = readPlace(after);
    const asked = [model, sequence, record, limit];
    return changedTexts(await this.#statements.query(this.#sql.changed, asked));
  }

  /** A transaction with an unknown outcome may be repeated: it then moves nothing. */
  async storeVectors(model: string, { vectors, ...ends }: VectorStep): Promise<boolean> {
    const { after, to } = readStep(ends);
    const checked = checkedVectors(vectors);
    const isFirst = writePlace(after) === "";
    const moved = isFirst
      ? await this.#statements.run(BEGIN, [model, to.sequence, to.record])
      : await this.#statements.run(GO, [
          model,
          after.sequence,
          after.record,
          to.sequence,
          to.record,
        ]);
    if (moved === 0) return false;
    for (const { ark, digest, vector } of checked) {
      const asked = [model, arkKey(ark), ark];
      if (vector === null) await this.#statements.run(REMOVE, asked);
      else {
        const row = [...asked, digest, this.#sql.vectorOf(vector)];
        await this.#statements.run(this.#sql.keep, row);
      }
    }
    return true;
  }

  /** Reaches first: while vectors of a model are missing, it must not seem to reach further. */
  async forgetVectors(exceptModel: string, limit: number): Promise<number> {
    const reaches = await this.#statements.run(FORGET_REACHES, [exceptModel, limit]);
    return reaches + (await this.#statements.run(FORGET, [exceptModel, limit - reaches]));
  }
}
