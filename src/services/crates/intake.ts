import type { Config } from "../../config/config.js";
import { ServiceError } from "../../errors.js";
import { arkKey } from "../../identifiers/ark.js";
import { type Job, type JobHandler, reached } from "../../jobs/port.js";
import type { Finding } from "../../model/findings.js";
import type { ObjectsLocation } from "../../storage/objects/location.js";
import type { RecordStore } from "../../storage/records/port.js";
import { announce } from "../objects/damage.js";
import type { CrateRecord } from "./build-records.js";
import { CrateError, finding, type Place } from "./findings.js";
import { describedCrate } from "./layout.js";
import {
  alike,
  changedAtCommit,
  findConflicts,
  NewIdentifiers,
  registeredCrates,
  takenAtCommit,
  withoutKnown,
} from "./run/conflicts.js";
import { type IntakeHost, type IntakeInput, runThread } from "./run/thread.js";
import { CrateUpdate, type CrateWrites } from "./run/update.js";
import { type CrateFormat, crateLimits } from "./upload.js";

/** Input of a submission of type `crate`. */
export interface CrateSubmissionInput {
  /** `zip` by default. */
  format?: CrateFormat;
  /** Name of the uploaded file. */
  name?: string;
  /** Name of the request that uploaded it, for logs. */
  request?: string;
  /** The span of that request, as W3C Trace Context writes it. */
  trace?: string;
  /** The upload updates the crate that the uploader has. */
  update?: boolean;
  /** The update may remove all statements of a crate that the crate links. */
  emptyLinked?: boolean;
  /** ARK of the crate to update, where the upload names it. */
  crate?: string;
}

export interface IntakeDeps {
  records: Pick<
    RecordStore,
    | "accountOf"
    | "findMany"
    | "holders"
    | "list"
    | "objectsOf"
    | "quads"
    | "usedElsewhere"
    | "usesOf"
    | "commit"
    | "closeSubmission"
    | "intend"
    | "release"
  >;
  objects: ObjectsLocation;
  config: Config;
  /** Public address without a slash at the end. */
  baseUrl: () => string;
  now?: () => number;
  /** Runs an intake; in a thread of its own by default. */
  ingest?: typeof runThread;
}

/** The handler of a composed registry. */
export function intakeHandler(
  { records, config, baseUrl, ingest }: Omit<IntakeDeps, "objects" | "now">,
  objects: ObjectsLocation,
): JobHandler {
  return (job) =>
    intakeCrate(job, { records, config, baseUrl, objects, ...(ingest ? { ingest } : {}) });
}

/**
 * The handler of crate submissions: the whole crate is committed atomically. A fault of the crate
 * ends the submission as failed; any other fault is thrown, and the queue retries.
 */
