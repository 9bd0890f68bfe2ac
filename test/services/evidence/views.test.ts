import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { graphToDraw, nearbyGraph } from "../../../src/services/evidence/picture/picture.js";
import type { EvidenceGraph } from "../../../src/services/evidence/types.js";
import { arkFrom } from "../../support/arks.js";
import { edgesIn, EvidenceWorld, nodesIn, type Planned } from "../../support/evidence-world.js";

/**
 * Forty images and two masks that one run used, and a table that a second run made of its result;
 * three inputs are elsewhere.
 */
const IMAGES = Array.from({ length: 40 }, (_, i) => `image${i}`);
const OUTSIDE = ["far1", "far2", "far3"];
const PLAN: Record<string, Planned> = {
  ...Object.fromEntries(IMAGES.map((name): [string, Planned] => [name, {}])),
  mask1: {},
  mask2: {},
  tool: { kind: "software", type: "evi:Software" },
  segment: {
    kind: "computation",
    type: "evi:Computation",
    edges: { usedDataset: [...IMAGES, "mask1", "mask2"], usedSoftware: ["tool"] },
  },
  cells: { edges: { generatedBy: ["segment"], derivedFrom: ["mask1", "mask2"] } },
  count: {
    kind: "computation",
    type: "evi:Computation",
    edges: { usedDataset: ["cells", ...OUTSIDE], generated: ["table"] },
  },
  table: {},
};

