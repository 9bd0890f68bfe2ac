import { setImmediate as turn } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import type { Commit, Committed, CommittedRecord, RecordWrite } from "../../port.js";
import { checkFence, FenceLost, takesTooLong } from "../../refusals.js";
import type { Submission } from "../../port/submissions.js";
import { forgetScores } from "../derived.js";
import { type Sending, statement } from "../statement.js";
import { changeAccount } from "./accounts.js";
import { LinkWrites } from "./links.js";
import { dropArchives, endUses, ObjectWrites, replaceUses } from "./objects.js";
import { endSubmission } from "./operations.js";
import { checkDeletedOwners, type Held, loadRecords, RecordWrites, type Step } from "./records.js";
import type { Preparation, PreparedStates } from "./states.js";

/** Numbers that the row `counter` gives out. */
export interface Counters {
  sequence: number;
  record: number;
  object: number;
}

const SUBMISSION = statement<[status: string, attempt: number, cancelled: boolean]>(
  "SELECT status, attempt, cancelled FROM submission WHERE id = $1",
);
// A record whose graph changes for another reason too has one entry.
const LOG = statement(
  `INSERT INTO change_log (sequence, record) SELECT * FROM unnest($1::bigint[], $2::bigint[])
    ON CONFLICT DO NOTHING`,
);
const SAVE = statement("UPDATE counter SET sequence = $1, record = $2, object = $3 WHERE id = 1");

/** Records that are decided in one iteration of the event loop. */
const MAX_RECORDS_PER_TURN = 1000;

/** What a commit needs beside the rows of the database. */
export interface Context {
  prepared: PreparedStates;
  vias: Preparation["vias"];
  /** The numbers given out so far; they are counted on here. */
  counters: Counters;
  /** Whether the commit has blocked others for as long as it may. */
  isLate(): boolean;
}

/**
 * Reads what a commit concerns, decides it, and writes it. No other writer changes records
 * meanwhile.
 * @throws the refusal: the caller undoes what was written
 */
export async function applyCommit(
  sending: Sending,
  commit: Commit,
  { prepared, vias, counters, isLate }: Context,
): Promise<Committed> {
  const [loaded] = await Promise.all([
    loadRecords(sending, commit),
    checkSubmission(sending, commit),
  ]);
  const newestObject = counters.object;
  const { at, by, unheld = [], records: writes } = commit;
  const step: Step = { sequence: counters.sequence + 1, at, by, changed: new Set() };
  const records = new RecordWrites(step, loaded, prepared);
  const links = new LinkWrites(step.sequence, vias);
  const objects = new ObjectWrites();

  records.checkUnheld(unheld);
  const stating: [record: Held, write: RecordWrite][] = [];
  const done = new Map<RecordWrite, CommittedRecord>();
  for (const [index, write] of inOrder(writes).entries()) {
    if (index % MAX_RECORDS_PER_TURN === MAX_RECORDS_PER_TURN - 1) await turn();
    if (isLate()) throw takesTooLong();
    const { held, waiting } =
      write.op === "create"
        ? records.create(write, ++counters.record)
        : { held: records.change(write), waiting: undefined };
    const { ark, revision } = held.row;
    const newestBacklink = waiting === undefined ? {} : { newestBacklink: waiting };
    done.set(write, { ark, revision, ...newestBacklink });
    if (write.op === "publish" || (write.op === "replace" && revision === write.ifRevision))
      continue;
    objects.apply(held.row, write, () => ++counters.object);
    stating.push([held, write]);
  }
  // After all records, so that a link finds its target whichever of the two comes first.
  for (const [held, write] of stating) links.restate(held, write);

  await records.write(sending, links.touched);
  await links.write(sending);
  await objects.write(sending);
  // A number is used only by commits that changed records, so that none is missing from the log.
  if (step.changed.size > 0) counters.sequence = step.sequence;
  await sending.rows(
    LOG,
    [...step.changed].map((id) => [step.sequence, id]),
  );
  await writeRest(sending, commit, newestObject);
  await sending.rows(
    LOG,
    (await links.project(sending, records.arrived)).map((id) => [step.sequence, id]),
  );
  await sending.settle();
  return { sequence: counters.sequence, records: writes.map((write) => done.get(write)!) };
}

export const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError || error instanceof FenceLost;

export async function saveCounters(
  sending: Sending,
  { sequence, record, object }: Counters,
): Promise<void> {
  await sending.send(SAVE, [sequence, record, object]);
}

async function checkSubmission(sending: Sending, { submission }: Commit): Promise<void> {
  if (!submission) return;
  const [row] = await sending.send(SUBMISSION, [submission.id]);
  const now = row && { status: row[0], attempt: row[1], cancelled: row[2] };
  checkFence(now as Pick<Submission, "status" | "attempt" | "cancelled"> | undefined, submission);
}

/** What a commit has beside records. */
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
