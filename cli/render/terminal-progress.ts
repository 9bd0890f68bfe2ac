import type { ProgressLine } from "./progress.js";

const NONE: ProgressLine = { update() {}, stop() {} };

/** A progress bar if standard error is a terminal; otherwise nothing. */
export async function terminalProgress(label: string): Promise<ProgressLine> {
  if (!process.stderr.isTTY) return NONE;
  return (await import("./progress.js")).openProgress(label, process.stderr);
}

/** Prints one line for the user on standard error, beside the results. */
export const note = (line: string): void => void process.stderr.write(`arkgraph: ${line}\n`);
