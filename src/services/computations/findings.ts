import type { Finding } from "../../model/findings.js";

/**
 * Every code of a finding about a run; stable, documented in docs/computations.md, never reused.
 */
export const RUN_CODES = {
  NO_CONTAINER_ENGINE: "The registry has no container engine any more.",
  NO_IMAGE: "The computation names no container image.",
  IMAGE_NOT_ALLOWED: "The image is not among CONTAINER_IMAGES.",
  IMAGE_ABSENT: "The engine does not have the image, and fetches none.",
  COMMAND_INVALID: "The command is neither a string nor a list of strings.",
  INPUT_NOT_STORED:
    "The registry stores no content of an input of the computation; the run continues " +
    "without it (a warning).",
  INPUTS_TOO_LARGE:
    "The inputs of the computation exceed EXECUTION_INPUT_FILES or EXECUTION_INPUT_BYTES.",
  INPUT_REFUSED:
    "The submitter of the run may not read an input of the computation, or the input no " +
    "longer exists.",
  NOT_STARTED: "The engine refused to run the command in that image.",
  COMMAND_FAILED: "The command ended with a status other than 0.",
  OUT_OF_MEMORY: "The run needed more than EXECUTION_MEMORY.",
  RUN_TIMEOUT: "The run took longer than EXECUTION_TIMEOUT.",
  NO_OUTPUTS: "The command ended with status 0 and wrote no file to /outputs.",
  OUTPUTS_TOO_LARGE: "The files in /outputs have more bytes than EXECUTION_OUTPUT_BYTES.",
  TOO_MANY_OUTPUTS: "There are more files in /outputs than EXECUTION_OUTPUT_FILES.",
  COMMIT_TOO_LONG: "Committing the results took longer than COMMIT_LIMIT.",
  OUTPUT_NOT_TAKEN:
    "An entry of /outputs is not a regular file, or its name is not valid text (a warning).",
  CHANGED_MEANWHILE:
    "The computation was deleted, or changed to describe another run, after this run began.",
  ENGINE_REFUSED:
    "In each of MAX_ATTEMPTS attempts, the container engine refused a request other than " +
    "the command.",
  ENGINE_AWAY:
    "The container engine was unavailable during the whole retry window, OUTAGE_PATIENCE.",
} as const;
type RunCode = keyof typeof RUN_CODES;

/** @param pointer where in the computation's document */
export const runFinding = (
  code: RunCode,
  message: string,
  pointer: string | null = null,
): Finding => ({ file: null, pointer, message, code });

/** The run has failed for good: a retry would have the same result. */
export class RunError extends Error {
  override readonly name = "RunError";
  readonly finding: Finding;
  constructor(code: RunCode, message: string, pointer: string | null = null) {
    super(`${code}: ${message}`);
    this.finding = runFinding(code, message, pointer);
  }
}

/** Text from another user, as findings quote it. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
