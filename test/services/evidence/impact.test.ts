import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  impactOf,
  type SupportPath,
  supportPath,
} from "../../../src/services/evidence/analysis.js";
import { arkFrom } from "../../support/arks.js";
import { EvidenceWorld, type Planned } from "../../support/evidence-world.js";
import { ark } from "../../support/quads.js";

const CHAIN = 400;
const PLAN: Record<string, Planned> = {
  raw: {},
  elsewhere: {},
  run: {
    kind: "computation",
    type: "evi:Computation",
    owner: "ada",
    edges: { usedDataset: ["raw", "elsewhere"], generated: ["cells", "masks"] },
  },
  cells: { owner: "ada" },
  masks: { owner: "grace" },
  short: { owner: "grace", edges: { derivedFrom: ["cells"] } },
  paper: { owner: "grace", edges: { derivedFrom: ["short", "masks"] } },
  ada: { kind: "user", name: "Ada" },
  later: { edges: { derivedTo: ["announced"], derivedFrom: ["paper"] } },
  a: { edges: { derivedFrom: ["b"] } },
  b: { edges: { derivedFrom: ["a"] } },
  ...Object.fromEntries(
    Array.from({ length: CHAIN }, (_, i): [string, Planned] => [
      `n${i}`,
      i === 0
        ? {}
        : { edges: { derivedFrom: [`n${i - 1}`, ...(i === CHAIN - 1 ? ["n200"] : [])] } },
    ]),
  ),
};

const BY_ADA = { owner: ark("ada"), ownsSource: true, ownsTarget: false };

describe("the impact of a record", () => {
  const world = new EvidenceWorld();
  const deps = () => ({ records: world.records, queries: world.engine });
  beforeAll(async () => {
    world.write(PLAN);
    await world.open();
  });
  afterAll(() => world.engine.close());
  const ids = (path: SupportPath) =>
    path.nodes.map((node) => node["@id"].replace("ark:99999/", ""));

  it("is counted by kind and by owner, each record once", async () => {
    expect(await impactOf(arkFrom(ark("raw")), deps())).toEqual({
      "@id": "ark:99999/raw",
      total: 6,
      direct: 1,
      furthest: 5,
      byKind: [
        { kind: "dataset", count: 5 },
        { kind: "computation", count: 1 },
      ],
      byOwner: [
        { owner: "ark:99999/grace", name: null, count: 3, kinds: [{ kind: "dataset", count: 3 }] },
        {
          owner: "ark:99999/ada",
          name: "Ada",
          count: 2,
          kinds: [
            { kind: "computation", count: 1 },
            { kind: "dataset", count: 1 },
          ],
        },
        { owner: null, name: null, count: 1, kinds: [{ kind: "dataset", count: 1 }] },
      ],
      unresolved: 1,
      asOf: 1,
    });
  });

  it("is empty for an unused result, and does not count the record itself in a cycle", async () => {
    expect(await impactOf(arkFrom(ark("n399")), deps())).toMatchObject({
      total: 0,
      direct: 0,
      furthest: 0,
      byKind: [],
      byOwner: [],
    });
    expect(await impactOf(arkFrom(ark("a")), deps())).toMatchObject({
      total: 1,
      byKind: [{ kind: "dataset", count: 1 }],
    });
  });

  it("is explained step by step along the shortest path, with the owner of each statement", async () => {
    const path = await supportPath(arkFrom(ark("paper")), arkFrom(ark("raw")), deps());
    expect(path).toMatchObject({
      from: "ark:99999/paper",
      to: "ark:99999/raw",
      direction: "upstream",
      length: 3,
      asOf: 1,
    });
    expect(ids(path)).toEqual(["paper", "masks", "run", "raw"]);
    expect(path.edges).toEqual([
      {
        source: "ark:99999/paper",
        name: "derivedFrom",
        target: "ark:99999/masks",
        statedBy: [
          {
            record: "ark:99999/paper",
            field: "derivedFrom",
            owner: ark("grace"),
            ownsSource: true,
            ownsTarget: true,
          },
        ],
      },
      {
        source: "ark:99999/run",
        name: "generated",
        target: "ark:99999/masks",
        thirdParty: true,
        statedBy: [{ record: "ark:99999/run", field: "generated", ...BY_ADA, thirdParty: true }],
      },
      {
        source: "ark:99999/run",
        name: "usedDataset",
        target: "ark:99999/raw",
        statedBy: [{ record: "ark:99999/run", field: "usedDataset", ...BY_ADA }],
      },
    ]);
    expect(ids(await supportPath(arkFrom(ark("raw")), arkFrom(ark("paper")), deps()))).toEqual([
      "raw",
      "run",
      "masks",
      "paper",
    ]);
    expect((await supportPath(arkFrom(ark("raw")), arkFrom(ark("paper")), deps())).direction).toBe(
      "downstream",
    );
  });

  it("takes the shortcut in a long chain", async () => {
    const path = await supportPath(arkFrom(ark("n399")), arkFrom(ark("n0")), deps());
    expect(path.length).toBe(201);
    expect(ids(path).slice(0, 3)).toEqual(["n399", "n200", "n199"]);
  });

  it("has no path between siblings, and an empty one to itself", async () => {
    expect(await supportPath(arkFrom(ark("cells")), arkFrom(ark("masks")), deps())).toMatchObject({
      direction: null,
      length: null,
      nodes: [],
      edges: [],
    });
    expect(await supportPath(arkFrom(ark("raw")), arkFrom(ark("raw")), deps())).toMatchObject({
      direction: "upstream",
      length: 0,
      edges: [],
    });
  });

  it("finds dependents by another spelling, and counts deleted ones among the unresolved", async () => {
    world.write({
      source: {},
      process: {
        kind: "computation",
        edges: { usedDataset: ["source"], generated: ["sp-elled", "gone", "twi-ce"] },
      },
      spelled: {},
      gone: {},
      // Two records with one key: neither is meant by a third spelling.
      "tw-ice": {},
      "t-wice": {},
    });
    world.delete("gone");
    await world.engine.reach(world.feed.sequence, 10_000);
    expect(await impactOf(arkFrom(ark("source")), deps())).toMatchObject({
      total: 2,
      direct: 1,
      byKind: [
        { kind: "computation", count: 1 },
        { kind: "dataset", count: 1 },
      ],
      unresolved: 2,
    });
  });
});
