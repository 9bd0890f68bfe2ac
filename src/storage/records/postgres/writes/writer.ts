import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import { unpackLinks } from "../../codecs.js";
import type { Commit, Committed } from "../../port.js";
import { unavailable } from "../../refusals.js";
import { assertKnown, NEEDS } from "../schema.js";
import {
  asStoreError,
  type Database,
  isCollision,
  isLost,
  isOutage,
  oneOf,
  Sending,
  type Session,
  StatementError,
  statement,
} from "../statement.js";
import { checkIdentifiers } from "./checks.js";
import { applyCommits, Batch, type Counters, isRefusal, Refused } from "./commit.js";
import { Intents } from "./intents.js";
import { Preparation, type PreparedStates, writeStates } from "./states.js";

/**
 * Share of {@link Commit.within} for all up to the COMMIT, which takes the rest and cannot be
 * broken off.
 */
const SHARE = 3 / 4;
/**
 * How often a transaction that met another one is tried (one whose connection was lost, twice), and
 * ms before the second time; each further one doubles them.
 */
const MAX_ATTEMPTS = 6;
const FIRST_PAUSE = 10;
/** ms between two questions to an unavailable database. */
const PAUSE = 200;
/** Bounds the memory and the wait of one transaction; more commits are done right after. */
const MAX_COMMITS = 128;
/** Number of records from which on a commit does not wait for small ones, nor they for it. */
const MIN_RECORDS_OF_LARGE_COMMIT = 100;

/** All commits of all nodes wait for this row. */
export const LOCK = statement<[sequence: number, record: number, object: number]>(
  "SELECT sequence, record, object FROM counter WHERE id = 1 FOR UPDATE",
);
const MARK = statement(
  `INSERT INTO writer (id, number, seen_at) VALUES ($1, $2, now()) ON CONFLICT (id) DO UPDATE
    SET number = excluded.number, seen_at = excluded.seen_at`,
);
/** Waits for a transaction that holds the row, however it ends. */
const LAST = statement<[number: number]>("SELECT number FROM writer WHERE id = $1 FOR UPDATE");

/** A write that waits for its transaction. */
interface Waiting {
  task: Task;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}
type Task =
  { commit: Commit; preparing: Promise<PreparedStates> } | { work: OperationWork<unknown> };
/** A few statements under the lock of the commits, which are no commit of records. */
type OperationWork<T> = (session: Session, intents: Intents) => Promise<T>;

export interface WriterOptions {
  database: Database;
  /** Names of this node's transactions, used by no other: of small writes and of large ones. */
  names: readonly [small: string, large: string];
  /** ms for which the outcome of a COMMIT without an answer is asked for. */
  retryWindow: number;
  /** ms by which the database's clock is ahead of this node's. */
  skew(): number;
  /** Called with the number of each commit that changed records, once it is durable. */
  done(sequence: number): void;
}

/** All writes of this node: large ones beside small ones. */
export class Writer {
  readonly #preparation: Preparation;
  readonly #small: Transactions;
  readonly #large: Transactions;
  #closed = false;

