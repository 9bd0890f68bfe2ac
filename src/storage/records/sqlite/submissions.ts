import { arkKey } from "../../../identifiers/ark.js";
import { CANCELLED_EARLY, checkFence } from "../refusals.js";
import { readNumber, SUBMISSION_COLUMNS, submissionOf, type SubmissionRow } from "../rows.js";
import type {
  Submission,
  SubmissionClose,
  SubmissionPage,
  SubmissionStore,
} from "../port/submissions.js";
import { isStorableText } from "../text.js";
import type { Connection } from "./statement.js";

export class SubmissionReads {
  readonly #byId;
  readonly #ofUser;
  readonly #all;
  readonly #count;
  readonly #unfinished;

  constructor(connection: Connection) {
    const select = `SELECT ${SUBMISSION_COLUMNS} FROM submission`;
    this.#byId = connection.prepare<SubmissionRow>(`${select} WHERE id = ?`);
    this.#ofUser = connection.prepare<SubmissionRow>(
      `${select} WHERE user = ? AND number < ? ORDER BY number DESC LIMIT ?`,
    );
    this.#all = connection.prepare<SubmissionRow>(
      `${select} WHERE number < ? ORDER BY number DESC LIMIT ?`,
    );
    this.#count = connection.prepare<[number]>(
      "SELECT count(*) FROM submission WHERE ?1 IS NULL OR user = ?1",
    );
    this.#unfinished = connection.prepare<SubmissionRow>(
      `${select} WHERE status IN ('queued', 'running') ORDER BY number`,
    );
  }

  byId(id: string): Submission | undefined {
    const row = isStorableText(id) ? this.#byId.get([id]) : undefined;
    return row && submissionOf(row);
  }

  /** @param user null for all users */
  list(user: string | null, { after, limit }: { after?: string; limit: number }): SubmissionPage {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : readNumber(after);
    if (user !== null && !isStorableText(user)) return { items: [], positions: [] };
    const rows =
      user === null
        ? this.#all.all([before, limit + 1])
        : this.#ofUser.all([user, before, limit + 1]);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(submissionOf),
      positions: page.map(([number]) => String(number)),
      ...(last && rows.length > limit ? { next: String(last[0]) } : {}),
    };
  }

  /** @param user null for all users */
  count(user: string | null): number {
    return user !== null && !isStorableText(user) ? 0 : this.#count.one([user])[0];
  }

  unfinished(): Submission[] {
    return this.#unfinished.all().map(submissionOf);
  }
}

/** Background jobs: their user, their current attempt, and how they ended. */
export class SubmissionWrites {
  readonly #byId;
  readonly #same;
  readonly #isLive;
  readonly #insert;
  readonly #removeEnded;
  readonly #begin;
  readonly #yield;
  readonly #stage;
  readonly #close;
  readonly #cancel;

