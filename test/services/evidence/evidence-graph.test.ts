import jsonld from "jsonld";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { evidenceGraph } from "../../../src/services/evidence/evidence-graph.js";
import type { QueryEngine } from "../../../src/storage/graph/port.js";
import { edgesIn, EvidenceWorld, nodesIn, type Planned } from "../../support/evidence-world.js";
import { ark, quadsOf } from "../../support/quads.js";
import { arkFrom } from "../../support/arks.js";

/** One after the other, each derived from the next: n0 ← n1 ← … */
function chain(length: number): Record<string, Planned> {
  return Object.fromEntries(
    Array.from({ length }, (_, i): [string, Planned] => [
      `n${i}`,
      i === 0 ? {} : { edges: { derivedFrom: [`n${i - 1}`] } },
    ]),
  );
}

describe("an evidence graph", () => {
  let world: EvidenceWorld;
  beforeEach(() => {
    world = new EvidenceWorld();
  });
  afterEach(() => world.engine?.close());
  const given = async (plan: Record<string, Planned>): Promise<EvidenceWorld> => {
    world.write(plan);
    return world.open();
  };

  it("of a record without inputs is that record", async () => {
    await given({ lone: { name: "Alone", description: "Nothing around it." } });
    expect(await world.ask("lone")).toMatchObject({
      "@id": "ark:99999/lone",
      "@graph": [
        {
          "@id": "ark:99999/lone",
          "@type": ["evi:Dataset"],
          name: "Alone",
          description: "Nothing around it.",
        },
      ],
      outputs: [{ "@id": "ark:99999/lone" }],
      dangling: [],
      hidden: {},
      truncated: false,
      asOf: 1,
    });
  });

  it.each([undefined, 5])(
    "uses the least of many names and descriptions of a record, however many there are " +
      "(depth %s)",
    async (depth) => {
      const many = (what: string) =>
        Array.from({ length: 60 }, (_, i) => `${what} ${String(60 - i).padStart(2, "0")}`);
      await given({
        result: { edges: { derivedFrom: ["many", "two"] } },
        many: { name: "zz", description: "zz", names: many("name"), descriptions: many("text") },
        two: { name: "b", names: ["a"], descriptions: ["d", "c"] },
      });
      const {
        "@graph": [, ...nodes],
      } = await world.ask("result", depth === undefined ? {} : { depth });
      expect(nodes).toMatchObject([
        { "@id": ark("many"), name: "name 01", description: "text 01" },
        { "@id": ark("two"), name: "a", description: "c" },
      ]);
      expect(nodes[0]!["@type"]).toEqual(["evi:Dataset"]);
    },
  );

  it("contains every provenance edge with all of its values, as stated", async () => {
    await given({
      result: { edges: { generatedBy: ["run1", "run2"], createdBy: ["who"] } },
      run1: {
        type: "evi:Computation",
        edges: {
          usedDataset: ["in1", "in2"],
          usedSoftware: ["tool"],
          generated: ["result", "other"],
        },
      },
      run2: { type: "evi:Computation", edges: { usedDataset: ["in2"], informedBy: ["run1"] } },
      in1: { edges: { usedBy: [] } },
      in2: {},
      tool: { type: "evi:Software" },
      who: { type: "schema:Person" },
      other: {},
    });
    const graph = await world.ask("result");
    expect(nodesIn(graph)).toEqual(["result", "run1", "run2", "who", "in1", "in2", "tool"]);
    expect(edgesIn(graph)).toEqual([
      "result createdBy who",
      "result generatedBy run1",
      "result generatedBy run2",
      "run1 generated result",
      "run1 usedDataset in1",
      "run1 usedDataset in2",
      "run1 usedSoftware tool",
      "run2 informedBy run1",
      "run2 usedDataset in2",
    ]);
    expect(graph["@graph"].map((node) => node["@type"][0])).toEqual([
      "evi:Dataset",
      "evi:Computation",
      "evi:Computation",
      "Person",
      "evi:Dataset",
      "evi:Dataset",
      "evi:Software",
    ]);
  });

  it("carries generatedBy where only the action names its result, marked as derived", async () => {
    await given({
      result: { edges: { derivedFrom: ["half"] } },
      half: {},
      whole: { edges: { generatedBy: ["run"] } },
      owner: {},
      run: {
        owner: "owner",
        type: "evi:Computation",
        edges: { generated: ["half", "whole"], usedDataset: ["input"] },
      },
      input: {},
    });
    for (const request of [
      {},
      { statements: true },
      { collapse: 2 },
      { direction: "both" as const },
    ]) {
      const graph = await world.ask("result", request);
      const node = (name: string) => graph["@graph"].find((each) => each["@id"] === ark(name))!;
      expect(node("half").generatedBy).toEqual([{ "@id": ark("run") }]);
      expect(node("half").statements).toMatchObject([
        {
          property: "generatedBy",
          object: ark("run"),
          record: ark("run"),
          owner: ark("owner"),
          ownsSource: false,
          ownsTarget: true,
          derived: true,
        },
      ]);
      expect(node("input").generatedBy).toBeUndefined();
      expect(edgesIn(graph).filter((edge) => edge.includes("generated"))).toEqual([
        "run generated half",
      ]);
    }
    const whole = await world.ask("whole");
    expect(whole["@graph"][0]!.statements!.filter(({ derived }) => derived)).toEqual([]);
    expect(whole["@graph"][0]!.generatedBy).toEqual([{ "@id": ark("run") }]);
    const { "@graph": paged } = await world.ask("result", { limit: 2 });
    expect(paged.map((node) => node["@id"])).toEqual([ark("result"), ark("half")]);
    expect(paged[1]!.generatedBy).toEqual([{ "@id": ark("run") }]);
  });

  it("shows downstream which records are affected when an input is withdrawn", async () => {
    await given({
      input: {},
      run: { edges: { usedDataset: ["input", "elsewhere"], generated: ["out1", "out2"] } },
      elsewhere: {},
      out1: {},
      out2: {},
      paper: { edges: { derivedFrom: ["out2"] } },
      unrelated: { edges: { derivedFrom: ["elsewhere"] } },
    });
    const graph = await world.ask("input", { direction: "downstream" });
    expect(nodesIn(graph)).toEqual(["input", "run", "out1", "out2", "paper"]);
    expect(edgesIn(graph)).toEqual([
      "paper derivedFrom out2",
      "run generated out1",
      "run generated out2",
      "run usedDataset input",
    ]);
    expect(graph.outputs).toEqual([{ "@id": "ark:99999/out1" }, { "@id": "ark:99999/paper" }]);
  });

  it(
    "in both directions contains what supports the record and what it supports, without " +
      "siblings",
    async () => {
      await given({
        up: {},
        mid: { edges: { derivedFrom: ["up"] } },
        down: { edges: { derivedFrom: ["mid"] } },
        cousin: { edges: { derivedFrom: ["up"] } },
      });
      expect(nodesIn(await world.ask("mid", { direction: "both" }))).toEqual(["mid", "down", "up"]);
    },
  );

  it("in both directions contains every edge between its nodes, including those of detours", async () => {
    await given({
      up: {},
      mid: { edges: { derivedFrom: ["up"] } },
      down: { edges: { derivedFrom: ["mid", "up"] } },
    });
    const edges = ["down derivedFrom mid", "down derivedFrom up", "mid derivedFrom up"];
    expect(edgesIn(await world.ask("mid", { direction: "both" }))).toEqual(edges);
    expect(edgesIn(await world.ask("mid", { direction: "both", depth: 1 }))).toEqual(edges);
  });

  it("ends in a cycle, and in a record that supports itself", async () => {
    await given({
      a: { edges: { derivedFrom: ["b"] } },
      b: { edges: { derivedFrom: ["c"] } },
      c: { edges: { derivedFrom: ["a"] } },
      self: { edges: { derivedFrom: ["self"] } },
    });
    const graph = await world.ask("a");
    expect(nodesIn(graph)).toEqual(["a", "b", "c"]);
    expect(edgesIn(graph)).toEqual(["a derivedFrom b", "b derivedFrom c", "c derivedFrom a"]);
    expect(graph.outputs).toEqual([{ "@id": "ark:99999/a" }]);
    expect(nodesIn(await world.ask("a", { depth: 1 }))).toEqual(["a", "b"]);
    expect(edgesIn(await world.ask("self"))).toEqual(["self derivedFrom self"]);
  });

  it("counts the far end of a diamond once", async () => {
    await given({
      top: { edges: { derivedFrom: ["l", "r"] } },
      l: { edges: { derivedFrom: ["end"] } },
      r: { edges: { derivedFrom: ["end"] } },
      end: {},
    });
    const graph = await world.ask("top");
    expect(nodesIn(graph)).toEqual(["top", "l", "r", "end"]);
    expect(edgesIn(graph)).toHaveLength(4);
  });

  it("follows a chain of 10,000 to its end", async () => {
    await given(chain(10_000));
    const graph = await world.ask("n9999");
    expect(graph["@graph"]).toHaveLength(10_000);
    expect(nodesIn(graph).at(-1)).toBe("n0");
    expect(graph.truncated).toBe(false);
  });

  it("larger than one batch contains each node with its statements and supporting nodes", async () => {
    await given({
      ...chain(26_000),
      n25999: { name: "The last", edges: { derivedFrom: ["n25998"] } },
    });
    const graph = await world.ask("n25999", { limit: 100_000 });
    expect(nodesIn(graph)).toEqual(Array.from({ length: 26_000 }, (_, i) => `n${25_999 - i}`));
    expect(graph["@graph"][0]).toMatchObject({
      name: "The last",
      "@type": ["evi:Dataset"],
      derivedFrom: [{ "@id": ark("n25998") }],
    });
    expect(
      graph["@graph"]
        .slice(0, -1)
        .every((node, i) => node.derivedFrom?.[0]?.["@id"] === ark(`n${25_998 - i}`)),
    ).toBe(true);
    expect(graph.outputs).toEqual([{ "@id": ark("n25999") }]);
  }, 600_000);

  it("stops at the requested depth and counts the nodes just beyond", async () => {
    await given({
      ...chain(50),
      n49: { edges: { derivedFrom: ["n48", "x"] } },
      n47: { edges: { derivedFrom: ["n46", "y"] } },
      x: {},
      y: {},
    });
    const graph = await world.ask("n49", { depth: 2 });
    expect(nodesIn(graph)).toEqual(["n49", "n48", "x", "n47"]);
    expect(graph.hidden).toEqual({ depth: 2 });
    expect(nodesIn(await world.ask("n49", { depth: 30 }))).toHaveLength(33);
    expect((await world.ask("n49", { depth: 30 })).hidden).toEqual({ depth: 1 });
  });

  it("is returned in pages that together contain each node and edge once", async () => {
    await given({
      hub: { edges: { derivedFrom: Array.from({ length: 25 }, (_, i) => `leaf${i}`) } },
      ...Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`leaf${i}`, {}])),
    });
    const whole = await world.ask("hub");
    const seen: string[] = [];
    const edges = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page === 0 || cursor !== undefined; page++) {
      const graph = await world.ask("hub", { limit: 10, ...(cursor !== undefined && { cursor }) });
      expect(graph["@graph"].length).toBeLessThanOrEqual(10);
      expect(nodesIn(graph)[0]).toBe("hub");
      expect(graph.truncated).toBe(graph.cursor !== undefined);
      if (page === 0) expect(graph.hidden).toEqual({ limit: 16 });
      seen.push(...nodesIn(graph).slice(1));
      for (const edge of edgesIn(graph)) edges.add(edge);
      cursor = graph.cursor;
    }
    expect(seen).toEqual(nodesIn(whole).slice(1));
    expect([...edges].sort()).toEqual(edgesIn(whole));
  });

  it("continues even when a page contains one node", async () => {
    await given(chain(3));
    const first = await world.ask("n2", { limit: 1 });
    const second = await world.ask("n2", { limit: 1, cursor: first.cursor! });
    const third = await world.ask("n2", { limit: 1, cursor: second.cursor! });
    expect([first, second, third].map((page) => nodesIn(page).at(-1))).toEqual(["n2", "n1", "n0"]);
    expect(third.truncated).toBe(false);
  });

  it("lists missing records apart from the nodes, with the reason", async () => {
    await given({
      result: { edges: { derivedFrom: ["later", "gone", "https://example.org/data.csv"] } },
      gone: {},
    });
    world.delete("gone");
    const graph = await world.ask("result");
    expect(nodesIn(graph)).toEqual(["result"]);
    expect(edgesIn(graph)).toHaveLength(3);
    expect(graph.dangling).toEqual([
      { "@id": "ark:99999/gone", reason: "deleted" },
      { "@id": "ark:99999/later", reason: "unknown" },
      { "@id": "https://example.org/data.csv", reason: "external" },
    ]);
    expect(graph.hidden).toEqual({ deleted: 1, unknown: 1 });
    world.write({ later: {} });
    expect(nodesIn(await world.ask("result"))).toEqual(["result", "later"]);
  });

  it("shows an external identifier that a crate describes as a node with that description", async () => {
    const orcid = "https://orcid.org/0000-0002-1825-0097";
    await given({
      run: { edges: { associatedWith: [orcid] } },
      "crate/entity/josiah": {
        name: "Example Researcher",
        type: "schema:Person",
        subject: orcid,
        kind: "entity",
        crate: "ark:99999/crate",
      },
    });
    const [, person] = (await world.ask("run"))["@graph"];
    expect(person).toEqual({
      "@id": orcid,
      "@type": ["Person"],
      name: "Example Researcher",
      sameAs: [{ "@id": "ark:99999/crate/entity/josiah" }],
    });
    const down = await world.ask("crate/entity/josiah", { direction: "downstream" });
    expect(nodesIn(down)).toEqual(["crate/entity/josiah", orcid, "run"]);
  });

  it("shows an object inside a record as a node of its own", async () => {
    await given({ result: { edges: { generatedBy: ["ark:99999/result#genid-0"] } }, raw: {} });
    const [graph, inside] = ["<ark:99999/result>", "<ark:99999/result#genid-0>"];
    world.feed.commit({
      "ark:99999/result":
        `${quadsOf("result", { edges: { generatedBy: ["ark:99999/result#genid-0"] } })}${inside} ` +
        `<https://schema.org/name> "A run nobody named" ${graph} .\n${inside} ` +
        `<https://w3id.org/EVI#usedDataset> <ark:99999/raw> ${graph} .\n${inside} ` +
        "<https://w3id.org/EVI#directlySupportedBy> <ark:99999/raw> " +
        `<ark:99999/result#inferred> .\n`,
    });
    const graphed = await world.ask("result");
    expect(nodesIn(graphed)).toEqual(["result", "result#genid-0", "raw"]);
    expect(graphed["@graph"][1]).toEqual({
      "@id": "ark:99999/result#genid-0",
      "@type": [],
      name: "A run nobody named",
      usedDataset: [{ "@id": "ark:99999/raw" }],
      statements: [
        {
          property: "usedDataset",
          object: "ark:99999/raw",
          record: "ark:99999/result",
          owner: null,
          ownsSource: true,
          ownsTarget: true,
        },
      ],
    });
    expect(graphed.dangling).toEqual([]);
  });

  it("does not use another record's statements about a node's name", async () => {
    await given({ result: { edges: { derivedFrom: ["honest"] } }, honest: { name: "Honest" } });
    world.feed.commit({
      "ark:99999/liar":
        '<ark:99999/honest> <https://schema.org/name> "A Forgery" <ark:99999/liar> .\n',
    });
    const graph = await world.ask("result");
    expect(graph["@graph"][1]!.name).toBe("Honest");
  });

  it("of a crate gathers the evidence of its parts, through crates within it", async () => {
    await given({
      crate: { kind: "rocrate", type: "evi:ROCrate", hasPart: ["sub", "readme"] },
      readme: {},
      sub: { kind: "rocrate", type: "evi:ROCrate", hasPart: ["figure", "table"] },
      table: {},
      figure: { edges: { generatedBy: ["plot"] } },
      plot: { edges: { usedDataset: ["table", "outside"] } },
      outside: {},
    });
    const graph = await world.ask("crate");
    expect(nodesIn(graph)).toEqual(["crate", "figure", "table", "plot", "outside"]);
    expect(graph.outputs).toEqual([{ "@id": "ark:99999/figure" }]);
  });

  it("is never older than the request", async () => {
    await given({ a: {} });
    for (let i = 0; i < 20; i++) {
      world.write({ a: { edges: { derivedFrom: [`s${i}`] } }, [`s${i}`]: {} });
      const graph = await world.ask("a");
      expect(nodesIn(graph)).toEqual(["a", `s${i}`]);
      expect(graph.asOf).toBeGreaterThanOrEqual(i + 2);
    }
  });

  it("is read again when a commit comes between its queries", async () => {
    await given({ a: { edges: { derivedFrom: ["b"] } }, b: {} });
    let asked = 0;
    const moved = (sequence: number): number => (asked++ < 2 ? sequence + asked : sequence + 10);
    const moving: Partial<QueryEngine> = {
      reach: (sequence, wait) => world.engine.reach(sequence, wait),
      state: () => ({ state: "ready", sequence: 11 }),
      table: async (query) => {
        const answer = await world.engine.table(query);
        return { ...answer, sequence: moved(answer.sequence) };
      },
    };
    const graph = await evidenceGraph(
      { ark: arkFrom(ark("a")), direction: "upstream", limit: 10 },
      { records: world.records, queries: moving as QueryEngine },
    );
    expect(graph.asOf).toBe(11);
    expect(nodesIn(graph)).toEqual(["a", "b"]);
  });

  it(
    "is refused for unknown and deleted records, for limits out of range and for invalid " +
      "cursors",
    async () => {
      await given({ gone: {}, here: {} });
      world.delete("gone");
      await expect(world.ask("never")).rejects.toMatchObject({ status: 404 });
      await expect(world.ask("gone")).rejects.toMatchObject({ status: 410 });
      await expect(world.ask("here", { limit: 0 })).rejects.toMatchObject({
        items: [{ loc: ["query", "limit"], type: "greater_than_equal" }],
      });
      await expect(world.ask("here", { depth: 100_001 })).rejects.toMatchObject({
        items: [{ loc: ["query", "depth"], type: "less_than_equal" }],
      });
      await expect(world.ask("here", { cursor: "bm9uc2Vuc2U" })).rejects.toMatchObject({
        status: 422,
      });
    },
  );

  it("is JSON-LD with the same statements in RDF", async () => {
    await given({
      a: { edges: { derivedFrom: ["b"], generatedBy: ["r"] } },
      b: {},
      r: { edges: { informedBy: ["q"] } },
      q: {},
    });
    const nquads = (await jsonld.toRDF((await world.ask("a")) as object, {
      format: "application/n-quads",
    })) as unknown as string;
    expect(nquads).toContain(
      "<ark:99999/a> <https://w3id.org/EVI#derivedFrom> <ark:99999/b> <ark:99999/a> .",
    );
    expect(nquads).toContain(
      "<ark:99999/r> <https://w3id.org/EVI#directlySupportedBy> <ark:99999/q> <ark:99999/a> .",
    );
    expect(nquads).not.toMatch(/truncated|asOf|hidden/);
  });
});
