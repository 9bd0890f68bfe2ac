import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  INPUTS,
  ON_ACTIVITIES,
  OUTPUTS,
  PROTOCOLS,
  PROVENANCE,
  type ProvenanceName,
  type ProvenanceTerm,
  SYNONYMS,
} from "../../src/model/provenance.js";
import { packageRoot } from "../../src/package-root.js";
import { EVIDENCE_FORMATS } from "../../src/services/evidence/formats.js";

const page = readFileSync(join(packageRoot, "docs", "provenance.md"), "utf8");

/** The table of edges as the model has it. */
function edgeTable(): string {
  const rows = (Object.entries(PROVENANCE) as [ProvenanceName, ProvenanceTerm][]).map(
    ([name, { evi, prov, support }]) => {
      const others = Object.entries(SYNONYMS)
        .filter(([, same]) => same === name)
        .map(([term]) => term)
        .filter((term) => term !== prov && !term.startsWith("evi:"));
      const actions = Object.entries(ON_ACTIVITIES)
        .filter(([, same]) => same === name)
        .map(([term]) => term);
      const places =
        { usedDataset: INPUTS, generated: OUTPUTS, used: PROTOCOLS }[name as string] ?? [];
      const cells = (terms: readonly string[]) => terms.map((term) => `\`${term}\``).join(", ");
      return (
        `| \`${name}\` | ` +
        `${support === "object" ? "the object supports the subject" : "the subject supports the object"} ` +
        `| \`${evi}\` | ${prov ? `\`${prov}\`` : ""} | ${cells(others)} | ` +
        `${cells([...actions, ...places])} |`
      );
    },
  );
  return [
    "| edge | support | EVI | PROV-O | also written | of an activity also |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

describe("docs/provenance.md", () => {
  it("has the model's table of edges", () => expect(page).toContain(`\n${edgeTable()}\n`));
  it("names every form and reason", () => {
    for (const format of Object.keys(EVIDENCE_FORMATS)) expect(page).toContain(`\`${format}\``);
    for (const reason of ["depth", "limit", "deleted", "kind", "collapsed", "external", "unknown"])
      expect(page).toContain(`\`${reason}\``);
  });
  it("draws with flowcharts only, each statement on a separate line", () => {
    const drawings = [...page.matchAll(/^```mermaid\n([\s\S]*?)^```/gm)].map((match) =>
      match[1]!.trimEnd().split("\n"),
    );
    expect(drawings.length).toBeGreaterThanOrEqual(3);
    for (const [first, ...lines] of drawings) {
      expect(first).toMatch(/^flowchart (?:RL|LR)$/);
      for (const line of lines)
        expect(line).toMatch(
          /^ {2}(?:\w+(?:\(\["[^"]*"\]\)|\["[^"]*"\]|\[\/"[^"]*"\\\])|\w+ (?:-- [\w:]+ -->|-\. [\w: ]+ \.->) \w+|style \w+ stroke-dasharray: 5 5)$/,
        );
    }
  });
});
