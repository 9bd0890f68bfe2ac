import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  OpenEngine,
  type OpenOptions,
  type SnapshotPlace,
} from "../../../src/storage/graph/oxigraph/index.js";
import { assertSpace } from "../../../src/storage/graph/oxigraph/open/snapshot.js";
import type { OpenQuestion } from "../../../src/storage/graph/port.js";
import { MemoryFeed } from "../../support/memory-feed.js";
import { quadsOf } from "../../support/quads.js";

const NAME = "https://schema.org/name";
const records = (count: number, from = 0): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `ark:99999/r${from + index}`,
      quadsOf(`r${from + index}`, {
        name: `Größe ${from + index} ☃ 🧬`,
        ...(index > 0 && { edges: { derivedFrom: [`r${from + index - 1}`] } }),
      }),
    ]),
  );
const COUNT = `SELECT (COUNT(DISTINCT ?r) AS ?n) { GRAPH ?r { ?r <${NAME}> ?name } }`;
/** Of each form, with joins, a path, an order and an aggregate. */
const QUERIES: readonly [query: string, format: OpenQuestion["format"]][] = [
  [`SELECT ?r ?name { ?r <${NAME}> ?name } ORDER BY ?name ?r`, "json"],
  [`SELECT ?a ?b { ?a ?p ?b . ?b a ?t ; <${NAME}> ?n FILTER (CONTAINS(?n, "7")) }`, "csv"],
  ["SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY ?p", "xml"],
  ["SELECT (COUNT(*) AS ?n) { <ark:99999/r9> (<x:none>|!<x:none>)* ?o }", "json"],
  [`CONSTRUCT { ?s <x:name> ?o } WHERE { ?s <${NAME}> ?o }`, "nt"],
  ["DESCRIBE <ark:99999/r3>", "jsonld"],
  ["ASK { ?s ?p <ark:99999/r5> }", "json"],
];

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "arkgraph-open-snapshot-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));
let files = 0;

