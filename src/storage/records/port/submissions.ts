import type { Finding } from "../../../model/findings.js";

/** A background job in the record store. Times are milliseconds since 1970, UTC. */
export interface Submission {
  id: string;
  type: SubmissionType;
  /** ARK of the user who submitted it. */
  user: string;
  status: "queued" | "running" | "finished" | "failed";
  stage: string | null;
  /** Raised durably before the job begins. */
  attempt: number;
  /**
   * How many of the attempts do not count against MAX_ATTEMPTS: a stop or an end of the service, or
   * an outage cut them short.
   */
  interrupted: number;
  timeCreated: number;
  timeStarted: number | null;
  timeFinished: number | null;
  error: Finding[] | null;
  warnings: Finding[];
  identifiersMinted: number;
  /**
   * The record that the job made: a crate, for `evidence` an evidence graph, for `computation` the
   * dataset of its results; for `score` the crate that was scored.
   */
  rocrateIdentifier: string | null;
  /**
   * SHA-256 of the archive, lower-case hex; for other jobs, of the data that make two requests for
   * the same job equal, if there are any.
   */
  sha256: string | null;
  /** Input of the job, by type. */
  input: Record<string, unknown>;
  /** True once a cancellation was requested. */
  cancelled: boolean;
}
/**
 * `crate`: an archive to ingest; `evidence`: an evidence graph to build; `score`: the AI-readiness
 * of a crate to compute; `computation`: a container to run; `vectors`: records to embed for search;
 * `doi`: a DOI to register.
 */
export type SubmissionType = "crate" | "evidence" | "score" | "computation" | "vectors" | "doi";

/**
 * Ends a submission; with a {@link import("./commits.js").Commit}, in the same transaction. Ignored
 * unless running with this attempt.
 */
export interface SubmissionClose {
  id: string;
  attempt: number;
  status: "finished" | "failed";
  error?: Finding[];
  warnings?: Finding[];
  identifiersMinted?: number;
  rocrateIdentifier?: string;
}

/** A page by key; `next` is absent on the last one. */
export interface SubmissionPage {
  items: Submission[];
  positions: string[];
  next?: string;
}

export interface SubmissionStore {
  /**
   * Stores a new queued submission; when the same user has one for the same `sha256` and `type`
   * that is queued, running, or finished with its crate not deleted, returns that one instead and
   * stores nothing. With `update` only an unfinished one counts, and only one with `update`: the
   * job's result depends on the data stored now (a crate that is brought up to date, a run,
   * vectors).
   *
   * `inPlaceOfEnded` removes those of this user and type that have ended, for jobs that recur by
   * themselves.
   */
  submit(submission: {
    id: string;
    type: SubmissionType;
    user: string;
    sha256: string | null;
    input: Record<string, unknown>;
    update?: boolean;
    inPlaceOfEnded?: boolean;
    at: number;
  }): Promise<{ submission: Submission; existing: boolean }>;
  submission(id: string): Promise<Submission | undefined>;
  /**
   * Newest first; those of all users for null. `positions[i]` is where to go on after `items[i]`.
   */
  submissionsOf(
    user: string | null,
    options: { after?: string; limit: number },
  ): Promise<SubmissionPage>;
  /** How many there are of the user, or of all users for null. */
  countSubmissions(user: string | null): Promise<number>;
  /** Queued and running ones, oldest first: a start must resume or fail them. */
  unfinished(): Promise<Submission[]>;
  /**
   * Marks running and raises the attempt, durably; `undefined` when it has ended or was cancelled
   * meanwhile.
   */
  beginAttempt(id: string, at: number): Promise<Submission | undefined>;
  /**
   * Queues a submission again whose attempt is over: an attempt that a stop of the service or an
   * outage cut short does not count, one that failed does (`counts`). An attempt that is still
   * running when the next one begins was left by a process that is gone. Returns false when the
   * attempt is no longer the current one, or was cancelled: no other process would end it then.
   */
  yieldAttempt(id: string, attempt: number, counts?: boolean): Promise<boolean>;
  /** Stores a change of stage; false when this attempt is no longer the one. */
  setStage(id: string, attempt: number, stage: string): Promise<boolean>;
  /**
   * Ends a submission without a commit of records; false when this attempt is no longer the one.
   */
  closeSubmission(close: SubmissionClose, at: number): Promise<boolean>;
  /** Sets the cancelled mark; ends a queued one at once. */
  cancelSubmission(id: string, at: number): Promise<Submission | undefined>;
}
