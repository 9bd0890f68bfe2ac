import * as fc from "fast-check";
import { expect, it } from "vitest";
import { EXAMPLES } from "../../src/model/examples.js";
import type { JsonObject, JsonValue } from "../../src/model/field.js";
import type { KindName } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { plainExpansion } from "../../src/rdf/emit.js";
import { graphOf } from "../../src/rdf/graph.js";

const CONTEXTS: JsonObject[] = [
  { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#" },
  { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" },
  { "@vocab": "https://schema.org/" },
];
const words = fc.oneof(
  fc.constantFrom(
    "name",
    "description",
    "owner",
    "keywords",
    "license",
    "author",
    "usedDataset",
    "generated",
    "generatedBy",
    "usedBy",
    "isBasedOn",
    "members",
    "properties",
    "examples",
    "evi",
    "EVI",
    "type",
    "id",
    "object",
    "result",
    "metadataType",
    "email",
    "datasets",
    "constructor",
    "toString",
    "a b",
    "x:y",
    "_x",
    "1",
    "@foo",
    "@graph",
    "__proto__",
    "é",
  ),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,5}$/),
);
const scalar = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom(
    "ark:99999/x",
    "https://n2t.net/ark:/99999/a-b",
    "https://example.org/x",
    " https://creativecommons.org/licenses/by/4.0/",
    "evi:Dataset",
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const values: fc.Arbitrary<JsonValue> = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }),
  fc.dictionary(words, scalar, { maxKeys: 2 }),
);
const types = fc.oneof(
  fc.constantFrom(
    "evi:Dataset",
    "EVI:Schema",
    "Person",
    "Organization",
    "evi:Computation",
    "name",
    "evi",
    "schema:Person",
    "https://schema.org/Person",
    "a b",
    "CreateAction",
  ),
  fc.array(fc.constantFrom("evi:Dataset", "Person", "x"), { maxLength: 2 }),
);

it("expansion without the processor equals that of the processor", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(KINDS) as KindName[])),
      fc.constantFrom(...CONTEXTS),
      fc.dictionary(words, values, { maxKeys: 8 }),
      types,
      async (kind, context, body, type) => {
        const ask = (sent: JsonValue) =>
          graphOf({
            ark: "ark:99999/r",
            kind,
            document: { ...body, "@type": type, "@id": "ark:99999/r", "@context": sent },
          }).catch((error: Error) => error.name);
        // In a list a context means the same, and is never expanded without the processor.
        expect(await ask(context)).toEqual(await ask([context]));
      },
    ),
    { numRuns: 2000 },
  );
});

it.each(["dataset", "software", "computation", "group", "project", "user"] as const)(
  "the example of a %s needs no processor",
  (kind) => {
    expect(plainExpansion({ ...EXAMPLES[kind], "@context": CONTEXTS[0]! }, {})).toBeDefined();
  },
);
