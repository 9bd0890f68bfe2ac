/** Stored scores of crates: derived data. */
import { arkKey } from "../../../identifiers/ark.js";
import type { ScoreStore, StoredScore } from "../port.js";
import { type Flag, type Statements, statement } from "../statements.js";

const KEEP = statement(
  `INSERT INTO score (crate, state, whole, body, percent, record)
    VALUES ($1, $2, $3, $4, $5, (SELECT id FROM record WHERE key = $6 AND ark = $1))
    ON CONFLICT (crate) DO UPDATE SET state = excluded.state, whole = excluded.whole,
    body = excluded.body, percent = excluded.percent, record = excluded.record
    WHERE score.state <> excluded.state OR NOT score.whole OR excluded.whole`,
);
const OF = statement<[state: string, whole: Flag, body: Uint8Array, percent: number | null]>(
  "SELECT state, whole, body, percent FROM score WHERE crate = $1",
);

export class Scores implements ScoreStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async storedScore(crate: string): Promise<StoredScore | undefined> {
    const row = await this.#statements.first(OF, [crate]);
    return row && { crate, state: row[0], whole: Boolean(row[1]), body: row[2], percent: row[3] };
  }

  /** To store one twice does no harm. */
  async storeScore({ crate, state, whole, body, percent = null }: StoredScore): Promise<void> {
    await this.#statements.run(KEEP, [crate, state, whole, body, percent, arkKey(crate)]);
  }

  /** Crates that are deleted have none any more. */
  async forget(deleted: readonly string[]): Promise<void> {
    const those = this.#statements.isOneOf("crate", "$1");
    await this.#statements.run(statement(`DELETE FROM score WHERE ${those}`), [deleted]);
  }
}
