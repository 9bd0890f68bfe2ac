/** Commits: the steps of one, and one transaction for several requests. */
import type { Committed, CommittedRecord } from "../port.js";
import { heldMeanwhile, unavailable } from "../refusals.js";
import { Tables, writesOf } from "../tables/tables.js";
import { QuadsRewrites } from "./derived.js";
import { LinkWrites } from "./links.js";
import { ObjectWrites } from "./objects.js";
import { OwnerChecks } from "./owners.js";
import { RecordWrites, TextWrites } from "./record-writes.js";
import {
  checkDeadline,
  type PreparedCommit,
  Projection,
  type Step,
  type WriterAnswer,
  type WriterCall,
  type WriterCalls,
  type WriterMessage,
  type WriterTask,
} from "./requests.js";
import { type Connection, isDamage, isOutage, sendError, textArray } from "./statement.js";
import { TABLE_SQL } from "./table-sql.js";
import { TableStatements } from "./table-statements.js";

/**
 * Share of {@link Commit.within} for all that is computed; the write to the disk takes the rest,
 * and cannot be broken off.
 */
const SHARE = 3 / 4;

/** Applies commits inside a transaction that the caller holds. */
export class Committer {
  readonly tables: Tables;
  readonly objects: ObjectWrites;
  readonly #projection: Projection;
  readonly #links: LinkWrites;
  readonly #owners: OwnerChecks;
  readonly #records: RecordWrites;
  readonly #log;
  readonly #logOne;
  readonly #newest;
  readonly #held;
  readonly #touch;
  readonly #touchPrivately;
  readonly #tally;
  #sequence: number;

  constructor(connection: Connection) {
    this.tables = new Tables(new TableStatements(connection), TABLE_SQL);
    this.objects = new ObjectWrites(connection);
    this.#projection = new Projection(connection);
    this.#links = new LinkWrites(connection, this.#projection);
    this.#owners = new OwnerChecks(connection);
    this.#records = new RecordWrites(
      connection,
      new TextWrites(connection),
      this.objects,
      this.#projection,
    );
    this.#log = connection.prepare(
      "INSERT INTO change_log (sequence, record) SELECT ?1, value FROM json_each(?2)",
    );
    this.#logOne = connection.prepare("INSERT INTO change_log (sequence, record) VALUES (?, ?)");
    this.#newest = connection.prepare<[number]>(
      "SELECT coalesce(max(sequence), 0) FROM change_log",
    );
    this.#held = connection.prepare<[string]>(
      `SELECT r.ark FROM json_each(?) AS asked CROSS JOIN record AS r ON r.key = asked.value
        LIMIT 1`,
    );
    this.#touch = connection.prepare("UPDATE record SET newest_backlink = ? WHERE key = ?");
    this.#touchPrivately = connection.prepare(
      "UPDATE record SET newest_backlink = ? WHERE key = ? AND private = 1",
    );
    this.#tally = connection.prepare(
      `INSERT INTO tally (kind, live) VALUES (?, ?) ON CONFLICT DO UPDATE
        SET live = live + excluded.live`,
    );
    this.#sequence = this.#newest.one()[0];
  }

  /** Number of the last commit that changed records. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Call after a rollback: the numbers counted ahead are read again from the tables. */
  rolledBack(): void {
    this.#sequence = this.#newest.one()[0];
    this.#links.forget();
    this.#projection.forget();
    this.#records.rolledBack();
  }

  async apply(commit: PreparedCommit): Promise<Committed> {
    if (commit.fault !== undefined) throw commit.fault;
    const { at, by, submission, within = Infinity } = commit;
    if (submission) await this.tables.submissions.guard(submission);
    const held = commit.unheld?.length ? this.#held.get([textArray(commit.unheld)]) : undefined;
    if (held) throw heldMeanwhile(held[0]);
    this.#owners.checkNew(commit.records);
    // Before the writes, so that an archive which comes with them stays.
    const dropping = commit.records.filter((write) => "dropObjects" in write && write.dropObjects);
    if (dropping.length > 0) this.objects.dropArchivesWith(dropping.map(({ ark }) => ark));
    const step: Step = {
      sequence: this.#sequence + 1,
      at,
      by,
      deadline: performance.now() + within * SHARE,
      changed: new Set(),
      links: [],
      touched: new Set(),
      touchedPrivately: new Set(),
      live: new Map(),
      arrived: [],
      opened: [],
      linked: new Set(),
    };
    this.#projection.begin();
    // oxlint-disable-next-line arkgraph/spread-into-call -- a method of that name, not Function.prototype.apply
    const records = this.#records.apply(commit.records, step);
    this.#owners.checkDeleted(step.links);
    this.#links.apply(step);
    for (const record of step.opened) this.#links.open(record, step);
    for (const key of step.touched) {
      checkDeadline(step);
      this.#touch.put([step.sequence, key]);
    }
    for (const key of step.touchedPrivately) {
      checkDeadline(step);
      this.#touchPrivately.put([step.sequence, key]);
    }
    for (const [kind, by] of step.live) if (by !== 0) this.#tally.put([kind, by]);
    await this.tables.follow(commit, records);
    if (submission) this.objects.release({ kind: "submission", id: submission.id });
    // A number is used only by commits that changed records, so that none is missing from the log.
    if (step.changed.size > 0) {
      const changed = [...step.changed];
      if (changed.length === 1) this.#logOne.put([step.sequence, changed[0]!]);
      else this.#log.put([step.sequence, JSON.stringify(changed)]);
      this.#sequence = step.sequence;
    }
    return { sequence: this.#sequence, records: withNewest(records, step) };
  }
}

