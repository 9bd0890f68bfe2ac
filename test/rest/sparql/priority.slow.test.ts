import { readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RegistryProcess } from "../../support/registry-process.js";

/** The lowest priority there is. */
const LOWEST = 19;
/** Below the priority that a process has by default. */
const NICE = Math.max(10, getPriority());

/** The processes that a process has started. */
const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")
      .split(" ")
      .filter(Boolean)
      .map(Number),
  );

// Where it stands which processes another has started.
describe.skipIf(process.platform !== "linux")("a registry with a low CPU priority", () => {
  let registry: RegistryProcess;
  beforeAll(async () => {
    registry = await RegistryProcess.start();
  });
  afterAll(() => registry?.stop());

  it("answers /sparql in a process whose priority is lower still", async () => {
    setPriority(registry.pid, NICE);
    const { status, text } = await registry.ask(`/sparql?query=${encodeURIComponent("ASK {}")}`);
    expect(status, text).toBe(200);
    expect(childrenOf(registry.pid).map(getPriority)).toEqual([Math.min(LOWEST, NICE + 5)]);
  });
});
