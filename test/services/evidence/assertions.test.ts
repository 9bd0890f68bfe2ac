import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { impactOf, supportPath } from "../../../src/services/evidence/analysis.js";
import { EVIDENCE_FORMATS, edgesOf } from "../../../src/services/evidence/formats.js";
import { supportTree } from "../../../src/services/evidence/tree.js";
import type {
  EvidenceNode,
  EvidenceRequest,
  StatedEdge,
} from "../../../src/services/evidence/types.js";
import { arkFrom } from "../../support/arks.js";
import { EvidenceWorld, edgesIn, nodesIn } from "../../support/evidence-world.js";
import { ark } from "../../support/quads.js";

const RUN = "evi:Computation";
const world = new EvidenceWorld();
const deps = () => ({ records: world.records, queries: world.engine });

/**
 * The victim's cells come from a run of its own and are claimed by a stranger's run, which used a
 * stranger's images. A colleague's run belongs to a colleague, its result to the lab of both. The
 * crowd claims the cells alike.
 */
beforeAll(async () => {
  world.write({
    victim: { kind: "user" },
    otherUser: { kind: "user" },
    colleague: { kind: "user" },
    lab: { kind: "group", owner: "victim", more: { members: [ark("colleague")] } },
    cells: { owner: "victim" },
    own: {
      kind: "computation",
      type: RUN,
      owner: "victim",
      edges: { generated: ["cells"], usedDataset: ["raw"] },
    },
    raw: { owner: "victim" },
    claim: {
      kind: "computation",
      type: RUN,
      owner: "stranger",
      edges: { generated: ["cells"], usedDataset: ["theirs"] },
    },
    theirs: { owner: "stranger" },
    shared: { owner: "lab" },
    colleagues: {
      kind: "computation",
      type: RUN,
      owner: "colleague",
      edges: { generated: ["shared"] },
    },
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [
        `crowd-${i}`,
        {
          kind: "computation" as const,
          type: RUN,
          owner: "stranger",
          edges: { usedDataset: ["raw"] },
        },
      ]),
    ),
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [
        `mine-${i}`,
        {
          kind: "computation" as const,
          type: RUN,
          owner: "victim",
          edges: { usedDataset: ["raw"] },
        },
      ]),
    ),
    both: { kind: "computation", type: RUN, owner: "victim", edges: { generated: ["twice"] } },
    twice: { owner: "victim", edges: { generatedBy: ["both"] } },
    loop: { owner: "victim", edges: { derivedFrom: ["loop-2"] } },
    "loop-2": { owner: "stranger", edges: { derivedFrom: ["loop"] } },
    dangler: { owner: "victim", edges: { derivedFrom: ["nowhere"] } },
    speaker: {
      kind: "computation",
      type: RUN,
      owner: "stranger",
      edges: { generated: ["nowhere"] },
    },
  });
  await world.open();
});
afterAll(() => world.engine.close());

const short = (iri: string | null): string => (iri ?? "-").replace("ark:99999/", "");
const logged = (nodes: readonly EvidenceNode[]): string[] =>
  nodes
    .flatMap((node) =>
      (node.statements ?? [])
        .filter(({ derived }) => !derived)
        .map(
          (each: StatedEdge) =>
            `${short(node["@id"])} ${each.property} ${short(each.object)}: ` +
            `${short(each.record)} of ` +
            `${short(each.owner)}${each.ownsSource ? " source" : ""}${each.ownsTarget ? " target" : ""}${each.thirdParty ? " THIRD" : ""}`,
        ),
    )
    .sort();
const ask = (name: string, request: Partial<EvidenceRequest> = {}) => world.ask(name, request);

