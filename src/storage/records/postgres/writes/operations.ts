import type { ObjectBookkeeping, RecordStore } from "../../port.js";
import type { Submission, SubmissionClose, SubmissionStore } from "../../port/submissions.js";
import { CANCELLED_EARLY } from "../../refusals.js";
import { SUBMISSION_COLUMNS, type SubmissionRow, submissionOf } from "../accounts.js";
import { type Sending, type Session, type Statement, statement, type Value } from "../statement.js";

const KEEP = statement("INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING");
const SET = statement(
  `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
    SET value = excluded.value`,
);
const UNSET = statement("DELETE FROM setting WHERE name = $1");
const SETTING = statement<[value: string]>("SELECT value FROM setting WHERE name = $1");

const BY_ID = statement<SubmissionRow>(
  `SELECT ${SUBMISSION_COLUMNS} FROM submission WHERE id = $1`,
);
// A finished one counts while its crate is not deleted; for an update none does.
const SAME = statement<SubmissionRow>(`SELECT ${SUBMISSION_COLUMNS} FROM submission AS s
      WHERE sha256 = $1 AND person = $2 AND type = $3 AND ( (status IN ('queued', 'running') AND
      cancelled = false AND updates = $4) OR ($4 = false AND status = 'finished' AND EXISTS (SELECT
      1 FROM record WHERE ark = s.rocrate AND deleted_at IS NULL))) ORDER BY number DESC LIMIT 1`);
const ADD = statement<SubmissionRow>(
  `WITH next AS (UPDATE counter SET submission = submission + 1 WHERE id = 1 RETURNING submission)
    INSERT INTO submission (number, id, type, person, status, attempt, interrupted, time_created,
    warnings, minted, sha256, input, cancelled, updates)
    SELECT submission, $1, $2, $3, 'queued', 0, 0, $4, '[]', 0, $5, $6, false, $7 FROM next
    RETURNING ${SUBMISSION_COLUMNS}`,
);
const REMOVE_ENDED = statement(
  "DELETE FROM submission WHERE person = $1 AND type = $2 AND status IN ('finished', 'failed')",
);
const BEGIN = statement<SubmissionRow>(
  `UPDATE submission SET status = 'running', attempt = attempt + 1, time_started =
    coalesce(time_started, $2) WHERE id = $1 AND status IN ('queued', 'running') AND cancelled =
    false RETURNING ${SUBMISSION_COLUMNS}`,
);
const YIELD = statement<[id: string]>(
  `UPDATE submission SET status = 'queued', interrupted = interrupted + $3::integer
    WHERE id = $1 AND attempt = $2 AND status = 'running' AND cancelled = false RETURNING id`,
);
const STAGE = statement<[id: string]>(
  `UPDATE submission SET stage = $3 WHERE id = $1 AND attempt = $2 AND status = 'running'
    RETURNING id`,
);
// A running one is ended by its handler, which sees the mark.
const CANCEL = statement(`UPDATE submission SET cancelled = true,
    time_finished = CASE status WHEN 'queued' THEN $2 ELSE time_finished END,
    error = CASE status WHEN 'queued' THEN $3 ELSE error END,
    status = CASE status WHEN 'queued' THEN 'failed' ELSE status END
  WHERE id = $1 AND status IN ('queued', 'running')`);

const CLOSE = statement<
  [id: string]
>(`UPDATE submission SET status = $3, time_finished = $4, error = $5, warnings = $6, minted = $7,
    rocrate = $8 WHERE id = $1 AND attempt = $2 AND status = 'running' RETURNING id`);
const RELEASE = statement("DELETE FROM intent WHERE holder = $1 AND holder_kind = $2");

const INTEND = statement(`INSERT INTO intent (sha256, holder_kind, holder, attempt, at)
      SELECT DISTINCT v.sha256, $2, $3, $4::bigint, $5::bigint
      FROM unnest($1::text[]) AS v (sha256) ON CONFLICT (sha256, holder_kind, holder) DO UPDATE
      SET attempt = excluded.attempt, at = excluded.at`);
/** ms after which a node that was not seen is taken for ended, and its sweep with it. */
const UNSEEN = 900_000;
const REMOVING = statement<[sha256: string]>(
  `SELECT o.sha256 FROM object_removal AS o JOIN writer AS w ON w.id = o.writer
    WHERE o.sha256 = ANY($1::text[]) AND w.seen_at > now() - interval '${UNSEEN} milliseconds'`,
);
const UNREFERENCED = statement<[sha256: string]>(
  `SELECT sha256 FROM unnest($1::text[]) WITH ORDINALITY AS asked (sha256, place)
    WHERE NOT EXISTS (SELECT 1 FROM object_ref AS o
    WHERE o.sha256 = asked.sha256 AND o.dropped = false) AND NOT EXISTS (SELECT 1
    FROM intent AS i WHERE i.sha256 = asked.sha256 AND i.at > $2) AND NOT EXISTS (SELECT 1
    FROM submission AS s WHERE s.sha256 = asked.sha256 AND s.status IN ('queued', 'running'))
    GROUP BY sha256 ORDER BY min(place)`,
);
const CLAIM = statement(
  `INSERT INTO object_removal (sha256, writer) SELECT v.sha256, $2
    FROM unnest($1::text[]) AS v (sha256) ON CONFLICT (sha256) DO UPDATE
    SET writer = excluded.writer`,
);
const REMOVED = statement("DELETE FROM object_removal WHERE sha256 = ANY($1::text[])");

