import { readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RegistryProcess } from "../../support/registry-process.js";

/** The lowest priority there is. */
const LOWEST = 19;
/** Below the priority that a process has by default. */
const NICE = Math.max(10, getPriority());

/** The niceness of each thread of a process: field 19 of its `stat`. */
const threadsOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });

// Priorities of threads are Linux's.
describe.skipIf(process.platform !== "linux")("a registry with a low CPU priority", () => {
  let registry: RegistryProcess;
  beforeAll(async () => {
    registry = await RegistryProcess.start();
  });
  afterAll(() => registry?.stop());

  it("answers /sparql in a thread whose priority is lower still", async () => {
    setPriority(registry.pid, NICE);
    const { status, text } = await registry.ask(`/sparql?query=${encodeURIComponent("ASK {}")}`);
    expect(status, text).toBe(200);
    expect(Math.max(...threadsOf(registry.pid))).toBe(Math.min(LOWEST, NICE + 5));
  });
});
