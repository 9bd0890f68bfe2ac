import fc from "fast-check";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { describe, expect, it } from "vitest";
import { PROVENANCE } from "../../../src/model/provenance.js";
import { DARK, GLYPHS, LIGHT } from "../../../src/services/evidence/picture/glyphs.js";
import {
  countKinds,
  namesOfKinds,
  withoutKinds,
} from "../../../src/services/evidence/picture/picture.js";
import { drawPicture, PICTURE_POLICY } from "../../../src/services/evidence/picture/svg.js";
import {
  EVIDENCE_CONTEXT,
  type EvidenceGraph,
  type EvidenceNode,
} from "../../../src/services/evidence/types.js";

const id = (name: string) => `ark:99999/${name}`;
const to = (...names: string[]) => names.map((name) => ({ "@id": id(name) }));
const graphOf = (nodes: EvidenceNode[], more: Partial<EvidenceGraph> = {}): EvidenceGraph => ({
  "@context": EVIDENCE_CONTEXT,
  "@id": nodes[0]!["@id"],
  direction: "both",
  "@graph": nodes,
  outputs: [],
  dangling: [],
  hidden: {},
  truncated: false,
  asOf: 1,
  ...more,
});
const draw = (graph: EvidenceGraph, options: Partial<Parameters<typeof drawPicture>[1]> = {}) =>
  drawPicture(graph, { nodes: 600, edges: 6000, form: "page", base: "", ...options });

type Element = Record<string, unknown>;
const elementsIn = (svg: string): { name: string; at: Record<string, string>; text: string }[] => {
  const found: { name: string; at: Record<string, string>; text: string }[] = [];
  const visit = (nodes: Element[]) => {
    for (const node of nodes) {
      const name = Object.keys(node).find((key) => key !== ":@" && key !== "#text");
      if (name === undefined) continue;
      const inner = node[name] as Element[];
      const text = inner.map((each) => each["#text"] ?? "").join("");
      found.push({ name, at: (node[":@"] ?? {}) as Record<string, string>, text });
      visit(inner);
    }
  };
  visit(
    new XMLParser({
      preserveOrder: true,
      ignoreAttributes: false,
      attributeNamePrefix: "",
      parseTagValue: false,
      parseAttributeValue: false,
      trimValues: false,
      processEntities: { enabled: true, maxTotalExpansions: Infinity, maxExpandedLength: Infinity },
    }).parse(svg) as Element[],
  );
  return found;
};
const nodesIn = (svg: string) =>
  elementsIn(svg).flatMap(({ name, at }) =>
    name === "g" && at["data-id"] !== undefined ? [at] : [],
  );
const edgesIn = (svg: string) =>
  elementsIn(svg).flatMap(({ at }) => (at["data-from"] === undefined ? [] : [at]));
const placeOf = (at: Record<string, string>): [x: number, y: number] =>
  /translate\((-?\d+) (-?\d+)\)/.exec(at["transform"]!)!.slice(1).map(Number) as [number, number];

const GRAPH = graphOf(
  [
    {
      "@id": id("cells"),
      "@type": ["evi:Dataset"],
      name: "Cell counts",
      generatedBy: to("run"),
      createdBy: to("ada"),
      derivedFrom: to("gone"),
    },
    {
      "@id": id("run"),
      "@type": ["evi:Computation"],
      name: "Counting run",
      generated: to("cells"),
      usedDataset: to("cells#group-1f"),
      usedSoftware: to("tool"),
    },
    {
      "@id": id("cells#group-1f"),
      "@type": ["evi:Dataset", "MediaObject"],
      name: "40 alike, such as image0",
      count: 40,
      group: "1f",
    },
    { "@id": id("tool"), "@type": ["evi:Software"], name: "count.py" },
    { "@id": id("ada"), "@type": ["Person"], name: "Ada Example" },
    {
      "@id": id("claim"),
      "@type": ["evi:Computation"],
      name: "Somebody's run",
      usedDataset: to("cells"),
      statements: [
        {
          property: "usedDataset",
          object: id("cells"),
          record: id("claim"),
          owner: id("eve"),
          ownsSource: true,
          ownsTarget: false,
          thirdParty: true,
        },
      ],
    },
  ],
  {
    dangling: [
      { "@id": id("gone"), reason: "deleted" },
      { "@id": "https://example.org/data?a=1&b=2", reason: "external" },
      { "@id": "javascript:alert(1)", reason: "external" },
    ],
    hidden: { depth: 3, collapsed: 40, deleted: 1 },
  },
);

