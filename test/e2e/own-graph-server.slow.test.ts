import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { endpointAddress } from "../../src/app/open-stores.js";
import { packageRoot } from "../../src/package-root.js";
import { OwnServer } from "../../src/storage/graph/endpoint/index.js";
import { bodyOf } from "../support/bodies.js";
import { RegistryProcess, runToEnd } from "../support/registry-process.js";
import { OXIGRAPH } from "../support/servers/oxigraph.js";
import { ENDLESS } from "../support/sparql.js";
import { findProgram } from "../support/servers/programs.js";

const program = findProgram("oxigraph");
if (program === undefined)
  process.stderr.write(
    `SKIPPED: tests with Oxigraph, which is not installed (${OXIGRAPH.needs})\n`,
  );
const ENGINE = { GRAPH_ENGINE: "oxigraph", OXIGRAPH_PROGRAM: program ?? "" };
const SECRET = "a-secret-of-the-registry-that-no-other-program-sees";

const running = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A process that has ended and that nobody has waited for yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};
async function until(what: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  for (const end = Date.now() + ms; !(await what()); await pause(50))
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what.toString()}`);
}
interface Line {
  msg: string;
  pid: number;
  port: number;
  reason?: string;
}
/** What the registry logged of its server, oldest first. */
const linesOf = (registry: RegistryProcess, message: string): Line[] =>
  registry.log
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => msg.includes(message));
const serverOf = (registry: RegistryProcess): Line =>
  linesOf(registry, "the graph server answers").at(-1)!;
const subjects = async (registry: RegistryProcess): Promise<string | undefined> =>
  (
    await registry.ask("/sparql", {
      body: "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s a <https://w3id.org/EVI#Dataset> }",
      headers: { "Content-Type": "application/sparql-query", Accept: "text/csv" },
    })
  ).text
    .trim()
    .split(/\s+/)[1];

describe.skipIf(program === undefined)("a registry with GRAPH_ENGINE=oxigraph", () => {
  const registries: RegistryProcess[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    for (const registry of registries.splice(0)) if (registry.alive) await registry.kill();
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  async function start(env: Record<string, string> = {}, dataDir?: string) {
    const folder = dataDir ?? (await mkdtemp(join(tmpdir(), "arkgraph-own-server-")));
    folders.push(folder);
    const registry = await RegistryProcess.start({
      dataDir: folder,
      env: { ...ENGINE, INDEX_WAIT: "15s", LOG_LEVEL: "info", JWT_SECRET: SECRET, ...env },
    });
    registries.push(registry);
    return registry;
  }
  async function datasets(registry: RegistryProcess, names: readonly string[]): Promise<void> {
    const { ark, token } = await registry.user();
    for (const name of names) {
      const body = bodyOf("dataset", ark, { "@id": `ark:99999/${name}` });
      expect(await registry.ask("/dataset", { body, token })).toMatchObject({ status: 200 });
    }
  }

  it("answers /sparql and evidence from it, and stops it with SIGTERM", async () => {
    const registry = await start();
    await datasets(registry, ["a", "b"]);
    expect(await subjects(registry)).toBe("2");
    expect((await registry.ask("/evidencegraph/query/ark:99999/a")).status).toBe(200);
    expect((await registry.ask("/healthz")).body["checks"]).toMatchObject({ index: "ok" });
    const { pid } = serverOf(registry);
    expect(await readdir(join(registry.dataDir, "graph"))).toContain("CURRENT");
    expect((await registry.terminate()).status).toBe(0);
    expect(running(pid)).toBe(false);
    expect(linesOf(registry, "ended unexpectedly")).toEqual([]);
  });

  it.each(["CURRENT", "MANIFEST"])("fills its folder anew when %s is damaged", async (damaged) => {
    const before = await start();
    await datasets(before, ["a", "b"]);
    expect(await subjects(before)).toBe("2");
    await before.terminate();
    const folder = join(before.dataDir, "graph");
    const file = (await readdir(folder)).find((name) => name.startsWith(damaged))!;
    await writeFile(join(folder, file), "no longer what it was");
    const after = await start({}, before.dataDir);
    expect(linesOf(after, "is damaged; it is filled anew")).toHaveLength(1);
    await until(async () => (await subjects(after)) === "2");
    expect((await after.ask("/healthz")).body["status"]).toBe("healthy");
  });

  it("starts it again when it crashes, with nothing lost", async () => {
    const registry = await start();
    await datasets(registry, ["a"]);
    expect(await subjects(registry)).toBe("1");
    const { pid } = serverOf(registry);
    process.kill(pid, "SIGKILL");
    await until(() => serverOf(registry).pid !== pid);
    expect(linesOf(registry, "ended unexpectedly")).toMatchObject([
      { reason: "it ended by SIGKILL" },
    ]);
    await datasets(registry, ["b"]);
    await until(async () => (await subjects(registry)) === "2");
    expect((await registry.ask("/healthz")).body["status"]).toBe("healthy");
    // Still guarded after it was started again.
    const again = serverOf(registry).pid;
    await registry.kill();
    await until(() => !running(again), 5_000);
  });

  it("leaves no server when it is killed, and goes on with the same data", async () => {
    const registry = await start();
    await datasets(registry, ["a"]);
    expect(await subjects(registry)).toBe("1");
    const { pid } = serverOf(registry);
    await registry.kill();
    await until(() => !running(pid), 5_000);
    const next = await start({}, registry.dataDir);
    expect(await subjects(next)).toBe("1");
    await next.terminate();
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(packageRoot, "bin/arkgraph.js"), "check", "--data", registry.dataDir],
      { env: { PATH: process.env["PATH"], ...ENGINE } },
    );
    expect(stdout).toContain("the index agrees with the records");
  });

  it.skipIf(process.platform !== "linux")(
    "lets it listen on the loopback interface only, and gives it none of its secrets",
    async () => {
      const { pid, port } = serverOf(await start());
      const hex = port.toString(16).toUpperCase().padStart(4, "0");
      const listening = ["tcp", "tcp6"].flatMap((name) =>
        existsSync(`/proc/net/${name}`)
          ? readFileSync(`/proc/net/${name}`, "utf8")
              .split("\n")
              .map((line) => line.trim().split(/\s+/))
              .filter((cells) => cells[1]?.endsWith(`:${hex}`) && cells[3] === "0A")
              .map((cells) => cells[1])
          : [],
      );
      expect(listening).toEqual([`0100007F:${hex}`]);
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
      expect(environment).not.toContain(SECRET);
      expect(environment).not.toContain("JWT_SECRET");
    },
  );

  it("survives a query that needs more memory than OXIGRAPH_MEMORY", async () => {
    const registry = await start({ OXIGRAPH_MEMORY: "256M", SPARQL_TIMEOUT: "20s" });
    await datasets(registry, ["a", "b", "c"]);
    expect(await subjects(registry)).toBe("3");
    const { pid } = serverOf(registry);
    const answer = await registry.ask("/sparql", {
      body: "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?a ?f ?l",
      headers: { "Content-Type": "application/sparql-query" },
    });
    expect(answer.status).toBe(503);
    await until(() => serverOf(registry).pid !== pid);
    await until(async () => (await subjects(registry)) === "3");
  });

  it("answers 1,000 evidence graphs, 16 at a time, with a bounded number of threads", async () => {
    const registry = await start({ OXIGRAPH_MEMORY: "512M" });
    const names = Array.from({ length: 20 }, (_, i) => `d${i}`);
    await datasets(registry, names);
    expect(await subjects(registry)).toBe("20");
    const { pid } = serverOf(registry);
    const threads = () =>
      process.platform === "linux"
        ? Number(/^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1])
        : 0;
    const statuses = new Map<string, number>();
    const count = (what: string, { status }: { status: number }) =>
      statuses.set(`${what} ${status}`, (statuses.get(`${what} ${status}`) ?? 0) + 1);
    let asked = 0;
    let most = 0;
    const client = async () => {
      for (let number = asked++; number < 1000; number = asked++) {
        const name = names[number % names.length]!;
        count("evidence", await registry.ask(`/evidencegraph/query/ark:99999/${name}`));
        if (number % 100 === 99) {
          count("health", await registry.ask("/healthz"));
          most = Math.max(most, threads());
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    expect(Object.fromEntries(statuses)).toEqual({ "evidence 200": 1000, "health 200": 10 });
    expect(most).toBeLessThan(64);
    expect(serverOf(registry).pid).toBe(pid);
  }, 300_000);

  it("ends a server that goes on with a query past its time limit, and others do not notice", async () => {
    const registry = await start({ SPARQL_TIMEOUT: "1s" });
    await datasets(
      registry,
      Array.from({ length: 30 }, (_, i) => `d${i}`),
    );
    expect(await subjects(registry)).toBe("30");
    const { pid } = serverOf(registry);
    const answer = await registry.ask("/sparql", {
      body: ENDLESS,
      headers: { "Content-Type": "application/sparql-query" },
    });
    expect([answer.status, answer.body["code"]]).toEqual([503, "QUERY_TIMEOUT"]);
    const statuses: number[] = [];
    let ended = false;
    const others = async () => {
      while (!ended) {
        statuses.push((await registry.ask("/evidencegraph/query/ark:99999/d1")).status);
        statuses.push((await registry.ask("/healthz")).status);
        statuses.push(await subjects(registry).then((count) => (count === "30" ? 200 : 500)));
      }
    };
    const asking = Promise.all([others(), others(), others()]);
    await until(() => serverOf(registry).pid !== pid, 30_000);
    expect(running(pid)).toBe(false);
    await pause(500);
    ended = true;
    await asking;
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(linesOf(registry, "a query that was given up")).toHaveLength(1);
    expect(linesOf(registry, "ended unexpectedly")).toEqual([]);
  }, 120_000);

  it("serves records while the graph server still reads its log, and evidence later", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-own-server-"));
    folders.push(folder);
    const slow = join(folder, "slow-oxigraph");
    await writeFile(slow, `#!/bin/sh\nsleep 12\nexec ${program} "$@"\n`, { mode: 0o755 });
    const registry = await start({ OXIGRAPH_PROGRAM: slow, INDEX_WAIT: "0s" });
    expect(linesOf(registry, "still reads its log")).toHaveLength(1);
    expect(linesOf(registry, "the graph server answers")).toEqual([]);
    await datasets(registry, ["a"]);
    expect((await registry.ask("/ark:99999/a")).status).toBe(200);
    await until(async () => (await subjects(registry)) === "1", 60_000);
    expect((await registry.ask("/evidencegraph/query/ark:99999/a")).status).toBe(200);
    expect(linesOf(registry, "ended unexpectedly")).toEqual([]);
    // Stopped before it answers, it leaves nothing.
    await registry.terminate();
    const next = await start({ OXIGRAPH_PROGRAM: slow }, registry.dataDir);
    expect((await next.terminate()).status).toBe(0);
  }, 120_000);

  it("does not start without the program, and names the setting", async () => {
    const { status, stderr } = await runToEnd({ ...ENGINE, OXIGRAPH_PROGRAM: "no-such-oxigraph" });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^arkgraph: GRAPH_ENGINE=oxigraph: .*no-such-oxigraph.*OXIGRAPH_PROGRAM.*\n$/,
    );
  });

  it("gives the reason in one line when the program cannot serve", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-own-server-"));
    folders.push(folder);
    await expect(
      OwnServer.start({ program: "/bin/false", folder, memory: 2 ** 30 }),
    ).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(/did not start: it ended with status 1\. /) as string,
    });
  });
});

describe("GRAPH_ENGINE=oxigraph beside SPARQL_QUERY_URL", () => {
  it("is refused before anything is opened", () => {
    expect(() =>
      endpointAddress(
        readConfig({
          ...ENGINE,
          OXIGRAPH_PROGRAM: "oxigraph",
          SPARQL_QUERY_URL: "http://x/query",
          SPARQL_UPDATE_URL: "http://x/update",
        }),
      ),
    ).toThrow(/GRAPH_ENGINE=oxigraph .*SPARQL_QUERY_URL/);
  });
});