describe("an evidence graph can be viewed in part:", () => {
  const world = new EvidenceWorld();
  beforeAll(async () => {
    world.write(PLAN);
    await world.open();
  });
  afterAll(() => world.engine.close());

  it("by kind, with the others skipped and counted", async () => {
    const graph = await world.ask("table", { kinds: ["software", "computation"] });
    expect(nodesIn(graph)).toEqual(["table", "count", "segment", "tool"]);
    expect(edgesIn(graph)).toEqual([
      "count generated table",
      ...OUTSIDE.map((name) => `count usedDataset ${name}`),
      "segment usedSoftware tool",
    ]);
    expect(graph.hidden).toEqual({ kind: 43, unknown: 3 });
    expect(graph.dangling.map((each) => each["@id"])).toEqual(
      OUTSIDE.map((name) => `ark:99999/${name}`),
    );
    expect((await world.ask("table", { kinds: ["user"], depth: 2 })).hidden).toEqual({
      depth: 3,
      kind: 2,
      unknown: 3,
    });
  });

  it("with similar siblings as one node that has a count and can be expanded", async () => {
    const graph = await world.ask("table", { collapse: 3 });
    const [group] = graph["@graph"].filter(({ count }) => count !== undefined);
    expect(group).toMatchObject({
      "@type": ["evi:Dataset"],
      count: 40,
      name: expect.stringContaining("40 alike") as string,
    });
    expect(nodesIn(graph).filter((name) => !name.includes("#group-"))).toEqual([
      "table",
      "count",
      "cells",
      "mask1",
      "mask2",
      "segment",
      "tool",
    ]);
    expect(graph["@graph"].find(({ name }) => name === "segment")!.usedDataset).toEqual([
      { "@id": "ark:99999/mask1" },
      { "@id": "ark:99999/mask2" },
      { "@id": group!["@id"] },
    ]);
    expect(graph.dangling).toEqual([
      {
        "@id": expect.stringContaining("#group-") as string,
        reason: "unknown",
        count: 3,
        group: expect.any(String) as string,
      },
    ]);
    expect(graph.hidden).toEqual({ collapsed: 43, unknown: 3 });

    const opened = await world.ask("table", { collapse: 3, expand: [group!.group!] });
    expect(opened.hidden).toEqual({ collapsed: 3, unknown: 3 });
    expect(nodesIn(opened)).toHaveLength(7 + 40);
    const all = await world.ask("table", {
      collapse: 3,
      expand: [group!.group!, graph.dangling[0]!.group!],
    });
    expect(all).toEqual(await world.ask("table"));
  });

  it("as what a picture shows: groups only where there is too much, and then the nearest", async () => {
    const deps = { records: world.records, queries: world.engine };
    const drawn = async (nodes: number, read: number) => {
      const graph = await graphToDraw(
        { ark: arkFrom("ark:99999/table"), direction: "upstream" },
        { nodes, edges: 100, read },
        deps,
      );
      return [graph["@graph"].length + graph.dangling.length, graph.hidden];
    };
    expect(await drawn(100, 100)).toEqual([50, { unknown: 3 }]);
    expect(await drawn(10, 100)).toEqual([8, { collapsed: 45, unknown: 3 }]);
    expect(await drawn(10, 49)).toEqual([10, { limit: 40, unknown: 3 }]);
  });

  it("as what is next to a record, with the inputs of the run that made it", async () => {
    const deps = { records: world.records, queries: world.engine };
    const nearby = async (name: string) => {
      const graph = await nearbyGraph(
        arkFrom(`ark:99999/${name}`),
        { nodes: 100, edges: 100, read: 100 },
        deps,
      );
      return [
        ...graph["@graph"].map((node) => node.name!),
        ...graph.dangling.map((each) => `${each.count ?? 1} ${each.reason}`),
      ];
    };
    expect(await nearby("cells")).toEqual([
      "cells",
      expect.stringMatching(/^2 alike, such as mask\d$/),
      "segment",
      expect.stringMatching(/^40 alike, such as image\d+$/),
      "tool",
      "count",
    ]);
    // What supports its inputs is further away.
    expect(await nearby("table")).toEqual(["table", "count", "cells", "3 unknown"]);
    expect(await nearby("tool")).toEqual(["tool", "segment"]);
  });

  const id = (name: string) => `ark:99999/${name}`;
  const further = (graph: EvidenceGraph) =>
    Object.fromEntries(
      [...graph.further!].map(([node, counts]) => [node.replace("ark:99999/", ""), counts]),
    );

  it("with one step more from single records than from the others", async () => {
    const near = await world.ask("table", { depth: 1, further: true });
    expect([nodesIn(near), near.hidden]).toEqual([["table", "count"], { depth: 4 }]);
    expect(further(near)).toEqual({ count: { support: 4, use: 0 } });

    const one = await world.ask("table", { depth: 1, further: true, expand: [id("count")] });
    expect(nodesIn(one)).toEqual(["table", "count", "cells"]);
    expect(one.dangling.map((each) => each["@id"])).toEqual(OUTSIDE.map(id));
    expect([further(one), one.hidden]).toEqual([
      { cells: { support: 3, use: 0 } },
      { depth: 3, unknown: 3 },
    ]);

    // What was added can be expanded too, in any order and spelling.
    const two = await world.ask("table", {
      depth: 1,
      further: true,
      expand: ["ark:/99999/cells", id("count")],
    });
    expect(nodesIn(two)).toEqual(["table", "count", "cells", "mask1", "mask2", "segment"]);
    expect([further(two), two.hidden]).toEqual([
      { segment: { support: 41, use: 0 } },
      { depth: 41, unknown: 3 },
    ]);
    expect(edgesIn(two)).toContain("segment usedDataset mask1");

    // What isn't drawn, is inside the depth or isn't known changes nothing.
    for (const expand of [[id("cells")], [id("table")], [id("none"), "nothing", ":"]])
      expect(await world.ask("table", { depth: 1, further: true, expand })).toEqual(near);
    expect((await world.ask("table", { depth: 1 })).further).toBeUndefined();
    expect(further(await world.ask("table", { further: true }))).toEqual({});
  });

  it("with one step more in the direction in which a record is", async () => {
    const both = { direction: "both", depth: 1, further: true } as const;
    const near = await world.ask("cells", both);
    expect(nodesIn(near)).toEqual(["cells", "count", "mask1", "mask2", "segment"]);
    expect(further(near)).toEqual({
      count: { support: 0, use: 1 },
      segment: { support: 41, use: 0 },
    });
    expect(nodesIn(await world.ask("cells", { ...both, expand: [id("count")] }))).toEqual([
      ...nodesIn(near),
      "table",
    ]);
    // Of the shown kinds only.
    const kinds = ["dataset", "computation"] as const;
    expect(further(await world.ask("cells", { ...both, kinds }))).toMatchObject({
      segment: { support: 40 },
    });
  });

  it("refuses steps from too many records", async () => {
    const expand = Array.from({ length: 51 }, (_, i) => id(`image${i}`));
    await expect(world.ask("table", { depth: 1, expand })).rejects.toMatchObject({
      items: [{ loc: ["query", "expand"], msg: expect.stringContaining("at most 50") as string }],
    });
    expect((await world.ask("table", { depth: 1, expand: expand.slice(1) })).hidden).toEqual({
      depth: 4,
    });
  });

  it("with one step more along statements that count", async () => {
    const claimed = new EvidenceWorld();
    claimed.write({
      result: { owner: "ada", edges: { derivedFrom: ["input"] } },
      input: { owner: "ada", edges: { derivedFrom: ["origin"] } },
      origin: { owner: "ada" },
      claim: {
        kind: "computation",
        type: "evi:Computation",
        owner: "eve",
        edges: { generated: ["input"] },
      },
    });
    await claimed.open();
    try {
      const asked = { depth: 1, further: true } as const;
      expect(further(await claimed.ask("result", asked))).toMatchObject({ input: { support: 2 } });
      const owned = { ...asked, assertedBy: "owner" } as const;
      expect(further(await claimed.ask("result", owned))).toMatchObject({ input: { support: 1 } });
      expect(
        nodesIn(await claimed.ask("result", { ...owned, expand: [id("input"), id("claim")] })),
      ).toEqual(["result", "input", "origin"]);
    } finally {
      await claimed.engine.close();
    }
  });

  it("with groups that stay open when a step is added to a member", async () => {
    const images = Array.from({ length: 8 }, (_, i) => `image${i}`);
    const fan = new EvidenceWorld();
    fan.write({
      run: { kind: "computation", type: "evi:Computation", edges: { usedDataset: images } },
      ...Object.fromEntries(
        images.map((name, i): [string, Planned] => [
          name,
          { edges: { derivedFrom: [i < 4 ? "first" : "second"] } },
        ]),
      ),
      first: {},
      second: {},
    });
    await fan.open();
    const ask = (expand: string[]) =>
      fan.ask("run", { depth: 1, collapse: 3, further: true, expand });
    const counts = (graph: EvidenceGraph) =>
      graph["@graph"].flatMap(({ count }) => count ?? []).toSorted();
    try {
      const folded = await ask([]);
      const { group } = folded["@graph"][1]!;
      expect(counts(folded)).toEqual([8]);
      const open = await ask([group!]);
      expect(nodesIn(open)).toEqual(["run", ...images]);
      expect(further(open)["image0"]).toEqual({ support: 1, use: 0 });
      expect(nodesIn(await ask([group!, id("image0")]))).toEqual(["run", ...images, "first"]);
      expect(nodesIn(await ask([group!, id("image0"), id("image5")]))).toEqual([
        "run",
        ...images,
        "first",
        "second",
      ]);
      // A record is shown by itself where its group is not open.
      const alone = await ask([id("image0")]);
      expect(counts(alone)).toEqual([3, 4]);
      expect(nodesIn(alone)).toEqual(expect.arrayContaining(["image0", "first"]));
    } finally {
      await fan.engine.close();
    }
  });

  it("with the runs of a fan-out as one node, and their results as another", async () => {
    const shards = Array.from({ length: 8 }, (_, i) => i);
    const fan = new EvidenceWorld();
    fan.write({
      ...Object.fromEntries(
        shards.flatMap((i): [string, Planned][] => [
          [
            `run${i}`,
            {
              kind: "computation",
              type: "evi:Computation",
              edges: { usedDataset: ["seed"], usedSoftware: ["split"] },
            },
          ],
          [`shard${i}`, { edges: { generatedBy: [`run${i}`] } }],
        ]),
      ),
      seed: {},
      split: { kind: "software", type: "evi:Software" },
      "odd-run": {
        kind: "computation",
        type: "evi:Computation",
        edges: { usedDataset: ["seed", "more"], usedSoftware: ["split"] },
      },
      odd: { edges: { generatedBy: ["odd-run"] } },
      more: {},
      merge: {
        kind: "computation",
        type: "evi:Computation",
        edges: { usedDataset: [...shards.map((i) => `shard${i}`), "odd"] },
      },
      merged: { edges: { generatedBy: ["merge"] } },
    });
    await fan.open();
    try {
      const graph = await fan.ask("merged", { collapse: 5 });
      const groups = graph["@graph"].filter(({ count }) => count !== undefined);
      expect(groups.map(({ count, "@type": [type] }) => [count, type])).toEqual([
        [8, "evi:Dataset"],
        [8, "evi:Computation"],
      ]);
      expect(nodesIn(graph).filter((name) => !name.includes("#group-"))).toEqual([
        "merged",
        "merge",
        "odd",
        "odd-run",
        "more",
        "seed",
        "split",
      ]);
      expect(groups[0]!.generatedBy).toEqual([{ "@id": groups[1]!["@id"] }]);
      expect((await fan.ask("merged", { collapse: 9 }))["@graph"]).toHaveLength(23);
      // Runs differ by their results once those are shown one by one.
      expect(
        (await fan.ask("merged", { collapse: 5, expand: [groups[0]!.group!] }))["@graph"],
      ).toHaveLength(23);
    } finally {
      await fan.engine.close();
    }
  });

  it("collapses chains of any length in reasonable time", async () => {
    const long = new EvidenceWorld();
    long.write(
      Object.fromEntries(
        Array.from({ length: 10 }, (_, lane) =>
          Array.from({ length: 300 }, (_, step): [string, Planned] => [
            `l${lane}s${step}`,
            { edges: { derivedFrom: step === 299 ? ["origin"] : [`l${lane}s${step + 1}`] } },
          ]),
        ).flat(),
      ),
    );
    long.write({
      end: { edges: { derivedFrom: Array.from({ length: 10 }, (_, lane) => `l${lane}s0`) } },
      origin: {},
    });
    await long.open();
    try {
      const graph = await long.ask("end", { collapse: 5 });
      expect([graph["@graph"].length, graph.hidden]).toEqual([302, { collapsed: 3000 }]);
    } finally {
      await long.engine.close();
    }
  });

  it(
    "does not collapse nodes with neighbours of their own, too few nodes, or the record " +
      "itself",
    async () => {
      const graph = await world.ask("table", { collapse: 41 });
      expect(graph).toEqual(await world.ask("table"));
      expect(
        nodesIn(await world.ask("table", { collapse: 2 })).filter(
          (name) => !name.includes("#group-"),
        ),
      ).toEqual(["table", "count", "cells", "segment", "tool"]);
    },
  );

  it("is collapsed in pages that together are complete", async () => {
    const whole = await world.ask("table", { collapse: 3 });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await world.ask("table", {
        collapse: 3,
        limit: 3,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...nodesIn(page).slice(1));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(nodesIn(whole).slice(1));
  });

  it("refuses a group of one", async () => {
    await expect(world.ask("table", { collapse: 1 })).rejects.toMatchObject({
      items: [{ loc: ["query", "collapse"], type: "greater_than_equal" }],
    });
  });
});
