import { submissionOf as ofRow, type SubmissionRow as Stored } from "../../submission-row.js";
import type { Submission } from "../../submissions-port.js";

export const SUBMISSION_COLUMNS =
  "number, id, type, person, status, stage, attempt, interrupted, time_created, time_started, time_finished, error, warnings, minted, rocrate, sha256, input, cancelled::int";
export type SubmissionRow = Stored;

/** A row of {@link SUBMISSION_COLUMNS} as the port gives it. */
export const submissionOf = (row: SubmissionRow): Submission => ofRow(row);
