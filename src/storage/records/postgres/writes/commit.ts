import { setImmediate as turn } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import type { Commit, Committed, CommittedRecord, RecordWrite } from "../../port.js";
import { checkFence, FenceLost, takesTooLong } from "../../refusals.js";
import type { Submission } from "../../port/submissions.js";
import { forgetScores } from "../derived.js";
import { type Sending, statement } from "../statement.js";
import { changeAccount } from "./accounts.js";
import { LinkWrites, loadLinks } from "./links.js";
import { dropArchives, endUses, loadObjects, ObjectWrites, replaceUses } from "./objects.js";
import { endSubmission } from "./operations.js";
import { checkDeletedOwners, type Held, loadRecords, RecordWrites } from "./records.js";
import type { Preparation, PreparedStates } from "./states.js";
import type { Counters, Step } from "./step.js";

/** A refused commit changed nothing. */
export type Answer<T> = { result: T } | { error: unknown };

const SUBMISSION = statement<[status: string, attempt: number, cancelled: boolean]>(
  "SELECT status, attempt, cancelled FROM submission WHERE id = $1",
);
const LOG = statement(
  "INSERT INTO change_log (sequence, record) SELECT * FROM unnest($1::bigint[], $2::bigint[])",
);

/** Records that are decided in one iteration of the event loop. */
const MAX_RECORDS_PER_TURN = 1000;

/**
 * A commit whose refusals are all decided from the rows that were read for it: several such commits
 * may share a transaction.
 */
export const isPlain = ({ records, account, submission, uses, within }: Commit): boolean =>
  !account &&
  !submission &&
  !uses &&
  within === undefined &&
  records.every((write) => write.op !== "delete" && !("dropObjects" in write));

export const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError || error instanceof FenceLost;

interface Context {
  prepared: PreparedStates;
  vias: Preparation["vias"];
  /** Whether the commit has blocked others for as long as it may. */
  isLate(): boolean;
}

/**
 * Reads what commits concern, decides them one after the other, and writes them together. No other
 * writer changes records meanwhile.
 *
 * @param commits one, or several plain ones
 * @param locked the numbers given out so far, once the transaction has the lock of `counter`; they
 * are counted on here
 * @throws the refusal of a single commit; the transaction is then rolled back
 */
export async function applyCommits(
  sending: Sending,
  commits: readonly Commit[],
  context: Context,
  locked: Promise<Counters>,
): Promise<Answer<Committed>[]> {
  const writes = commits.flatMap(({ records }) => records);
  // All is asked at once: the answers come with that of the lock.
  const [counters, records, links, objects] = await Promise.all([
    locked,
    loadRecords(sending, commits),
    loadLinks(sending, writes),
    loadObjects(sending, writes),
    ...commits.map((commit) => checkSubmission(sending, commit)),
  ]);
  const newestObject = counters.object;
  const answers = new Map<Commit, Answer<Committed>>();
  let decision: Decision | undefined;
  // Nothing is written before all are decided. A refused commit of several records may be half
  // decided: the others are decided anew without it, from the same rows.
  while (!decision) {
    decision = new Decision(records, links, objects, { ...counters }, context);
    for (const commit of commits) {
      const before = answers.get(commit);
      if (before && "error" in before) continue;
      try {
        answers.set(commit, { result: await decision.add(commit) });
      } catch (error) {
        if (commits.length === 1 || !isRefusal(error)) throw error;
        answers.set(commit, { error });
        if (commit.records.length === 1) continue;
        decision = undefined;
        await turn();
        break;
      }
    }
  }
  Object.assign(counters, decision.counters);
  await decision.write(sending);
  for (const commit of commits) await writeRest(sending, commit, newestObject);
  await decision.project(sending);
  return commits.map((commit) => answers.get(commit)!);
}

async function checkSubmission(sending: Sending, { submission }: Commit): Promise<void> {
  if (!submission) return;
  const [row] = await sending.send(SUBMISSION, [submission.id]);
  const now = row && { status: row[0], attempt: row[1], cancelled: row[2] };
  checkFence(now as Pick<Submission, "status" | "attempt" | "cancelled"> | undefined, submission);
}

