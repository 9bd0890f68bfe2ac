import * as fc from "fast-check";
import { Store } from "oxigraph";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/model/field.js";
import { parseStrictJson } from "../../src/model/json/read.js";
import { KIND_NAMES } from "../../src/model/kind.js";
import { JsonLdError } from "../../src/rdf/emit.js";
import { graphOf } from "../../src/rdf/graph.js";

const ARK = "ark:99999/me";
const OTHER = "ark:99999/victim";

/** Text made to break out of a line of N-Quads, or out of an IRI. */
const breaking = fc.constantFrom(
  `> <x> <y> <${OTHER}> .\n<a> <b> <c> <${OTHER}> .\n`,
  `" <${OTHER}> .\n<s> <p> "`,
  `"@en <${OTHER}> . #`,
  `\\u003E`,
  "\u003e",
  "\n",
  "\r\n",
  "\u0085",
  "\u2028",
  "_:b",
  "_:b <x>",
  "@id",
  "@type",
  "@graph",
  "@",
  OTHER,
  `${OTHER}> <p> <o> <${OTHER}`,
  "http://[::1",
  "http://a:b:c",
  "http://x/#a#b",
  "http://x/%",
  "http://é.example/ü",
  "a:b",
  ":",
  "//",
  "//x y",
  "#",
  "?",
  "..",
  "../../x",
  "evi:x y",
  "urn:",
  "mailto:a b",
  "javascript:alert(1)",
  "http://x/\u{10ffff}",
  "\ue000",
  "\ufffe",
  "\u{5fffe}",
  "\u{dffff}",
  "en-",
  "EN_us",
  "@version",
  "@vocab",
  "@json",
);
const texts = fc.oneof(
  { weight: 3, arbitrary: breaking },
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.webUrl(),
);
const keys = fc.oneof(
  fc.constantFrom(
    "name",
    "generatedBy",
    "usedDataset",
    "hasPart",
    "owner",
    "license",
    "properties",
    "object",
    "result",
    "evi:used",
    "http://x.example/p",
    "__proto__",
    "constructor",
    "@id",
    "@type",
    "@value",
    "@language",
    "@list",
    "@set",
    "@reverse",
    "@graph",
    "@included",
    "@index",
    "@nest",
    "@direction",
    "@none",
  ),
  texts,
);
const scalars = fc.oneof(texts, fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalars as fc.Arbitrary<JsonValue>,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc
      .array(fc.tuple(keys, tie("tree")), { maxLength: 4 })
      .map((members) => Object.fromEntries(members) as JsonValue),
  ),
}));
const contexts = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<JsonValue>(
      { "@vocab": "https://schema.org/" },
      {},
      null,
      [],
      "https://w3id.org/ro/crate/1.1/context",
      { "@base": `${OTHER}/`, "@vocab": "#" },
      { "@vocab": "", "@language": "en" },
      {
        "@vocab": "https://schema.org/",
        name: { "@type": "@id" },
        hasPart: { "@container": "@list" },
        about: { "@reverse": "http://x.example/q" },
        usedDataset: "@type",
      },
    ),
  },
  fc
    .dictionary(
      keys,
      fc.oneof(
        texts,
        fc.dictionary(
          fc.constantFrom("@id", "@type", "@container", "@reverse", "@language"),
          texts,
          { maxKeys: 2 },
        ),
      ),
      { maxKeys: 3 },
    )
    .map((context) => context as JsonValue),
);
const documents = fc
  .tuple(contexts, fc.array(fc.tuple(keys, tree), { maxLength: 6 }))
  .map(([context, members]) => ({ "@context": context, ...Object.fromEntries(members) }));

describe("the graph of any document", () => {
  it(
    "is N-Quads that a strict parser accepts, in the record's own graphs, sorted and " +
      "without duplicates",
    async () => {
      let written = 0;
      let stated = 0;
      await fc.assert(
        fc.asyncProperty(
          documents,
          fc.constantFrom(...KIND_NAMES),
          fc.boolean(),
          async (document, kind, fromCrate) => {
            const strict = parseStrictJson(JSON.stringify(document), { maxDepth: 200 });
            fc.pre(strict.problems.length === 0);
            const graph = await graphOf({
              ark: ARK,
              kind,
              document: strict.value as JsonObject,
              fromCrate,
            }).catch((error: unknown) => {
              if (error instanceof JsonLdError) return undefined;
              throw error;
            });
            if (!graph) return;
            written++;
            const lines = graph.quads.split("\n");
            expect(lines.pop()).toBe("");
            stated += lines.length;
            expect(lines).toEqual([...new Set(lines)].toSorted());
            const store = new Store();
            store.load(graph.quads, { format: "application/n-quads" });
            expect(store.size).toBe(lines.length);
            for (const quad of store.match())
              expect([ARK, `${ARK}#inferred`]).toContain(quad.graph.value);
            for (const { target } of graph.links) expect(graph.quads).toContain(`<${target}>`);
          },
        ),
        { numRuns: 1000, interruptAfterTimeLimit: 4_000, markInterruptAsFailure: false },
      );
      expect(written).toBeGreaterThan(100);
      expect(stated).toBeGreaterThan(written);
    },
  );
});