type Submitted = Parameters<SubmissionStore["submit"]>[0];

/**
 * Writes that are no commits of records: a few statements each, in a transaction of their own and
 * under its lock.
 */
export class Operations {
  readonly #session: Session;
  readonly #writer: string;
  readonly #skew: number;

  /**
   * @param writer the node that a sweep belongs to
   * @param skew ms by which the database's clock is ahead of this node's
   */
  constructor(session: Session, writer: string, skew: number) {
    this.#session = session;
    this.#writer = writer;
    this.#skew = skew;
  }

  async setSetting(
    ...[name, value, options = {}]: Parameters<RecordStore["setSetting"]>
  ): Promise<string | undefined> {
    if (value === null) await this.#session.query(UNSET, [name]);
    else await this.#session.query(options.ifAbsent ? KEEP : SET, [name, value]);
    return (await this.#session.query(SETTING, [name]))[0]?.[0];
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
  }: Submitted): Promise<{ submission: Submission; existing: boolean }> {
    const same =
      sha256 === null
        ? undefined
        : (await this.#session.query(SAME, [sha256, user, type, update]))[0];
    if (same) return { submission: submissionOf(same), existing: true };
    if (inPlaceOfEnded) await this.#session.query(REMOVE_ENDED, [user, type]);
    const values = [id, type, user, at, sha256, JSON.stringify(input), update];
    const added = await this.#session.one(ADD, values);
    return { submission: submissionOf(added), existing: false };
  }

  async beginAttempt(id: string, at: number): Promise<Submission | undefined> {
    const [begun] = await this.#session.query(BEGIN, [id, at]);
    return begun && submissionOf(begun);
  }

  yieldAttempt = (id: string, attempt: number, counts = false): Promise<boolean> =>
    this.#did(YIELD, [id, attempt, counts ? 0 : 1]);
  setStage = (id: string, attempt: number, stage: string): Promise<boolean> =>
    this.#did(STAGE, [id, attempt, stage]);
  closeSubmission = (close: SubmissionClose, at: number): Promise<boolean> =>
    this.#did(CLOSE, closeValues(close, at));

  async cancelSubmission(id: string, at: number): Promise<Submission | undefined> {
    await this.#session.query(CANCEL, [id, at, JSON.stringify([CANCELLED_EARLY])]);
    const [row] = await this.#session.query(BY_ID, [id]);
    return row && submissionOf(row);
  }

  async intend(
    ...[{ kind, id, attempt }, sha256s, at]: Parameters<ObjectBookkeeping["intend"]>
  ): Promise<{ removing: string[] }> {
    await this.#session.query(INTEND, [sha256s, kind, id, attempt, at + this.#skew]);
    return { removing: (await this.#session.query(REMOVING, [sha256s])).map(([sha256]) => sha256) };
  }

  async release({ kind, id }: Parameters<ObjectBookkeeping["release"]>[0]): Promise<void> {
    await this.#session.query(RELEASE, [id, kind]);
  }

  async claimUnreferenced(
    ...[sha256s, { now, intentLifetime }]: Parameters<ObjectBookkeeping["claimUnreferenced"]>
  ): Promise<string[]> {
    const free = (
      await this.#session.query(UNREFERENCED, [sha256s, now + this.#skew - intentLifetime])
    ).map(([sha256]) => sha256);
    if (free.length > 0) await this.#session.query(CLAIM, [free, this.#writer]);
    return free;
  }

  async removed(sha256s: readonly string[]): Promise<void> {
    await this.#session.query(REMOVED, [sha256s]);
  }

  async #did(asked: Statement<[id: string]>, values: Value[]): Promise<boolean> {
    return (await this.#session.query(asked, values)).length > 0;
  }
}

const closeValues = (
  { id, attempt, status, error, warnings = [], ...made }: SubmissionClose,
  at: number,
): Value[] => [
  id,
  attempt,
  status,
  at,
  error ? JSON.stringify(error) : null,
  JSON.stringify(warnings),
  made.identifiersMinted ?? 0,
  made.rocrateIdentifier ?? null,
];

/** Ends a submission with its commit, and its announcements of content. */
export function endSubmission(sending: Sending, close: SubmissionClose, at: number): void {
  void sending.send(CLOSE, closeValues(close, at));
  void sending.send(RELEASE, [close.id, "submission"]);
}

/** The writes beside commits. */
export type Operation =
  | "setSetting"
  | "submit"
  | "beginAttempt"
  | "yieldAttempt"
  | "setStage"
  | "closeSubmission"
  | "cancelSubmission"
  | "intend"
  | "release"
  | "claimUnreferenced"
  | "removed";