describe("the picture of an evidence graph", () => {
  const { svg } = draw(GRAPH, { groupLink: "/explore?expand=" });

  it("has each node with its kind, its shape and a link", () => {
    expect(nodesIn(svg).map((at) => [at["data-id"], at["data-kind"], at["class"]])).toEqual([
      [id("cells"), "dataset", "ev-node ev-dataset ev-root"],
      [id("run"), "computation", "ev-node ev-computation"],
      [id("cells#group-1f"), "dataset", "ev-node ev-dataset"],
      [id("tool"), "software", "ev-node ev-software"],
      [id("ada"), "agent", "ev-node ev-agent"],
      [id("claim"), "computation", "ev-node ev-computation"],
      [id("gone"), "other", "ev-node ev-absent ev-deleted"],
      ["https://example.org/data?a=1&b=2", "other", "ev-node ev-absent"],
      ["javascript:alert(1)", "other", "ev-node ev-absent"],
    ]);
    expect(elementsIn(svg).flatMap(({ name, at }) => (name === "a" ? [at["href"]] : []))).toEqual([
      "/ark:99999/cells",
      "/ark:99999/run",
      "/explore?expand=1f",
      "/ark:99999/tool",
      "/ark:99999/ada",
      "/ark:99999/claim",
      "/ark:99999/gone",
      "https://example.org/data?a=1&b=2",
    ]);
    const shapes = Object.values(GLYPHS).map(({ outline }) => outline(190, 44));
    expect(new Set(shapes).size).toBe(shapes.length);
  });

  it("has names and kinds as text, groups with their number", () => {
    const texts = elementsIn(svg).flatMap(({ name, text }) => (name === "text" ? [text] : []));
    expect(texts.join(" | ")).toBe(
      "Cell counts | dataset | Counting run | computation | 40 datasets | such as image0 | " +
        "count.py | software | Ada Example | person | Somebody's run | computation | " +
        "ark:99999/gone | withdrawn | https://example.org/dat… | described elsewhere | " +
        "javascript:alert(1) | described elsewhere | Not shown: 3 beyond the depth",
    );
  });

  it("shows the end of a long identifier where no name is known", () => {
    const long = "ark:99999/rocrate-of-a-long-name-x2k9/software/embed.py";
    const { svg: drawn } = draw(
      graphOf([{ "@id": id("cells"), "@type": ["evi:Dataset"], derivedFrom: [{ "@id": long }] }], {
        dangling: [{ "@id": long, reason: "deleted" }],
      }),
    );
    const texts = elementsIn(drawn).flatMap(({ name, text }) => (name === "text" ? [text] : []));
    expect(texts).toContain("…/embed.py");
  });

  it("has one arrow for each pair, from what supports, with all names that state it", () => {
    expect(
      edgesIn(svg).map((at) => [
        at["data-from"],
        at["data-to"],
        at["data-names"],
        at["stroke-dasharray"],
      ]),
    ).toEqual([
      [id("run"), id("cells"), "generatedBy generated", undefined],
      [id("ada"), id("cells"), "createdBy", undefined],
      [id("gone"), id("cells"), "derivedFrom", undefined],
      [id("cells#group-1f"), id("run"), "usedDataset", undefined],
      [id("tool"), id("run"), "usedSoftware", undefined],
      [id("cells"), id("claim"), "usedDataset", "5 4"],
    ]);
  });

  it("has inputs on the left, uses on the right, and what is withdrawn struck through", () => {
    const x = new Map(nodesIn(svg).map((at) => [at["data-id"], placeOf(at)[0]]));
    for (const at of edgesIn(svg))
      expect(x.get(at["data-from"])).toBeLessThan(x.get(at["data-to"])!);
    expect(elementsIn(svg).find(({ text }) => text === "ark:99999/gone")!.at).toMatchObject({
      "text-decoration": "line-through",
    });
  });

  it("says what it is to those who cannot see it", () => {
    const [root, title, about] = elementsIn(svg);
    expect(root!.at["aria-labelledby"]).toBe(title!.at["id"]);
    expect(root!.at["aria-describedby"]).toBe(about!.at["id"]);
    expect(title!.text).toBe("Evidence of Cell counts");
    expect(about!.text).toBe(
      "From left to right: what supports Cell counts, the record itself, what it supports. " +
        "8 other nodes, 6 relations. Not shown: 3 beyond the depth.",
    );
  });

  it("as a file has its style, its paper and whole addresses", () => {
    const file = draw(GRAPH, { form: "file", base: "https://registry.example" }).svg;
    expect(file).toContain("<style>");
    expect(file).toContain('href="https://registry.example/ark:99999/run"');
    expect(PICTURE_POLICY).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+='; sandbox /);
    expect(svg).not.toContain("<style");
  });

  it("counts beside its neighbours what is not drawn", () => {
    const drawn = draw(GRAPH, { nodes: 2 });
    const [root, first] = drawn.nodes;
    expect(drawn.rests).toEqual([
      { node: root, side: "support", count: 2 },
      { node: first, side: "support", count: 2 },
      { node: root, side: "use", count: 1 },
    ]);
    expect(drawn.left).toContainEqual({ reason: "limit", count: 7, about: "further away" });
    expect(drawn.svg).toContain(">2 more</text>");
    const few = draw(GRAPH, { edges: 2 });
    expect([few.edges.length, few.left.find(({ reason }) => reason === "edges")?.count]).toEqual([
      2, 4,
    ]);
  });

  it("has a link at each node that leads further than the depth", () => {
    const further = new Map([
      [id("tool"), { support: 2, use: 0 }],
      [id("claim"), { support: 0, use: 1 }],
      [id("gone"), { support: 1, use: 1 }],
      [id("not-drawn"), { support: 1, use: 0 }],
    ]);
    const drawn = draw({ ...GRAPH, further }, { groupLink: "/explore?expand=" });
    const links = elementsIn(drawn.svg).flatMap(({ at }) =>
      at["data-further"] === undefined ? [] : [[at["href"], at["data-further"], placeOf(at)[0]]],
    );
    expect(links).toEqual([
      ["/explore?expand=ark%3A99999%2Ftool", "2", 0],
      ["/explore?expand=ark%3A99999%2Fclaim", "1", 176],
      ["/explore?expand=ark%3A99999%2Fgone", "2", 0],
    ]);
    expect(elementsIn(drawn.svg).map(({ text }) => text)).toContain(
      "Show one step more from count.py",
    );
    expect(draw({ ...GRAPH, further }).svg).toBe(draw(GRAPH).svg);
  });

  it("folds the arrows of a program of many runs, but not those of the record itself or of data", () => {
    const runs = Array.from({ length: 12 }, (_, run) => `run-${run}`);
    const graph = graphOf([
      { "@id": id("end"), "@type": ["evi:Dataset"], generatedBy: runs.flatMap((run) => to(run)) },
      ...runs.map((run) => ({
        "@id": id(run),
        "@type": ["evi:Computation"],
        usedSoftware: to("tool"),
        usedDataset: to("input"),
      })),
      { "@id": id("tool"), "@type": ["evi:Software"], name: "tool.py" },
      { "@id": id("input"), "@type": ["evi:Dataset"] },
    ]);
    const hiddenFrom = (svg: string) =>
      edgesIn(svg).flatMap((at) => (at["visibility"] === "hidden" ? [at["data-from"]] : []));
    const folded = draw(graph, { foldHubs: true });
    expect(hiddenFrom(folded.svg)).toEqual(runs.map(() => id("tool")));
    expect(folded.svg).toContain("12 arrows folded");
    expect(folded.left).toContainEqual({
      reason: "folded",
      count: 12,
      about: "arrows from what is used in many places",
    });
    // Files show every arrow.
    const whole = draw(graph);
    expect([hiddenFrom(whole.svg), whole.left, whole.hubArrows]).toEqual([[], [], 12]);
    const [tool] = graph["@graph"].filter((node) => node["@id"] === id("tool"));
    const ofTool = graphOf([tool!, ...graph["@graph"].filter((node) => node !== tool)]);
    expect(hiddenFrom(draw(ofTool, { foldHubs: true }).svg)).toEqual([]);
  });

  /** Runs of one program, each with three images and two results of its own; then one merge of all. */
  const manyRuns = (runs: number): EvidenceGraph => {
    const each = Array.from({ length: runs }, (_, run) => run);
    const results = each.flatMap((run) => [`out-${run}-0`, `out-${run}-1`]);
    return graphOf([
      { "@id": id("all"), "@type": ["evi:Dataset"], generatedBy: to("merge") },
      { "@id": id("merge"), "@type": ["evi:Computation"], usedDataset: to(...results) },
      ...each.map((run) => ({
        "@id": id(`run-${run}`),
        "@type": ["evi:Computation"],
        usedSoftware: to("tool"),
        usedDataset: to(`in-${run}-0`, `in-${run}-1`, `in-${run}-2`),
        generated: to(`out-${run}-0`, `out-${run}-1`),
      })),
      ...each.flatMap((run) =>
        [`in-${run}-0`, `in-${run}-1`, `in-${run}-2`, `out-${run}-0`, `out-${run}-1`].map(
          (name) => ({ "@id": id(name), "@type": ["evi:Dataset"] }),
        ),
      ),
      { "@id": id("tool"), "@type": ["evi:Software"] },
    ]);
  };

  it("of hundreds of records has each run beside its files, and the arrows of a hub in one line", () => {
    const { svg } = draw(manyRuns(90));
    const heights = new Map(nodesIn(svg).map((at) => [at["data-id"], placeOf(at)[1]]));
    for (let run = 0; run < 90; run++) {
      const at = heights.get(id(`run-${run}`))!;
      for (const file of [`in-${run}-0`, `in-${run}-2`, `out-${run}-0`, `out-${run}-1`])
        expect(Math.abs(heights.get(id(file))! - at), file).toBeLessThan(150);
    }
    const upright = (at: Record<string, string>) =>
      /H(\d+)Q(\d+) \d+ \2 \d+V\d+/.exec(at["d"]!)?.[2] ?? [];
    const lines = edgesIn(svg).filter((at) => at["data-to"] === id("merge"));
    expect(lines).toHaveLength(180);
    expect(new Set(lines.flatMap(upright)).size).toBe(1);
    // What is not of a hub is drawn as ever.
    const ofFiles = edgesIn(svg).filter((at) => at["data-from"]?.startsWith(id("in-")));
    expect(ofFiles.flatMap(upright)).toEqual([]);
    const width = Number(/ width="(\d+)"/.exec(svg)![1]);
    const height = Number(/ height="(\d+)"/.exec(svg)![1]);
    for (const { d } of edgesIn(svg))
      for (const [, x, y] of d!.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)) {
        expect(Number(x)).toBeGreaterThanOrEqual(0);
        expect(Number(x)).toBeLessThanOrEqual(width);
        expect(Number(y)).toBeGreaterThanOrEqual(0);
        expect(Number(y)).toBeLessThanOrEqual(height);
      }
  });

  it("has lighter arrows only where hundreds run side by side", () => {
    const strokes = (graph: EvidenceGraph) =>
      /class="ev-edges"[^>]* stroke-width="([\d.]+)"(?: stroke-opacity="([\d.]+)")?/
        .exec(draw(graph).svg)!
        .slice(1);
    // Sixty records are drawn as they always were.
    const few = draw(manyRuns(9)).svg;
    expect(strokes(manyRuns(9))).toEqual(["1.5", undefined]);
    expect(edgesIn(few).filter((at) => at["d"]!.includes("Q"))).toEqual([]);
    expect(strokes(manyRuns(90))).toEqual(["1", undefined]);
    const files = Array.from({ length: 98 }, (_, file) => `file-${file}`);
    const crossing = graphOf([
      ...files.map((_, run) => ({
        "@id": id(`run-${run}`),
        "@type": ["evi:Computation"],
        usedDataset: to(
          ...[1, 2, 3, 4, 5, 6].map(
            (step) => files[(run * run * 13 + step * step * 37 * (run + 1)) % 98]!,
          ),
        ),
      })),
      ...files.map((name) => ({ "@id": id(name), "@type": ["evi:Dataset"] })),
    ]);
    const [width, opacity] = strokes(crossing);
    expect(width).toBe("1");
    expect(Number(opacity)).toBeLessThan(0.6);
  });

  it("leaves out kinds with their arrows, and counts them; its record stays", () => {
    expect(Object.fromEntries(countKinds(GRAPH))).toEqual({
      dataset: 41,
      computation: 2,
      software: 1,
      agent: 1,
      absent: 3,
    });
    const { svg: less } = draw(withoutKinds(GRAPH, ["dataset", "absent"]));
    expect(nodesIn(less).map((at) => at["data-id"])).toEqual(
      ["cells", "run", "tool", "ada", "claim"].map(id),
    );
    expect(edgesIn(less)).toHaveLength(4);
  });

  it("names a kind by the words of its nodes, by each where they differ", () => {
    const types = ["evi:Dataset", "evi:Computation", "evi:Experiment", "Organization"];
    const graph = graphOf(types.map((type) => ({ "@id": id(type), "@type": [type] })));
    expect(Object.fromEntries(namesOfKinds(graph))).toEqual({
      dataset: ["datasets"],
      computation: ["computations", "experiments"],
      agent: ["organizations"],
    });
  });

  it("can be told apart from its paper and read on its fill, in both modes", () => {
    const light = (hex: string) =>
      [1, 3, 5]
        .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index]!, 0);
    const contrast = (a: string, b: string) => {
      const [low, high] = [light(a), light(b)].toSorted((one, two) => one - two);
      return (high! + 0.05) / (low! + 0.05);
    };
    for (const [mode, palette] of [
      ["light", LIGHT],
      ["dark", DARK],
    ] as const) {
      expect(contrast(palette.quiet, palette.paper)).toBeGreaterThan(4.5);
      for (const [name, glyph] of Object.entries(GLYPHS)) {
        const { stroke, fill } = glyph[mode];
        expect(contrast(stroke, palette.paper), `${name} ${mode}`).toBeGreaterThan(3);
        expect(contrast(palette.ink, fill), `${name} ${mode}`).toBeGreaterThan(4.5);
        expect(contrast(palette.quiet, fill), `${name} ${mode}`).toBeGreaterThan(4.5);
      }
    }
  });
});

