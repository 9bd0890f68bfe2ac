import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkIndex } from "../../../../src/services/check.js";
import {
  type EndpointEngine,
  type EndpointOptions,
  openEndpointEngine,
} from "../../../../src/storage/graph/endpoint/index.js";
import { openRecordsDigester } from "../../../../src/storage/graph/oxigraph/index.js";
import { names, ready } from "../../../conformance/query-engine.js";
import { MemoryFeed } from "../../../support/memory-feed.js";
import { MemoryLeases } from "../../../support/memory-leases.js";
import { Proxy } from "../../../support/proxy.js";
import { quadsOf } from "../../../support/quads.js";
import { sparqlServer } from "../../../support/servers/installed.js";
import type { Make } from "../../../support/servers/sparql-server.js";
import { select } from "../../../support/select.js";

const records = (count: number, name = (i: number) => `r${i}`): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `ark:99999/r${i}`,
      quadsOf(`r${i}`, { name: name(i), edges: { derivedFrom: ["r0"] } }),
    ]),
  );

/**
 * What goes wrong with an endpoint of some make, and comes right again.
 * @param all false: only what another make may do in another way
 */
export function endpointFaults(make: Make, { all }: { all: boolean }): void {
  const server = sparqlServer(make);
  describe.skipIf(!server.installed)(`a SPARQL endpoint (${make.name}) and its projection`, () => {
    let proxy: Proxy;
    let feed: MemoryFeed;
    let logged: string[];
    const opened: EndpointEngine[] = [];
    beforeEach(async () => {
      await server.start().then(() => server.clear());
      proxy = await Proxy.to(() => server.origin);
      feed = new MemoryFeed();
      logged = [];
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((engine) => engine.close()));
      await proxy.close();
    });
    const open = async (options: Partial<EndpointOptions> = {}): Promise<EndpointEngine> => {
      const tell = (fields: object, message: string): void =>
        void logged.push(`${message} ${JSON.stringify(fields)}`);
      const engine = await openEndpointEngine({
        openFeed: feed.open,
        leases: new MemoryLeases(),
        source: async () => "truth",
        queryUrl: proxy.origin + make.query,
        updateUrl: proxy.origin + make.update,
        pageSize: 50,
        poll: 50,
        batch: 16_384,
        lease: 2_000,
        timeout: 5_000,
        queryTimeout: 5_000,
        log: { info: tell, warn: tell, error: tell },
        ...options,
      });
      opened.push(engine);
      return engine;
    };
    const agrees = async (engine: EndpointEngine): Promise<void> => {
      await engine.reach(feed.sequence, 20_000);
      expect(
        await checkIndex({ openDigester: () => openRecordsDigester(feed.open), queries: engine }),
        logged.join("\n"),
      ).toMatchObject({ agree: true });
    };
    const until = async (what: () => boolean): Promise<void> => {
      for (const end = Date.now() + 15_000; !what(); await pause(5))
        if (Date.now() > end) throw new Error(`waited in vain: ${logged.join("\n")}`);
    };
    const also = (name: string, test: () => Promise<void>): void => void (all && it(name, test));
    let updates = 0;
    const countUpdates = (then: (count: number) => void | Promise<void> = () => {}): void => {
      updates = 0;
      proxy.before = (url) => (url.startsWith(make.update) ? then(++updates) : undefined);
    };

    it.each(["its data", "none of its data"])(
      "that is killed while it is filled, and restarts with %s, ends equal to the record store",
      async (what) => {
        feed.commit(records(400));
        countUpdates();
        const engine = await open();
        await until(() => updates >= 6);
        await server.kill();
        expect(engine.state().state).toBe("loading");
        // What it saw a moment before counts for a second.
        await expect
          .poll(() => engine.health().catch(({ code }: { code: string }) => code), {
            timeout: 10_000,
          })
          .toBe("STORE_UNAVAILABLE");
        if (what !== "its data") await server.lose();
        feed.commit({ "ark:99999/r1": null, "ark:99999/r2": quadsOf("r2", { name: "later" }) });
        await server.start();
        await ready(engine);
        await agrees(engine);
        expect(await names(engine)).toHaveLength(399);
      },
    );

    it(
      "that is killed during a large commit shows the old or the new state, and ends equal " +
        "to the record store",
      async () => {
        feed.commit(records(150));
        const engine = (await ready(await open())) as EndpointEngine;
        let killed: Promise<void> | undefined;
        countUpdates((count) => (count === 5 ? (killed = server.kill()) : undefined));
        const sequence = feed.commit(records(150, (i) => `new ${i}`));
        engine.advance(sequence);
        await until(() => killed !== undefined);
        await killed;
        await server.start();
        const seen = new Set<number>();
        for (let reached = false; !reached; await pause(10)) {
          try {
            const { rows, sequence: asOf } = await select(
              engine,
              "SELECT ?n { ?r <https://schema.org/name> ?n }",
            );
            seen.add(asOf);
            reached = asOf === sequence;
            if (reached) expect(rows.every(([name]) => name!.startsWith("new"))).toBe(true);
          } catch (error) {
            expect((error as { status: number }).status, String(error)).toBe(503);
          }
        }
        await agrees(engine);
      },
    );

    it("recovers when answers are lost after updates", async () => {
      feed.commit(records(60));
      let dropped = 0;
      proxy.dropsAnswer = (url) => url.startsWith(make.update) && dropped++ % 2 === 0;
      const engine = await ready(await open());
      for (let round = 0; round < 4; round++)
        await engine.reach(
          feed.commit({
            "ark:99999/r0": quadsOf("r0", { name: `round ${round}` }),
            [`ark:99999/r${round + 1}`]: null,
          }),
          10_000,
        );
      expect(dropped).toBeGreaterThan(5);
      await agrees(engine as EndpointEngine);
    });

    it("is not changed by a projector that was paused beyond its lease, with a pending update", async () => {
      feed.commit(records(20));
      const leases = new MemoryLeases();
      let paused = false;
      const pausable = {
        lease: (...args: Parameters<MemoryLeases["lease"]>) =>
          paused ? new Promise<never>(() => {}) : leases.lease(...args),
        releaseLease: async () => {},
      };
      const first = (await ready(await open({ leases: pausable, lease: 600 }))) as EndpointEngine;
      let release = (): void => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      countUpdates((count) => (count === 1 ? held : undefined));
      paused = true;
      first.advance(
        feed.commit({
          "ark:99999/r1": quadsOf("r1", { name: "of the first" }),
          "ark:99999/r2": null,
        }),
      );
      await until(() => updates === 1);
      const second = (await ready(await open({ leases }))) as EndpointEngine;
      await second.reach(
        feed.commit({
          "ark:99999/r1": quadsOf("r1", { name: "of the second" }),
          "ark:99999/r2": quadsOf("r2", { name: "revived" }),
        }),
        10_000,
      );
      const before = await second.digest();
      release();
      await pause(300);
      expect(await second.digest()).toEqual(before);
      expect(await names(second)).toEqual(expect.arrayContaining(["of the second", "revived"]));
      await agrees(second);
      // The first goes on reading what the second writes.
      expect(
        (await select(first, "SELECT ?n { <ark:99999/r1> <https://schema.org/name> ?n }"))
          .rows[0]![0],
      ).toBe("of the second");
      await first.reach(feed.commit({ "ark:99999/r3": null }), 10_000);
      await agrees(first);
    });

    also(
      "is taken over by another node when one ends, and has one projector at a time",
      async () => {
        feed.commit(records(20));
        const leases = new MemoryLeases();
        const [first, second] = await Promise.all([open({ leases }), open({ leases })]);
        await Promise.all([ready(first), ready(second)]);
        await first.close();
        await second.reach(feed.commit({ "ark:99999/r1": null }), 10_000);
        await agrees(second);
      },
    );

    also("that is restored from a backup is brought up to date", async () => {
      feed.commit(records(20));
      const engine = (await ready(await open())) as EndpointEngine;
      await server.kill();
      const backup = await server.backup();
      await server.start();
      await engine.reach(
        feed.commit({ "ark:99999/r1": null, "ark:99999/r2": quadsOf("r2", { name: "new" }) }),
        10_000,
      );
      await server.kill();
      await server.restore(backup);
      await server.start();
      await engine.reach(feed.commit({ "ark:99999/r3": null }), 10_000);
      await agrees(engine);
      expect(await names(engine)).not.toContain("r1");
    });

    also("ahead of a truth that was restored from a backup is filled again", async () => {
      feed.commit(records(20));
      feed.commit({ "ark:99999/r1": null });
      const engine = await ready(await open());
      await engine.close();
      feed = new MemoryFeed();
      feed.commit(records(20));
      const again = (await ready(await open())) as EndpointEngine;
      // It may be ready at its old position for a moment, before the feed's is read.
      await until(() => again.state().sequence === 1 && again.state().state === "ready");
      await agrees(again);
      expect(await names(again)).toContain("r1");
    });

    also(
      "with graphs of others, or of another registry, is left alone until it is to be rebuilt",
      async () => {
        await server.update(
          "INSERT DATA { GRAPH <http://others/g> { <http://others/s> <http://others/p> 1 } }",
        );
        feed.commit(records(3));
        const engine = await open();
        await until(() => logged.join().includes("this registry did not write"));
        await expect(engine.health()).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
          message: expect.stringContaining("rebuild-index") as string,
        });
        await engine.rebuild();
        await ready(engine);
        await agrees(engine);
        await engine.close();
        const other = await open({ source: async () => "another-truth" });
        await until(() => logged.join().includes("another registry"));
        await expect(select(other, "SELECT * {}")).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
        });
        expect(
          (await server.query("SELECT * { GRAPH <ark:99999/r1> { ?s ?p ?o } }")).results.bindings,
        ).not.toEqual([]);
      },
    );

    also("that two nodes wrote to at one moment is filled again", async () => {
      feed.commit(records(20));
      const engine = (await ready(await open())) as EndpointEngine;
      await server.update(
        "INSERT DATA { GRAPH <urn:arkgraph:projection> { <urn:arkgraph:projection> " +
          "<urn:arkgraph:projection:at> <urn:arkgraph:projection:is:truth:1:done:1:0:0x> } " +
          "GRAPH <ark:99999/r1> { <ark:a> <ark:b> 1 } }",
      );
      await until(() => logged.join().includes("at the same time"));
      const foreign = "SELECT * { GRAPH <ark:99999/r1> { <ark:a> ?p ?o } }";
      await expect
        .poll(async () => (await server.query(foreign)).results.bindings, { timeout: 15_000 })
        .toEqual([]);
      await ready(engine);
      await agrees(engine);
    });

    it(
      "stores the valid part of a record that it cannot hold, and a commit larger than an " +
        "update",
      async () => {
        const long = "w\u00f6rd ".repeat(20_000);
        feed.commit({
          "ark:99999/a":
            `${quadsOf("a", { description: long })}<ark:99999/a> <https://schema.org/url> <no ` +
            `iri> <ark:99999/a> .\n`,
          "ark:99999/b": quadsOf("b"),
        });
        const engine = (await ready(await open({ batch: 4_096 }))) as EndpointEngine;
        await agrees(engine);
        await engine.reach(
          feed.commit({
            "ark:99999/a": quadsOf("a", {
              description: `${long} more`,
              hasPart: Array.from({ length: 500 }, (_, i) => `part-${i}`),
            }),
          }),
          10_000,
        );
        await agrees(engine);
        expect(logged.join()).toContain("left out");
      },
    );

    also("that is slow is given up by whoever asked, with the connection", async () => {
      feed.commit(records(3));
      const engine = (await ready(await open())) as EndpointEngine;
      let slow = true;
      proxy.before = (url) => (slow && url.startsWith(make.query) ? pause(3_000) : undefined);
      await expect(select(engine, "SELECT * { ?s ?p ?o }", { timeout: 200 })).rejects.toMatchObject(
        {
          code: "QUERY_TIMEOUT",
          status: 503,
          message: expect.stringContaining("QUERY_TIMEOUT") as string,
        },
      );
      await until(() => proxy.left > 0);
      slow = false;
      await pause(100);
      expect(await names(engine)).toHaveLength(3);
    });
  });
}
