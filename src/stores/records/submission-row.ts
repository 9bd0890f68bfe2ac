import type { Finding } from "../../model/finding.js";
import { storedJson } from "./unavailable.js";
import type { Submission, SubmissionType } from "./submissions-port.js";

export const SUBMISSION_COLUMNS =
  "number, id, type, user, status, stage, attempt, interrupted, time_created, time_started, time_finished, error, warnings, minted, rocrate, sha256, input, cancelled";
export type SubmissionRow = [
  number, string, string, string, string, string | null, number, number, number, number | null, number | null,
  string | null, string, number, string | null, string | null, string, number,
];

/** A row of {@link SUBMISSION_COLUMNS} as the port gives it. */
export function submissionOf(row: SubmissionRow): Submission {
  const [, id, type, user, status, stage, attempt, interrupted, timeCreated, timeStarted, timeFinished, error, warnings, minted, rocrate, sha256, input, cancelled] = row;
  return {
    id, type: type as SubmissionType, user, status: status as Submission["status"], stage, attempt, interrupted, timeCreated, timeStarted, timeFinished,
    error: error === null ? null : storedJson<Finding[]>(error, "the errors of a submission"),
    warnings: storedJson<Finding[]>(warnings, "the warnings of a submission"),
    identifiersMinted: minted, rocrateIdentifier: rocrate, sha256,
    input: storedJson<Record<string, unknown>>(input, "the input of a submission"),
    cancelled: cancelled === 1,
  };
}
