import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import {
  openOxigraphEngine,
  type OxigraphEngine,
  type OxigraphOptions,
} from "../../../src/storage/graph/oxigraph/index.js";
import { names, queryEngineConformance, ready } from "../../conformance/query-engine.js";
import { MemoryFeed } from "../../support/memory-feed.js";
import { quadsOf } from "../../support/quads.js";
import { select } from "../../support/select.js";

queryEngineConformance("Oxigraph", (feed) =>
  openOxigraphEngine({ openFeed: feed.open, pageSize: 2 }),
);

/** Every pair of pairs of pairs …: no engine finishes this. */
const ENDLESS = "SELECT (COUNT(*) AS ?c) { ?a ?b ?c1 . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }";

function records(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`ark:99999/r${i}`, quadsOf(`r${i}`)]),
  );
}

describe("the Oxigraph engine", () => {
  let engine: OxigraphEngine | undefined;
  const logged: string[] = [];
  const tell = (_fields: object, message: string): void => void logged.push(message);
  const open = async (
    feed: MemoryFeed,
    options: Partial<OxigraphOptions> = {},
  ): Promise<OxigraphEngine> =>
    (engine = await openOxigraphEngine({
      openFeed: feed.open,
      log: { info: tell, warn: tell, error: tell },
      ...options,
    }));
  afterEach(async () => {
    await engine?.close();
    logged.length = 0;
  });

  it("lets callers that wait for a commit wait for its first load", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(2));
    feed.delay = 20;
    const index = await open(feed);
    await index.reach(1, 10_000);
    expect(index.state()).toEqual({ state: "ready", sequence: 1 });
  });

  it("suggests GRAPH_ENGINE=oxigraph once, when it holds more records than is sensible", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(200));
    const suggestions = (): string[] =>
      logged.filter((line) => line.includes("set GRAPH_ENGINE=oxigraph"));
    const small = await open(feed);
    await small.reach(1, 10_000);
    expect(suggestions()).toEqual([]);
    await small.close();
    const index = await open(feed, { outgrown: 200 });
    await index.reach(1, 10_000);
    await index.reach(feed.commit({ "ark:99999/more": quadsOf("more") }), 10_000);
    expect(suggestions()).toHaveLength(1);
    expect(index.state().advice).toBe(suggestions()[0]);
  });

  it("reports its progress while it loads", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(40));
    feed.delay = 20;
    const index = await open(feed, { pageSize: 10 });
    await expect(select(index, "SELECT * {}")).rejects.toMatchObject({
      code: "INDEX_LOADING",
      status: 503,
    });
    await expect(index.reach(1, 1)).rejects.toMatchObject({ code: "INDEX_LOADING" });
    while ((index.state().done ?? 0) === 0) await pause(5);
    expect(index.state()).toMatchObject({ state: "loading", total: 40 });
    await expect(select(index, "SELECT * {}")).rejects.toMatchObject({ extra: { total: 40 } });
    // Who can wait is not sent away.
    await index.reach(1, 20_000);
    expect(await names(index)).toHaveLength(40);
  });

  it("loads commits that are made while it loads", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(30));
    feed.delay = 10;
    const index = await open(feed, { pageSize: 5 });
    await pause(60);
    feed.commit({ "ark:99999/r0": null, "ark:99999/r1": quadsOf("r1", { name: "rewritten" }) });
    index.advance(feed.commit({ "ark:99999/late": quadsOf("late") }));
    await ready(index);
    await index.reach(3, 1000);
    const found = await names(index);
    expect(found).toHaveLength(30);
    expect(found).toEqual(expect.arrayContaining(["late", "rewritten"]));
    expect(found).not.toContain("r0");
  });

  it("ends a query at its time limit, and recovers by itself", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(200));
    const index = (await ready(await open(feed))) as OxigraphEngine;
    const endless = select(index, ENDLESS, { timeout: 150 });
    const behind = select(index, "SELECT * { <ark:99999/r7> <https://schema.org/name> ?n }");
    await expect(endless).rejects.toMatchObject({ code: "QUERY_TIMEOUT", status: 503 });
    expect((await behind).rows).toHaveLength(1);
    expect(await names(index)).toHaveLength(200);
    expect(feed.opened).toBe(2);
  });

  it("does not count the run time of other queries against a query's own limit", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(200));
    const index = (await ready(await open(feed))) as OxigraphEngine;
    const slow = select(index, "SELECT (COUNT(*) AS ?c) { ?a ?b ?c1 . ?d ?e ?f }", {
      timeout: 20_000,
    });
    const quick = select(index, "SELECT * { <ark:99999/r7> ?p ?o }", { timeout: 100 });
    await slow;
    expect((await quick).rows.length).toBeGreaterThan(0);
    expect(feed.opened).toBe(1);
  });

  it("recovers when a query breaks the instance, and refuses that query", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(3));
    const index = (await ready(await open(feed))) as OxigraphEngine;
    const breaking = select(index, `SELECT * {${"{".repeat(5000)}${"}".repeat(5000)}}`);
    const behind = names(index);
    await expect(breaking).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", status: 503 });
    expect(await behind).toHaveLength(3);
    expect(logged.join()).toContain("ended unexpectedly");
  });

  it("recovers when its thread is lost while it loads", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(40));
    feed.delay = 15;
    const index = await open(feed, { pageSize: 5 });
    // The thread must be reading: a port that is cut on its way to a thread tells nobody.
    while ((index.state().done ?? 0) === 0) await pause(5);
    feed.cut();
    await ready(index);
    expect(await names(index)).toHaveLength(40);
    expect(feed.opened).toBe(2);
  });

  it("retries the record store when it answers with an error", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(3));
    feed.failures = 2;
    const index = (await ready(await open(feed))) as OxigraphEngine;
    expect(await names(index)).toHaveLength(3);
    expect(feed.opened).toBe(1);
    expect(logged.join()).toContain("retrying");
  });

  it("starts when the record store cannot be opened at first", async () => {
    const feed = new MemoryFeed();
    let refusals = 1;
    const index = await open(feed, {
      openFeed: () => {
        if (refusals-- > 0) throw new Error("no store yet");
        return feed.open();
      },
    });
    expect(await names(await ready(index))).toEqual([]);
  });

  it("loads the rest of a record when one line cannot be stored, and reports it", async () => {
    const feed = new MemoryFeed();
    feed.commit({
      "ark:99999/a": `${quadsOf("a")}<ark:99999/a> <https://schema.org/url> <not an iri> <ark:99999/a> .\n`,
      "ark:99999/b": quadsOf("b"),
    });
    const index = (await ready(await open(feed))) as OxigraphEngine;
    expect(await names(index)).toEqual(["a", "b"]);
    expect(logged.join()).toContain("left out");
  });

  it("hands over to a fresh thread after many rewrites, without a failed query", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(20));
    const index = (await ready(await open(feed, { rebuildAfter: 10 }))) as OxigraphEngine;
    let running = true;
    let asked = 0;
    const asking = (async () => {
      for (let last = 0; running; asked++) {
        const { rows, sequence } = await select(
          index,
          "SELECT ?n { ?r <https://schema.org/name> ?n }",
        );
        expect(rows).toHaveLength(20);
        expect(sequence).toBeGreaterThanOrEqual(last);
        last = sequence;
      }
    })();
    // A fresh thread takes its time to start where the machine is busy.
    let round = 0;
    for (; round < 40 || (feed.opened < 2 && round < 1000); round++) {
      await index.reach(
        feed.commit({ "ark:99999/r0": quadsOf("r0", { name: `round ${round}` }) }),
        5000,
      );
      await pause(15);
    }
    running = false;
    await asking;
    expect(feed.opened).toBeGreaterThan(1);
    expect(asked).toBeGreaterThan(40);
    expect(await names(index)).toContain(`round ${round - 1}`);
  });

  it("continues with the successor when the old thread is lost while that loads", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(40));
    const index = (await ready(
      await open(feed, { rebuildAfter: 1, pageSize: 5 }),
    )) as OxigraphEngine;
    feed.delay = 30;
    await index.reach(feed.commit({ "ark:99999/r0": quadsOf("r0", { name: "new" }) }), 5000);
    const endless = select(index, ENDLESS, { timeout: 50 });
    const behind = names(index);
    await expect(endless).rejects.toMatchObject({ code: "QUERY_TIMEOUT" });
    expect(await behind).toContain("new");
    expect(feed.opened).toBe(2);
  });

  it("ends an endless query also while a digest is computed", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(3000));
    const index = (await ready(await open(feed))) as OxigraphEngine;
    const digest = index.digest();
    await expect(select(index, ENDLESS, { timeout: 100 })).rejects.toMatchObject({
      code: "QUERY_TIMEOUT",
    });
    expect((await digest).quads).toBe(6000);
  });

  it("applies a large commit in one step", async () => {
    const feed = new MemoryFeed();
    const index = (await ready(await open(feed))) as OxigraphEngine;
    const long = "word ".repeat(1000);
    const sequence = feed.commit(
      Object.fromEntries(
        Array.from({ length: 2500 }, (_, i) => [
          `ark:99999/b${i}`,
          quadsOf(`b${i}`, { description: long }),
        ]),
      ),
    );
    await index.reach(sequence, 20_000);
    expect(
      (await select(index, "SELECT (COUNT(*) AS ?n) { ?r <https://schema.org/description> ?d }"))
        .rows[0]![0],
    ).toBe("2500");
  });

  it("answers CONSTRUCT and ASK as text", async () => {
    const feed = new MemoryFeed();
    feed.commit(records(1));
    const index = (await ready(await open(feed))) as OxigraphEngine;
    expect((await index.text("ASK { ?s ?p ?o }", "json")).text).toContain("true");
    expect(
      (await index.text("CONSTRUCT WHERE { ?s <https://schema.org/name> ?o }", "nt")).text,
    ).toBe('<ark:99999/r0> <https://schema.org/name> "r0" .\n');
  });
});
