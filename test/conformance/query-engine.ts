import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { QueryEngine } from "../../src/storage/graph/port.js";
import { MemoryFeed } from "../support/memory-feed.js";
import { quadsOf } from "../support/quads.js";
import { select } from "../support/select.js";

const NAMES = "SELECT ?r ?n { GRAPH ?r { ?r <https://schema.org/name> ?n } } ORDER BY ?n";

/** Waits until the engine has loaded. */
export async function ready(engine: QueryEngine): Promise<QueryEngine> {
  for (let tries = 0; engine.state().state !== "ready" && tries < 1000; tries++) await pause(10);
  expect(engine.state().state).toBe("ready");
  return engine;
}

export async function names(engine: QueryEngine): Promise<string[]> {
  return (await select(engine, NAMES)).rows.map((row) => row[1]!);
}

/** What every adapter of {@link QueryEngine} promises. @param open an engine on this feed */
export function queryEngineConformance(
  name: string,
  open: (feed: MemoryFeed) => Promise<QueryEngine>,
): void {
  describe(`${name} as a query engine`, () => {
    let engine: QueryEngine | undefined;
    afterEach(async () => {
      await engine?.close();
      engine = undefined;
    });
    async function opened(feed: MemoryFeed): Promise<QueryEngine> {
      engine = await open(feed);
      return ready(engine);
    }

    it("loads the content of the record store and reports its sequence", async () => {
      const feed = new MemoryFeed();
      feed.commit({ "ark:99999/a": quadsOf("a"), "ark:99999/b": quadsOf("b") });
      feed.commit({ "ark:99999/c": quadsOf("c") });
      const index = await opened(feed);
      expect(await names(index)).toEqual(["a", "b", "c"]);
      expect((await select(index, NAMES)).sequence).toBe(2);
    });

    it("answers from an empty record store", async () => {
      const index = await opened(new MemoryFeed());
      expect(await names(index)).toEqual([]);
      expect(index.state()).toMatchObject({ state: "ready", sequence: 0 });
    });

    it("shows a commit to a caller that waits for it", async () => {
      const feed = new MemoryFeed();
      const index = await opened(feed);
      const sequence = feed.commit({ "ark:99999/a": quadsOf("a") });
      index.advance(sequence);
      await index.reach(sequence, 2000);
      expect(await names(index)).toEqual(["a"]);
    });

    it("polls the record store when a caller waits for a commit that was not announced", async () => {
      const feed = new MemoryFeed();
      const index = await opened(feed);
      const sequence = feed.commit({ "ark:99999/a": quadsOf("a") });
      await index.reach(sequence, 2000);
      expect(await names(index)).toEqual(["a"]);
    });

    it("says INDEX_BEHIND when a commit does not arrive in time", async () => {
      const index = await opened(new MemoryFeed());
      await expect(index.reach(7, 60)).rejects.toMatchObject({ code: "INDEX_BEHIND", status: 503 });
    });

    it("replaces the whole graph of a rewritten record, the inferred one too", async () => {
      const feed = new MemoryFeed();
      feed.commit({
        "ark:99999/a": quadsOf("a", { name: "old", edges: { derivedFrom: ["b"] } }),
        "ark:99999/b": quadsOf("b"),
      });
      const index = await opened(feed);
      await index.reach(feed.commit({ "ark:99999/a": quadsOf("a", { name: "new" }) }), 2000);
      expect(await names(index)).toEqual(["b", "new"]);
      expect(
        (await select(index, "SELECT * { ?s <https://w3id.org/EVI#directlySupportedBy> ?o }")).rows,
      ).toEqual([]);
    });

    it("removes a deleted record, and adds it again when it is revived", async () => {
      const feed = new MemoryFeed();
      feed.commit({ "ark:99999/a": quadsOf("a"), "ark:99999/b": quadsOf("b") });
      const index = await opened(feed);
      await index.reach(feed.commit({ "ark:99999/a": null }), 2000);
      expect(await names(index)).toEqual(["b"]);
      await index.reach(feed.commit({ "ark:99999/a": quadsOf("a", { name: "again" }) }), 2000);
      expect(await names(index)).toEqual(["again", "b"]);
    });

    it("contains a statement of two records until both have dropped it", async () => {
      const feed = new MemoryFeed();
      feed.commit({
        "ark:99999/run": quadsOf("run", { edges: { generated: ["d"] } }),
        "ark:99999/d": quadsOf("d", { edges: { generatedBy: ["run"] } }),
      });
      const index = await opened(feed);
      const supports = async (): Promise<number> =>
        (
          await select(
            index,
            "SELECT DISTINCT * { <ark:99999/d> <https://w3id.org/EVI#directlySupportedBy> ?o }",
          )
        ).rows.length;
      expect(await supports()).toBe(1);
      await index.reach(feed.commit({ "ark:99999/run": quadsOf("run") }), 2000);
      expect(await supports()).toBe(1);
      await index.reach(feed.commit({ "ark:99999/d": quadsOf("d") }), 2000);
      expect(await supports()).toBe(0);
    });

    it("has one digest for one state, whatever its history", async () => {
      const feed = new MemoryFeed();
      feed.commit({ "ark:99999/a": quadsOf("a"), "ark:99999/b": quadsOf("b") });
      const index = await opened(feed);
      const first = await index.digest();
      await index.reach(feed.commit({ "ark:99999/a": quadsOf("a", { name: "other" }) }), 2000);
      expect((await index.digest()).digest).not.toBe(first.digest);
      await index.reach(feed.commit({ "ark:99999/a": quadsOf("a") }), 2000);
      expect(await index.digest()).toEqual({ ...first, sequence: 3 });
    });

    it("refuses a malformed query and goes on", async () => {
      const index = await opened(new MemoryFeed());
      await expect(select(index, "SELECT nothing {")).rejects.toMatchObject({ status: 400 });
      expect(await names(index)).toEqual([]);
    });

    it("refuses everything once it is closed", async () => {
      const index = await opened(new MemoryFeed());
      await index.close();
      await expect(select(index, NAMES)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
      expect(index.state().state).toBe("stopped");
    });
  });
}
