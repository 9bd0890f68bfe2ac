/** Background jobs: their user, their current attempt, and how they ended. */
import { arkKey } from "../../../identifiers/ark.js";
import type { Finding } from "../../../model/findings.js";
import type {
  Submission,
  SubmissionClose,
  SubmissionPage,
  SubmissionStore,
  SubmissionType,
} from "../port/submissions.js";
import { CANCELLED_EARLY, checkFence, storedJson } from "../refusals.js";
import { numberedPage, readNumber } from "../rows.js";
import { type Flag, type Statement, type Statements, statement } from "../statements.js";
import { isStorableText } from "../text.js";

type SubmissionRow = [
  number: number,
  id: string,
  type: string,
  user: string,
  status: string,
  stage: string | null,
  attempt: number,
  interrupted: number,
  timeCreated: number,
  timeStarted: number | null,
  timeFinished: number | null,
  error: string | null,
  warnings: string,
  minted: number,
  rocrate: string | null,
  sha256: string | null,
  input: string,
  cancelled: Flag,
];
function submissionOf(row: SubmissionRow): Submission {
  const [, id, type, user, status, stage, attempt, interrupted, ...more] = row;
  const [timeCreated, timeStarted, timeFinished, error, warnings, ...rest] = more;
  const [minted, rocrate, sha256, input, cancelled] = rest;
  return {
    id,
    type: type as SubmissionType,
    user,
    status: status as Submission["status"],
    stage,
    attempt,
    interrupted,
    timeCreated,
    timeStarted,
    timeFinished,
    error: error === null ? null : storedJson<Finding[]>(error, "the errors of a submission"),
    warnings: storedJson<Finding[]>(warnings, "the warnings of a submission"),
    identifiersMinted: minted,
    rocrateIdentifier: rocrate,
    sha256,
    input: storedJson<Record<string, unknown>>(input, "the input of a submission"),
    cancelled: Boolean(cancelled),
  };
}

const SELECT = `SELECT number, id, type, person, status, stage, attempt, interrupted, time_created,
  time_started, time_finished, error, warnings, minted, rocrate, sha256, input, cancelled
  FROM submission`;
const BY_ID = statement<SubmissionRow>(`${SELECT} WHERE id = $1`);
const OF_USER = statement<SubmissionRow>(
  `${SELECT} WHERE person = $1 AND number < $2 ORDER BY number DESC LIMIT $3`,
);
const ALL = statement<SubmissionRow>(`${SELECT} WHERE number < $1 ORDER BY number DESC LIMIT $2`);
const COUNT_OF_USER = statement<[number]>("SELECT count(*) FROM submission WHERE person = $1");
const COUNT = statement<[number]>("SELECT count(*) FROM submission");
const UNFINISHED = statement<SubmissionRow>(
  `${SELECT} WHERE status IN ('queued', 'running') ORDER BY number`,
);
const SAME = statement<SubmissionRow>(
  `${SELECT} WHERE sha256 = $1 AND person = $2 AND type = $3
    AND ((status IN ('queued', 'running') AND NOT cancelled AND updates = $4)
      OR ($4 = false AND status = 'finished')) ORDER BY number DESC`,
);
const IS_LIVE = statement<[number]>(
  "SELECT count(*) FROM record WHERE key = $1 AND ark = $2 AND deleted_at IS NULL",
);
const ADD = statement(
  `INSERT INTO submission (number, id, type, person, status, attempt, interrupted, time_created,
    warnings, minted, sha256, input, cancelled, updates)
    VALUES ($1, $2, $3, $4, 'queued', 0, 0, $5, '[]', 0, $6, $7, false, $8)`,
);
const REMOVE_ENDED = statement(
  "DELETE FROM submission WHERE person = $1 AND type = $2 AND status IN ('finished', 'failed')",
);
const BEGIN = statement(
  `UPDATE submission SET status = 'running', attempt = attempt + 1,
    time_started = coalesce(time_started, $2)
    WHERE id = $1 AND status IN ('queued', 'running') AND NOT cancelled`,
);
const YIELD = statement(
  `UPDATE submission SET status = 'queued', interrupted = interrupted + CAST($3 AS integer)
    WHERE id = $1 AND attempt = $2 AND status = 'running' AND NOT cancelled`,
);
const STAGE = statement(
  "UPDATE submission SET stage = $3 WHERE id = $1 AND attempt = $2 AND status = 'running'",
);
const CLOSE = statement(
  `UPDATE submission SET status = $3, time_finished = $4, error = $5, warnings = $6, minted = $7,
    rocrate = $8 WHERE id = $1 AND attempt = $2 AND status = 'running'`,
);
// A running one is ended by its handler, which sees the mark.
const CANCEL = statement(
  `UPDATE submission SET cancelled = true,
    time_finished = CASE status WHEN 'queued' THEN $2 ELSE time_finished END,
    error = CASE status WHEN 'queued' THEN $3 ELSE error END,
    status = CASE status WHEN 'queued' THEN 'failed' ELSE status END
    WHERE id = $1 AND status IN ('queued', 'running')`,
);

