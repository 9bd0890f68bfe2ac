import type {
  Submission,
  SubmissionClose,
  SubmissionPage,
  SubmissionStore,
} from "../../src/storage/records/port/submissions.js";

/**
 * A SubmissionStore in memory, for tests of the code above the port. Crates count as never deleted.
 */
export class MemorySubmissions implements SubmissionStore {
  readonly rows = new Map<string, Submission>();
  readonly stages: string[] = [];

  async submit(
    input: Parameters<SubmissionStore["submit"]>[0],
  ): Promise<{ submission: Submission; existing: boolean }> {
    for (const row of this.rows.values())
      if (
        row.sha256 !== null &&
        row.sha256 === input.sha256 &&
        row.user === input.user &&
        row.type === input.type &&
        row.status !== "failed"
      )
        return { submission: { ...row }, existing: true };
    const { at, ...rest } = input;
    const submission: Submission = {
      ...rest,
      status: "queued",
      stage: null,
      attempt: 0,
      interrupted: 0,
      timeCreated: at,
      timeStarted: null,
      timeFinished: null,
      error: null,
      warnings: [],
      identifiersMinted: 0,
      rocrateIdentifier: null,
      cancelled: false,
    };
    this.rows.set(submission.id, submission);
    return { submission: { ...submission }, existing: false };
  }

  async submission(id: string): Promise<Submission | undefined> {
    const row = this.rows.get(id);
    return row && { ...row };
  }

  async submissionsOf(user: string | null): Promise<SubmissionPage> {
    const items = [...this.rows.values()]
      .filter((row) => user === null || row.user === user)
      .reverse();
    return { items, positions: items.map(({ id }) => id) };
  }

  async countSubmissions(user: string | null): Promise<number> {
    return (await this.submissionsOf(user)).items.length;
  }

  async unfinished(): Promise<Submission[]> {
    return [...this.rows.values()]
      .filter(({ status }) => status === "queued" || status === "running")
      .map((row) => ({ ...row }));
  }

  async beginAttempt(id: string, at: number): Promise<Submission | undefined> {
    const row = this.rows.get(id);
    if (!row || row.cancelled || row.status === "finished" || row.status === "failed")
      return undefined;
    row.attempt++;
    row.status = "running";
    row.timeStarted ??= at;
    return { ...row };
  }

  async yieldAttempt(id: string, attempt: number, counts = false): Promise<boolean> {
    const row = this.#running(id, attempt);
    if (!row || row.cancelled) return false;
    row.status = "queued";
    if (!counts) row.interrupted++;
    return true;
  }

  async setStage(id: string, attempt: number, stage: string): Promise<boolean> {
    const row = this.#running(id, attempt);
    if (!row) return false;
    row.stage = stage;
    this.stages.push(stage);
    return true;
  }

  async closeSubmission(close: SubmissionClose, at: number): Promise<boolean> {
    const row = this.#running(close.id, close.attempt);
    if (!row) return false;
    row.status = close.status;
    row.timeFinished = at;
    row.error = close.error ?? null;
    row.warnings = close.warnings ?? [];
    row.identifiersMinted = close.identifiersMinted ?? 0;
    row.rocrateIdentifier = close.rocrateIdentifier ?? null;
    return true;
  }

  async cancelSubmission(id: string, at: number): Promise<Submission | undefined> {
    const row = this.rows.get(id);
    if (!row) return undefined;
    row.cancelled = true;
    if (row.status === "queued") {
      row.status = "failed";
      row.timeFinished = at;
      row.error = [{ file: null, pointer: null, code: "CANCELLED", message: "cancelled" }];
    }
    return { ...row };
  }

  #running(id: string, attempt: number): Submission | undefined {
    const row = this.rows.get(id);
    return row?.status === "running" && row.attempt === attempt ? row : undefined;
  }
}
