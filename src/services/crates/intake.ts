/** The job of a crate submission: ingests an upload, and commits or refuses it. */
import { ServiceError } from "../../errors.js";
import { type Job, type JobHandler, reached } from "../../jobs/port.js";
import type { Finding } from "../../model/findings.js";
import type { KindName } from "../../model/kind.js";
import type { RecordStore } from "../../storage/records/port.js";
import type { Submission } from "../../storage/records/port/submissions.js";
import { announce } from "../objects/damage.js";
import type { CrateWrites } from "./compare/comparison.js";
import { changedMeanwhile, type Reason, taken } from "./compare/conflicts.js";
import { finding, Findings } from "./findings.js";
import { describedCrate } from "./layout.js";
import { compareCrate, type PipelineDeps } from "./pipeline.js";
import type { Conflict, CrateUpload } from "./steps.js";

/** Input of a submission of type `crate`. */
export interface CrateSubmissionInput extends Pick<
  CrateUpload,
  "name" | "format" | "update" | "emptyLinked" | "crate"
> {
  /** A new crate is private, with all its records. */
  private?: boolean;
  /** Name of the request that uploaded it, for logs. */
  request?: string;
  /** The span of that request, as W3C Trace Context writes it. */
  trace?: string;
  /** Address of the client that uploaded it, for the audit log. */
  client?: string;
  /** The uploader's token is bound to this crate: nothing outside of it may change. */
  boundTo?: string;
}

export interface IntakeDeps extends PipelineDeps {
  records: PipelineDeps["records"] &
    Pick<RecordStore, "commit" | "closeSubmission" | "intend" | "release">;
}

/** The handler of a composed registry. */
export const intakeHandler =
  (deps: IntakeDeps): JobHandler =>
  (job) =>
    intakeCrate(job, deps);

/**
 * The handler of crate submissions: the whole crate is committed atomically. A fault of the crate
 * ends the submission as failed; any other fault is thrown, and the queue retries.
 */
async function intakeCrate(job: Job, deps: IntakeDeps): Promise<void> {
  const { submission } = job;
  const { id, attempt, user, sha256 } = submission;
  if (sha256 === null) throw new Error(`the submission ${id} names no archive`);
  const holder = { kind: "submission" as const, id, attempt };
  const input = submission.input as CrateSubmissionInput;
  let announcing = Promise.resolve();
  const fail = async (error: Finding[], warnings: Finding[]) => {
    await deps.records.closeSubmission(
      { id, attempt, status: "failed", error, warnings },
      Date.now(),
    );
    // A sweep removes the stored bytes when no intent announces them any more.
    await deps.records.release(holder);
  };
  try {
    const { errors, conflicts, warnings, changes } = await compareCrate(
      { ...input, sha256, user },
      deps,
      {
        signal: job.signal,
        apart: job.apart,
        progress: (progress) => job.report(progress),
        announce: async (sha256s) => {
          await (announcing = announce(deps, holder, sha256s));
          reached({ submission: id, event: "files announced" });
        },
      },
    );
    if (!changes || conflicts.length > 0)
      return await fail([...errors, ...findingsOf(conflicts)], warnings);
    if (input.boundTo !== undefined) {
      const other = await writeOutside(deps, changes.writes, input.boundTo);
      if (other !== undefined)
        return await fail(
          [
            finding(
              "TOKEN_BOUND",
              `The crate would write ${other}, which does not belong to ${input.boundTo}, to which ` +
                "your token is bound: upload it with a token that is not bound.",
            ),
          ],
          warnings,
        );
    }
    job.signal.throwIfAborted();
    const refused = await commit(
      submission,
      deps,
      { ...changes, writes: await withVisibility(changes, input, deps) },
      warnings,
    );
    if (refused) await fail([refused], warnings);
  } catch (error) {
    // Nothing refers to the stored bytes; the code waits for an announcement in progress, which
    // would otherwise outlive this.
    if ((job.signal.reason as { reason?: string } | undefined)?.reason === "cancelled")
      await announcing.catch(() => {}).then(() => deps.records.release(holder));
    throw error;
  }
}

/** The first identifier that the upload would write and that does not belong to the crate. */
async function writeOutside(
  { records }: IntakeDeps,
  writes: CrateWrites["writes"],
  crate: string,
): Promise<string | undefined> {
  const others = writes.filter(({ ark }) => ark !== crate && !ark.startsWith(`${crate}/`));
  const stored = await records.findMany(others.map(({ ark }) => ark));
  return others.find((write, at) => {
    const own = write.op === "create" ? write.crate : stored[at]?.crate;
    return own !== crate;
  })?.ark;
}

/** New records are private as their crate is: one that is stored already, else the new one. */
async function withVisibility(
  { writes, uses }: CrateWrites,
  input: CrateSubmissionInput,
  { records }: IntakeDeps,
): Promise<CrateWrites["writes"]> {
  const [crate] = await records.findMany([uses.crate]);
  if (!(crate ? crate.private : input.private)) return writes;
  return writes.map((write) => (write.op === "create" ? { ...write, private: true } : write));
}

/** A submission lists some findings of a kind, and counts the others. */
function findingsOf(conflicts: readonly Conflict[]): Finding[] {
  const findings = new Findings();
  for (const conflict of conflicts) findings.error(conflict.code, conflict.message, conflict);
  return findings.allErrors();
}

/**
 * One commit for the records and the end of the submission. Returns the finding when it is refused,
 * such as for an identifier that was taken meanwhile.
 */
async function commit(
  { id, attempt, user, input }: Submission,
  { records, config }: IntakeDeps,
  { writes, uses, unheld }: CrateWrites,
  warnings: Finding[],
): Promise<Finding | undefined> {
  const identifiersMinted = writes.filter(
    ({ op, ark }) => op === "create" && describedCrate(ark) === undefined,
  ).length;
  try {
    await records.commit({
      by: user,
      at: Date.now(),
      from: (input as CrateSubmissionInput).client,
      records: writes,
      uses,
      unheld,
      within: config.COMMIT_LIMIT,
      submission: {
        id,
        attempt,
        status: "finished",
        warnings,
        identifiersMinted,
        rocrateIdentifier: uses.crate,
      },
    });
    reached({ submission: id, event: "committed" });
    return undefined;
  } catch (error) {
    // Another attempt is running, or the submission was cancelled: that attempt or the cancellation
    // ends it.
    if ((error as Error).name === "FenceLost") return undefined;
    if (error instanceof ServiceError && error.code === "TOO_LARGE")
      return finding(
        "COMMIT_TOO_LONG",
        `Committing its ${writes.length} records at once would delay other writes for ` +
          `longer than COMMIT_LIMIT=${config.COMMIT_LIMIT} ms; send a smaller crate, or ` +
          "ask the operator to raise the setting.",
      );
    const reason = error instanceof ServiceError ? refusalOf(error, uses.crate) : undefined;
    if (!reason) throw error;
    return finding(reason.code, reason.message);
  }
}

/** Why the commit refuses what the comparison allowed: somebody else wrote in between. */
function refusalOf({ code, message, extra }: ServiceError, root: string): Reason | undefined {
  const { ark, kind, deleted } = extra as { ark?: string; kind?: KindName; deleted?: boolean };
  switch (code) {
    case "DUPLICATE":
      return taken(ark ?? root, kind, deleted === true, { root: (ark ?? root) === root });
    case "CHANGED_MEANWHILE":
      return { code, message };
    case "REVISION_MISMATCH":
    case "GONE":
      return changedMeanwhile(ark ?? "A record of the crate");
    default:
      return undefined;
  }
}