  constructor({ database, names, ...options }: WriterOptions) {
    this.#preparation = new Preparation(database);
    const away = (error: unknown): void => {
      for (const lane of [this.#small, this.#large]) lane.fail(asStoreError(error));
    };
    const [small, large] = names.map(
      (name) => new Transactions(name, database, this.#preparation.vias, { ...options, away }),
    ) as [Transactions, Transactions];
    this.#small = small;
    this.#large = large;
  }

  async commit(commit: Commit): Promise<Committed> {
    commit.records.forEach(checkIdentifiers);
    const isLarge =
      commit.records.length > MIN_RECORDS_OF_LARGE_COMMIT ||
      commit.within !== undefined ||
      commit.uses !== undefined;
    const records = commit.records.map((write) =>
      "links" in write ? { ...write, links: unpackLinks(write.links) } : write,
    );
    const preparing = this.#preparation.of({ ...commit, records });
    // A failure is the answer of this commit once its transaction would begin.
    preparing.catch(() => {});
    const task = { commit: { ...commit, records }, preparing };
    return (await this.#push(isLarge ? this.#large : this.#small, task)) as Committed;
  }

  /** In a transaction of its own, which may be tried again as long as nothing is stored. */
  do<T>(work: OperationWork<T>): Promise<T> {
    return this.#push(this.#small, { work }) as Promise<T>;
  }

  /** Writes all earlier requests. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#small.idle(), this.#large.idle()]);
  }

  #push(transactions: Transactions, task: Task): Promise<unknown> {
    return this.#closed ? Promise.reject(unavailable("it is closed")) : transactions.push(task);
  }
}

interface TransactionOptions extends Pick<WriterOptions, "retryWindow" | "skew" | "done"> {
  /** Called each time the database cannot say how a transaction ended. */
  away(error: unknown): void;
}

/**
 * Transactions one after the other. It is known how each ended: it writes its number into its row
 * of `writer`, which is read when a COMMIT is not answered.
 */
class Transactions {
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #number = 0;

  readonly #name: string;
  readonly #database: Database;
  readonly #vias: Preparation["vias"];
  readonly #options: TransactionOptions;

  constructor(
    name: string,
    database: Database,
    vias: Preparation["vias"],
    options: TransactionOptions,
  ) {
    this.#name = name;
    this.#database = database;
    this.#vias = vias;
    this.#options = options;
  }

  /**
   * @throws ServiceError, FenceLost: nothing was stored; `STORE_UNAVAILABLE` also when the database
   * did not come back, so that the outcome is unknown
   */
  push(task: Task): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject });
      this.#running ??= this.#runAll();
    });
  }

  /** Rejects waiting requests that have not begun. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #runAll(): Promise<void> {
    // All requests of this iteration of the event loop go together.
    await turn();
    for (let some = this.#next(); some.length > 0; some = this.#next()) await this.#run(some);
    this.#running = undefined;
  }

  /** The commits that wait first and fit together, or one request. */
  #next(): Waiting[] {
    const batch = new Batch();
    const next = this.#waiting.slice(0, MAX_COMMITS);
    const end = next.findIndex(({ task }) => !("commit" in task && batch.admits(task.commit)));
    return this.#waiting.splice(0, Math.max(end < 0 ? next.length : end, 1));
  }

  /** Answers each request. */
  async #run(some: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#tryOften(some.map(({ task }) => task));
      for (const [index, { resolve }] of some.entries()) resolve(results[index]);
    } catch (failed) {
      if (failed instanceof Refused) {
        const others: Waiting[] = [];
        for (const waiting of some) {
          const { task, reject } = waiting;
          if ("commit" in task && failed.reasons.has(task.commit))
            reject(failed.reasons.get(task.commit));
          else others.push(waiting);
        }
        return this.#run(others);
      }
      const error = asStoreError(await this.#reasonOf(failed));
      if (some.length === 1 || isRefusal(error)) for (const { reject } of some) reject(error);
      // When the database refuses a statement, the cause may be any request: each is done by itself.
      else for (const one of some) await this.#run([one]);
    }
  }

  async #tryOften(tasks: readonly Task[]): Promise<unknown[]> {
    const prepared: PreparedStates = new Map(
      (
        await Promise.all(
          tasks.map(async (task) => ("commit" in task ? [...(await task.preparing)] : [])),
        )
      ).flat(),
    );
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(tasks, prepared);
      } catch (error) {
        // Either way it is known that nothing was stored. A connection may have been lost long
        // before it was used.
        const isWorthwhile = isCollision(error)
          ? attempt < MAX_ATTEMPTS
          : isLost(error) && attempt === 1;
        if (!isWorthwhile) throw error;
        await pause(FIRST_PAUSE * 2 ** (attempt - 1) * (0.5 + Math.random()));
      }
    }
  }

  /** A statement that the database refuses may be one of before a change of the schema. */
  async #reasonOf(error: unknown): Promise<unknown> {
    if (!(error instanceof StatementError) || isOutage(error)) return error;
    return this.#database
      .one(NEEDS)
      .then(assertKnown)
      .then(
        () => error,
        (reason: unknown) => reason,
      );
  }

  async #once(tasks: readonly Task[], prepared: PreparedStates): Promise<unknown[]> {
    const session = await this.#database.session();
    let broken = true;
    try {
      const results = await this.#inTransaction(session, tasks, prepared);
      broken = false;
      return results;
    } catch (error) {
      if (isRefusal(error) || error instanceof Refused)
        await session.exec("ROLLBACK").then(
          () => (broken = false),
          () => {},
        );
      throw error;
    } finally {
      // Closing the connection ends a transaction that is still open.
      session.release(broken);
    }
  }

  async #inTransaction(
    session: Session,
    tasks: readonly Task[],
    prepared: PreparedStates,
  ): Promise<unknown[]> {
    const commits = tasks.flatMap((task) => ("commit" in task ? [task.commit] : []));
    const within = commits.length === 1 ? commits[0]!.within : undefined;
    const number = ++this.#number;
    let deadline = Infinity;
    const isLate = (): boolean => performance.now() > deadline;
    const sending = new Sending(session, isLate);
    const begun = session.exec("BEGIN ISOLATION LEVEL READ COMMITTED");
    begun.catch(() => {});
    await writeStates(sending, [...prepared.values()]);
    const locking = sending.send(LOCK);
    // A separate statement: the one that takes the lock sees the schema as it was before it waited.
    const needs = sending.send(NEEDS);
    // Locked until the end: who asks for the number waits until the transaction has ended.
    void sending.send(MARK, [this.#name, number]);
    const lock = async (): Promise<Counters> => {
      await begun;
      const row = (await locking)[0];
      if (!row)
        throw new StatementError("XX000", "the row of counter is missing; restore a backup");
      // From here on others wait.
      deadline = performance.now() + (within ?? Infinity) * SHARE;
      assertKnown(oneOf(NEEDS, await needs));
      const [sequence, record, object] = row;
      return { sequence, record, object };
    };
    const locked = lock();
    const [first] = tasks;
    let results: unknown[];
    if (first && "work" in first) {
      await locked;
      const intents = new Intents(session, this.#name, this.#options.skew());
      results = [await first.work(session, intents)];
    } else {
      const context = { prepared, vias: this.#vias };
      results = await applyCommits(sending, commits, context, locked, isLate);
    }
    await sending.settle();
    await this.#commit(session, number);
    this.#options.done((await locked).sequence);
    return results;
  }

  async #commit(session: Session, number: number): Promise<void> {
    try {
      const done = await session.exec("COMMIT");
      if (done !== "COMMIT")
        throw new StatementError("25P02", "the transaction had failed before its COMMIT");
    } catch (error) {
      if (error instanceof StatementError && error.code === "25P02") throw error;
      if (!(await this.#wasDone(number))) throw error;
    }
  }

  async #wasDone(number: number): Promise<boolean> {
    const until = performance.now() + this.#options.retryWindow;
    for (;;) {
      try {
        return ((await this.#database.query(LAST, [this.#name]))[0]?.[0] ?? 0) >= number;
      } catch (error) {
        if (!isOutage(error)) throw error;
        if (performance.now() > until) {
          throw new ServiceError(
            "STORE_UNAVAILABLE",
            "The connection to the database was lost during a commit, and could not be " +
              "restored to find out whether the change was stored. Read the records before " +
              "you repeat the change.",
          );
        }
        this.#options.away(error);
        await pause(PAUSE);
      }
    }
  }
}
