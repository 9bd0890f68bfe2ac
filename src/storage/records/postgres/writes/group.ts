import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import { unpackLinks } from "../../codecs.js";
import type { Commit, Committed, RecordWrite } from "../../port.js";
import { FenceLost, unavailable } from "../../refusals.js";
import { forgetScores } from "../derived.js";
import { assertKnown, NEEDS } from "../schema.js";
import {
  asStoreError,
  type Database,
  isCollision,
  isLost,
  isOutage,
  Sending,
  type Session,
  StatementError,
  statement,
} from "../statement.js";
import { applyCommit } from "./apply.js";
import { type Ledger, LOCK, load } from "./ledger.js";
import { type Operation, Operations } from "./operations.js";
import { checkCommit, type Preparation, type Prepared, project } from "./prepare.js";
import {
  endUses,
  replaceUses,
  SAVE,
  type Terms,
  writeEndings,
  writeLinks,
  writeLog,
  writeObjects,
  writeRecords,
  writeStates,
} from "./write-rows.js";

type Task = { commit: Commit } | { call: Operation; args: unknown[] };
type Answer = { result: unknown } | { error: unknown };

/**
 * Share of {@link Commit.within} for all up to the COMMIT, which takes the rest and cannot be
 * broken off.
 */
const SHARE = 3 / 4;
/**
 * How often a transaction that met another one is tried (one whose connection was lost, twice), and
 * ms before the second time; each further one doubles them.
 */
const ATTEMPTS = 6;
const FIRST_PAUSE = 10;

/** The services that a group needs of its store. */
interface Means {
  database: Database;
  preparation: Preparation;
  terms: Terms;
  mark: Mark;
  skew(): number;
}

/**
 * Does tasks in one transaction. Commits are decided one after the other in memory, so that a
 * refused commit does not affect the others; their result is written in a dozen statements, however
 * many they are.
 */
export class Group {
  /** Numbers of pairs of kind and predicate that are stored for good. */
  readonly #vias = new Map<string, number>();
  #sequence = 0;

  readonly #means: Means;

  constructor(means: Means) {
    this.#means = means;
  }

