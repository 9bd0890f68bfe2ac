import { execFileSync } from "node:child_process";
import { Parser } from "n3";
import { describe, expect, it } from "vitest";
import { EVIDENCE_FORMATS } from "../../../src/services/evidence/formats.js";
import {
  EVIDENCE_CONTEXT,
  type EvidenceGraph,
  type EvidenceNode,
} from "../../../src/services/evidence/types.js";

const id = (name: string) => `ark:99999/${name}`;
const to = (...names: string[]) =>
  names.map((name) => ({ "@id": name.includes(":") ? name : id(name) }));
const graphOf = (nodes: EvidenceNode[], more: Partial<EvidenceGraph> = {}): EvidenceGraph => ({
  "@context": EVIDENCE_CONTEXT,
  "@id": nodes[0]!["@id"],
  direction: "upstream",
  "@graph": nodes,
  outputs: [],
  dangling: [],
  hidden: {},
  truncated: false,
  asOf: 1,
  ...more,
});

const ORCID = "https://orcid.org/0000-0002-1825-0097";
const GRAPH = graphOf(
  [
    {
      "@id": id("cells"),
      "@type": ["evi:Dataset"],
      name: "Cell counts",
      description: "One row per image.",
      generatedBy: to("run"),
      derivedFrom: to("images", "far"),
      createdBy: to(ORCID),
    },
    {
      "@id": id("run"),
      "@type": ["evi:Computation", "CreateAction"],
      name: "Counting run",
      generated: to("cells"),
      usedDataset: to("images"),
      usedSoftware: to("tool"),
      associatedWith: to(ORCID),
      informedBy: to("before"),
    },
    {
      "@id": id("images"),
      "@type": ["evi:Dataset"],
      name: "40 alike, such as image0",
      count: 40,
      group: "g",
      usedBy: to("run"),
    },
    { "@id": id("tool"), "@type": ["evi:Software"] },
    { "@id": ORCID, "@type": ["Person"], name: "Josiah", sameAs: to("josiah") },
    { "@id": id("organizer"), "@type": ["OrganizeAction"], generated: to("run"), used: to("run") },
  ],
  {
    dangling: [
      { "@id": id("far"), reason: "unknown" },
      { "@id": id("before"), reason: "deleted" },
    ],
    hidden: { depth: 3, collapsed: 40 },
  },
);

describe("PROV-JSON", async () => {
  const document = JSON.parse(await EVIDENCE_FORMATS["prov-json"].write(GRAPH)) as Record<
    string,
    Record<string, Record<string, unknown>>
  >;
  const relations = (name: string) =>
    Object.values(document[name] ?? {}).map(({ "prov:type": _type, ...ends }) => ends);

  it("has every node in the class that its types or its role imply", () => {
    expect(Object.keys(document["activity"]!).sort()).toEqual([
      id("before"),
      id("organizer"),
      id("run"),
    ]);
    expect(Object.keys(document["entity"]!).sort()).toEqual(
      ["cells", "far", "images", "tool"].map(id),
    );
    expect(Object.keys(document["agent"]!)).toEqual(["ns1:0000-0002-1825-0097"]);
    expect(document["entity"]![id("cells")]).toEqual({
      "prov:label": "Cell counts",
      "prov:type": [{ $: "evi:Dataset", type: "xsd:QName" }],
    });
  });

  it("has each relation once, whichever end stated it, with the roles of the standard", () => {
    expect(relations("wasGeneratedBy")).toEqual([
      { "prov:entity": id("cells"), "prov:activity": id("run") },
    ]);
    expect(relations("used")).toEqual([
      { "prov:activity": id("run"), "prov:entity": id("images") },
      { "prov:activity": id("run"), "prov:entity": id("tool") },
    ]);
    expect(relations("wasDerivedFrom")).toEqual(
      ["images", "far"].map((name) => ({
        "prov:generatedEntity": id("cells"),
        "prov:usedEntity": id(name),
      })),
    );
    expect(relations("wasAttributedTo")).toEqual([
      { "prov:entity": id("cells"), "prov:agent": "ns1:0000-0002-1825-0097" },
    ]);
    expect(relations("wasAssociatedWith")).toEqual([
      { "prov:activity": id("run"), "prov:agent": "ns1:0000-0002-1825-0097" },
    ]);
    expect(Object.values(document["wasGeneratedBy"]!)[0]!["prov:type"]).toEqual([
      { $: "evi:generatedBy", type: "xsd:QName" },
      { $: "evi:generated", type: "xsd:QName" },
    ]);
  });

  it("types no activity as an entity: two of them are related as activities", async () => {
    expect(relations("wasInformedBy")).toEqual([
      { "prov:informed": id("run"), "prov:informant": id("before") },
      { "prov:informed": id("run"), "prov:informant": id("organizer") },
      { "prov:informed": id("organizer"), "prov:informant": id("run") },
    ]);
    const odd = JSON.parse(
      await EVIDENCE_FORMATS["prov-json"].write(
        graphOf([
          { "@id": id("a"), "@type": ["evi:Dataset"], derivedFrom: to("run") },
          { "@id": id("run"), "@type": ["evi:Computation"] },
        ]),
      ),
    ) as object;
    expect(odd).toMatchObject({
      wasInfluencedBy: { "_:r0": { "prov:influencee": id("a"), "prov:influencer": id("run") } },
    });
  });

  it("refers to declared nodes by declared prefixes only", () => {
    const { prefix, entity, activity, agent, ...sections } = document;
    const declared = new Set([
      ...Object.keys(entity!),
      ...Object.keys(activity!),
      ...Object.keys(agent!),
    ]);
    for (const name of declared)
      expect(Object.keys(prefix!)).toContain(name.slice(0, name.indexOf(":")));
    expect(prefix).toMatchObject({ ns1: "https://orcid.org/" });
    for (const section of Object.values(sections))
      for (const { "prov:type": _type, ...ends } of Object.values(section))
        for (const end of Object.values(ends)) expect(declared).toContain(end);
  });
});

