import { describe, expect, it } from "vitest";
import { Findings } from "../../../../src/services/crates/findings.js";
import { adviseOn } from "../../../../src/services/crates/build-records.js";

const advised = (kind: "computation" | "dataset", document: Record<string, string>): string[] => {
  const findings = new Findings();
  adviseOn(kind, document, { file: "ro-crate-metadata.json", pointer: "/@graph/2" }, findings);
  return findings.allWarnings().map(({ code, pointer }) => `${code} ${pointer}`);
};

describe("advice on an entity of a crate", () => {
  it("does not report fields that only records written over the API must have", () => {
    expect(advised("computation", { name: "Run", description: "A run of the pipeline" })).toEqual(
      [],
    );
    expect(advised("dataset", {})).toEqual([]);
  });
  it("reports texts whose length a record written over the API could not have", () => {
    expect(advised("dataset", { name: "n".repeat(201), description: "abc" })).toEqual([
      "FIELD_LENGTH /@graph/2/name",
      "FIELD_LENGTH /@graph/2/description",
    ]);
    // Code points, not UTF-16 units.
    expect(
      advised("dataset", { name: "\u{1F9EC}".repeat(200), description: "long enough" }),
    ).toEqual([]);
  });
});