describe("a snapshot of the engine for anonymous callers", () => {
  const engines: OpenEngine[] = [];
  const warnings: string[] = [];
  afterEach(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.close()));
    warnings.length = 0;
  });
  const open = (feed: MemoryFeed, options: Partial<OpenOptions> = {}): OpenEngine => {
    const engine = new OpenEngine({
      openFeed: feed.open,
      timeout: 20_000,
      maxRows: 100_000,
      maxBytes: 2 ** 24,
      memory: 2 ** 29,
      threads: 1,
      idle: 60_000,
      queue: 4,
      callerQueue: 4,
      queueWait: 20_000,
      slice: 60_000,
      indexWait: 5_000,
      log: { info() {}, warn: (_, message) => warnings.push(message), error() {} },
      ...options,
    });
    engines.push(engine);
    return engine;
  };
  /** A place, and the token that the record store has of it. */
  const place = (): SnapshotPlace & { wait(): Promise<void> } => {
    const made: SnapshotPlace & { wait(): Promise<void> } = {
      file: join(folder, `${++files}.snapshot`),
      token: undefined,
      remember: async (token) => void (made.token = token),
      least: 10,
      rest: 10,
      async wait() {
        const before = made.token;
        while (made.token === before) await pause(5);
      },
    };
    return made;
  };
  const ask = async (
    engine: OpenEngine,
    query: string,
    options: Partial<OpenQuestion> = {},
  ): Promise<string> => {
    const { bytes } = await engine.ask({
      query,
      format: "json",
      graph: false,
      base: "http://x/",
      sequence: 0,
      ...options,
    });
    return new TextDecoder().decode(bytes);
  };
  const value = async (engine: OpenEngine, query: string, options?: Partial<OpenQuestion>) =>
    (
      JSON.parse(await ask(engine, query, options)) as {
        results: { bindings: { n: { value: string } }[] };
      }
    ).results.bindings[0]!.n.value;
  const answers = async (engine: OpenEngine, sequence: number): Promise<string[]> => {
    const found: string[] = [];
    for (const [query, format] of QUERIES) {
      const graph = /^[CD]/.test(query);
      const text = await ask(engine, query, { format, graph, sequence });
      found.push(
        /ORDER|ASK/.test(query)
          ? text
          : text
              .split(/(?<=[\n,{}])/)
              .sort()
              .join(""),
      );
    }
    return found;
  };
  /** A place with a snapshot of these records. */
  const saved = async (
    feed: MemoryFeed,
    options: Partial<OpenOptions> = {},
  ): Promise<ReturnType<typeof place>> => {
    const snapshot = place();
    const engine = open(feed, { snapshot, ...options });
    await ask(engine, COUNT);
    await snapshot.wait();
    await engine.close();
    return snapshot;
  };

  it("holds what the thread held, and later changes apply to it", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(300));
    const snapshot = await saved(feed);
    expect((await stat(snapshot.file)).mode & 0o777).toBe(0o600);
    feed.commit({ "ark:99999/r4": quadsOf("r4", { name: "Renamed" }), "ark:99999/r8": null });
    const sequence = feed.commit(records(700, 300));

    const asked = feed.asked;
    const engine = open(feed, { snapshot });
    const found = await answers(engine, sequence);
    // The changes since, and nothing else.
    expect(feed.asked - asked).toBeLessThanOrEqual(2);
    expect(found).toEqual(await answers(open(feed), sequence));
    expect(await value(engine, COUNT)).toBe("999");

    const later = feed.commit({
      "ark:99999/r8": quadsOf("r8", { name: "Again" }),
      ...records(3_000, 1_000),
      "ark:99999/r9": null,
    });
    expect(await answers(engine, later)).toEqual(await answers(open(feed), later));
    expect(warnings).toEqual([]);
  });

  it("does not repeat random values", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(20));
    const snapshot = await saved(feed);
    const random = async (): Promise<string[]> => {
      const engine = open(feed, { snapshot: { ...snapshot, rest: 60_000 } });
      return Promise.all(
        ["STRUUID()", "STR(RAND())", "STR(UUID())"].map((call) =>
          value(engine, `SELECT (${call} AS ?n) {}`),
        ),
      );
    };
    const [first, second] = [await random(), await random()];
    for (const [index, text] of first.entries()) expect(text).not.toBe(second[index]);
  });

  it.each([
    ["its first line", (_: number) => 30],
    ["the engine's memory", (size: number) => Math.floor(size / 2)],
    ["the identifiers", (size: number) => size - 10],
    ["its checksum", (size: number) => size - 1],
  ])("is not used where one byte is wrong: in %s", async (_, at) => {
    const feed = new MemoryFeed();
    feed.commit(records(50));
    const snapshot = await saved(feed);
    const bytes = await readFile(snapshot.file);
    bytes[at(bytes.length)]! ^= 1;
    await writeFile(snapshot.file, bytes);
    const engine = open(feed, { snapshot });
    expect(await value(engine, COUNT)).toBe("50");
    await snapshot.wait();
    expect(await value(open(feed, { snapshot }), COUNT)).toBe("50");
  });

  it("is not used where it was cut, is none, or is that of another store", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(50));
    const snapshot = await saved(feed);
    const { size } = await stat(snapshot.file);
    const other = new MemoryFeed();
    other.commit(records(7));
    expect(await value(open(other, { snapshot: { ...snapshot, token: "other" } }), COUNT)).toBe(
      "7",
    );
    const head = (await readFile(snapshot.file)).subarray(0, 64 * 1024).toString();
    await truncate(snapshot.file, size - 1000);
    expect(await value(open(feed, { snapshot: { ...snapshot, rest: 60_000 } }), COUNT)).toBe("50");
    expect(warnings).toEqual(["all records are read for /sparql instead"]);
    // A size that nothing was made of yet.
    await writeFile(snapshot.file, head.replace(/"arks":\d+/, '"arks":90000000000000'));
    expect(await value(open(feed, { snapshot: { ...snapshot, rest: 60_000 } }), COUNT)).toBe("50");
    await truncate(snapshot.file, 10);
    const unusable = join(folder, "x".repeat(300));
    expect(await value(open(feed, { snapshot: { ...snapshot, rest: 60_000 } }), COUNT)).toBe("50");
    expect(
      await value(open(feed, { snapshot: { ...snapshot, file: unusable, rest: 60_000 } }), COUNT),
    ).toBe("50");
    expect(warnings.at(-1)).toBe("the snapshot of the graph for /sparql cannot be read");
  });

  it("is not used where it needs more memory than a thread may have", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(20_000));
    const snapshot = await saved(feed);
    const { memory } = JSON.parse(
      (await readFile(snapshot.file)).toString("utf8", 0, 64 * 1024),
    ) as { memory: number };
    // The same registry, smaller by now: with all records a thread would need more.
    feed.commit(Object.fromEntries(Object.keys(records(19_990)).map((ark) => [ark, null])));
    const asked = feed.asked;
    const engine = open(feed, { snapshot, memory: memory - 2 ** 16, pageSize: 1 });
    expect(await value(engine, COUNT)).toBe("10");
    expect(feed.asked - asked).toBeGreaterThan(10);
  });

  it("is left for a query, and written when nobody asks again", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(20_000));
    const snapshot = place();
    const engine = open(feed, { snapshot });
    expect(await value(engine, COUNT)).toBe("20000");
    // Where the machine is busy the snapshot may be complete before the query comes.
    let count = 20_000;
    for (let tries = 0; tries < 5; tries++) {
      while (!existsSync(`${snapshot.file}.new`)) await pause(1);
      const { token } = snapshot;
      const sequence = feed.commit(records(3_000, count));
      count += 3_000;
      expect(await value(engine, COUNT, { sequence })).toBe(`${count}`);
      if (snapshot.token === token) break;
      expect(tries).toBeLessThan(4);
    }
    await snapshot.wait();
    expect(existsSync(`${snapshot.file}.new`)).toBe(false);
    await engine.close();
    const asked = feed.asked;
    expect(await value(open(feed, { snapshot }), COUNT)).toBe(`${count}`);
    expect(feed.asked - asked).toBe(1);
  });

  it("waits before it is tried again where it could not be written", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(20));
    const snapshot = { ...place(), file: join(folder, "missing", "x.snapshot"), pause: 60_000 };
    const engine = open(feed, { snapshot });
    await ask(engine, COUNT);
    while (warnings.length === 0) await pause(5);
    engine.advance(feed.commit(records(20, 20)));
    expect(await value(engine, COUNT, { sequence: 2 })).toBe("40");
    await pause(100);
    expect(warnings).toEqual(["a snapshot of the graph for /sparql could not be written"]);
  });

  it("is not written where the disk would have less space left than it takes", () => {
    expect(() => assertSpace(folder, 2 ** 60)).toThrow(
      /^it takes 1099511627776 MiB, and the disk has \d+ MiB, less than twice as much$/,
    );
    expect(() => assertSpace(folder, 1)).not.toThrow();
  });

  it("is not read by the thread that replaces a worn one", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(100));
    const snapshot = place();
    const engine = open(feed, { snapshot, rebuildAfter: 50 });
    await ask(engine, COUNT);
    await snapshot.wait();
    for (let round = 0; round < 2; round++)
      expect(await value(engine, COUNT, { sequence: feed.commit(records(30)) })).toBe("100");
    const [asked, opened] = [feed.asked, feed.opened];
    expect(await value(engine, COUNT, { sequence: feed.sequence })).toBe("100");
    expect(feed.opened).toBe(opened + 1);
    expect(feed.asked).toBeGreaterThan(asked);
    await snapshot.wait();
  });

  it("does not keep a thread for which nobody asks, whatever is committed", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(3));
    const engine = open(feed, { idle: 300 });
    await ask(engine, COUNT);
    for (let commits = 0; engine.state().threads > 0; commits++) {
      expect(commits).toBeLessThan(250);
      engine.advance(feed.commit(records(1, 3)));
      await pause(20);
    }
  });
});
