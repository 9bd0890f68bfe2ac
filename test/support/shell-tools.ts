import { spawnSync } from "node:child_process";

/** Whether the programs are here that run the lines of a page; warns of those that are not. */
export function hasTools(page: string, ...programs: string[]): boolean {
  const missing = programs.filter((program) => spawnSync(program, ["--version"]).status !== 0);
  if (missing.length > 0)
    process.stderr.write(`\n!! SKIPPED: the lines of ${page} need ${missing.join(", ")}.\n\n`);
  return missing.length === 0;
}
