import type { ProgressLine } from "./progress.js";

const NONE: ProgressLine = { update() {}, stop() {} };

/** A bar on standard error when that is a terminal; nothing elsewhere. */
export async function terminalProgress(label: string): Promise<ProgressLine> {
  if (!process.stderr.isTTY) return NONE;
  return (await import("./progress.js")).openProgress(label, process.stderr);
}

/** One line for the person at the terminal, beside the results. */
export const note = (line: string): void => void process.stderr.write(`arkgraph: ${line}\n`);
