import type { Finding } from "../../model/findings.js";

/**
 * Every code of a finding about a run; stable, documented in docs/computations.md, never reused.
 */
export const RUN_CODES = {
  NO_CONTAINER_ENGINE: "The registry has no container engine any more.",
  NO_IMAGE: "The computation names no container image.",
  IMAGE_NOT_ALLOWED: "The image is not among CONTAINER_IMAGES.",
  IMAGE_ABSENT: "The engine does not have the image, and fetches none.",
  COMMAND_INVALID: "The command is neither text nor a list of texts.",
  INPUT_NOT_STORED:
    "Of something that the computation used no content is stored here; the run goes on " +
    "without (a warning).",
  INPUTS_TOO_LARGE:
    "What the computation uses is more than EXECUTION_INPUT_FILES or EXECUTION_INPUT_BYTES.",
  INPUT_REFUSED:
    "Who asked for the run may not read something that the computation used, or it is gone.",
  NOT_STARTED: "The engine refused to run the command in that image.",
  COMMAND_FAILED: "The command ended with another status than 0.",
  OUT_OF_MEMORY: "The run needed more than EXECUTION_MEMORY.",
  RUN_TIMEOUT: "The run took longer than EXECUTION_TIMEOUT.",
  NO_OUTPUTS: "The command ended well and left no file in /outputs.",
  OUTPUTS_TOO_LARGE: "The files in /outputs are more than EXECUTION_OUTPUT_BYTES.",
  TOO_MANY_OUTPUTS: "The files in /outputs are more than EXECUTION_OUTPUT_FILES.",
  COMMIT_TOO_LONG: "Making the results visible in one step took longer than COMMIT_LIMIT.",
  OUTPUT_NOT_TAKEN:
    "Something in /outputs is no plain file, or has a name that is no text (a warning).",
  CHANGED_MEANWHILE: "The computation was deleted, or describes another run, since this one began.",
  ENGINE_REFUSED:
    "The container engine refused something else than the command, as often as MAX_ATTEMPTS says.",
  ENGINE_AWAY:
    "The container engine could not be reached until OUTAGE_PATIENCE after the run was asked for.",
} as const;
export type RunCode = keyof typeof RUN_CODES;

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
