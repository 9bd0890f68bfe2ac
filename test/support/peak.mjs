import { readFileSync } from "node:fs";

// Prints the most memory that the process had, in kB, at its end. The maximum of getrusage would count
// what the process that started it had.
process.on("exit", () => {
  const [, peak] = /VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"));
  process.stderr.write(`${peak}\n`);
});
