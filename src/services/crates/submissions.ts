import { randomUUID } from "node:crypto";
import { finished, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../errors.js";
import { type Ark, arkKey, sameArk } from "../../identifiers/ark.js";
import { type Progress, reached } from "../../jobs/port.js";
import type { Finding } from "../../model/findings.js";
import type { Submission } from "../../storage/records/port/submissions.js";
import type { Caller } from "../access/rules.js";
import { isPrivate, type Visibility } from "../access/visibility.js";
import type { Deps } from "../deps.js";
import { announce } from "../objects/damage.js";
import { askedArk, NothingStored, assertKind, findRecord } from "../records/find.js";
import { finding } from "./findings.js";
import type { CrateSubmissionInput } from "./intake.js";
import { type CrateFormat, uploadLimit } from "./upload.js";

/** How to ingest an upload. */
export interface UploadOptions {
  /** Updates the crate that the caller has. */
  update?: boolean;
  /**
   * An update may remove all statements of a crate that is registered by itself and linked; it is
   * refused otherwise.
   */
  emptyLinked?: boolean;
  /** The crate to update; for a crate whose root does not name it. */
  crate?: Ark | undefined;
  /** Who sees a new crate until it is published; absent: as DEFAULT_VISIBILITY says. */
  visibility?: Visibility | undefined;
}

/**
 * The ARK of the crate that an upload names, live or deleted.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `FORBIDDEN` for a crate of another owner
 */
export async function namedCrate(
  deps: Deps,
  { user, boundTo }: Pick<Caller, "user" | "boundTo">,
  ark: Ark,
): Promise<string> {
  const record = await findRecord(deps, ark);
  assertKind(record, "rocrate");
  if (boundTo !== undefined && !sameArk(record.ark, boundTo))
    throw new ServiceError(
      "FORBIDDEN",
      `Your token is bound to ${boundTo}: it uploads nothing to ${record.ark}.`,
    );
  if (record.owner === null || !sameArk(record.owner, user))
    throw new ServiceError("FORBIDDEN", `Only its owner may update ${record.ark} with an upload.`);
  return record.ark;
}

/**
 * A submission as clients see it. `guid` and `transactionFolder` repeat its id for clients that
 * read those.
 */
export interface SubmissionView {
  submissionUUID: string;
  guid: string;
  transactionFolder: string;
  status: Submission["status"];
  stage: string | null;
  progress: { done: number; total: number | null; unit: string } | null;
  timeStarted: string | null;
  timeFinished: string | null;
  /** True exactly for finished and failed. */
  completed: boolean;
  /** True for finished only. */
  success: boolean;
  error: Finding[] | null;
  warnings: Finding[];
  identifiersMinted: number;
  rocrateIdentifier: string | null;
  /** In place of a crate, for a submission that builds an evidence graph. */
  evidenceGraphIdentifier?: string | null;
  /** The crate whose score a submission computes. */
  scoredCrateIdentifier?: string | null;
  /**
   * In place of a crate, for a submission that runs a computation; the computation's record names
   * the results.
   */
  computationIdentifier?: string | null;
  /** The record whose DOI a submission registers. */
  doiRecordIdentifier?: string | null;
  /** The model whose vectors a submission of the registry itself computes. */
  embeddingsModel?: string | null;
  sha256: string | null;
}

const time = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString();

function submissionView(submission: Submission, progress: Progress | null): SubmissionView {
  const { id, status } = submission;
  const running = status === "running" ? progress : null;
  return {
    submissionUUID: id,
    guid: id,
    transactionFolder: id,
    status,
    stage: status === "finished" ? "done" : (running?.stage ?? submission.stage),
    progress: running ? { done: running.done, total: running.total, unit: running.unit } : null,
    timeStarted: time(submission.timeStarted ?? submission.timeCreated),
    timeFinished: time(submission.timeFinished),
    completed: status === "finished" || status === "failed",
    success: status === "finished",
    error: submission.error,
    warnings: submission.warnings,
    identifiersMinted: submission.identifiersMinted,
    ...madeBy(submission),
    // For other types the hash only identifies duplicate requests.
    sha256: submission.type === "crate" ? submission.sha256 : null,
  };
}

/** The record that a submission creates, by its type; a score creates none. */
function madeBy({
  type,
  rocrateIdentifier,
  input,
}: Submission): Pick<
  SubmissionView,
  | "rocrateIdentifier"
  | "evidenceGraphIdentifier"
  | "scoredCrateIdentifier"
  | "computationIdentifier"
  | "doiRecordIdentifier"
  | "embeddingsModel"
> {
  if (type === "evidence")
    return { rocrateIdentifier: null, evidenceGraphIdentifier: rocrateIdentifier };
  if (type === "score")
    return { rocrateIdentifier: null, scoredCrateIdentifier: input["crate"] as string };
  if (type === "computation")
    return { rocrateIdentifier: null, computationIdentifier: input["ark"] as string };
  if (type === "doi")
    return { rocrateIdentifier: null, doiRecordIdentifier: input["ark"] as string };
  if (type === "vectors")
    return { rocrateIdentifier: null, embeddingsModel: input["model"] as string };
  return { rocrateIdentifier };
}

/** A submission with its current progress. */
export async function viewNow(
  { jobs }: Pick<Deps, "jobs">,
  submission: Submission,
): Promise<SubmissionView> {
  return submissionView(
    submission,
    submission.status === "running" ? await jobs.progress(submission.id) : null,
  );
}

/** The upload: an archive, or the metadata document of a crate alone. */
interface UploadedCrate {
  stream: Readable;
  name: string;
  format?: CrateFormat;
}

/**
 * Looks at the first bytes of an upload: whether they begin a JSON object.
 * @returns also the stream to read, with these bytes
 */
export async function beginningOf(
  stream: Readable,
): Promise<{ stream: Readable; isJson: boolean }> {
  const head = await new Promise<Buffer | undefined>((resolve, reject) => {
    const take = () => {
      const chunk = stream.read() as Buffer | null;
      if (chunk === null) return;
      stream.unshift(chunk);
      settle();
      resolve(chunk);
    };
    // `finished` also reports a stream that has already failed; its events would not be emitted again.
    const forget = finished(stream, { writable: false }, (error) => {
      settle();
      if (error) reject(error);
      else resolve(undefined);
    });
    const settle = () => {
      stream.off("readable", take);
      forget();
    };
    stream.on("readable", take);
  });
  if (head === undefined) return { stream: Readable.from([]), isJson: false };
  const text = head.toString("latin1", 0, 1024).replace(/^\u00ef\u00bb\u00bf/, "");
  return { stream, isJson: /^\s*\{/.test(text) };
}

/**
 * Accepts an archive or a metadata document: stores its bytes and queues its intake. The same
 * archive by the same user returns the first submission again. Bytes that begin as JSON are a
 * document unless the format is given.
 * @param options.request names the request in the logs of the job
 * @param options.trace names its span, for that of the job
 * @param options.update updates the crate that the caller has; the same archive is then ingested
 * again
 * @param options.crate names the crate to update, and implies an update
 * @throws ServiceError as {@link namedCrate}, `TOO_LARGE`, `BUSY` while the
 * same archive updates another crate; any error of the stream, and nothing remains stored then
 */
export async function submitCrate(
  deps: Deps,
  caller: Caller,
  { stream: given, name, format: asked }: UploadedCrate,
  {
    update: isUpdate = false,
    emptyLinked = false,
    crate: named,
    visibility,
    request,
    trace,
  }: UploadOptions & { request?: string; trace?: string } = {},
): Promise<Submission> {
  const { user, boundTo } = caller;
  // A token that is bound to a crate updates that one.
  const target = named ?? (boundTo === undefined ? undefined : askedArk(boundTo));
  const crate = target === undefined ? undefined : await namedCrate(deps, caller, target);
  const update = isUpdate || crate !== undefined;
  const { stream, isJson } = await beginningOf(given);
  const format = asked ?? (isJson ? "metadata" : "zip");
  const staged = await deps.objects.stage(stream, uploadLimit(deps.config, format));
  const id = randomUUID();
  try {
    reached({ submission: id, event: "archive received" });
    await announce(deps, { kind: "submission", id, attempt: 0 }, [staged.sha256]);
    reached({ submission: id, event: "archive announced" });
    await staged.publish();
    reached({ submission: id, event: "archive stored" });
  } catch (error) {
    await staged.discard();
    throw error;
  }
  const input = {
    name,
    ...(format === "zip" ? {} : { format }),
    ...(update ? { update } : {}),
    ...(update && emptyLinked ? { emptyLinked } : {}),
    ...(crate === undefined ? {} : { crate }),
    ...(boundTo === undefined ? {} : { boundTo }),
    ...(isPrivate(deps.config, "rocrate", visibility) ? { private: true } : {}),
    ...(request === undefined ? {} : { request }),
    ...(trace === undefined ? {} : { trace }),
    ...clientOf(deps),
  };
  return accepted(deps, { id, user, sha256: staged.sha256, input });
}

const clientOf = ({ client }: Deps): Pick<CrateSubmissionInput, "client"> =>
  client === undefined ? {} : { client };

/**
 * Stores the submission of an archive that is announced, and queues it; or returns the one that the
 * user has for the same archive.
 * @throws ServiceError `BUSY` while the same archive updates another crate
 */
async function accepted(
  deps: Deps,
  crate: { id: string; user: string; sha256: string; input: CrateSubmissionInput },
): Promise<Submission> {
  const { id, input } = crate;
  const { submission, existing } = await deps.records.submit({
    ...crate,
    type: "crate",
    input: { ...input },
    update: input.update === true,
    at: Date.now(),
  });
  reached({ submission: submission.id, event: "submission accepted" });
  if (!existing) return queued(deps, submission);
  await deps.records.release({ kind: "submission", id });
  if ((submission.input as CrateSubmissionInput).crate !== input.crate)
    throw new ServiceError(
      "BUSY",
      `The same archive is being ingested for another crate (submission ${submission.id}); ` +
        "send it again once that has ended.",
      {},
      { "Retry-After": "5" },
    );
  return withRegistered(deps, submission);
}

/** The submission of an archive that was ingested before reports the state of its crate. */
async function withRegistered(
  { records }: Pick<Deps, "records">,
  submission: Submission,
): Promise<Submission> {
  const { status, rocrateIdentifier, warnings } = submission;
  if (status !== "finished" || rocrateIdentifier === null) return submission;
  const [crate] = await records.findMany([rocrateIdentifier]);
  if (!crate) return submission;
  return {
    ...submission,
    warnings: [
      ...warnings,
      finding(
        "ALREADY_REGISTERED",
        `This archive is already registered as ${crate.ark}, now at revision ${crate.revision}.`,
      ),
    ],
  };
}

/** Ends a submission as failed for a fault of the request, which a retry would meet again. */
export const failSubmission = (
  { records }: Pick<Deps, "records">,
  { id, attempt }: Pick<Submission, "id" | "attempt">,
  { code, message }: ServiceError,
): Promise<unknown> =>
  records.closeSubmission(
    { id, attempt, status: "failed", error: [{ file: null, pointer: null, message, code }] },
    Date.now(),
  );

/**
 * Queues a submission that the record store holds already; reports when its job cannot start at
 * present.
 */
export async function queued(
  { jobs }: Pick<Deps, "jobs">,
  submission: Submission,
): Promise<Submission> {
  if (await jobs.enqueue(submission.id)) return submission;
  return {
    ...submission,
    warnings: [
      ...submission.warnings,
      finding(
        "QUEUE_AWAY",
        "The job queue is unavailable: the submission is stored, and its job starts when " +
          "the queue is available again.",
      ),
    ],
  };
}

/**
 * A submission of the caller, or any for administrators.
 * @throws ServiceError `NOT_FOUND`
 */
export async function readSubmission(deps: Deps, id: string, who: Caller): Promise<SubmissionView> {
  return viewNow(deps, await findSubmission(deps, id, who));
}

/** The user who submitted what a caller reads. */
export const submitterOf = async (
  { records }: Pick<Deps, "records">,
  { submissionUUID }: SubmissionView,
): Promise<string | undefined> => (await records.submission(submissionUUID))?.user;

async function findSubmission(deps: Deps, id: string, who: Caller): Promise<Submission> {
  const submission = /^[0-9a-f-]{36}$/i.test(id)
    ? await deps.records.submission(id.toLowerCase())
    : undefined;
  const isBoundElsewhere =
    who.boundTo !== undefined &&
    (submission?.input as CrateSubmissionInput | undefined)?.crate !== who.boundTo;
  if (!submission || (submission.user !== who.user && !who.admin) || isBoundElsewhere) {
    throw new NothingStored(
      `You have no submission ${id.slice(0, 80)}: use the submissionUUID that the upload answered.`,
    );
  }
  return submission;
}

/**
 * The caller's submissions, newest first; all submissions for administrators.
 * @param by the user whose submissions are listed alone
 * @throws ServiceError `BAD_REQUEST` for a position that is not from an earlier page; `FORBIDDEN`
 */
export async function listSubmissions(
  deps: Deps,
  page: { limit: number; after?: string },
  who: Caller,
  by?: string,
): Promise<{ items: SubmissionView[]; positions: string[]; next?: string }> {
  const { items, positions, next } = await deps.records.submissionsOf(submitter(who, by), page);
  return {
    items: await Promise.all(items.map((submission) => viewNow(deps, submission))),
    positions,
    ...(next === undefined ? {} : { next }),
  };
}

/** How many submissions {@link listSubmissions} lists in all. */
export const countSubmissions = ({ records }: Deps, who: Caller, by?: string): Promise<number> =>
  records.countSubmissions(submitter(who, by));

/** Whose submissions are listed: null for everybody's. @throws ServiceError `FORBIDDEN` */
function submitter(who: Caller, by?: string): string | null {
  const asked = by === undefined ? undefined : askedArk(by);
  if (who.admin) return asked?.stored ?? null;
  if (asked && asked.key !== arkKey(who.user))
    throw new ServiceError("FORBIDDEN", "Only administrators list the submissions of others.");
  return who.user;
}

/**
 * Requests the cancellation of a submission; none of it is stored then. A running submission ends
 * shortly afterwards.
 * @throws ServiceError `NOT_FOUND`, `NOT_CANCELLABLE` once it has ended
 */
export async function cancelSubmission(
  deps: Deps,
  id: string,
  caller: Caller,
): Promise<SubmissionView> {
  const before = await readSubmission(deps, id, caller);
  if (before.completed)
    throw new ServiceError(
      "NOT_CANCELLABLE",
      `The submission ${before.submissionUUID} has ${before.status} ` +
        `already${before.rocrateIdentifier === null ? "" : `: delete ${before.rocrateIdentifier} to undo it`}.`,
    );
  await deps.jobs.cancel(before.submissionUUID);
  return readSubmission(deps, before.submissionUUID, caller);
}

/**
 * Whether the archive of a failed upload is still stored: until a sweep removes it, after
 * INTENT_LIFETIME at the latest.
 */
export const isRetryable = async (
  { objects }: Pick<Deps, "objects">,
  { status, sha256 }: Pick<SubmissionView, "status" | "sha256">,
): Promise<boolean> =>
  status === "failed" && sha256 !== null && (await objects.version(sha256)) !== undefined;

/**
 * Submits the archive of a failed upload again, as its user did; the failed submission stays.
 * @param names the request in logs and traces of the job
 * @throws ServiceError `NOT_FOUND`; `NOT_RETRYABLE` for a submission that has not failed, one
 * without an archive, and one whose archive is not stored any more; as {@link namedCrate}
 */
export async function retrySubmission(
  deps: Deps,
  id: string,
  caller: Caller,
  names: { request?: string; trace?: string } = {},
): Promise<Submission> {
  const { id: failed, type, status, sha256, user, input } = await findSubmission(deps, id, caller);
  const refused = (why: string) =>
    new ServiceError("NOT_RETRYABLE", `The submission ${failed} ${why}.`);
  if (status !== "failed") throw refused(`is ${status}: only a failed one can be retried`);
  if (type !== "crate" || sha256 === null)
    throw refused("brought no archive: ask for its job again, where it was asked for");
  const account = await deps.records.accountOf(user);
  if (!account || account.deleted || account.disabled)
    throw refused(`is of ${user}, whose account is closed`);
  const {
    request: _request,
    trace: _trace,
    client: _client,
    ...asked
  } = input as CrateSubmissionInput;
  if (caller.boundTo !== undefined) asked.boundTo = caller.boundTo;
  if (asked.crate !== undefined) await namedCrate(deps, { user }, askedArk(asked.crate));
  const holder = { kind: "submission" as const, id: randomUUID(), attempt: 0 };
  await announce(deps, holder, [sha256]);
  if ((await deps.objects.version(sha256)) === undefined) {
    await deps.records.release(holder);
    throw refused("has no archive any more: send the archive again");
  }
  return accepted(deps, {
    id: holder.id,
    user,
    sha256,
    input: {
      ...asked,
      ...names,
      ...clientOf(deps),
    },
  });
}

/** Waits until a submission has ended, at most `wait` ms; returns its state then. */
export async function awaitSubmission(
  deps: Deps,
  id: string,
  wait: number,
  signal?: AbortSignal,
): Promise<Submission> {
  const deadline = AbortSignal.timeout(wait);
  const ended = (async () => {
    for await (const _change of deps.jobs.watch(id)) if (deadline.aborted || signal?.aborted) break;
  })();
  await Promise.race([
    ended,
    sleep(wait, undefined, { ref: false, ...(signal ? { signal } : {}) }).catch(() => undefined),
  ]);
  return (await deps.records.submission(id))!;
}

/** Progress that changes faster than this (ms) is reported together. */
const INTERVAL = 100;

/**
 * A submission at present and after each change, until it has ended or the listener leaves
 * (`return`).
 * @throws ServiceError `NOT_FOUND`, before the first state
 */
export async function followSubmission(
  deps: Deps,
  id: string,
  caller: Caller,
  interval = INTERVAL,
): Promise<AsyncIterable<SubmissionView>> {
  const { submissionUUID } = await readSubmission(deps, id, caller);
  const changes = deps.jobs.watch(submissionUUID)[Symbol.asyncIterator]();
  let sent = "";
  let sentAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  // Not a generator: its `return` would wait for the next change.
  const iterator: AsyncIterator<SubmissionView> = {
    async next() {
      while (!stopped) {
        if ((await changes.next()).done) break;
        await pause(sentAt + interval - performance.now());
        if (stopped) break;
        const view = await readSubmission(deps, submissionUUID, caller);
        const text = JSON.stringify(view);
        if (text === sent) continue;
        sent = text;
        sentAt = performance.now();
        return { done: false, value: view };
      }
      return { done: true, value: undefined };
    },
    async return() {
      stopped = true;
      await changes.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

const pause = (ms: number): Promise<void> =>
  ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : Promise.resolve();
