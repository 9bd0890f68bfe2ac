import type { KeptScore, ScoreStore } from "../scores-port.js";
import { type Database, statement } from "./statement.js";
import type { Sending } from "./writes/sending.js";

const KEEP = statement(`INSERT INTO score (crate, state, whole, body) VALUES ($1, $2, $3, $4) ON CONFLICT (crate) DO UPDATE
  SET state = excluded.state, whole = excluded.whole, body = excluded.body WHERE score.state <> excluded.state OR NOT score.whole OR excluded.whole`);
const OF = statement<[state: string, whole: boolean, body: Uint8Array]>("SELECT state, whole, body FROM score WHERE crate = $1");

const FORGET = statement("DELETE FROM score WHERE crate = ANY($1::text[])");

/** Crates that are deleted have none any more. */
export async function forgetScores(sending: Sending, deleted: readonly string[]): Promise<void> {
  if (deleted.length > 0) await sending.send(FORGET, [deleted]);
}

/** Scores wait for no commit: they are rows of their own, and keeping one twice does no harm. */
export class Scores implements ScoreStore {
  constructor(private readonly reading: Database, private readonly writing: Database) {}

  async keepScore({ crate, state, whole, body }: KeptScore): Promise<void> {
    await this.writing.query(KEEP, [crate, state, whole, body]);
  }

  async keptScore(crate: string): Promise<KeptScore | undefined> {
    const row = (await this.reading.query(OF, [crate]))[0];
    return row && { crate, state: row[0], whole: row[1], body: row[2] };
  }
}