describe("Turtle", () => {
  it("contains the EVI edges as stated and the relations of PROV-O", async () => {
    const text = await EVIDENCE_FORMATS.turtle.write(GRAPH);
    const triples = new Parser()
      .parse(text)
      .map(
        ({ subject, predicate, object }) =>
          `${subject.value} ${predicate.value.replace(/^.*[#/]/, "")} ${object.value}`,
      );
    for (const triple of [
      "cells generatedBy run",
      "run generated cells",
      "run used images",
      "run usedDataset images",
      "cells wasGeneratedBy run",
      "images usedBy run",
    ].map((stated) =>
      stated.replace(
        /^(\w+) (\w+) (\w+)$/,
        (_, a: string, p: string, b: string) => `${id(a)} ${p} ${id(b)}`,
      ),
    ))
      expect(triples).toContain(triple);
    expect(triples).toContain(`${id("run")} type http://www.w3.org/ns/prov#Activity`);
    expect(
      triples.filter((triple) => triple === `${id("cells")} wasGeneratedBy ${id("run")}`),
    ).toHaveLength(1);
    expect(text.split("\n")[0]).toBe("# Not shown: 3 beyond the depth, 40 in groups");
  });
});

/** What a client may have written into a name, to break out of where it is put. */
const HOSTILE = [
  '"]; evil [label="x',
  '\\"; evil -> n0; //',
  "\\",
  "a\nb\r\u2028c\u0000",
  "</script><script>alert(1)</script>",
  "`**md**`",
  "%%{init: {}}%%",
  "end",
  "]) --> evil",
  "#quot;",
  '"\n  click n0 "javascript:alert(1)"',
  "&quot;];",
  "\\N\\G\\l",
  "x".repeat(5000),
  "日本語 – ünï",
  "\ud800",
];
const hostile = graphOf(
  HOSTILE.map((name, index): EvidenceNode => ({
    "@id": id(`n${index}`),
    "@type":
      index % 2 === 0
        ? ["evi:Dataset"]
        : [`https://x.example/${encodeURIComponent(name.toWellFormed())}`],
    name,
    derivedFrom: to(`n${(index + 1) % HOSTILE.length}`),
  })),
);

