import { readFileSync } from "node:fs";

/**
 * How long, in ms, the main thread of a process has been ready to run and had no core, since it
 * started. Other load on the machine shows here; the process cannot change it. Zero where the
 * system is not Linux.
 */
export function waitedForCore(pid: number | "self"): number {
  const own = pid === "self" ? process.pid : pid;
  try {
    return Number(readFileSync(`/proc/${own}/task/${own}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
