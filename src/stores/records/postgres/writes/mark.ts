import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import { type Database, type Session, statement } from "../statement.js";
import { isOutage, StatementError } from "../statement-error.js";

const PUT = statement("INSERT INTO writer (id, number, seen_at) VALUES ($1, $2, now()) ON CONFLICT (id) DO UPDATE SET number = excluded.number, seen_at = excluded.seen_at");
/** Waits for a transaction that holds the row, however it ends. */
const LAST = statement<[number: number]>("SELECT number FROM writer WHERE id = $1 FOR UPDATE");

/** ms between two questions to a database that is away. */
const PAUSE = 200;

/**
 * Ends transactions so that it is known how they ended: each writes its number into this writer's row. When a COMMIT
 * is not answered, the row says whether it was done.
 */
export class Mark {
  #number = 0;

  /**
   * @param writer this writer's name, used by no other
   * @param patience ms for which an outcome is asked for
   * @param away told each time the database cannot say
   */
  constructor(private readonly database: Database, readonly writer: string, private readonly patience: number, private readonly away: (error: unknown) => void) {}

  /** Commits. @throws StatementError when nothing was stored; ServiceError `STORE_UNAVAILABLE` when the database did not come back to tell */
  async commit(session: Session): Promise<void> {
    const number = ++this.#number;
    await session.query(PUT, [this.writer, number]);
    try {
      const done = await session.exec("COMMIT");
      if (done !== "COMMIT") throw new StatementError("25P02", "the transaction had failed before its COMMIT");
    } catch (error) {
      if (error instanceof StatementError && error.code === "25P02") throw error;
      if (!(await this.#wasDone(number))) throw error;
    }
  }

  async #wasDone(number: number): Promise<boolean> {
    const until = performance.now() + this.patience;
    for (;;) {
      try {
        return ((await this.database.query(LAST, [this.writer]))[0]?.[0] ?? 0) >= number;
      } catch (error) {
        if (!isOutage(error)) throw error;
        if (performance.now() > until) {
          throw new ServiceError("STORE_UNAVAILABLE", "The database was lost while a change was made durable, and did not come back to tell whether it was stored. Read what was to be changed before you repeat it.");
        }
        this.away(error);
        await pause(PAUSE);
      }
    }
  }
}
