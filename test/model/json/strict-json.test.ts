import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStrictJson } from "../../../src/model/json/read.js";
import { cpuTimeOf } from "../../support/cpu.js";

const read = (input: string | Uint8Array, maxDepth = 200) => parseStrictJson(input, { maxDepth });
const codes = (input: string | Uint8Array) =>
  read(input).problems.map(({ code, pointer }) => `${code} ${pointer}`);

describe("strict JSON", () => {
  it("returns what JSON.parse returns for every JSON value", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ depthSize: "medium" }),
        fc.constantFrom(undefined, 2, "\t"),
        (value, space) => {
          const text = JSON.stringify(value, null, space);
          expect(read(text)).toEqual({ value: JSON.parse(text), problems: [] });
          expect(read(Buffer.from(text))).toEqual({ value: JSON.parse(text), problems: [] });
        },
      ),
    );
  });

  it("refuses exactly the texts that JSON.parse refuses", () => {
    const chunk = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      '"a"',
      '"b":',
      "1",
      "-",
      "0",
      ".5",
      "e3",
      "true",
      "null",
      " ",
      "\n",
      "\\",
      "\\u00e9",
      "\\ud800",
      "\u0001",
      "/",
    );
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 12 }).map((chunks) => chunks.join("")),
        (text) => {
          let parsed: unknown;
          try {
            parsed = JSON.parse(text);
          } catch {
            parsed = undefined;
          }
          const result = read(text);
          expect(result.value).toEqual(parsed);
          expect(result.problems.some(({ code }) => code === "json_invalid")).toBe(
            parsed === undefined,
          );
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("accepts every number that a double can represent, and reports others", () => {
    for (const kept of [
      "0",
      "-0",
      "1.0",
      "1e2",
      "0.1",
      "-12.50",
      "1E+2",
      "0e99999",
      "9007199254740991",
      "1.7976931348623157e308",
      "5e-324",
      "100000000000000000000",
      "0.000",
    ])
      expect(read(kept).problems, kept).toEqual([]);
    for (const changed of [
      "1e400",
      "-1e400",
      "1e-400",
      "12345678901234567890",
      "9007199254740993",
      "0.12345678901234567891",
      "3.14159265358979323846",
    ])
      expect(codes(`{"a":[${changed}]}`), changed).toEqual(["number_precision /a/0"]);
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(read(String(value)).problems).toEqual([]);
      }),
    );
  });

  it("reports a duplicate key, however it is spelled, with its pointer and place", () => {
    expect(read('{\n "a": {"x/y": 1,\n  "x\\/y": 2}}').problems).toEqual([
      {
        pointer: "/a/x~1y",
        code: "duplicate_key",
        message: "the key occurs twice in this object",
        line: 3,
        column: 3,
        offset: 21,
      },
    ]);
    expect(codes('{"a":1,"\\u0061":2}')).toEqual(["duplicate_key /a"]);
  });

  it("reads __proto__ as a key like any other", () => {
    const { value, problems } = read('{"__proto__":{"admin":true},"a":{"__proto__":1}}');
    expect(problems).toEqual([]);
    expect(Object.keys(value as object)).toEqual(["__proto__", "a"]);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
    expect(codes('{"__proto__":1,"__proto__":2}')).toEqual(["duplicate_key /__proto__"]);
  });

  it("reports NUL and unpaired surrogates, and accepts whole pairs", () => {
    expect(codes('["\\u0000"]')).toEqual(["string_unicode /0"]);
    expect(codes('{"k\\ud800":"\\udc00x"}')).toEqual([
      "string_unicode /k\ud800",
      "string_unicode /k\ud800",
    ]);
    expect(codes('["\\ud83d\\ude00", "\\\\u0000", "\u00e9"]')).toEqual([]);
    expect(codes('["\\ud83d\\ud83d\\ude00"]')).toEqual(["string_unicode /0"]);
    expect(codes('["\ud800"]')).toEqual(["string_unicode /0"]);
  });

  it("names line, column and reason where the text is not JSON", () => {
    const at = (text: string) =>
      read(text).problems.map(({ message, line, column }) => `${message} ${line}:${column}`);
    expect(at('{"a": 1,\n "b" 2}')).toEqual(["Expecting ':' delimiter 2:6"]);
    expect(at("")).toEqual(["Expecting value 1:1"]);
    expect(at("[1, 2")).toEqual(["Expecting ',' delimiter 1:6"]);
    expect(at("{'a':1}")).toEqual(["Expecting property name enclosed in double quotes 1:2"]);
    expect(at("[1]\n x")).toEqual(["Extra data 2:2"]);
    expect(at('["abc')).toEqual(["Unterminated string starting at 1:2"]);
    expect(at('["a\tb"]')).toEqual(["Invalid control character at 1:4"]);
    expect(at("[NaN]")).toEqual(["Expecting value 1:2"]);
  });

  it("refuses bytes that are not UTF-8 and names the place, and drops a byte order mark", () => {
    const bad = read(
      Buffer.concat([Buffer.from('{\n"é": "'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    );
    expect(bad.value).toBeUndefined();
    expect(bad.problems).toMatchObject([
      { code: "json_invalid", message: "Invalid UTF-8", line: 2 },
    ]);
    expect(read(Buffer.from("\ufeff[1]")).value).toEqual([1]);
    expect(read("\ufeff[1]").value).toEqual([1]);
  });

  it("stops at the given depth, also for a text that consists of brackets", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(read(nested(200)).problems).toEqual([]);
    expect(read(nested(201))).toMatchObject({ value: undefined, problems: [{ code: "too_deep" }] });
    expect(read(nested(100_000))).toMatchObject({
      value: undefined,
      problems: [{ code: "too_deep" }],
    });
    expect(read("[".repeat(100_000))).toMatchObject({
      value: undefined,
      problems: [{ code: "too_deep" }],
    });
    expect(read('{"a":'.repeat(100_000))).toMatchObject({
      value: undefined,
      problems: [{ code: "too_deep" }],
    });
  });

  it("needs time in proportion to the text, whatever it contains", async () => {
    const within = async (text: string, ms: number) =>
      expect(await cpuTimeOf(() => read(text))).toBeLessThan(ms);
    await within(`[${'"\\ud800",'.repeat(200_000)}1]`, 2000);
    await within(`[${"1".repeat(2_000_000)}]`, 2000);
    await within(`{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":1e400`).join(",")}}`, 2000);
    await within(`["${"a".repeat(5_000_000)}]`, 2000);
  });
});