/** Adds the newest link to new records that links were waiting for. */
function withNewest(records: readonly CommittedRecord[], { arrived }: Step): CommittedRecord[] {
  const newest = new Map(arrived.map((arrival) => [arrival.ark, arrival.newest]));
  return records.map((record) => {
    const newestBacklink = newest.get(record.ark);
    return newestBacklink === undefined ? record : { ...record, newestBacklink };
  });
}

/** Leases by name; see {@link import("../port.js").LeaseStore}. */
class LeaseWrites {
  readonly #take;
  readonly #mine;
  readonly #release;

  constructor(connection: Connection) {
    this.#take =
      connection.prepare(`INSERT INTO lease (name, holder, fence, until) VALUES (?1, ?2, 1, ?4)
          ON CONFLICT (name) DO UPDATE SET fence = fence + (holder IS NOT excluded.holder), holder =
          excluded.holder, until = excluded.until WHERE holder IS NULL OR holder = excluded.holder
          OR until <= ?3`);
    this.#mine = connection.prepare<[number]>(
      "SELECT fence FROM lease WHERE name = ? AND holder = ?",
    );
    this.#release = connection.prepare(
      "UPDATE lease SET holder = NULL WHERE name = ? AND holder = ?",
    );
  }

  /** @param now ms since 1970 */
  take(name: string, holder: string, ttl: number, now: number): { fence: number } | undefined {
    if (this.#take.run([name, holder, now, now + ttl]) === 0) return undefined;
    return { fence: this.#mine.one([name, holder])[0] };
  }

  release(name: string, holder: string): void {
    this.#release.run([name, holder]);
  }
}

type Handlers = {
  [Call in WriterCall]: (
    ...args: Parameters<WriterCalls[Call]>
  ) => Awaited<ReturnType<WriterCalls[Call]>> | ReturnType<WriterCalls[Call]>;
};

/** Does a group of requests in one transaction; a failed request does not affect the others. */
export class GroupCommit {
  readonly #handlers: Handlers;
  /**
   * True when the numbers counted ahead could not be read again after a rollback: nothing is
   * written until they can.
   */
  #behind = false;

  readonly #connection: Connection;
  readonly #committer: Committer;

  constructor(connection: Connection, committer: Committer) {
    this.#connection = connection;
    this.#committer = committer;
    const { objects, tables } = committer;
    const leases = new LeaseWrites(connection);
    const quads = new QuadsRewrites(connection);
    this.#handlers = {
      ...writesOf(tables),
      commit: (commit) => committer.apply(commit),
      lease: (name, holder, ttl) => leases.take(name, holder, ttl, Date.now()),
      releaseLease: (name, holder) => leases.release(name, holder),
      rewriteQuads: (after, limit) => quads.rewrite(after, limit),
      intend: (holder, sha256s, at) => objects.intend(holder, sha256s, at),
      release: (holder) => objects.release(holder),
      claimUnreferenced: (sha256s, options) => objects.claimUnreferenced(sha256s, options),
      removed: (sha256s) => objects.removed(sha256s),
    };
  }

  get sequence(): number {
    return this.#committer.sequence;
  }

  /**
   * The answers may be sent: the transaction they report is on the disk, or was rolled back as a
   * whole.
   */
  async run(
    requests: readonly WriterTask[],
  ): Promise<Extract<WriterMessage, { answers: unknown }>> {
    let answers: WriterAnswer[] = [];
    try {
      if (this.#behind) this.#undo();
      this.#connection.exec("BEGIN IMMEDIATE");
      for (const request of requests) answers.push(await this.#one(request));
      this.#connection.exec("COMMIT");
    } catch (error) {
      // Nothing of the group is stored: no request may report success.
      const clean = this.#undone();
      // Shared data, such as the search index, are damaged where one of the requests writes: the
      // others are done without it.
      if (clean && isDamage(error) && requests.length > 1) {
        const apart: WriterAnswer[][] = [];
        for (const request of requests) apart.push((await this.run([request])).answers);
        return { answers: apart.flat(), sequence: this.sequence };
      }
      const sent = sendError(
        isOutage(error) || isDamage(error)
          ? error
          : unavailable(`the transaction failed (${(error as Error).message})`),
      );
      answers = requests.map(({ id }) => ({ id, error: sent }));
    }
    return { answers, sequence: this.sequence };
  }

  /**
   * Whether all is as it was before. The thread must outlive a damaged file: others are still read,
   * and this may be one page.
   */
  #undone(): boolean {
    try {
      this.#undo();
      return true;
    } catch {
      return false;
    }
  }

  #undo(): void {
    this.#behind = true;
    // SQLite rolls back everything by itself when the disk is full, among others.
    if (this.#connection.inTransaction) this.#connection.exec("ROLLBACK");
    this.#committer.rolledBack();
    this.#behind = false;
  }

  /**
   * @throws the error that ended the whole transaction; a refusal of this request alone is its
   * answer
   */
  async #one(request: WriterTask): Promise<WriterAnswer> {
    const { id, call, args } = request;
    this.#connection.exec("SAVEPOINT request");
    try {
      // oxlint-disable-next-line arkgraph/spread-into-call -- arguments of one of the store's calls
      const result = await (this.#handlers[call] as (...all: unknown[]) => unknown)(...args);
      this.#connection.exec("RELEASE request");
      return { id, result };
    } catch (error) {
      if (!this.#connection.inTransaction) throw error;
      this.#connection.exec("ROLLBACK TO request; RELEASE request");
      this.#committer.rolledBack();
      return { id, error: sendError(error) };
    }
  }
}
