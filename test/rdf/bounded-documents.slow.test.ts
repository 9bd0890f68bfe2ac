import { describe, expect, it } from "vitest";
import { JsonLdError } from "../../src/rdf/emit.js";
import { graphOf } from "../../src/rdf/graph.js";
import type { JsonObject } from "../../src/model/field.js";
import { entitiesToValidate } from "../../src/services/validation/document.js";
import { RO_CRATE, metadata } from "../support/crates.js";

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const alternating = times(3000, (n) =>
  n % 2 ? RO_CRATE : "https://w3id.org/ro/crate/1.2/context",
);
const own = (n: number): JsonObject => ({
  "@context": [RO_CRATE, { [`t${n}`]: "https://example.org/" }],
  name: "x",
});

describe("a document with an excessive number of contexts", () => {
  it.each<[string, JsonObject]>([
    ["in a list", { "@context": alternating, name: "x" }],
    ["in its nodes", { "@context": RO_CRATE, knows: times(3000, own) }],
    [
      "by a term",
      {
        "@context": [RO_CRATE, { p: { "@id": "https://example.org/p", "@context": alternating } }],
        p: { name: "x" },
      },
    ],
    [
      "by a type",
      {
        "@context": [
          RO_CRATE,
          { T: { "@id": "https://example.org/T", "@context": { t: "https://example.org/t" } } },
        ],
        "@type": "T",
        knows: times(3000, () => ({ name: "x" })),
      },
    ],
  ])(
    "is refused in seconds: %s",
    async (_where, document) => {
      const before = process.cpuUsage();
      await expect(
        graphOf({ ark: "ark:99999/x", kind: "dataset", document, fromCrate: true }),
      ).rejects.toThrow(/MAX_CRATE_CONTEXTS=100/);
      await expect(
        graphOf({ ark: "ark:99999/x", kind: "dataset", document }),
      ).rejects.toBeInstanceOf(JsonLdError);
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(20_000);
    },
    600_000,
  );

  it("is refused when a property has very many values", async () => {
    const document = { "@context": RO_CRATE, hasPart: times(100_001, (n) => ({ "@id": `#${n}` })) };
    await expect(graphOf({ ark: "ark:99999/x", kind: "dataset", document })).rejects.toThrow(
      /MAX_CRATE_REFERENCES=100000/,
    );
  });

  it("is refused as crate metadata that is validated, too", async () => {
    const check = async () => {
      for await (const _ of entitiesToValidate(
        metadata(times(3000, (n) => ({ "@id": `#${n}`, "@type": "Person", ...own(n) }))),
      ))
        void _;
    };
    await expect(check()).rejects.toThrow(/MAX_CRATE_CONTEXTS=100/);
  }, 60_000);

  it("is read when it repeats one context, or has a few of its own", async () => {
    const document = {
      "@context": times(3000, () => RO_CRATE),
      name: "A",
      knows: times(50, () => own(0)),
    };
    expect((await graphOf({ ark: "ark:99999/x", kind: "dataset", document })).quads).toContain(
      "https://schema.org/name",
    );
  });
});
