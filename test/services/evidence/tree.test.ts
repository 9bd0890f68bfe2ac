import { describe, expect, it } from "vitest";
import { supportTree } from "../../../src/services/evidence/tree.js";
import type { EvidenceGraph } from "../../../src/services/evidence/types.js";

function answer(
  nodes: Record<string, Partial<Record<string, string[]>>>,
  more: Partial<EvidenceGraph> = {},
): EvidenceGraph {
  const graph = Object.entries(nodes).map(([id, edges]) => ({
    "@id": id,
    "@type": ["evi:Dataset"],
    ...Object.fromEntries(
      Object.entries(edges).map(([name, targets]) => [
        name,
        targets!.map((target) => ({ "@id": target })),
      ]),
    ),
  }));
  return {
    "@context": {},
    "@id": graph[0]!["@id"],
    direction: "upstream",
    "@graph": graph,
    outputs: [],
    dangling: [],
    hidden: {},
    truncated: false,
    asOf: 1,
    ...more,
  };
}

describe("the tree of an evidence graph", () => {
  it("shows under each node its supporting nodes, and by which statement", () => {
    const graph = answer(
      { a: { generatedBy: ["r"] }, r: { usedDataset: ["b", "c"], generated: ["a"] }, b: {} },
      { dangling: [{ "@id": "c", reason: "unknown" }] },
    );
    graph["@graph"][0]!.name = "Result";
    expect(supportTree(graph)).toEqual([
      "Result (Dataset) a",
      "└─ generatedBy: r (Dataset)",
      "   ├─ usedDataset: b (Dataset)",
      "   └─ usedDataset: c (unknown)",
    ]);
  });

  it("marks a node that was drawn before, so that cycles and diamonds end", () => {
    expect(
      supportTree(
        answer({
          a: { derivedFrom: ["b", "c"] },
          b: { derivedFrom: ["d"] },
          c: { derivedFrom: ["d"] },
          d: { derivedFrom: ["a"] },
        }),
      ),
    ).toEqual([
      "a (Dataset)",
      "├─ derivedFrom: b (Dataset)",
      "│  └─ derivedFrom: d (Dataset)",
      "│     └─ derivedFrom: a (Dataset) (see above)",
      "└─ derivedFrom: c (Dataset)",
      "   └─ derivedFrom: d (Dataset) (see above)",
    ]);
  });

  it("is reversed for downstream evidence", () => {
    expect(
      supportTree(
        answer(
          { in: {}, run: { usedDataset: ["in"], generated: ["out"] }, out: {} },
          { direction: "downstream" },
        ),
      ),
    ).toEqual([
      "in (Dataset)",
      "└─ usedDataset (inverse): run (Dataset)",
      "   └─ generated: out (Dataset)",
    ]);
  });

  it("begins a crate's tree at its outputs", () => {
    expect(
      supportTree(
        answer(
          { crate: {}, fig: { derivedFrom: ["raw"] }, raw: {} },
          { outputs: [{ "@id": "fig" }] },
        ),
      ),
    ).toEqual(["fig (Dataset)", "└─ derivedFrom: raw (Dataset)"]);
  });

  it("truncates a chain of thousands at the width of a terminal", () => {
    const lines = supportTree(
      answer(
        Object.fromEntries(
          Array.from({ length: 10_000 }, (_, i) => [`n${i}`, { derivedFrom: [`n${i + 1}`] }]),
        ),
      ),
    );
    expect(lines).toHaveLength(102);
    expect(lines.at(-1)).toContain("ask for n100");
  });
});
