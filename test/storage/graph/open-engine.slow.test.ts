import { setTimeout as pause } from "node:timers/promises";
import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import {
  OpenEngine,
  type OpenOptions,
  OxigraphEngine,
} from "../../../src/storage/graph/oxigraph/index.js";
import type { Asker, OpenQuestion } from "../../../src/storage/graph/port.js";
import { MemoryFeed } from "../../support/memory-feed.js";
import { quadsOf } from "../../support/quads.js";
import { grammarQuery } from "../../support/sparql-grammar.js";

const ENDLESS =
  "SELECT (COUNT(*) AS ?c) { ?a ?b ?c1 . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r }";
const COUNT =
  "SELECT (COUNT(DISTINCT ?r) AS ?n) { GRAPH ?r { ?r <https://schema.org/name> ?name } }";
const records = (count: number, from = 0): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`ark:99999/r${from + i}`, quadsOf(`r${from + i}`)]),
  );

describe("the engine for anonymous callers", () => {
  let engine: OpenEngine | undefined;
  const open = (feed: MemoryFeed, options: Partial<OpenOptions> = {}): OpenEngine =>
    (engine = new OpenEngine({
      openFeed: feed.open,
      timeout: 20_000,
      maxRows: 1000,
      maxBytes: 2 ** 20,
      memory: 2 ** 29,
      threads: 1,
      idle: 60_000,
      queue: 4,
      queueWait: 20_000,
      slice: 60_000,
      indexWait: 1_500,
      ...options,
    }));
  afterEach(() => engine?.close());
  const ask = async (query: string, options: Partial<OpenQuestion> & Asker = {}) => {
    const { signal, caller, admit, ...question } = options;
    const { bytes, ...logged } = await engine!.ask(
      { query, format: "json", graph: false, base: "http://x/", sequence: 0, ...question },
      { ...(signal && { signal }), ...(caller && { caller }), ...(admit && { admit }) },
    );
    return { text: new TextDecoder().decode(bytes), ...logged };
  };
  const count = async (options: Partial<OpenQuestion> = {}) =>
    Number(
      (
        JSON.parse((await ask(COUNT, options)).text) as {
          results: { bindings: { n: { value: string } }[] };
        }
      ).results.bindings[0]!.n.value,
    );

  it("starts no process before the first query, and ends it when idle", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(3));
    open(feed, { idle: 50 });
    expect(engine!.state()).toEqual({ threads: 0, waiting: 0 });
    expect(await count()).toBe(3);
    expect(engine!.state().threads).toBe(1);
    while (engine!.state().threads > 0) await pause(10);
    expect(await count()).toBe(3);
    expect(feed.opened).toBe(2);
  });

  it("shows every commit that the request names, announced or not", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(1));
    open(feed);
    expect(await count()).toBe(1);
    expect(await count({ sequence: feed.commit(records(2, 1)) })).toBe(3);
    engine!.advance(feed.commit(records(1, 3)));
    expect(await count({ sequence: feed.sequence })).toBe(4);
    expect(await count({ sequence: feed.commit({ "ark:99999/r0": null }) })).toBe(3);
    await expect(ask(COUNT, { sequence: feed.sequence + 1 })).rejects.toMatchObject({
      code: "INDEX_BEHIND",
      status: 503,
    });
  }, 20_000);

  it("ends a query that runs too long, and delays others no further", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(30));
    open(feed, { timeout: 1_000 });
    expect(await count()).toBe(30);
    const guilty = ask(ENDLESS);
    const innocent = Promise.all([count(), count(), count()]);
    await expect(guilty).rejects.toMatchObject({
      code: "QUERY_TIMEOUT",
      status: 503,
      message: expect.stringContaining("SPARQL_TIMEOUT") as string,
    });
    expect(await innocent).toEqual([30, 30, 30]);
    await expect(ask(ENDLESS)).rejects.toMatchObject({ code: "QUERY_TIMEOUT" });
    // Its memory is free: nothing runs until somebody asks.
    expect(engine!.state()).toEqual({ threads: 0, waiting: 0 });
  }, 20_000);

  it("uses another process for other callers, within the limit", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(30));
    open(feed, { threads: 2 });
    void ask(ENDLESS).catch(() => {});
    await pause(50);
    expect(await count()).toBe(30);
    expect(engine!.state().threads).toBe(2);
  }, 20_000);

  it(
    "has a queue of bounded length, drops callers that disconnected, and refuses those " +
      "that waited too long",
    async () => {
      const feed = new MemoryFeed();
      feed.commit(records(30));
      open(feed, { queue: 2, queueWait: 3_000 });
      expect(await count()).toBe(30);
      void ask(ENDLESS).catch(() => {});
      const leaving = new AbortController();
      const left = ask(COUNT, { signal: leaving.signal }).catch((error: Error) => error.message);
      const late = ask(COUNT).catch((error: { code: string }) => error.code);
      await expect(ask(COUNT)).rejects.toMatchObject({
        code: "SPARQL_BUSY",
        message: expect.stringContaining("SPARQL_QUEUE") as string,
      });
      leaving.abort(new Error("gone"));
      expect(await left).toBe("gone");
      expect(engine!.state().waiting).toBe(1);
      expect(await late).toBe("SPARQL_BUSY");
    },
    20_000,
  );

  it("schedules callers fairly, and checks again before it runs their query", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(30));
    open(feed, { timeout: 1_000, queue: 10 });
    const served: string[] = [];
    let barred = false;
    const by = (caller: string, query = COUNT) =>
      ask(query, {
        caller,
        admit: () => {
          if (barred && caller === "mallory") throw new Error("barred");
        },
      }).then(
        () => served.push(caller),
        (error: Error & { code?: string }) =>
          served.push(`${caller} ${error.code ?? error.message}`),
      );
    const all = [
      by("mallory", ENDLESS),
      by("mallory"),
      by("mallory"),
      by("ada"),
      by("grace"),
      by("ada"),
    ];
    await all[0];
    await all[4];
    expect(served.slice(0, 3)).toEqual(["mallory QUERY_TIMEOUT", "ada", "grace"]);
    barred = true;
    await Promise.all(all);
    expect(served.filter((name) => name === "ada")).toHaveLength(2);
    expect(served).toContain("mallory barred");
  }, 20_000);

  it("reports a graph that does not fit into its memory", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(20));
    open(feed, { memory: 2 ** 26 });
    await expect(ask(COUNT)).rejects.toMatchObject({
      code: "SPARQL_NEEDS_ENDPOINT",
      status: 503,
      message: expect.stringContaining("SPARQL_MEMORY") as string,
    });
    const { opened } = feed;
    await expect(ask(COUNT)).rejects.toMatchObject({ code: "SPARQL_NEEDS_ENDPOINT" });
    expect(feed.opened).toBe(opened);
  }, 30_000);

  it("reports at once that the graph is known not to fit, and starts no process", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(2));
    let needs = 2 ** 29 + 1;
    open(feed, { needs: () => needs });
    await expect(ask(COUNT)).rejects.toMatchObject({
      code: "SPARQL_NEEDS_ENDPOINT",
      status: 503,
      headers: { "Retry-After": "300" },
    });
    expect(feed.opened).toBe(0);
    needs = 2 ** 29;
    expect(await count()).toBe(2);
    needs++;
    expect(await count()).toBe(2);
  });

  it("estimates the size of the graph from the service's own engine", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(20_000));
    const trusted = new OxigraphEngine({ openFeed: feed.open });
    try {
      open(feed, { memory: 2 ** 26, needs: () => trusted.held() });
      expect(trusted.held()).toBe(0);
      trusted.start();
      while (trusted.state().state !== "ready") await pause(10);
      expect(trusted.held()).toBeGreaterThan(2 ** 26);
      const { opened } = feed;
      await expect(ask(COUNT)).rejects.toMatchObject({ code: "SPARQL_NEEDS_ENDPOINT" });
      expect(feed.opened).toBe(opened);
    } finally {
      await trusted.close();
    }
  }, 60_000);

  it("ends a query that needs more memory than available, and recovers", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(300));
    open(feed, { memory: 220 * 2 ** 20 });
    expect(await count()).toBe(300);
    // Doubled and doubled again: a gibibyte out of a kilobyte.
    const doubled = Array.from(
      { length: 30 },
      (_, i) => `BIND(CONCAT(?v${i}, ?v${i}) AS ?v${i + 1})`,
    ).join(" ");
    await expect(
      ask(`SELECT (STRLEN(?v30) AS ?length) { BIND("x" AS ?v0) ${doubled} }`),
    ).rejects.toMatchObject({
      code: "QUERY_MEMORY",
      status: 503,
      message: expect.stringContaining("SPARQL_MEMORY") as string,
    });
    expect(await count()).toBe(300);
  }, 30_000);

  it("reports a failure of the engine as such, not as lack of memory, and recovers", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(3));
    open(feed);
    // Numbers and strings of digits: the engine's sort finds its own comparison to contradict
    // itself, and panics.
    const mixed = Array.from({ length: 60 }, (_, i) => (i * 37) % 60)
      .map((i) => (i < 30 ? String(i) : `"${i - 30}"`))
      .join(" ");
    await expect(ask(`SELECT ?v { VALUES ?v { ${mixed} } } ORDER BY ?v`)).rejects.toMatchObject({
      code: "QUERY_FAILED",
      status: 503,
      message: expect.not.stringContaining("SPARQL_MEMORY") as string,
    });
    expect(await count()).toBe(3);
  }, 30_000);

  it("handles everything at the limits of the guard", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(2));
    open(feed, { timeout: 2_000 });
    const many = (length: number, text: string, joint = " ") =>
      Array.from({ length }).fill(text).join(joint);
    const atTheLimit = [
      `SELECT * ${"{".repeat(40)}?s ?p ?o${"}".repeat(40)}`,
      `SELECT * {${"{ SELECT * {".repeat(19)} ?s ?p ?o ${"} }".repeat(19)}}`,
      `SELECT * { ?s ?p ?o ${"FILTER EXISTS { ?s ?p ?o ".repeat(38)}${"}".repeat(38)} }`,
      `SELECT * { ?s ?p ?o FILTER(${"IF(true, ".repeat(38)}true${", false)".repeat(38)}) }`,
      `SELECT * {${many(99, "{?s ?p ?o}", "UNION")}} LIMIT 10`,
      `SELECT * { ?s ?p ?o ${many(99, "OPTIONAL { ?s ?p ?o }")} } LIMIT 10`,
      `SELECT * { ?s ?p ?o ${many(99, "MINUS { ?s ?p ?o }")} } LIMIT 10`,
      `SELECT * { ?s ?p ?o FILTER(${many(500, "1", "+")} = 500) } LIMIT 10`,
      `SELECT * { ?s ${many(100, "<a:p>", "|")} ?o }`,
      `SELECT * { ?s (${many(99, "<a:p>", "|")})* ?o } LIMIT 10`,
      `SELECT ${Array.from({ length: 99 }, (_, i) => `(COUNT(?s) AS ?v${i})`).join(" ")} { ` +
        "?s ?p ?o }",
      `SELECT * { VALUES ?x { ${many(2000, "<a:b>")} } ?x ?p ?o }`,
      `SELECT * { ?s ?p ?o FILTER(?o IN (${many(2000, "1", ",")})) }`,
    ];
    for (const query of atTheLimit)
      expect(
        await ask(query).then(
          () => "answered",
          (error: { code: string }) => error.code,
        ),
        query.slice(0, 80),
      ).toMatch(/^(answered|QUERY_TIMEOUT)$/);
    expect(await count()).toBe(2);
  }, 60_000);

  it("parses what the guard accepts", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(2));
    open(feed, { timeout: 5_000 });
    const queries = fc
      .sample(grammarQuery(), { numRuns: 300, seed: 7 })
      .filter(({ service }) => !service)
      .map(({ text }) => text);
    const refused: string[] = [];
    for (const text of queries) {
      const graph = /CONSTRUCT|DESCRIBE/.test(text.split("WHERE")[0]!);
      await ask(text, { graph, format: graph ? "nt" : "json" }).catch(
        ({ code, message }: Error & { code: string }) =>
          refused.push(`${code} ${message}\n${text}`),
      );
    }
    expect(queries.length).toBeGreaterThan(50);
    expect(refused.filter((logged) => !logged.startsWith("QUERY_TIMEOUT"))).toEqual([]);
    expect(await count()).toBe(2);
  }, 60_000);

  it("returns graphs in four forms, cut where a form can state that", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(20));
    open(feed, { maxRows: 5 });
    const query =
      "CONSTRUCT { ?r <https://schema.org/name> ?n } { ?r <https://schema.org/name> ?n }";
    const lines = await ask(query, { format: "nt", graph: true });
    expect(lines.truncated).toBe("SPARQL_MAX_ROWS");
    expect(lines.text.trim().split("\n")).toHaveLength(5);
    expect((await ask(query, { format: "ttl", graph: true })).text).toMatch(
      /^@prefix schema: <https:\/\/schema.org\/>\.\n\n<ark:99999\/r\d+> schema:name "r\d+"/,
    );
    expect(JSON.parse((await ask(query, { format: "jsonld", graph: true })).text)).toHaveLength(5);
    expect((await ask(query, { format: "rdfxml", graph: true })).text).toContain("<rdf:RDF");
  });

  it("uses the requested dataset, and fetches none", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(3));
    open(feed);
    const names = async (query: string, dataset?: OpenQuestion["dataset"]) =>
      (await ask(query, { format: "csv", ...(dataset && { dataset }) })).text
        .trim()
        .split("\r\n")
        .slice(1)
        .sort();
    const union = "SELECT ?n { ?r <https://schema.org/name> ?n }";
    const byGraph = "SELECT ?n { GRAPH ?g { ?r <https://schema.org/name> ?n } }";
    expect(await names(union)).toEqual(["r0", "r1", "r2"]);
    expect(await names(union, { default: ["ark:99999/r1", "ark:99999/none"], named: [] })).toEqual([
      "r1",
    ]);
    expect(await names(byGraph, { default: ["ark:99999/r1"], named: [] })).toEqual([]);
    expect(await names(byGraph, { default: [], named: ["ark:99999/r0", "ark:99999/r2"] })).toEqual([
      "r0",
      "r2",
    ]);
    expect(await names(union, { default: [], named: ["ark:99999/r0"] })).toEqual([]);
    await expect(
      ask(union, { dataset: { default: ["http://localhost:1/x"], named: [] } }),
    ).rejects.toMatchObject({ code: "QUERY_REFUSED", status: 400 });
  });

  it("refuses queries that only the engine finds invalid", async () => {
    open(new MemoryFeed());
    await expect(ask("SELECT ?x (COUNT(*) AS ?n) { ?x ?y ?z } GROUP BY ?y")).rejects.toMatchObject({
      status: 400,
    });
    await expect(ask("SELECT * { LATERAL }")).rejects.toMatchObject({
      code: "QUERY_SYNTAX",
      extra: { line: 1 },
    });
  });

  it("closes with queries running", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(30));
    open(feed);
    expect(await count()).toBe(30);
    const asked = [ask(ENDLESS), ask(COUNT)].map((answer) =>
      answer.catch((error: { code: string }) => error.code),
    );
    await pause(50);
    await engine!.close();
    expect(await Promise.all(asked)).toEqual(["SHUTTING_DOWN", "SHUTTING_DOWN"]);
    await expect(ask(COUNT)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  });
});
