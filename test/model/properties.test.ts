import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeInput, withDefaults, withoutSecrets } from "../../src/model/defaults.js";
import { EXAMPLES } from "../../src/model/examples.js";
import type { JsonObject } from "../../src/model/field.js";
import { dateProblem } from "../../src/model/dates.js";
import { inputSchema, recordSchema } from "../../src/model/json-schema.js";
import { KIND_NAMES, type Kind } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { validateRecord } from "../../src/model/validate.js";

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const compiled = KIND_NAMES.map((name) => ({
  kind: KINDS[name],
  input: ajv.compile(inputSchema(KINDS[name])),
  record: ajv.compile(recordSchema(KINDS[name])),
}));

const texts = fc.oneof(
  fc.string(),
  fc.string({ minLength: 195, maxLength: 205 }),
  fc.constantFrom(
    "ark:99999/a",
    "ark12345/x",
    "https://n2t.net/ark:/12345/x",
    "2024-05-01",
    "2024-02-30",
    "evi:Dataset",
    "evi:Computation",
    "evi:DataDownload",
  ),
);
const values = fc.oneof(
  texts,
  fc.array(texts, { maxLength: 3 }),
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.dictionary(texts, fc.oneof(texts, fc.integer()), { maxKeys: 2 }),
  fc.array(fc.oneof(texts, fc.integer()), { maxLength: 3 }),
);

/** The kind's example with random members put in and taken out. */
const bodies = (kind: Kind) =>
  fc
    .tuple(
      fc.dictionary(
        fc.constantFrom(...Object.keys(kind.fields), "@id", "extra", "__proto__", "constructor"),
        values,
        { maxKeys: 4 },
      ),
      fc.subarray(Object.keys(kind.fields), { maxLength: 2 }),
    )
    .map(
      ([changes, gone]) =>
        Object.fromEntries(
          Object.entries({ ...EXAMPLES[kind.name], ...changes }).filter(
            ([name]) => !gone.includes(name),
          ),
        ) as JsonObject,
    );

describe.each(compiled)("any body of a $kind.name", ({ kind, input, record }) => {
  it("is judged without throwing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(Array.isArray(validateRecord(kind, normalizeInput(kind, value)))).toBe(true);
      }),
    );
  });

  it("is judged as the published schema judges it, but for the calendar", () => {
    fc.assert(
      fc.property(bodies(kind), (body) => {
        const items = validateRecord(kind, body).filter((item) => item.loc[1] !== "@id");
        const calendar = items.every(
          (item) =>
            item.type === "datetime_from_date_parsing" &&
            dateProblem(String(body[String(item.loc[1])])) !== undefined,
        );
        if (input(body)) expect(calendar).toBe(true);
        else expect(items).not.toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("is a right record once it passes and has its defaults", () => {
    let passed = 0;
    fc.assert(
      fc.property(bodies(kind), (body) => {
        if (validateRecord(kind, body).length > 0) return;
        passed++;
        const answer = withDefaults(kind, withoutSecrets(kind, body), "ark:99999/x");
        expect(record(answer), JSON.stringify(record.errors)).toBe(true);
        expect(
          validateRecord(kind, {
            ...answer,
            ...(kind.name === "user" ? { password: "again" } : {}),
          }),
        ).toEqual([]);
      }),
      { numRuns: 200 },
    );
    expect(passed).toBeGreaterThan(0);
  });

  it("is left as it was", () => {
    fc.assert(
      fc.property(bodies(kind), (body) => {
        const before = JSON.stringify(body);
        normalizeInput(kind, body);
        validateRecord(kind, body);
        withDefaults(kind, withoutSecrets(kind, body), "ark:99999/x");
        expect(JSON.stringify(body)).toBe(before);
      }),
      { numRuns: 30 },
    );
  });
});