/** Names that clients may give; among them parts of markup, marks and turned directions. */
const HOSTILE = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "</text></svg><script>alert(1)</script>",
    `"' onload="alert(1)`,
    "]]><!--&nbsp;&#0;&x;",
    "\u0000\u001b[31m\ufffe\uffff\ud800",
    "\u202egnp.exe\u202c\u2067x",
    "a\u0300".repeat(300) + "\u0301".repeat(3_000),
    "نص عربي طويل جدا بلا معنى",
    "名".repeat(200),
    "👩‍👩‍👧‍👦".repeat(60),
    "W".repeat(10_000),
    "",
    "   ",
  ),
);
const NAMES = Object.keys(PROVENANCE) as (keyof typeof PROVENANCE)[];
const ANY_GRAPH = fc
  .record({
    nodes: fc.array(
      fc.record({
        name: fc.option(HOSTILE, { nil: undefined }),
        type: fc.oneof(fc.constantFrom("evi:Dataset", "evi:Computation", "Person"), HOSTILE),
        tail: HOSTILE,
        missing: fc.boolean(),
      }),
      { minLength: 1, maxLength: 14 },
    ),
    edges: fc.array(fc.tuple(fc.nat(13), fc.nat(13), fc.constantFrom(...NAMES)), { maxLength: 40 }),
  })
  .map(({ nodes, edges }) => {
    const ids = nodes.map(({ tail }, index) => `ark:99999/${index}${tail.toWellFormed()}`);
    const graph: EvidenceNode[] = [];
    const dangling: EvidenceGraph["dangling"] = [];
    for (const [index, { name, type, missing }] of nodes.entries()) {
      if (missing && index > 0) dangling.push({ "@id": ids[index]!, reason: "unknown" });
      else
        graph.push({
          "@id": ids[index]!,
          "@type": [type],
          ...(name === undefined ? {} : { name }),
        });
    }
    for (const [from, end, name] of edges) {
      const node = graph[from % graph.length]!;
      const target = ids[end % ids.length]!;
      const known = node[name] ?? [];
      if (!known.some((each) => each["@id"] === target)) node[name] = [...known, { "@id": target }];
    }
    return graphOf(graph, { dangling });
  });