export class Submissions implements SubmissionStore {
  readonly #statements: Statements;
  readonly #next: Statement<[number]>;

  /** @param next gives the number of a new one */
  constructor(statements: Statements, next: Statement<[number]>) {
    this.#statements = statements;
    this.#next = next;
  }

  async submission(id: string): Promise<Submission | undefined> {
    const row = isStorableText(id) ? await this.#statements.first(BY_ID, [id]) : undefined;
    return row && submissionOf(row);
  }

  async submissionsOf(
    user: string | null,
    { after, limit }: { after?: string; limit: number },
  ): Promise<SubmissionPage> {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : readNumber(after);
    if (user !== null && !isStorableText(user)) return { items: [], positions: [] };
    const rows = await (user === null
      ? this.#statements.query(ALL, [before, limit + 1])
      : this.#statements.query(OF_USER, [user, before, limit + 1]));
    return numberedPage(rows, limit, submissionOf);
  }

  async countSubmissions(user: string | null): Promise<number> {
    if (user !== null && !isStorableText(user)) return 0;
    const [count] = await (user === null
      ? this.#statements.one(COUNT)
      : this.#statements.one(COUNT_OF_USER, [user]));
    return count;
  }

  async unfinished(): Promise<Submission[]> {
    return (await this.#statements.query(UNFINISHED)).map(submissionOf);
  }

  async submit({
    id,
    type,
    user,
    sha256,
    input,
    update = false,
    inPlaceOfEnded = false,
    at,
  }: Parameters<SubmissionStore["submit"]>[0]): ReturnType<SubmissionStore["submit"]> {
    const same = sha256 === null ? undefined : await this.#sameAs([sha256, user, type, update]);
    if (same) return { submission: same, existing: true };
    if (inPlaceOfEnded) await this.#statements.run(REMOVE_ENDED, [user, type]);
    const [number] = await this.#statements.one(this.#next);
    const row = [number, id, type, user, at, sha256, JSON.stringify(input), update];
    await this.#statements.run(ADD, row);
    return { submission: submissionOf(await this.#statements.one(BY_ID, [id])), existing: false };
  }

  /** A finished one counts while its crate is not deleted; for an update none does. */
  async #sameAs(
    asked: [sha256: string, user: string, type: string, update: boolean],
  ): Promise<Submission | undefined> {
    for (const row of await this.#statements.query(SAME, asked)) {
      const same = submissionOf(row);
      const crate = same.rocrateIdentifier;
      if (same.status !== "finished") return same;
      if (crate !== null && (await this.#statements.one(IS_LIVE, [arkKey(crate), crate]))[0] > 0)
        return same;
    }
    return undefined;
  }

  async beginAttempt(id: string, at: number): Promise<Submission | undefined> {
    const begun = await this.#statements.run(BEGIN, [id, at]);
    return begun === 0 ? undefined : this.submission(id);
  }

  async yieldAttempt(id: string, attempt: number, counts = false): Promise<boolean> {
    return (await this.#statements.run(YIELD, [id, attempt, counts ? 0 : 1])) > 0;
  }

  async setStage(id: string, attempt: number, stage: string): Promise<boolean> {
    return (await this.#statements.run(STAGE, [id, attempt, stage])) > 0;
  }

  async closeSubmission(
    { id, attempt, status, error, warnings = [], ...made }: SubmissionClose,
    at: number,
  ): Promise<boolean> {
    const closed = await this.#statements.run(CLOSE, [
      id,
      attempt,
      status,
      at,
      error ? JSON.stringify(error) : null,
      JSON.stringify(warnings),
      made.identifiersMinted ?? 0,
      made.rocrateIdentifier ?? null,
    ]);
    return closed > 0;
  }

  async cancelSubmission(id: string, at: number): Promise<Submission | undefined> {
    await this.#statements.run(CANCEL, [id, at, JSON.stringify([CANCELLED_EARLY])]);
    return this.submission(id);
  }

  /**
   * The fence of a commit.
   * @throws FenceLost unless this attempt is running and was not cancelled
   */
  async guard(close: SubmissionClose): Promise<void> {
    checkFence(await this.submission(close.id), close);
  }
}
