import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dateProblem } from "../../src/model/dates.js";
import { EXAMPLES } from "../../src/model/examples.js";
import type { Field, JsonObject } from "../../src/model/field.js";
import {
  inputSchema,
  normalizeInput,
  recordSchema,
  withDefaults,
  withoutSecrets,
} from "../../src/model/json-schema.js";
import { KIND_NAMES, type Kind } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { brokenRules, validateRecord } from "../../src/model/validate.js";

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

const dates = fc
  .tuple(
    fc.constantFrom("2024-05-01", "20240501", "2024-02-30", "2023-02-29", "2024-5-1", "24-05-01"),
    fc.constantFrom("", "T", "t12:00", " 1200", "T12:00:61", "T23:59:60", "T24:00:00", "T25:00"),
    fc.constantFrom("", ",5", ".123", "Z", "z", "+01", "-0130", "+01:30", "+24:00", " ", "\n"),
  )
  .map((parts) => parts.join(""));
const arks = fc
  .tuple(
    fc.constantFrom("ark", "ark:", "ark:/", "ARK:", "https://n2t.net/ark:/", "ark::"),
    fc.constantFrom("9999", "99999", "123456", "9999a"),
    fc.constantFrom("", "/", "/x", "/\u{1F600}", "\n/x"),
  )
  .map((parts) => parts.join(""));
/** A value that is nearly what the field takes, or is. */
const near = (field: Field | undefined) => {
  const text = field?.date ? dates : field?.ark ? arks : texts;
  return fc.oneof(text, fc.array(fc.oneof({ weight: 9, arbitrary: text }, values)), values);
};

/** The kind's example with random members put in and taken out. */
const bodies = (kind: Kind) =>
  fc
    .tuple(
      fc
        .array(
          fc
            .constantFrom(...Object.keys(kind.fields), "@id", "extra", "__proto__", "constructor")
            .chain((name) => near(kind.fields[name]).map((value) => [name, value] as const)),
          { maxLength: 4 },
        )
        .map((members) => Object.fromEntries(members)),
      fc.subarray(Object.keys(kind.fields), { maxLength: 2 }),
    )
    .map(([changes, gone]): JsonObject =>
      Object.fromEntries(
        Object.entries({ ...EXAMPLES[kind.name], ...changes }).filter(
          ([name]) => !gone.includes(name),
        ),
      ),
    );

describe.each(compiled)("any body of a $kind.name", ({ kind, input, record }) => {
  it("is validated without throwing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(Array.isArray(validateRecord(kind, normalizeInput(kind, value)))).toBe(true);
      }),
    );
  });

  it("is validated as by the published schema, except for the calendar", () => {
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

  it("is a valid record once it passes and has its defaults", () => {
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

  it("has worded errors exactly when Ajv refuses it", () => {
    const any = fc.oneof({ weight: 9, arbitrary: bodies(kind) }, fc.jsonValue());
    fc.assert(
      fc.property(any, (body) => {
        const words = brokenRules(kind, body, ["body"]);
        expect(validateRecord(kind, body)).toEqual(words);
      }),
      { numRuns: 1000 },
    );
  });

  it("is unchanged", () => {
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