  /** Number of the last commit of a group of this one that changed records. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Answers each task. A task with a result is durable; a task with an error changed nothing. */
  async run(tasks: readonly Task[]): Promise<Answer[]> {
    const answers = new Map<Task, Answer>();
    for (const task of tasks) {
      try {
        if ("commit" in task) checkCommit(task.commit);
      } catch (error) {
        answers.set(task, { error });
      }
    }
    const able = tasks.filter((task) => !answers.has(task));
    try {
      if (able.length > 0)
        for (const [index, answer] of (await this.#tryOften(able)).entries())
          answers.set(able[index]!, answer);
    } catch (failed) {
      const error = await this.#reasonOf(failed);
      // When the database refuses a statement, the cause may be any task: each is done by itself.
      if (isOutage(error) || error instanceof ServiceError || able.length === 1)
        for (const task of able) answers.set(task, { error: asStoreError(error) });
      else for (const task of able) answers.set(task, (await this.run([task]))[0]!);
    }
    return tasks.map((task) => answers.get(task)!);
  }

  /** A statement that the database refuses may be one of before a change of the schema. */
  async #reasonOf(error: unknown): Promise<unknown> {
    if (!(error instanceof StatementError) || isOutage(error)) return error;
    return this.#means.database
      .query(NEEDS)
      .then(([schema]) => assertKnown(schema!))
      .then(
        () => error,
        (reason: unknown) => reason,
      );
  }

  async #tryOften(tasks: readonly Task[]): Promise<Answer[]> {
    const { preparation, terms } = this.#means;
    const prepared = await preparation.of(
      tasks.flatMap((task) => ("commit" in task ? [task.commit] : [])),
    );
    await terms.add([...prepared.values()].flatMap(({ stems }) => stems));
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(tasks, prepared);
      } catch (error) {
        // Either way it is known that nothing was stored. A connection may have been lost long
        // before it was used.
        const isWorthwhile = isCollision(error)
          ? attempt < ATTEMPTS
          : isLost(error) && attempt === 1;
        if (!isWorthwhile) throw error;
        await pause(FIRST_PAUSE * 2 ** (attempt - 1) * (0.5 + Math.random()));
      }
    }
  }

  async #once(
    tasks: readonly Task[],
    prepared: ReadonlyMap<RecordWrite, Prepared>,
  ): Promise<Answer[]> {
    const { database, mark } = this.#means;
    const session = await database.session();
    let broken = true;
    try {
      const { answers, ledger } = await this.#inTransaction(session, tasks, prepared);
      broken = false;
      if (answers.every((answer) => "error" in answer)) {
        await session.exec("ROLLBACK");
        return answers;
      }
      broken = true;
      await mark.commit(session);
      broken = false;
      for (const [name, via] of ledger.vias) this.#vias.set(name, via);
      if (ledger.log.length > 0) this.#sequence = ledger.counters.sequence;
      return answers;
    } finally {
      // Closing the connection ends a transaction that is still open.
      session.release(broken);
    }
  }

  async #inTransaction(
    session: Session,
    tasks: readonly Task[],
    prepared: ReadonlyMap<RecordWrite, Prepared>,
  ): Promise<{ answers: Answer[]; ledger: Ledger }> {
    const commits = tasks.flatMap((task) => ("commit" in task ? [task.commit] : []));
    const within = Math.min(...commits.map(({ within: limit = Infinity }) => limit));
    let deadline = Infinity;
    const isLate = (): boolean => performance.now() > deadline;
    const sending = new Sending(session, isLate);
    const begun = session.exec("BEGIN ISOLATION LEVEL READ COMMITTED");
    begun.catch(() => {});
    await writeStates(sending, prepared.values());
    const locked = sending.send(LOCK);
    // A separate statement: the one that takes the lock sees the schema as it was before it waited.
    const needs = sending.send(NEEDS);
    await begun;
    const row = (await locked)[0];
    if (!row) throw new StatementError("XX000", "the row of counter is missing; restore a backup");
    // From here on others wait.
    deadline = performance.now() + within * SHARE;
    assertKnown((await needs)[0]!);
    const [sequence, record, object, submission] = row;
    const counters = { sequence, record, object, submission };
    const ledger = await load(sending, counters, commits, this.#vias);
    const answers: Answer[] = [];
    const done: Commit[] = [];
    for (const task of tasks) {
      const answer =
        "commit" in task
          ? await decide(() =>
              ledger.attempt(() => applyCommit(ledger, task.commit, prepared, isLate)),
            )
          : { result: undefined };
      answers.push(answer);
      if ("commit" in task && !("error" in answer)) done.push(task.commit);
    }
    if (answers.every((answer) => "error" in answer)) return { answers, ledger };
    await this.#write(sending, ledger, done, [...prepared.values()]);
    const operations = new Operations(
      session,
      counters,
      this.#means.mark.writer,
      this.#means.skew(),
    );
    for (const [index, task] of tasks.entries()) {
      if ("call" in task)
        answers[index] = {
          result: await (operations[task.call] as (...args: unknown[]) => Promise<unknown>)(
            ...task.args,
          ),
        };
    }
    void sending.send(SAVE, [
      counters.sequence,
      counters.record,
      counters.object,
      counters.submission,
    ]);
    await sending.settle();
    return { answers, ledger };
  }

  async #write(
    sending: Sending,
    ledger: Ledger,
    done: readonly Commit[],
    prepared: readonly Prepared[],
  ): Promise<void> {
    await writeRecords(sending, ledger, prepared);
    await writeLinks(sending, ledger);
    await writeObjects(sending, ledger);
    await writeEndings(sending, ledger);
    await endUses(sending, ledger.deleted);
    await forgetScores(sending, ledger.deleted);
    for (const { uses } of done) if (uses) await replaceUses(sending, uses);
    await project(sending, ledger);
    await writeLog(sending, ledger);
    await sending.settle();
  }
}

/** The refusal of a commit is its answer; any other error ends the whole group. */
async function decide(work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { result: await work() };
  } catch (error) {
    if (error instanceof ServiceError || error instanceof FenceLost) return { error };
    throw error;
  }
}

