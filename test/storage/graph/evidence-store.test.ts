import { afterEach, describe, expect, it } from "vitest";
import { expandCurie } from "../../../src/model/field.js";
import { EvidenceStore } from "../../../src/storage/graph/evidence/store.js";
import { EvidenceEngine } from "../../../src/storage/graph/oxigraph/index.js";
import { textIn, tsvRows } from "../../../src/storage/graph/port.js";
import { MemoryFeed } from "../../support/memory-feed.js";
import { ark, quadsOf, type Sketch } from "../../support/quads.js";

const graphs = (sketches: Record<string, Sketch | null>) =>
  Object.entries(sketches).map(([name, sketch]) => ({
    ark: ark(name),
    nquads: sketch && quadsOf(name, sketch),
  }));
const selves = (store: EvidenceStore, ...names: string[]): string[][] => [
  ...tsvRows(store.answer({ ask: "selves", of: { nodes: names.map(ark) } })),
];
const nodes = (store: EvidenceStore, name: string, way: "upstream" | "downstream"): string[] =>
  [...tsvRows(store.answer({ ask: "nodes", of: { from: ark(name), way } }))]
    .map(([cell]) => textIn(cell)!.replace("ark:99999/", ""))
    .sort();

describe("the store of evidence", () => {
  it("follows relations both ways, and forgets those of a removed record", () => {
    const store = new EvidenceStore();
    store.apply(
      graphs({ a: { edges: { derivedFrom: ["b"] } }, b: { edges: { derivedFrom: ["c"] } }, c: {} }),
    );
    expect(nodes(store, "a", "upstream")).toEqual(["a", "b", "c"]);
    expect(nodes(store, "c", "downstream")).toEqual(["a", "b", "c"]);
    expect(store.answer({ ask: "properties" })).toContain("#derivedFrom>");
    store.apply(graphs({ b: null }));
    expect(nodes(store, "a", "upstream")).toEqual(["a", "b"]);
    store.apply(graphs({ a: {} }));
    expect(nodes(store, "a", "upstream")).toEqual(["a"]);
    expect(store.answer({ ask: "properties" })).toBe("?p\n");
    expect(store.rewrites).toBe(2);
  });

  it("counts the statements of the records, also those that it does not hold", () => {
    const store = new EvidenceStore();
    const other = `<ark:99999/a> <https://schema.org/license> "x" <ark:99999/a> .\n`;
    store.apply([{ ark: ark("a"), nquads: quadsOf("a") + other }]);
    expect(store.statements).toBe(3);
    store.apply(graphs({ a: { description: "d", names: ["n"] } }));
    expect(store.statements).toBe(4);
    store.apply(graphs({ a: null }));
    expect(store.statements).toBe(0);
  });

  it("holds one character more of a description than evidence shows, and never half of one", () => {
    const store = new EvidenceStore();
    for (const character of ["x", "𝛼", '"', "\\", "\n", "\t", "é"]) {
      for (const length of [300, 301, 302, 1000]) {
        store.apply(graphs({ a: { description: character.repeat(length) } }));
        const [cell] = selves(store, "a").flatMap((row) => (row[3] ? [row[3]] : []));
        expect([...textIn(cell)!].length, `${length} of ${character}`).toBe(Math.min(length, 301));
        expect(new Set(textIn(cell))).toEqual(new Set(character));
      }
    }
  });

  it("leaves out lines that cannot be stored, reports them, and keeps the rest", () => {
    const refused: unknown[] = [];
    const store = new EvidenceStore((...what) => refused.push(what));
    const bad = `<ark:99999/a> <${expandCurie("schema:hasPart")}> <no iri> <ark:99999/a> .\n`;
    store.apply([{ ark: ark("a"), nquads: quadsOf("a") + bad }]);
    expect(refused).toEqual([[ark("a"), 1]]);
    expect(selves(store, "a").length).toBe(2);
  });

  it("describes no node by what another record says of it", () => {
    const store = new EvidenceStore();
    const forged = `<ark:99999/a> <${expandCurie("schema:name")}> "forged" <ark:99999/b> .\n`;
    store.apply([...graphs({ a: {} }), { ark: ark("b"), nquads: quadsOf("b") + forged }]);
    expect(JSON.stringify(selves(store, "a"))).not.toContain("forged");
    expect(store.answer({ ask: "described", of: [[ark("a"), ark("b")]] })).toContain("forged");
  });
});

describe("the engine of evidence", () => {
  let engine: EvidenceEngine | undefined;
  afterEach(() => engine?.close());
  const open = (feed: MemoryFeed, pageSize = 2): EvidenceEngine => {
    engine = new EvidenceEngine({ openFeed: feed.open, pageSize, indexWait: 5_000 });
    engine.start();
    return engine;
  };
  const self = (index: EvidenceEngine, name: string) =>
    index.evidence({ ask: "selves", of: { nodes: [ark(name)] } });

  it("loads, follows commits, and says which one it answers as of", async () => {
    const feed = new MemoryFeed();
    feed.commit({ [ark("a")]: quadsOf("a"), [ark("b")]: quadsOf("b"), [ark("c")]: quadsOf("c") });
    const index = open(feed);
    await expect(self(index, "a")).rejects.toMatchObject({ code: "INDEX_LOADING" });
    await index.reach(1, 10_000);
    expect(await self(index, "c")).toMatchObject({ sequence: 1 });
    await index.reach(feed.commit({ [ark("a")]: quadsOf("a", { name: "new" }) }), 10_000);
    const { tsv, sequence } = await self(index, "a");
    expect({ tsv, sequence }).toEqual({ tsv: expect.stringContaining('"new"'), sequence: 2 });
    await index.health();
  });

  it("says INDEX_BEHIND for a commit that does not come, and SHUTTING_DOWN once closed", async () => {
    const index = open(new MemoryFeed());
    await index.reach(0, 10_000);
    await expect(index.reach(7, 60)).rejects.toMatchObject({ code: "INDEX_BEHIND" });
    await index.close();
    await expect(self(index, "a")).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    await expect(index.health()).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  });

  it("begins anew when its thread is lost, and ends with a query that runs too long", async () => {
    const feed = new MemoryFeed();
    const chain: Record<string, string> = {};
    for (let i = 0; i < 20_000; i++)
      chain[ark(`r${i}`)] = quadsOf(`r${i}`, { edges: { derivedFrom: [`r${i + 1}`] } });
    feed.commit(chain);
    const index = open(feed, 50_000);
    await index.reach(1, 60_000);
    await expect(
      index.evidence({ ask: "selves", of: { from: ark("r0"), way: "upstream" } }, { timeout: 1 }),
    ).rejects.toMatchObject({ code: "QUERY_TIMEOUT" });
    await index.reach(1, 60_000);
    expect((await self(index, "r5")).tsv).toContain("ark:99999/r5");
  });
});
