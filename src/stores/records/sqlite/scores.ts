import type { KeptScore } from "../scores-port.js";
import type { Connection } from "./statement.js";

/** Kept scores of crates; see {@link import("../scores-port.js").ScoreStore}. */
export class ScoreWrites {
  readonly #keep;
  readonly #forget;

  constructor(connection: Connection) {
    this.#keep = connection.prepare(`INSERT INTO score (crate, state, whole, body) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (crate) DO UPDATE
      SET state = excluded.state, whole = excluded.whole, body = excluded.body WHERE state <> excluded.state OR whole <= excluded.whole`);
    this.#forget = connection.prepare("DELETE FROM score WHERE crate = ?");
  }

  keep({ crate, state, whole, body }: KeptScore): void {
    this.#keep.run([crate, state, Number(whole), body]);
  }

  /** A crate that is deleted has none any more. */
  forget(crate: string): void {
    this.#forget.put([crate]);
  }
}

export class ScoreReads {
  readonly #of;

  constructor(connection: Connection) {
    this.#of = connection.prepare<[state: string, whole: number, body: Uint8Array]>("SELECT state, whole, body FROM score WHERE crate = ?");
  }

  of(crate: string): KeptScore | undefined {
    const row = this.#of.get([crate]);
    return row && { crate, state: row[0], whole: row[1] === 1, body: row[2] };
  }
}
