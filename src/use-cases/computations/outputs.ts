import { ServiceError } from "../../errors.js";
import type { ContainerRun } from "../../containers/port.js";
import type { Config } from "../../config.js";
import type { Finding } from "../../model/finding.js";
import type { ObjectStore, StagedObject } from "../../stores/objects/port.js";
import { RunError, quoted, runFinding } from "./findings.js";

/** A file that a run left, received and belonging to no record yet. */
export interface RunOutput { path: string; object: StagedObject }

/** Warnings of one kind; more would hide the rest. */
const MOST_WARNINGS = 100;
/** What neither a store nor a terminal takes as a name; the marks that turn the direction of text lie about what they stand in. */
const UNFIT = /[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/u;

type Limits = Pick<Config, "EXECUTION_OUTPUT_FILES" | "EXECUTION_OUTPUT_BYTES">;

/**
 * Receives what a run left in `/outputs`: plain files only. Nothing is believed of it, and nothing is published: whoever calls
 * publishes or discards what is handed to `take`, also when this throws.
 * @throws RunError `NO_OUTPUTS`, `TOO_MANY_OUTPUTS`, `OUTPUTS_TOO_LARGE`
 */
export async function receiveOutputs(run: ContainerRun, objects: ObjectStore, limits: Limits, signal: AbortSignal, take: (output: RunOutput, bytes: number) => void): Promise<Finding[]> {
  const { EXECUTION_OUTPUT_FILES: most, EXECUTION_OUTPUT_BYTES: room } = limits;
  const warnings: Finding[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  let refused = 0;
  const pass = (what: string) => {
    if (++refused <= MOST_WARNINGS) warnings.push(runFinding("OUTPUT_NOT_TAKEN", `${what}: it is not among the results.`));
  };
  for await (const entry of run.outputs()) {
    signal.throwIfAborted();
    if (entry.type === "folder") continue;
    const { path } = entry;
    if (path === null || path === "" || UNFIT.test(path)) pass("A name in /outputs is no text");
    else if (entry.type === "link") pass(`${quoted(path)} is a link; leave the file itself`);
    else if (entry.type === "other") pass(`${quoted(path)} is no plain file`);
    else if (path.split("/").includes("..") || seen.has(path)) pass(`${quoted(path)} is a path that no file in /outputs has`);
    else {
      if (seen.size === most) throw new RunError("TOO_MANY_OUTPUTS", `The run left more than EXECUTION_OUTPUT_FILES=${most} files in /outputs: pack them into one, or ask for the setting to be raised.`);
      if (bytes + entry.size > room) throw outputsTooLarge(limits);
      seen.add(path);
      const object = await objects.stage(entry.content(), { limit: room - bytes, limitName: "EXECUTION_OUTPUT_BYTES", signal }).catch((error: unknown) => {
        throw error instanceof ServiceError && error.code === "TOO_LARGE" ? outputsTooLarge(limits) : error;
      });
      bytes += object.size;
      take({ path, object }, bytes);
    }
  }
  if (refused > MOST_WARNINGS) warnings.push(runFinding("OUTPUT_NOT_TAKEN", `${refused - MOST_WARNINGS} more entries of /outputs are not among the results.`));
  if (seen.size === 0) throw new RunError("NO_OUTPUTS", "The command ended with status 0 and left no file in /outputs, which is its working folder: write the results there.");
  return warnings;
}

export const outputsTooLarge = ({ EXECUTION_OUTPUT_BYTES: room }: Limits): RunError =>
  new RunError("OUTPUTS_TOO_LARGE", `The run left more than EXECUTION_OUTPUT_BYTES=${room} bytes in /outputs: leave less, or ask for the setting to be raised.`);