export async function intakeCrate(job: Job, deps: IntakeDeps): Promise<void> {
  const now = deps.now ?? Date.now;
  const { submission } = job;
  const holder = { kind: "submission" as const, id: submission.id, attempt: submission.attempt };
  const records: CrateRecord[] = [];
  const own = new Map<string, Place>();
  const { update: isUpdate, emptyLinked, format, crate } = submission.input as CrateSubmissionInput;
  let isNamed = crate !== undefined;
  const identifiers = new NewIdentifiers(deps.records, submission.user);
  const update =
    isUpdate === true
      ? new CrateUpdate(
          deps.records,
          submission.user,
          { keepsFiles: format === "metadata", mayEmptyLinked: emptyLinked === true },
          identifiers,
        )
      : undefined;
  let announcing = Promise.resolve();
  const host: IntakeHost = {
    progress: (progress) => job.report(progress),
    intend: async (sha256s) => {
      await (announcing = announce(deps, holder, sha256s));
      reached({ submission: submission.id, event: "files announced" });
    },
    registered: (arks, root) => registeredCrates(deps.records, arks, root, submission.user),
    claim: async (claims) => {
      isNamed ||= claims.some(({ root, kept }) => root && kept);
      if (update) return update.claim(claims);
      const found = await findConflicts(deps.records, claims, submission.user, identifiers);
      for (const [ark, place] of found.own) own.set(ark, place);
      return found.refusals;
    },
    records: (batch) => {
      for (const record of batch) records.push(record);
    },
  };
  const fail = async (errors: Finding[], warnings: Finding[]) => {
    await deps.records.closeSubmission(
      { id: submission.id, attempt: submission.attempt, status: "failed", error: errors, warnings },
      now(),
    );
    // A sweep removes the stored bytes when no intent announces them any more.
    await deps.records.release(holder);
  };
  try {
    const result = await (deps.ingest ?? runThread)(inputOf(job, deps), host, job.signal, {
      timeout: deps.config.INTAKE_TIMEOUT,
      memory: deps.config.INTAKE_MEMORY,
      apart: job.apart,
    });
    if ("errors" in result) return await fail(result.errors, result.warnings);
    job.report({ stage: "committing", done: 0, total: records.length, unit: "records" });
    const { errors, writes, uses } = update
      ? await update.plan(records)
      : await asNew(deps, records, own, result.root);
    if (errors.length > 0) return await fail(errors, result.warnings);
    const similar = isNamed ? undefined : await alike(deps.records, records[0]!, submission.user);
    if (similar) result.warnings.push(similar);
    job.signal.throwIfAborted();
    // For the crate itself the commit reports that its identifier is taken.
    const unheld = (await identifiers.unheld()).filter((key) => key !== arkKey(result.root));
    const refused = await commit(job, deps, { writes, uses, unheld }, result, now());
    if (refused) await fail([refused], result.warnings);
  } catch (error) {
    if (error instanceof CrateError) return await fail(error.findings, error.warnings);
    // Nothing refers to the stored bytes; the code waits for an announcement in progress, which
    // would otherwise outlive this.
    if ((job.signal.reason as { reason?: string } | undefined)?.reason === "cancelled")
      await announcing.catch(() => {}).then(() => deps.records.release(holder));
    throw error;
  }
}

/** A new crate; records that the uploader has already and that state the same stay unchanged. */
async function asNew(
  { records }: IntakeDeps,
  built: readonly CrateRecord[],
  own: ReadonlyMap<string, Place>,
  root: string,
): Promise<CrateWrites> {
  const { writes, errors } = await withoutKnown(records, built, own);
  const written = new Set(writes.map(({ ark }) => ark));
  return {
    writes,
    errors,
    uses: { crate: root, arks: [...own.keys()].filter((ark) => !written.has(ark)) },
  };
}

function inputOf({ submission }: Job, { objects, config, baseUrl }: IntakeDeps): IntakeInput {
  const { format = "zip", name, update, crate } = submission.input as CrateSubmissionInput;
  return {
    objects,
    format,
    limits: crateLimits(config),
    archive: { sha256: submission.sha256!, name: name ?? "crate.zip" },
    identify: {
      naan: config.ARK_NAAN,
      acceptedNaans: config.ACCEPTED_NAANS,
      ...(crate === undefined ? {} : { crate }),
    },
    baseUrl: baseUrl(),
    owner: submission.user,
    ...(update ? { update } : {}),
  };
}

/**
 * One commit for the records and the end of the submission. Returns the finding when an identifier
 * was taken meanwhile.
 */
async function commit(
  { submission }: Job,
  { records, config }: IntakeDeps,
  { writes, uses, unheld }: Omit<CrateWrites, "errors"> & { unheld: string[] },
  { root, warnings }: { root: string; warnings: Finding[] },
  at: number,
): Promise<Finding | undefined> {
  try {
    await records.commit({
      by: submission.user,
      at,
      records: writes,
      uses,
      unheld,
      within: config.COMMIT_LIMIT,
      submission: {
        id: submission.id,
        attempt: submission.attempt,
        status: "finished",
        warnings,
        identifiersMinted: writes.filter(
          ({ op, ark }) => op === "create" && describedCrate(ark) === undefined,
        ).length,
        rocrateIdentifier: root,
      },
    });
    reached({ submission: submission.id, event: "committed" });
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
    if (error instanceof ServiceError && error.code === "DUPLICATE")
      return takenAtCommit(error, root);
    if (error instanceof ServiceError && error.code === "CHANGED_MEANWHILE")
      return finding("CHANGED_MEANWHILE", error.message);
    if (
      error instanceof ServiceError &&
      (error.code === "REVISION_MISMATCH" || error.code === "GONE")
    )
      return changedAtCommit(error);
    throw error;
  }
}