const PUT = statement(
  `INSERT INTO writer (id, number, seen_at) VALUES ($1, $2, now()) ON CONFLICT (id) DO UPDATE
    SET number = excluded.number, seen_at = excluded.seen_at`,
);
/** Waits for a transaction that holds the row, however it ends. */
const LAST = statement<[number: number]>("SELECT number FROM writer WHERE id = $1 FOR UPDATE");

/** ms between two questions to an unavailable database. */
const PAUSE = 200;

/**
 * Ends transactions so that it is known how they ended: each writes its number into this writer's
 * row. When a COMMIT is not answered, the row says whether it was done.
 */
export class Mark {
  #number = 0;

  readonly #database: Database;
  readonly #retryWindow: number;
  readonly #unavailable: (error: unknown) => void;

  /**
   * @param writer this writer's name, used by no other
   * @param patience ms for which it asks for an outcome
   * @param away called each time the database cannot say
   */
  constructor(
    database: Database,
    readonly writer: string,
    retryWindow: number,
    unavailable: (error: unknown) => void,
  ) {
    this.#database = database;
    this.#retryWindow = retryWindow;
    this.#unavailable = unavailable;
  }

  /**
   * Commits.
   * @throws StatementError when nothing was stored; ServiceError `STORE_UNAVAILABLE` when the
   * database did not come back, so that the outcome is unknown
   */
  async commit(session: Session): Promise<void> {
    const number = ++this.#number;
    await session.query(PUT, [this.writer, number]);
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
    const until = performance.now() + this.#retryWindow;
    for (;;) {
      try {
        return ((await this.#database.query(LAST, [this.writer]))[0]?.[0] ?? 0) >= number;
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
        this.#unavailable(error);
        await pause(PAUSE);
      }
    }
  }
}

/** Bounds the memory and the wait of one group; more is done right after. */
const LARGEST_GROUP = 512;
/**
 * Number of records from which on a commit has its own transaction, beside the groups of small
 * ones.
 */
const LARGE = 100;

type Waiting = { task: Task; resolve(result: never): void; reject(error: unknown): void };

/** Tasks that are done one group after the other. */
class Lane {
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  readonly #group: Group;
  readonly #largest: number;
  readonly #done: (sequence: number) => void;

  constructor(group: Group, largest: number, done: (sequence: number) => void) {
    this.#group = group;
    this.#largest = largest;
    this.#done = done;
  }

  push(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#running ??= this.#run();
  }

  /** Rejects waiting requests that have not begun. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // All requests of this iteration of the event loop go together.
    await turn();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#largest);
      const answers = await this.#group.run(group.map(({ task }) => task));
      this.#done(this.#group.sequence);
      for (const [index, { resolve, reject }] of group.entries()) {
        const answer = answers[index]!;
        if ("error" in answer) reject(answer.error);
        else resolve(answer.result as never);
      }
    }
    this.#running = undefined;
  }
}

/** All writes of this node: small ones share transactions, large ones have their own. */
export class Writer {
  readonly #small: Lane;
  readonly #large: Lane;
  #closed = false;

  /** @param done called with the number of the last commit after each group */
  constructor(small: Group, large: Group, done: (sequence: number) => void) {
    this.#small = new Lane(small, LARGEST_GROUP, done);
    this.#large = new Lane(large, 1, done);
  }

  commit(commit: Commit): Promise<Committed> {
    const isLarge =
      commit.records.length > LARGE || commit.within !== undefined || commit.uses !== undefined;
    const records = commit.records.map((write) =>
      "links" in write ? { ...write, links: unpackLinks(write.links) } : write,
    );
    return this.#push(isLarge ? this.#large : this.#small, { commit: { ...commit, records } });
  }

  call<Call extends Operation>(
    call: Call,
    ...args: Parameters<Operations[Call]>
  ): ReturnType<Operations[Call]> {
    return this.#push(this.#small, { call, args }) as ReturnType<Operations[Call]>;
  }

  /** The database is unavailable: waiting requests fail now. */
  away(error: unknown): void {
    for (const lane of [this.#small, this.#large]) lane.fail(unavailable((error as Error).message));
  }

  /** Writes all earlier requests. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#small.idle(), this.#large.idle()]);
  }

  #push<T>(lane: Lane, task: Task): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable("it is closed"));
    return new Promise<T>((resolve, reject) => lane.push({ task, resolve, reject }));
  }
}