describe("any evidence graph", () => {
  it("is drawn whole, as well-formed XML without script, whatever its names are", () => {
    fc.assert(
      fc.property(ANY_GRAPH, (graph) => {
        const { svg } = draw(graph, { form: "file" });
        expect(XMLValidator.validate(svg)).toBe(true);
        expect(draw(graph, { form: "file" }).svg).toBe(svg);
        const elements = elementsIn(svg);
        expect(elements.filter(({ name }) => !DRAWN.has(name))).toEqual([]);
        for (const { at } of elements)
          for (const [name, value] of Object.entries(at)) {
            expect(name).not.toMatch(/^on|^style$/i);
            if (name === "href") expect(value).toMatch(/^(?:\/ark:|https?:)/);
          }
        // XML has no control characters, and a name must not turn what is around it.
        // Line ends are those between elements.
        expect(svg).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069\ufffe\uffff]/u);

        const shown = nodesIn(svg);
        expect(shown).toHaveLength(graph["@graph"].length + graph.dangling.length);
        const pairs = new Set<string>();
        for (const node of graph["@graph"])
          for (const name of NAMES)
            for (const { "@id": other } of node[name] ?? [])
              pairs.add(
                JSON.stringify(
                  PROVENANCE[name].support === "object"
                    ? [other, node["@id"]]
                    : [node["@id"], other],
                ),
              );
        expect(edgesIn(svg)).toHaveLength(pairs.size);
        const places = shown.map(placeOf);
        for (const [index, [x, y]] of places.entries())
          for (const [otherX, otherY] of places.slice(index + 1))
            expect(x !== otherX || Math.abs(y - otherY) >= 44).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  const DRAWN = new Set([
    "svg",
    "title",
    "desc",
    "style",
    "rect",
    "defs",
    "marker",
    "path",
    "g",
    "text",
    "a",
  ]);

  it("of 600 nodes and 6,000 edges is drawn within two seconds, whatever its form is", () => {
    for (const shape of ["layers", "any order", "chain and cycles"] as const) {
      let seed = 7;
      const random = (most: number) => {
        seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
        return Math.floor((seed / 2 ** 32) * most);
      };
      const nodes = Array.from({ length: 600 }, (_, i): EvidenceNode => ({
        "@id": id(`n${i}`),
        "@type": ["evi:Dataset"],
        name: `Node ${i}`,
        derivedFrom: shape === "chain and cycles" && i < 599 ? to(`n${i + 1}`) : [],
      }));
      const pairs = new Set(
        shape === "chain and cycles" ? nodes.slice(1).map((_, i) => `${i} ${i + 1}`) : [],
      );
      while (pairs.size < 6_000) {
        const [a, b] = [random(600), random(600)];
        const [from, end] =
          shape === "layers" ? [a, (Math.floor(a / 60) * 60 + 60 + (b % 60)) % 600] : [a, b];
        if (from === end || pairs.has(`${from} ${end}`)) continue;
        pairs.add(`${from} ${end}`);
        nodes[from]!.derivedFrom!.push(...to(`n${end}`));
      }
      const before = process.cpuUsage();
      const { svg } = draw(graphOf(nodes));
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1e6, shape).toBeLessThan(2);
      expect(svg.match(/data-from=/g)).toHaveLength(6_000);
    }
  });
});
