import { describe, expect, it } from "vitest";
import { Findings } from "../../../../src/use-cases/crates/findings.js";
import { adviseOn } from "../../../../src/use-cases/crates/records/advice.js";
import type { JsonObject } from "../../../../src/model/field.js";

function advice(document: JsonObject): string[] {
  const findings = new Findings();
  adviseOn("computation", document, { file: "ro-crate-metadata.json", pointer: "/@graph/3" }, findings);
  return findings.allWarnings().map(({ message }) => message);
}

describe("advice on a computation", () => {
  it("names what is missing", () => {
    expect(advice({ name: "A run", description: "Of a tool" })).toEqual(["A Computation should have author, dateCreated, dateFinished, sourceOrganization, sourceProject, container, command, usedSoftware, usedDataset, containerId, generated."]);
  });

  it("does not miss what a run profile says in schema.org's words", () => {
    const run = { name: "A run", description: "Of a tool", agent: { "@id": "#me" }, instrument: { "@id": "#tool" }, object: [{ "@id": "in.txt" }], result: { "@id": "out.txt" }, startTime: "2024-05-01", endTime: "2024-05-01" };
    expect(advice(run)).toEqual(["A Computation should have sourceOrganization, sourceProject, container, command, containerId."]);
  });
});