/** What commits have beside records; for plain ones there is nothing to do. */
async function writeRest(sending: Sending, commit: Commit, newestObject: number): Promise<void> {
  const { records, uses, account, submission, at } = commit;
  const dropping = records.filter((write) => "dropObjects" in write && write.dropObjects);
  dropArchives(
    sending,
    dropping.map(({ ark }) => ark),
    newestObject,
  );
  const deleted = records.flatMap(({ op, ark }) => (op === "delete" ? [ark] : []));
  await checkDeletedOwners(sending, deleted);
  await endUses(sending, deleted);
  await forgetScores(sending, deleted);
  if (uses) await replaceUses(sending, uses);
  if (account) await changeAccount(sending, account);
  if (submission) endSubmission(sending, submission, at);
}

/** The changes of commits, decided one after the other on the rows that were read for all. */
class Decision {
  readonly #records: RecordWrites;
  readonly #links: LinkWrites;
  readonly #objects: ObjectWrites;
  readonly #log: [sequence: number, record: number][] = [];

  readonly counters: Counters;
  readonly #isLate: () => boolean;

  constructor(
    records: ConstructorParameters<typeof RecordWrites>[0],
    links: ConstructorParameters<typeof LinkWrites>[0],
    objects: ConstructorParameters<typeof ObjectWrites>[0],
    counters: Counters,
    { prepared, vias, isLate }: Context,
  ) {
    this.#records = new RecordWrites(records, prepared);
    this.#links = new LinkWrites(links, vias);
    this.#objects = new ObjectWrites(objects);
    this.counters = counters;
    this.#isLate = isLate;
  }

  /**
   * @throws the port's errors; nothing of a commit of one record is then part of the decision, of
   * others some may be
   */
  async add({ at, by, unheld = [], records }: Commit): Promise<Committed> {
    const { counters } = this;
    const sequence = counters.sequence + 1;
    const step: Step = { sequence, at, by, changed: new Set() };
    this.#records.checkUnheld(unheld);
    const stating: [record: Held, write: RecordWrite][] = [];
    const done = new Map<RecordWrite, CommittedRecord>();
    for (const [index, write] of inOrder(records).entries()) {
      if (this.#isLate()) throw takesTooLong();
      if (index % MAX_RECORDS_PER_TURN === MAX_RECORDS_PER_TURN - 1) await turn();
      const { record, waiting } =
        write.op === "create"
          ? this.#records.create(step, write, ++counters.record, this.#links.touched)
          : { record: this.#records.change(step, write), waiting: undefined };
      const { ark, revision } = record;
      done.set(write, {
        ark,
        revision,
        ...(waiting === undefined ? {} : { newestBacklink: waiting }),
      });
      if (write.op === "publish" || (write.op === "replace" && revision === write.ifRevision))
        continue;
      this.#objects.apply(record, write, () => ++counters.object);
      stating.push([record, write]);
    }
    // After all records, so that a link finds its target whichever of the two comes first.
    for (const [record, write] of stating) this.#links.restate(step, record, write);
    if (this.#isLate()) throw takesTooLong();
    // A number is used only by commits that changed records, so that none is missing from the log.
    if (step.changed.size > 0) counters.sequence = sequence;
    for (const id of step.changed) this.#log.push([sequence, id]);
    return { sequence: counters.sequence, records: records.map((write) => done.get(write)!) };
  }

  async write(sending: Sending): Promise<void> {
    await this.#records.write(sending, this.#links.touched);
    await this.#links.write(sending);
    await this.#objects.write(sending);
  }

  /** When all else is written. */
  async project(sending: Sending): Promise<void> {
    const { arrived, holdersOf } = this.#records;
    const respelled = await this.#links.project(sending, arrived, holdersOf);
    const log = [...this.#log, ...respelled];
    await sending.rows(LOG, [...new Map(log.map((row) => [row.join(" "), row])).values()]);
  }
}

/**
 * New records come first, in the order of their identifiers: they are numbered so, and lists have
 * this order within a commit.
 */
function inOrder(writes: readonly RecordWrite[]): RecordWrite[] {
  const created = writes.filter(({ op }) => op === "create");
  return [
    ...created.toSorted((a, b) => (a.ark < b.ark ? -1 : 1)),
    ...writes.filter(({ op }) => op !== "create"),
  ];
}
