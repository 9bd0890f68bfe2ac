import type { Committed, CommittedRecord } from "../port.js";
import { heldMeanwhile } from "../refusals.js";
import { AccountWrites } from "./accounts.js";
import { CrateUseWrites } from "./crate-uses.js";
import { ScoreWrites } from "./derived.js";
import { GroupTail } from "./group-tail.js";
import { LinkWrites } from "./links.js";
import { ObjectWrites } from "./objects.js";
import { type PreparedCommit, Projection, type Step } from "./prepared-write.js";
import { RecordWrites, TextWrites } from "./record-writes.js";
import { type Connection, textArray } from "./statement.js";
import { SubmissionWrites } from "./submissions.js";

/**
 * Share of {@link Commit.within} for all that is computed; the write to the disk takes the rest,
 * and cannot be broken off.
 */
const SHARE = 3 / 4;

/** Applies commits inside a transaction that the caller holds. */
export class Committer {
  readonly accounts: AccountWrites;
  readonly submissions: SubmissionWrites;
  readonly objects: ObjectWrites;
  readonly scores: ScoreWrites;
  readonly #uses: CrateUseWrites;
  /** Written by the caller before the transaction ends. */
  readonly tail: GroupTail;
  readonly #projection: Projection;
  readonly #links: LinkWrites;
  readonly #records: RecordWrites;
  readonly #log;
  readonly #logOne;
  readonly #newest;
  readonly #held;
  #sequence: number;

  constructor(connection: Connection) {
    this.accounts = new AccountWrites(connection);
    this.submissions = new SubmissionWrites(connection);
    this.objects = new ObjectWrites(connection);
    this.scores = new ScoreWrites(connection);
    this.#uses = new CrateUseWrites(connection);
    this.tail = new GroupTail(connection);
    this.#projection = new Projection(connection);
    this.#links = new LinkWrites(connection, this.#projection, this.tail);
    this.#records = new RecordWrites(
      connection,
      new TextWrites(connection, this.tail),
      this.objects,
      this.#projection,
      this.tail,
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
    this.#sequence = this.#newest.get()![0];
  }

  /** Number of the last commit that changed records. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Call after a rollback: the numbers counted ahead are read again from the tables. */
  rolledBack(): void {
    this.#sequence = this.#newest.get()![0];
    this.#links.forget();
    this.#projection.forget();
    this.#records.rolledBack();
  }

  apply(commit: PreparedCommit): Committed {
    const { at, by, submission, within = Infinity } = commit;
    if (submission) this.submissions.guard(submission);
    const held = commit.unheld?.length ? this.#held.get([textArray(commit.unheld)]) : undefined;
    if (held) throw heldMeanwhile(held[0]);
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
      arrived: [],
      linked: new Set(),
    };
    this.#projection.begin();
    const records = this.#records.apply(commit.records, step);
    this.#links.apply(step);
    for (const { op, ark } of commit.records) {
      if (op !== "delete") continue;
      this.#uses.end(ark);
      this.scores.forget(ark);
    }
    if (commit.uses) this.#uses.replace(commit.uses);
    if (commit.account) this.accounts.apply(commit.account);
    if (submission) {
      this.submissions.close(submission, at);
      this.objects.release({ kind: "submission", id: submission.id });
    }
    // A number is used only by commits that changed records, so that none is missing from the log.
    if (step.changed.size > 0) {
      const changed = [...step.changed];
      if (changed.length === 1) this.#logOne.put([step.sequence, changed[0]!]);
      else this.#log.put([step.sequence, JSON.stringify(changed)]);
      this.#sequence = step.sequence;
    }
    if (commit.within !== undefined) this.tail.writeRequest(step);
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
