import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** ms between two polls where the system records no peak. */
const EACH = 100;

const fromProc = (pid: number, field: "VmRSS" | "VmHWM"): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) /
  1024;

/** Resident memory of a process, in MiB. */
export function resident(pid: number): number {
  if (existsSync(`/proc/${pid}/status`)) return fromProc(pid, "VmRSS");
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024;
}

/** The same with the processes that it has started. */
export function residentWithChildren(pid: number): number {
  const lines = execFileSync("ps", ["-e", "-o", "pid=,ppid="], { encoding: "utf8" });
  return lines
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .reduce((sum, [child]) => sum + resident(child!), resident(pid));
}

/**
 * The peak while the work is done, in MiB: the kernel's own record (Linux), elsewhere the highest
 * polled value.
 */
export async function peakResident(pid: number, work: () => Promise<unknown>): Promise<number> {
  if (existsSync(`/proc/${pid}/clear_refs`)) {
    // 5: the peak begins anew (proc_pid_clear_refs(5)).
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    await work();
    return fromProc(pid, "VmHWM");
  }
  let peak = resident(pid);
  const clock = setInterval(() => (peak = Math.max(peak, resident(pid))), EACH);
  try {
    await work();
  } finally {
    clearInterval(clock);
  }
  return Math.max(peak, resident(pid));
}
