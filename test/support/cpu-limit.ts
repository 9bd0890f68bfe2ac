import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, expect } from "vitest";
import { packageRoot } from "../../src/package-root.js";

/**
 * CPU time that a quick file may take, with the processes it started. On one kind of machine the same
 * file takes up to half as much again on another day: files are meant to stay below 20 s.
 */
const MAX_CPU_SECONDS = 30;
/** Linux counts the time of processes in hundredths of a second, whatever its clock. */
const TICKS_PER_SECOND = 100;

/** CPU time of this process and, where the system says it, of its children that have ended. */
function cpuSeconds(): number {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // The name, in parentheses, may hold spaces. After it come the state and the fields from 4 on.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

const before = cpuSeconds();

// Registered before the hooks of the file: it runs after them, when what the file started has ended.
afterAll(() => {
  const file = relative(packageRoot, expect.getState().testPath!);
  const seconds = cpuSeconds() - before;
  if (seconds <= MAX_CPU_SECONDS) return;
  const message =
    `${file} took ${seconds.toFixed(0)} s of CPU time, more than the ${MAX_CPU_SECONDS} s of a quick file. ` +
    "Make it quicker, or move its long tests into a file beside it that ends in .slow.test.ts.";
  // The machines of CI are known; a slower one of somebody else is no fault of the tests.
  if (process.env["CI"] !== undefined) throw new Error(message);
  process.stderr.write(`\n${message}\n`);
});
