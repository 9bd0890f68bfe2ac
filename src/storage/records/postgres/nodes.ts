import type { ServiceError } from "../../../errors.js";
import type { LeaseStore } from "../port.js";
import { assertKnown } from "./schema.js";
import { type Database, statement } from "./statement.js";

/** One statement: the row is locked by it, and only the database's clock counts. */
const TAKE = statement<[fence: number]>(`INSERT INTO lease (name, holder, fence, expires_at)
    VALUES ($1, $2, 1, clock_timestamp() + $3::double precision * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE SET fence = lease.fence + CASE WHEN lease.holder = excluded.holder
    THEN 0 ELSE 1 END, holder = excluded.holder, expires_at = clock_timestamp() + $3::double
    precision * interval '1 millisecond' WHERE lease.holder IS NULL OR lease.holder =
    excluded.holder OR lease.expires_at < clock_timestamp() RETURNING fence`);
const RELEASE = statement("UPDATE lease SET holder = NULL WHERE name = $1 AND holder = $2");

/**
 * Leases wait for no commit: they are rows of their own. Taking and giving back may be done twice
 * without harm.
 */
export class Leases implements LeaseStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async lease(name: string, holder: string, ttl: number): Promise<{ fence: number } | undefined> {
    const row = (await this.#database.query(TAKE, [name, holder, ttl]))[0];
    return row && { fence: row[0] };
  }

  async releaseLease(name: string, holder: string): Promise<void> {
    await this.#database.query(RELEASE, [name, holder]);
  }
}

const BEGIN = statement(
  "INSERT INTO writer (id, number, seen_at) SELECT id, 0, now() FROM unnest($1::text[]) AS v (id)",
);
// Rows of nodes that ended without giving theirs back.
const FORGET = statement("DELETE FROM writer WHERE seen_at < now() - interval '7 days'");
const VOID = statement(
  `DELETE FROM object_removal WHERE NOT EXISTS (SELECT 1 FROM writer
    WHERE writer.id = object_removal.writer)`,
);
const END_MARKS = statement("DELETE FROM object_removal WHERE writer = ANY($1::text[])");
const END = statement("DELETE FROM writer WHERE id = ANY($1::text[])");

/**
 * Registers this node with the others: marks of its sweeps, and the numbers of its transactions,
 * are under its names.
 */
export class Registration {
  readonly #database: Database;
  readonly #names: readonly string[];

  constructor(database: Database, names: readonly string[]) {
    this.#database = database;
    this.#names = names;
  }

  async begin(): Promise<void> {
    await this.#database.transaction("", async (session) => {
      await session.query(BEGIN, [this.#names]);
      await session.query(FORGET);
      await session.query(VOID);
    });
  }

  /**
   * When the database is unavailable, the rows stay valid until the node's heartbeat has been
   * missing for a while.
   */
  async end(): Promise<void> {
    try {
      await this.#database.query(END_MARKS, [this.#names]);
      await this.#database.query(END, [this.#names]);
    } catch {
      // See above.
    }
  }
}

/** The database's clock comes along, and whether this version may go on. */
const LOOK = statement<[sequence: number, now: number, version: number, needs: number]>(
  `SELECT c.sequence, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, s.version, n.version
    FROM counter AS c, arkgraph_schema AS s, schema_needs AS n
    WHERE c.id = 1 AND s.id = 1 AND n.id = 1`,
);
const SEEN = statement("UPDATE writer SET seen_at = now() WHERE id = ANY($1::text[])");

/** ms between two heartbeats of this node. */
const SIGN = 60_000;
/** ms: an answer that took longer says little about the clock. */
const SHARP = 100;

/**
 * Polls the last commit's number at intervals: this node learns of other nodes' commits this way.
 */
export class Watch {
  #sequence = 0;
  #skew = 0;
  #refusal: ServiceError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #signed = performance.now();
  readonly #listeners: ((sequence: number) => void)[] = [];

  readonly #database: Database;
  readonly #interval: number;
  readonly #clock: () => number;
  readonly #writers: readonly string[];
  readonly #log: (message: string) => void;

  /**
   * @param interval ms between two polls
   * @param clock this node's, in ms since 1970
   * @param writers names that this node writes under
   * @param log called once when this version cannot go on
   */
  constructor(
    database: Database,
    interval: number,
    clock: () => number,
    writers: readonly string[],
    log: (message: string) => void,
  ) {
    this.#database = database;
    this.#interval = interval;
    this.#clock = clock;
    this.#writers = writers;
    this.#log = log;
  }

  /** ms by which the database's clock is ahead of this node's. */
  get skew(): number {
    return this.#skew;
  }

  /**
   * @throws ServiceError `STORE_UNAVAILABLE`: at the last poll, the schema was one that this
   * version cannot go on with
   */
  assertKnown(): void {
    if (this.#refusal) throw this.#refusal;
  }

  /** @throws StatementError when the database is unavailable */
  async start(): Promise<void> {
    this.#sequence = await this.#look(Infinity);
    this.#timer = setInterval(() => {
      this.#looking ??= this.#tick().finally(() => (this.#looking = undefined));
    }, this.#interval);
    this.#timer.unref();
  }

  onCommit(listener: (sequence: number) => void): void {
    this.#listeners.push(listener);
  }

  /** A commit with this number is durable. */
  receive(sequence: number): void {
    if (sequence <= this.#sequence) return;
    this.#sequence = sequence;
    // An error of a listener is not the writer's.
    for (const listener of this.#listeners) queueMicrotask(() => listener(sequence));
  }

  async sequence(): Promise<number> {
    return this.#look(SHARP);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #tick(): Promise<void> {
    try {
      this.receive(await this.#look(SHARP));
      if (performance.now() - this.#signed > SIGN) {
        this.#signed = performance.now();
        await this.#database.query(SEEN, [this.#writers]);
      }
    } catch {
      // The database is unavailable; reads report it, and the next poll may reach the database
      // again.
    }
  }

  /** @param sharp ms that an answer may take for its clock to count */
  async #look(sharp: number): Promise<number> {
    const [before, began] = [this.#clock(), performance.now()];
    const [sequence, now, ...schema] = await this.#database.one(LOOK);
    const took = performance.now() - began;
    this.#judge(schema);
    if (took < sharp) this.#skew = Math.round(now - before - took / 2);
    return sequence;
  }
  #judge(schema: [version: number, needs: number]): void {
    const before = this.#refusal;
    this.#refusal = undefined;
    try {
      assertKnown(schema);
    } catch (error) {
      this.#refusal = error as ServiceError;
      if (!before) this.#log(this.#refusal.message);
      throw error;
    }
  }
}
