import type { Submission, SubmissionPage } from "../submissions-port.js";
import { readNumbers } from "../positions.js";
import { type Connection } from "./statement.js";
import { isStorableText } from "../storable.js";
import { SUBMISSION_COLUMNS, submissionOf, type SubmissionRow } from "../submission-row.js";

export class SubmissionReads {
  readonly #byId;
  readonly #ofUser;
  readonly #all;
  readonly #unfinished;

  constructor(connection: Connection) {
    const select = `SELECT ${SUBMISSION_COLUMNS} FROM submission`;
    this.#byId = connection.prepare<SubmissionRow>(`${select} WHERE id = ?`);
    this.#ofUser = connection.prepare<SubmissionRow>(`${select} WHERE user = ? AND number < ? ORDER BY number DESC LIMIT ?`);
    this.#all = connection.prepare<SubmissionRow>(`${select} WHERE number < ? ORDER BY number DESC LIMIT ?`);
    this.#unfinished = connection.prepare<SubmissionRow>(`${select} WHERE status IN ('queued', 'running') ORDER BY number`);
  }

  byId(id: string): Submission | undefined {
    const row = isStorableText(id) ? this.#byId.get([id]) : undefined;
    return row && submissionOf(row);
  }

  /** @param user null for everybody's */
  list(user: string | null, { after, limit }: { after?: string; limit: number }): SubmissionPage {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : readNumbers(after, 1)[0]!;
    if (user !== null && !isStorableText(user)) return { items: [], positions: [] };
    const rows = user === null ? this.#all.all([before, limit + 1]) : this.#ofUser.all([user, before, limit + 1]);
    const page = rows.slice(0, limit);
    const positions = page.map(([number]) => String(number));
    return { items: page.map(submissionOf), positions, ...(rows.length > limit ? { next: positions.at(-1)! } : {}) };
  }

  unfinished(): Submission[] {
    return this.#unfinished.all().map(submissionOf);
  }
}