  constructor(connection: Connection) {
    this.#byId = connection.prepare<SubmissionRow>(
      `SELECT ${SUBMISSION_COLUMNS} FROM submission WHERE id = ?`,
    );
    this.#same = connection.prepare<SubmissionRow>(`SELECT ${SUBMISSION_COLUMNS} FROM submission
        WHERE sha256 = ?1 AND user = ?2 AND type = ?3 AND ( (status IN ('queued', 'running') AND
        cancelled = 0 AND updates = ?4) OR (?4 = 0 AND status = 'finished')) ORDER BY number DESC`);
    this.#isLive = connection.prepare<[number]>(
      "SELECT 1 FROM record WHERE key = ? AND ark = ? AND deleted_at IS NULL",
    );
    this.#insert =
      connection.prepare(`INSERT INTO submission (id, type, user, status, attempt, time_created, warnings, minted,
          sha256, input, cancelled, updates) VALUES (?, ?, ?, 'queued', 0, ?, '[]', 0, ?, ?, 0, ?)`);
    this.#removeEnded = connection.prepare(
      "DELETE FROM submission WHERE user = ? AND type = ? AND status IN ('finished', 'failed')",
    );
    this.#begin = connection.prepare(
      `UPDATE submission SET status = 'running', attempt = attempt + 1, time_started =
        coalesce(time_started, ?2) WHERE id = ?1 AND status IN ('queued', 'running') AND cancelled =
        0`,
    );
    this.#yield = connection.prepare(
      `UPDATE submission SET status = 'queued', interrupted = interrupted + ?3
        WHERE id = ?1 AND attempt = ?2 AND status = 'running' AND cancelled = 0`,
    );
    this.#stage = connection.prepare(
      "UPDATE submission SET stage = ?3 WHERE id = ?1 AND attempt = ?2 AND status = 'running'",
    );
    this.#close =
      connection.prepare(`UPDATE submission SET status = ?3, time_finished = ?4, error = ?5, warnings = ?6, minted =
          ?7, rocrate = ?8 WHERE id = ?1 AND attempt = ?2 AND status = 'running'`);
    // A running one is ended by its handler, which sees the mark.
    this.#cancel = connection.prepare(`UPDATE submission SET cancelled = 1,
        time_finished = CASE status WHEN 'queued' THEN ?2 ELSE time_finished END,
        error = CASE status WHEN 'queued' THEN ?3 ELSE error END,
        status = CASE status WHEN 'queued' THEN 'failed' ELSE status END
      WHERE id = ?1 AND status IN ('queued', 'running')`);
  }

  submit(submission: Parameters<SubmissionStore["submit"]>[0]): {
    submission: Submission;
    existing: boolean;
  } {
    const {
      id,
      type,
      user,
      sha256,
      input,
      update = false,
      inPlaceOfEnded = false,
      at,
    } = submission;
    const same = sha256 === null ? undefined : this.#sameAs([sha256, user, type, update ? 1 : 0]);
    if (same) return { submission: same, existing: true };
    if (inPlaceOfEnded) this.#removeEnded.run([user, type]);
    this.#insert.run([id, type, user, at, sha256, JSON.stringify(input), update ? 1 : 0]);
    return { submission: submissionOf(this.#byId.one([id])), existing: false };
  }

  beginAttempt(id: string, at: number): Submission | undefined {
    return this.#begin.run([id, at]) === 0 ? undefined : this.#get(id);
  }

  yieldAttempt(id: string, attempt: number, counts = false): boolean {
    return this.#yield.run([id, attempt, counts ? 0 : 1]) > 0;
  }

  setStage(id: string, attempt: number, stage: string): boolean {
    return this.#stage.run([id, attempt, stage]) > 0;
  }

  close(close: SubmissionClose, at: number): boolean {
    return (
      this.#close.run([
        close.id,
        close.attempt,
        close.status,
        at,
        close.error ? JSON.stringify(close.error) : null,
        JSON.stringify(close.warnings ?? []),
        close.identifiersMinted ?? 0,
        close.rocrateIdentifier ?? null,
      ]) > 0
    );
  }

  cancel(id: string, at: number): Submission | undefined {
    this.#cancel.run([id, at, JSON.stringify([CANCELLED_EARLY])]);
    return this.#get(id);
  }

  /**
   * The fence of a commit.
   * @throws FenceLost unless this attempt is running and was not cancelled
   */
  guard(close: SubmissionClose): void {
    checkFence(this.#get(close.id), close);
  }

  /** A finished one counts while its crate is not deleted; for an update none does. */
  #sameAs(
    asked: readonly [sha256: string, user: string, type: string, update: number],
  ): Submission | undefined {
    return this.#same
      .all(asked)
      .map(submissionOf)
      .find(
        ({ status, rocrateIdentifier }) =>
          status !== "finished" || this.#crateIsLive(rocrateIdentifier),
      );
  }

  #crateIsLive(crate: string | null): boolean {
    return crate !== null && this.#isLive.get([arkKey(crate), crate]) !== undefined;
  }

  #get(id: string): Submission | undefined {
    const row = this.#byId.get([id]);
    return row && submissionOf(row);
  }
}
