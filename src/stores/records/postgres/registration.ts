import { type Database, statement } from "./statement.js";

const BEGIN = statement("INSERT INTO writer (id, number, seen_at) SELECT id, 0, now() FROM unnest($1::text[]) AS v (id)");
// Rows of nodes that ended without giving theirs back.
const FORGET = statement("DELETE FROM writer WHERE seen_at < now() - interval '7 days'");
const VOID = statement("DELETE FROM object_removal WHERE NOT EXISTS (SELECT 1 FROM writer WHERE writer.id = object_removal.writer)");
const END_MARKS = statement("DELETE FROM object_removal WHERE writer = ANY($1::text[])");
const END = statement("DELETE FROM writer WHERE id = ANY($1::text[])");

/** Tells the others that this node is there: marks of its sweeps, and the numbers of its transactions, are under its names. */
export class Registration {
  constructor(private readonly database: Database, private readonly names: readonly string[]) {}

  async begin(): Promise<void> {
    await this.database.transaction("", async (session) => {
      await session.query(BEGIN, [this.names]);
      await session.query(FORGET);
      await session.query(VOID);
    });
  }

  /** Where the database is away, what stays counts until nobody has seen this node for a while. */
  async end(): Promise<void> {
    try {
      await this.database.query(END_MARKS, [this.names]);
      await this.database.query(END, [this.names]);
    } catch {
      // See above.
    }
  }
}