describe("a drawing for Graphviz", () => {
  const hasDot = (() => {
    try {
      execFileSync("dot", ["-V"], { stdio: "ignore" });
      return true;
    } catch {
      process.stderr.write(
        "SKIPPED: Graphviz is not installed; its drawings are checked by their form only\n",
      );
      return false;
    }
  })();
  const LINE =
    /^(?: {2}rankdir=RL;| {2}(?:node|edge) \[.*\];| {2}label="(?:[^"\\]|\\.)*";| {2}n\d+ \[(?:label|tooltip)="(?:[^"\\]|\\.)*"(?:, (?:tooltip="(?:[^"\\]|\\.)*"|shape=\w+|style=dashed|peripheries=2))*\];| {2}n\d+ -> n\d+ \[label="\w+"\];)$/;

  it("has one statement a line, whatever names contain", async () => {
    for (const graph of [GRAPH, hostile]) {
      const lines = (await EVIDENCE_FORMATS.dot.write(graph)).trimEnd().split("\n");
      expect([lines[0], lines.at(-1)]).toEqual(["digraph evidence {", "}"]);
      for (const line of lines.slice(1, -1)) expect(line).toMatch(LINE);
    }
    expect(await EVIDENCE_FORMATS.dot.write(GRAPH)).toContain(
      "Not shown: 3 beyond the depth, 40 in groups",
    );
  });
  it.skipIf(!hasDot)(
    "is read by Graphviz with exactly the nodes and edges of the graph",
    async () => {
      const plain = execFileSync("dot", ["-Tplain"], {
        input: await EVIDENCE_FORMATS.dot.write(hostile),
        encoding: "utf8",
      });
      expect(plain.match(/^node n\d+ /gm)).toHaveLength(HOSTILE.length);
      expect(plain.match(/^edge /gm)).toHaveLength(HOSTILE.length);
      expect(plain.match(/^node (?!n\d)/gm)).toBeNull();
      const svg = execFileSync("dot", ["-Tsvg"], {
        input: await EVIDENCE_FORMATS.dot.write(hostile),
        encoding: "utf8",
      });
      expect(svg).not.toMatch(/<script|href/);
      expect(svg).toContain("日本語");
    },
  );
});

describe("a drawing for Mermaid", () => {
  const LABEL = String.raw`"(?:[\p{L}\p{M}\p{N} .,/:_-]|#\d+;|<br/>)*"`;
  const LINE = new RegExp(
    String.raw`^ {2}(?:(?:n\d+|note)(?:\(\[${LABEL}\]\)|\[${LABEL}\]|\[/${LABEL}\\\])|n\d+ -- \w+ --> n\d+|style (?:n\d+|note) stroke-dasharray: 5 5)$`,
    "u",
  );

  it("has one statement a line and escaped labels, whatever names contain", async () => {
    for (const graph of [GRAPH, hostile]) {
      const [first, ...lines] = (await EVIDENCE_FORMATS.mermaid.write(graph)).trimEnd().split("\n");
      expect(first).toBe("flowchart RL");
      for (const line of lines) expect(line).toMatch(LINE);
    }
    expect(await EVIDENCE_FORMATS.mermaid.write(hostile)).toContain(
      "日本語 – ünï".replace("–", "#8211;"),
    );
  });
  it("shows missing records, and reports left-out nodes", async () => {
    const text = await EVIDENCE_FORMATS.mermaid.write(GRAPH);
    expect(text).toContain("ark:99999/far<br/>#40;unknown#41;");
    expect(text).toContain("Not shown: 3 beyond the depth, 40 in groups");
  });
});

describe("an edge that only the inverse states", () => {
  const run = { "@id": id("run"), "@type": ["evi:Computation"], generated: to("half") };
  const half = { "@id": id("half"), "@type": ["evi:Dataset"] };
  const stated = graphOf([half, run]);
  const derived = graphOf([
    {
      ...half,
      generatedBy: to("run"),
      statements: [
        {
          property: "generatedBy",
          object: id("run"),
          record: id("run"),
          owner: id("ada"),
          ownsSource: false,
          ownsTarget: true,
          derived: true,
        },
      ],
    },
    run,
  ]);

  it.each(Object.keys(EVIDENCE_FORMATS) as (keyof typeof EVIDENCE_FORMATS)[])(
    "is in %s once, as stated",
    async (format) => {
      const { write } = EVIDENCE_FORMATS[format];
      expect(await write(derived)).toBe(await write(stated));
    },
  );
});

describe.each(Object.entries(EVIDENCE_FORMATS))("a large graph as %s", (name, { write }) => {
  it("is whole, and leaves turns of the event loop to other requests", async () => {
    const members = 5_000;
    const nodes = Array.from({ length: members }, (_, index) => ({
      "@id": id(`member${index}`),
      "@type": ["evi:Dataset"],
      generatedBy: to("run"),
    }));
    let turns = 0;
    let going = true;
    const count = (): void => {
      turns++;
      if (going) setImmediate(count);
    };
    count();
    const text = await write(
      graphOf([...nodes, { "@id": id("run"), "@type": ["evi:Computation"] }]),
    );
    going = false;
    for (const { "@id": each } of nodes) if (name !== "mermaid") expect(text).toContain(each);
    expect(turns).toBeGreaterThan(members / 500);
    if (name !== "prov-json") return;
    const { entity, wasGeneratedBy } = JSON.parse(text) as Record<string, object>;
    expect([Object.keys(entity!).length, Object.keys(wasGeneratedBy!).length]).toEqual([
      members,
      members,
    ]);
    // Each node and each relation is written in parts too.
    expect(turns).toBeGreaterThan((8 * members) / 500);
  });
});
