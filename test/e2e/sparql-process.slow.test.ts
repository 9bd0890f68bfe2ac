import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { RegistryProcess } from "../support/registry-process.js";

const SHORT = "SELECT (COUNT(*) AS ?n) { ?s <https://schema.org/name> ?name }";
/** Every pair of pairs of pairs …: no engine finishes this. */
const ENDLESS =
  "SELECT (COUNT(*) AS ?c) { ?a ?b ?c1 . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r }";

/** Processes that answer queries of a registry. */
const enginesOf = (registry: number): number[] =>
  processes().flatMap(({ pid, parent, command }) =>
    parent === registry && command.includes("oxigraph/open/process") ? [pid] : [],
  );
const processes = () =>
  execFileSync("ps", ["-e", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => !state!.startsWith("Z"))
    .map(([pid, parent, , ...command]) => ({
      pid: Number(pid),
      parent: Number(parent),
      command: command.join(" "),
    }));

describe.skipIf(process.platform === "win32")("the process that answers /sparql", () => {
  let registry: RegistryProcess;
  afterEach(() => registry.stop());
  const ask = (query: string) => registry.ask(`/sparql?query=${encodeURIComponent(query)}`);

  async function started(): Promise<void> {
    registry = await RegistryProcess.start({ env: { SPARQL_TIMEOUT: "60s" } });
    const ada = await registry.user("Ada");
    for (let index = 0; index < 10; index++) {
      const made = await registry.ask("/dataset", {
        token: ada.token,
        body: bodyOf("dataset", ada.ark),
      });
      expect(made.status, made.text).toBe(200);
    }
    expect(enginesOf(registry.pid)).toEqual([]);
    expect((await ask(SHORT)).status).toBe(200);
  }

  it("ends with a registry that is killed, also while it computes", async () => {
    await started();
    const [engine] = enginesOf(registry.pid);
    const endless = ask(ENDLESS).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 300));
    await registry.kill();
    await expect
      .poll(() => processes().map(({ pid }) => pid), { timeout: 10_000 })
      .not.toContain(engine);
    await endless;
  });

  it("costs the query that it runs when it is lost, and nothing else", async () => {
    await started();
    const endless = ask(ENDLESS);
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const engine of enginesOf(registry.pid)) process.kill(engine, "SIGKILL");
    expect((await endless).body).toMatchObject({ code: "QUERY_FAILED" });
    expect((await ask(SHORT)).status).toBe(200);
    expect(registry.alive).toBe(true);
  });
});