describe("each edge of an evidence graph", () => {
  it("names the owner who states it, and marks that of a third party upstream", async () => {
    const graph = await ask("cells");
    expect(nodesIn(graph).sort()).toEqual(["cells", "claim", "own", "raw", "theirs"]);
    expect(logged(graph["@graph"])).toEqual([
      "claim generated cells: claim of stranger source THIRD",
      "claim usedDataset theirs: claim of stranger source target",
      "own generated cells: own of victim source target",
      "own usedDataset raw: own of victim source target",
    ]);
  });
  it("is a third party's by the end that the walk comes from", async () => {
    const down = await ask("raw", { direction: "downstream" });
    expect(logged(down["@graph"])).toContain(
      "crowd-0 usedDataset raw: crowd-0 of stranger source THIRD",
    );
    expect(logged(down["@graph"])).toContain(
      "mine-0 usedDataset raw: mine-0 of victim source target",
    );
    expect(logged((await ask("crowd-0"))["@graph"])).toEqual([
      "crowd-0 usedDataset raw: crowd-0 of stranger source",
    ]);
    expect(logged((await ask("claim", { direction: "downstream" }))["@graph"])).toEqual([
      "claim generated cells: claim of stranger source",
    ]);
  });
  it("is not a third party's when its owner is a member of the group that owns the record", async () => {
    expect(logged((await ask("shared"))["@graph"])).toEqual([
      "colleagues generated shared: colleagues of colleague source target",
    ]);
  });
  it("names every record that states it", async () => {
    expect(logged((await ask("twice"))["@graph"])).toEqual([
      "both generated twice: both of victim source target",
      "twice generatedBy both: twice of victim source target",
    ]);
  });
  it("has the field of the record beside it when statements are requested", async () => {
    const [node] = (await ask("crowd-0", { statements: true }))["@graph"];
    expect(node!.statements).toEqual([
      {
        property: "usedDataset",
        object: ark("raw"),
        record: ark("crowd-0"),
        field: "usedDataset",
        owner: ark("stranger"),
        ownsSource: true,
        ownsTarget: false,
      },
    ]);
  });
  it("is marked in both directions at once by the nearer end, and in cycles", async () => {
    const marks = logged((await ask("raw", { direction: "both" }))["@graph"]);
    expect(marks.filter((line) => line.endsWith("THIRD"))).toHaveLength(12);
    expect(
      logged((await ask("cells", { direction: "both" }))["@graph"]).filter((line) =>
        line.endsWith("THIRD"),
      ),
    ).toEqual(["claim generated cells: claim of stranger source THIRD"]);
    expect(logged((await ask("loop"))["@graph"])).toEqual([
      "loop derivedFrom loop-2: loop of victim source",
      "loop-2 derivedFrom loop: loop-2 of stranger source",
    ]);
  });
  it("about a missing record is a third party's when another owner states it", async () => {
    expect(logged((await ask("dangler"))["@graph"])).toContain(
      "speaker generated nowhere: speaker of stranger source THIRD",
    );
  });
});

