import { setImmediate as turn } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import { arkKey } from "../../../../identifiers/ark.js";
import type { Commit, Committed, CommittedRecord, RecordWrite } from "../../port.js";
import { FenceLost, takesTooLong } from "../../refusals.js";
import { Tables } from "../../tables/tables.js";
import { type Sending, statement } from "../statement.js";
import { TABLE_SQL } from "../table-sql.js";
import { releaseIntents } from "./intents.js";
import { LinkWrites } from "./links.js";
import { dropArchives, ObjectWrites } from "./objects.js";
import { checkDeletedOwners, type Held, loadRecords, RecordWrites, type Step } from "./records.js";
import type { Preparation, PreparedStates } from "./states.js";

/** Numbers that the row `counter` gives out. */
export interface Counters {
  sequence: number;
  record: number;
  object: number;
}

// A record whose graph changes for another reason too has one entry.
const LOG = statement(
  `INSERT INTO change_log (sequence, record) SELECT * FROM unnest($1::bigint[], $2::bigint[])
    ON CONFLICT DO NOTHING`,
);
const SAVE = statement("UPDATE counter SET sequence = $1, record = $2, object = $3 WHERE id = 1");

/** Records that are decided in one iteration of the event loop. */
const MAX_RECORDS_PER_TURN = 1000;

/** Keys of the records that a commit writes, and of those that decide about it. */
interface Keys {
  written: readonly string[];
  read: readonly string[];
}

/**
 * Keys of a commit of which all refusals are decided from rows that were read; `undefined` for
 * another one, which has a transaction to itself.
 */
function sharedKeys(commit: Commit): Keys | undefined {
  const { account, submission, uses, within, records, unheld = [] } = commit;
  const isPlain = records.every((write) => write.op !== "delete" && !("dropObjects" in write));
  if (account || submission || uses || within !== undefined || !isPlain) return undefined;
  const owners = records.flatMap((write) => ("owner" in write && write.owner ? [write.owner] : []));
  return {
    written: records.map((write) => (write.op === "create" ? write.key : arkKey(write.ark))),
    read: [...owners.map(arkKey), ...unheld],
  };
}

/** The commits that go into one transaction. */
export class Batch {
  readonly #written = new Set<string>();
  readonly #read = new Set<string>();

  /**
   * Whether none of the commits so far writes what this one reads or writes, nor the other way
   * round; it then belongs to them. A link to a record is neither.
   */
  admits(commit: Commit): boolean {
    const keys = sharedKeys(commit);
    if (
      !keys ||
      keys.written.some((key) => this.#written.has(key) || this.#read.has(key)) ||
      keys.read.some((key) => this.#written.has(key))
    )
      return false;
    for (const key of keys.written) this.#written.add(key);
    for (const key of keys.read) this.#read.add(key);
    return true;
  }
}

/** Those of several commits that are refused: nothing is stored, and the others may be done. */
export class Refused extends Error {
  constructor(readonly reasons: ReadonlyMap<Commit, unknown>) {
    super("some of the commits are refused");
  }
}

export const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError || error instanceof FenceLost;

/**
 * Reads what commits concern, decides each, and writes them together. No other writer changes
 * records meanwhile.
 *
 * @param commits one, or those of a {@link Batch}
 * @param locked the numbers given out so far, once the transaction has the lock of `counter`; they
 * are counted on here
 * @param isLate whether the commit has blocked others for as long as it may
 * @throws the refusal of a single commit; {@link Refused} for several
 */
export async function applyCommits(
  sending: Sending,
  commits: readonly Commit[],
  { prepared, vias }: { prepared: PreparedStates; vias: Preparation["vias"] },
  locked: Promise<Counters>,
  isLate: () => boolean,
): Promise<Committed[]> {
  const tables = new Tables(sending, TABLE_SQL);
  // All is asked at once: the answers come with that of the lock.
  const [counters, loaded] = await Promise.all([
    locked,
    loadRecords(sending, commits),
    ...commits.map(({ submission }) => submission && tables.submissions.guard(submission)),
  ]);
  const newestObject = counters.object;
  const records = new RecordWrites(loaded, prepared);
  const links = new LinkWrites(vias);
  const objects = new ObjectWrites();
  const log: [sequence: number, record: number][] = [];

  const decide = async ({ at, by, unheld = [], records: writes }: Commit): Promise<Committed> => {
    const step: Step = { sequence: counters.sequence + 1, at, by, changed: new Set() };
    records.checkUnheld(unheld);
    const stating: [record: Held, write: RecordWrite][] = [];
    const done = new Map<RecordWrite, CommittedRecord>();
    for (const [index, write] of inOrder(writes).entries()) {
      if (index % MAX_RECORDS_PER_TURN === MAX_RECORDS_PER_TURN - 1) await turn();
      if (isLate()) throw takesTooLong();
      const { held, waiting } =
        write.op === "create"
          ? records.create(step, write, ++counters.record, links)
          : { held: records.change(step, write), waiting: undefined };
      const { ark, revision } = held.row;
      const newestBacklink = waiting === undefined ? {} : { newestBacklink: waiting };
      done.set(write, { ark, revision, ...newestBacklink });
      if (write.op === "publish" && held.row.private < (held.stored?.private ?? 0))
        links.open(step, held);
      if (write.op === "publish" || (write.op === "replace" && revision === write.ifRevision))
        continue;
      objects.apply(held.row, write, () => ++counters.object);
      stating.push([held, write]);
    }
    // After all records, so that a link finds its target whichever of the two comes first.
    for (const [held, write] of stating) links.restate(step, held, write);
    // A number is used only by commits that changed records, so that none is missing from the log.
    if (step.changed.size > 0) counters.sequence = step.sequence;
    for (const id of step.changed) log.push([step.sequence, id]);
    return { sequence: counters.sequence, records: writes.map((write) => done.get(write)!) };
  };

  const results: Committed[] = [];
  const refused = new Map<Commit, unknown>();
  for (const commit of commits) {
    try {
      results.push(await decide(commit));
    } catch (error) {
      if (commits.length === 1 || !isRefusal(error)) throw error;
      refused.set(commit, error);
    }
  }
  if (refused.size > 0) throw new Refused(refused);

  await records.write(sending, links);
  await links.write(sending);
  await objects.write(sending);
  await sending.rows(LOG, log);
  void sending.send(SAVE, [counters.sequence, counters.record, counters.object]);
  for (const commit of commits) await writeRest(sending, commit, newestObject);
  await Promise.all(commits.map((commit, index) => tables.follow(commit, results[index]!.records)));
  await sending.rows(LOG, await links.project(sending, records.arrived));
  return results;
}

/** Objects and owners beside records; there is nothing to do for one of several. */
async function writeRest(sending: Sending, commit: Commit, newestObject: number): Promise<void> {
  const { records, submission } = commit;
  const dropping = records.filter((write) => "dropObjects" in write && write.dropObjects);
  dropArchives(
    sending,
    dropping.map(({ ark }) => ark),
    newestObject,
  );
  const deleted = records.flatMap(({ op, ark }) => (op === "delete" ? [ark] : []));
  await checkDeletedOwners(sending, deleted);
  if (submission) releaseIntents(sending, submission.id);
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
