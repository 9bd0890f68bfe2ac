import { createRequire } from "node:module";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutAnswer } from "../../../src/storage/graph/answers.js";

const { Store } = createRequire(import.meta.url)("oxigraph") as typeof import("oxigraph");
const ALL = "SELECT ?x ?y { ?s <a:x> ?x OPTIONAL { ?s <a:y> ?y } }";

/** Values that look like the marks between rows. */
const value = fc
  .array(
    fc.constantFrom(
      '"',
      "},{",
      "\\",
      "{}",
      "]}}",
      "\n",
      "\r",
      ",",
      "\t",
      "</result>",
      "<result>",
      "&lt;",
      "é",
      "😀",
      '""',
      "a",
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));
/** Cuts an answer that comes in parts of so many bytes. */
async function cutRows(
  text: string,
  format: string,
  maxRows: number,
  maxBytes: number,
  part = text.length * 3 + 1,
) {
  const whole = Buffer.from(text);
  const parts = Array.from({ length: Math.ceil(whole.length / part) }, (_, at) =>
    whole.subarray(at * part, (at + 1) * part),
  );
  const { bytes, truncated } = await cutAnswer(parts, format as "json", maxRows, maxBytes);
  return { text: Buffer.from(bytes).toString("utf8"), truncated };
}
const partSize = fc.integer({ min: 1, max: 400 });
const escaped = (text: string) => JSON.stringify(text).replaceAll("\u007f", "");

function answers(values: readonly string[], format: string, limit: number): string {
  const store = new Store();
  store.load(
    values
      .map(
        (text, i) =>
          `<a:s${i}> <a:x> ${escaped(text)} .\n${i % 2 ? `<a:s${i}> <a:y> "y" .\n` : ""}`,
      )
      .join(""),
    { format: "application/n-triples" },
  );
  return store.query(`${ALL} LIMIT ${limit}`, { results_format: format }) as string;
}

describe("an answer with more rows than allowed", () => {
  it.each(["json", "xml", "csv", "tsv"])(
    "is cut to the engine's own answer with that limit: %s",
    async (format) => {
      const values = fc.array(value, { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(values, fc.nat(12), partSize, async (values, rows, part) => {
          const whole = answers(values, format, 100);
          const { text, truncated } = await cutRows(whole, format, rows, 1_000_000, part);
          expect(text).toBe(answers(values, format, rows));
          expect(truncated).toBe(values.length > rows ? "SPARQL_MAX_ROWS" : null);
        }),
        { numRuns: 100 },
      );
    },
  );

  it.each(["json", "xml", "csv", "tsv"])(
    "is a complete document when it is cut by bytes: %s",
    async (format) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(value, { minLength: 1, maxLength: 12 }),
          fc.integer({ min: 200, max: 1500 }),
          partSize,
          async (values, bytes, part) => {
            const whole = answers(values, format, 100);
            const { text, truncated } = await cutRows(whole, format, 1_000_000, bytes, part);
            expect(truncated).toBe(Buffer.byteLength(whole) > bytes ? "SPARQL_MAX_BYTES" : null);
            expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes);
            const kept = Array.from({ length: values.length + 1 }, (_, rows) =>
              answers(values, format, rows),
            );
            expect(kept).toContain(text);
          },
        ),
        { numRuns: 100 },
      );
    },
  );

  it("distinguishes rows without values", async () => {
    const whole = '{"head":{"vars":[]},"results":{"bindings":[{},{},{}]}}';
    expect((await cutRows(whole, "json", 2, 1000)).text).toBe(
      '{"head":{"vars":[]},"results":{"bindings":[{},{}]}}',
    );
  });

  it.each([
    ["json", '{"head":{},"boolean":true}'],
    ["xml", "<sparql><head></head><boolean>true</boolean></sparql>"],
  ])("leaves ASK unchanged: %s", async (format, text) => {
    expect(await cutRows(text, format, 0, 5)).toEqual({ text, truncated: null });
  });

  it("cuts a graph between statements", async () => {
    expect(await cutRows('<a:a> <a:b> "1" .\n<a:a> <a:b> "2" .\n', "nt", 1, 1000)).toEqual({
      text: '<a:a> <a:b> "1" .\n',
      truncated: "SPARQL_MAX_ROWS",
    });
  });
});
