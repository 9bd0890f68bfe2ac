import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EXAMPLES } from "../../src/model/examples.js";
import type { Field, JsonObject, JsonValue } from "../../src/model/field.js";
import { recordSchema, withDefaults, withoutSecrets } from "../../src/model/json-schema.js";
import { isPublic, KIND_NAMES, type Kind } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { statementsOf } from "../../src/services/records/reserved.js";
import { ShapeValidator } from "../../src/services/validation/shape-validator.js";

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const check = new ShapeValidator();
const ARK = "ark:99999/any-record";

/**
 * Values of the field's own JSON type, on both sides of its limits; and a number, which fits no
 * text.
 */
function valuesOf(field: Field): fc.Arbitrary<JsonValue> {
  const text = fc.oneof(
    fc.string({ minLength: 1, maxLength: 8 }),
    fc.constantFrom(
      "ok",
      "x".repeat(200),
      "x".repeat(201),
      "😀".repeat(200),
      "😀".repeat(201),
      "four",
      "fives",
      "😀😀😀😀",
      "😀😀😀😀😀",
    ),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }),
    fc.integer(),
  );
  if (field.ark)
    return fc.constantFrom(
      "ark:99999/user-ada",
      "ark:/99999/user-ada",
      "https://n2t.net/ark:/12345/group",
      "ada",
      7,
    );
  if (field.date)
    return fc.constantFrom("2024-05-01", "2024-05-01T10:00:00Z", "in May", "20240501", 2024);
  if (field.json === "boolean") return fc.constantFrom<JsonValue>(true, false, "yes");
  if (field.json === "string") return text;
  throw new Error(`no values for ${field.json}`);
}

/**
 * Fields on which a graph can say as much as a document: text, dates, identifiers and truth values
 * that are public.
 */
const comparable = (kind: Kind): [string, Field][] =>
  Object.entries(kind.fields).filter(
    ([name, field]) =>
      !name.startsWith("@") &&
      isPublic(field) &&
      !field.computed &&
      field.const === undefined &&
      !field.link &&
      (field.json === "string" || field.json === "boolean") &&
      !field.secret,
  );

/**
 * The kind's example with one or two of those fields changed or left out. That a key must be there
 * although it may be null, a graph cannot tell.
 */
const documents = (kind: Kind): fc.Arbitrary<JsonObject> =>
  fc
    .subarray(comparable(kind), { minLength: 1, maxLength: 2 })
    .chain((fields) =>
      fc
        .tuple(
          ...fields.map(([name, field]) =>
            fc
              .oneof(
                valuesOf(field),
                ...(field.required && field.nullable ? [] : [fc.constant(undefined)]),
              )
              .map((value) => [name, value] as const),
          ),
        )
        .map(
          (changes) =>
            Object.fromEntries(
              Object.entries({ ...EXAMPLES[kind.name], ...Object.fromEntries(changes) }).filter(
                ([, value]) => value !== undefined,
              ),
            ) as JsonObject,
        ),
    );

describe.each(
  KIND_NAMES.filter((name) => !KINDS[name].loose && comparable(KINDS[name]).length > 1).map(
    (name) => KINDS[name],
  ),
)("shape and schema of a $name", (kind) => {
  const accepts = ajv.compile(recordSchema(kind));

  it("reach the same result for any record", async () => {
    const verdicts = { good: 0, bad: 0 };
    await fc.assert(
      fc.asyncProperty(documents(kind), async (document) => {
        // Defaults would hide what is absent; a record keeps what was sent.
        const record = withDefaults(kind, withoutSecrets(kind, document), ARK);
        const bySchema = accepts(record);
        const { quads } = await statementsOf({
          ark: ARK,
          kind: kind.name,
          document: record,
          ...(kind.loose ? { fromCrate: true } : {}),
        });
        const byShape = await check.check({ ark: ARK, kind: kind.name, quads, sent: true });
        verdicts[bySchema ? "good" : "bad"]++;
        expect(
          byShape.length === 0,
          JSON.stringify({ record, byShape, bySchema: accepts.errors }),
        ).toBe(bySchema);
      }),
      { numRuns: 60 },
    );
    expect(verdicts.good).toBeGreaterThan(0);
    expect(verdicts.bad).toBeGreaterThan(0);
  });
});