describe("assertedBy=owner", () => {
  const owner = { assertedBy: "owner" } as const;
  it("leaves out and counts edges of third parties, with the nodes that only they lead to", async () => {
    const graph = await ask("cells", owner);
    expect(nodesIn(graph)).toEqual(["cells", "own", "raw"]);
    expect(edgesIn(graph).filter((line) => line.includes("claim"))).toEqual([]);
    expect(graph.hidden).toEqual({ thirdParty: 1 });
    expect((await ask("cells")).hidden).toEqual({});
  });
  it("combines with depth, pages, kinds and both directions", async () => {
    expect((await ask("raw", { ...owner, direction: "downstream", depth: 1 })).hidden).toEqual({
      depth: 1,
      thirdParty: 12,
    });
    const first = await ask("raw", { ...owner, direction: "downstream", limit: 5 });
    const rest = await ask("raw", { ...owner, direction: "downstream", cursor: first.cursor! });
    expect(new Set([...nodesIn(first), ...nodesIn(rest)])).toEqual(
      new Set(["raw", "own", "cells", ...Array.from({ length: 12 }, (_, i) => `mine-${i}`)]),
    );
    expect(
      nodesIn(await ask("raw", { ...owner, direction: "downstream", kinds: ["dataset"] })),
    ).toEqual(["raw", "cells"]);
    const both = await ask("cells", { ...owner, direction: "both" });
    expect([nodesIn(both).sort(), both.hidden]).toEqual([
      ["cells", "own", "raw"],
      { thirdParty: 1 },
    ]);
  });
  it("counts no edge that an owner states as well", async () => {
    expect((await ask("twice", owner)).hidden).toEqual({});
  });
  it("applies to impact and support paths", async () => {
    const all = await impactOf(arkFrom(ark("raw")), deps());
    const own = await impactOf(arkFrom(ark("raw")), deps(), "owner");
    expect([all.total - own.total, own.byOwner.map((each) => each.owner), own.hidden]).toEqual([
      12,
      [ark("victim")],
      { thirdParty: 12 },
    ]);
    const path = await supportPath(arkFrom(ark("cells")), arkFrom(ark("theirs")), deps());
    expect(
      path.edges.map(({ source, thirdParty, statedBy }) => [
        short(source),
        thirdParty,
        statedBy.map(({ record, field, owner: by, thirdParty: third }) => [
          short(record),
          field,
          short(by),
          third,
        ]),
      ]),
    ).toEqual([
      ["claim", true, [["claim", "generated", "stranger", true]]],
      ["claim", undefined, [["claim", "usedDataset", "stranger", undefined]]],
    ]);
    expect(
      (await supportPath(arkFrom(ark("cells")), arkFrom(ark("theirs")), deps(), "owner")).direction,
    ).toBeNull();
    expect(
      (await supportPath(arkFrom(ark("cells")), arkFrom(ark("raw")), deps(), "owner")).length,
    ).toBe(2);
  });
});

describe("groups, drawings and documents", () => {
  it("separate and mark statements of third parties", async () => {
    const graph = await ask("raw", { direction: "downstream", collapse: 10 });
    const groups = graph["@graph"].filter(({ count }) => count === 12);
    expect(groups).toHaveLength(2);
    expect(
      groups.map((node) =>
        node.statements!.map(({ record, owner, thirdParty }) => [record, short(owner), thirdParty]),
      ),
    ).toEqual(expect.arrayContaining([[[null, "stranger", true]], [[null, "victim", undefined]]]));
    expect(edgesOf(graph["@graph"]).filter(({ thirdParty }) => thirdParty)).toHaveLength(1);
  });
  it("draw it dashed, qualify it, and name who states it", async () => {
    const graph = await ask("cells");
    const dot = await EVIDENCE_FORMATS.dot.write(graph);
    expect(
      dot.split("\n").filter((line) => line.includes("->") && line.includes("style=dashed")),
    ).toHaveLength(1);
    const mermaid = await EVIDENCE_FORMATS.mermaid.write(graph);
    expect(mermaid.match(/ -\. generated \.-> /g)).toHaveLength(1);
    expect(mermaid.match(/ -- \w+ --> /g)).toHaveLength(3);
    const prov = JSON.parse(await EVIDENCE_FORMATS["prov-json"].write(graph)) as {
      wasGeneratedBy: Record<string, Record<string, unknown>>;
    };
    const claims = Object.values(prov.wasGeneratedBy).filter(
      (relation) => relation["arkgraph:thirdParty"] === true,
    );
    expect(claims).toEqual([
      expect.objectContaining({
        "prov:activity": ark("claim"),
        "arkgraph:assertedByOwner": [{ $: ark("stranger"), type: "xsd:QName" }],
      }),
    ]);
    const turtle = await EVIDENCE_FORMATS.turtle.write(graph);
    expect(turtle.match(/arkgraph:thirdParty true/g)).toHaveLength(1);
    expect(turtle.match(/prov:qualifiedGeneration/g)).not.toBeNull();
  });
  it("mark it in the tree of the command line, and count left-out edges in drawings", async () => {
    expect(supportTree(await ask("cells")).filter((line) => line.includes("third party"))).toEqual([
      expect.stringContaining(`(third party: ${ark("stranger")})`),
    ]);
    const owned = await ask("cells", { assertedBy: "owner" });
    expect(await EVIDENCE_FORMATS.dot.write(owned)).toContain("1 edges of third parties");
  });
});
