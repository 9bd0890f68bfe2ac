import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { checkIndex } from "../../../src/services/check.js";
import {
  openOxigraphEngine,
  openRecordsDigester,
} from "../../../src/storage/graph/oxigraph/index.js";
import type { QueryEngine, RecordsDigester } from "../../../src/storage/graph/port.js";
import { anyLiteral } from "../../support/literals.js";
import { MemoryFeed } from "../../support/memory-feed.js";
import { ark, quadsOf } from "../../support/quads.js";

const record = fc.array(anyLiteral, { minLength: 1, maxLength: 6 });
const quads = (name: string, literals: string[]): string =>
  literals
    .map((value, i) => `<${ark(name)}> <https://schema.org/p${i}> ${value} <${ark(name)}> .\n`)
    .join("") + quadsOf(name);

describe("the check of the index against the records", () => {
  let engine: QueryEngine | undefined;
  afterEach(() => engine?.close());
  const check = async (feed: MemoryFeed, queries = engine!) =>
    checkIndex({ openDigester: () => openRecordsDigester(feed.open, 3), queries });
  const open = async (feed: MemoryFeed): Promise<QueryEngine> =>
    (engine = await openOxigraphEngine({ openFeed: feed.open, pageSize: 3 }));

  it("agrees whatever literals the records hold, and after rewrites and deletes", async () => {
    const feed = new MemoryFeed();
    await open(feed);
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 8 }), async (records) => {
        const graphs = Object.fromEntries(
          records.map((literals, i): [string, string | null] => [
            ark(`r${i}`),
            quads(`r${i}`, literals),
          ]),
        );
        graphs["ark:99999/r7"] = null;
        engine!.advance(feed.commit(graphs));
        const { agree, records: stored, index } = await check(feed);
        expect({ agree, ...stored }).toEqual({ agree: true, leftOut: 0, ...index });
        expect(index.quads).toBeGreaterThan(0);
      }),
      { numRuns: 25 },
    );
  });

  it("waits for an index that is loading", async () => {
    const feed = new MemoryFeed();
    feed.commit({ "ark:99999/a": quadsOf("a", { edges: { derivedFrom: ["b"] } }) });
    feed.delay = 30;
    await open(feed);
    expect(await check(feed)).toMatchObject({ agree: true, index: { quads: 5, sequence: 1 } });
  });

  it("reports that the index differs", async () => {
    const feed = new MemoryFeed();
    feed.commit({ "ark:99999/a": quadsOf("a") });
    const other = new MemoryFeed();
    other.commit({ "ark:99999/a": quadsOf("a", { name: "spoilt" }) });
    await open(other);
    expect(await check(feed)).toMatchObject({
      agree: false,
      records: { sequence: 1 },
      index: { sequence: 1 },
    });
  });

  it("counts what the index cannot hold instead of reporting it as a difference", async () => {
    const feed = new MemoryFeed();
    feed.commit({
      "ark:99999/a": `${quadsOf("a")}<ark:99999/a> <https://schema.org/url> <no iri> <ark:99999/a> .\n`,
    });
    await open(feed);
    expect(await check(feed)).toMatchObject({ agree: true, records: { leftOut: 1 } });
  });

  it("reports that the records cannot be read to the end", async () => {
    const feed = new MemoryFeed();
    feed.delay = 100;
    const digester = openRecordsDigester(feed.open);
    const digesting = digester.digest(0);
    while (feed.asked === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    feed.cut();
    await expect(digesting).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(digester.digest(0)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await digester.close();
  });

  it("compares at one commit while others write, and reports when it cannot", async () => {
    let commit = 0;
    const records: RecordsDigester = {
      digest: async (atLeast) => ({
        digest: `t${atLeast}`,
        quads: 1,
        sequence: atLeast,
        leftOut: 0,
      }),
      close: async () => {},
    };
    const moving = {
      state: () => ({ state: "ready", sequence: commit }),
      reach: async () => {},
      digest: async () => ({ digest: "i", quads: 1, sequence: ++commit }),
    } as unknown as QueryEngine;
    expect(await checkIndex({ openDigester: () => records, queries: moving })).toMatchObject({
      agree: null,
    });
  });
});
