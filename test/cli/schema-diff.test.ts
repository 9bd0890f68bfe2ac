import { describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const { run, write } = useFolder();
const column = (index: number, type: unknown, rest: object = {}): object => ({
  description: "",
  index,
  type,
  ...rest,
});

/** The codes of what differs, those that break with an exclamation mark. */
const changes = async (before: object, after: object): Promise<[number | null, string[]]> => {
  await write("old.json", before);
  await write("new.json", after);
  const { status, stdout } = await run("schema diff old.json new.json --format json");
  const found = JSON.parse(stdout) as { changes: { code: string; breaks: boolean }[] };
  return [status, found.changes.map(({ code, breaks }) => code + (breaks ? "!" : ""))];
};
const one = (type: unknown, rest: object = {}, schema: object = {}): object =>
  schemaOf({ a: column(0, type, rest) }, schema);

describe("schema diff", () => {
  it.each<[string, object, object, string[]]>([
    ["nothing", one("string"), one("string"), []],
    ["a wider type", one("integer"), one("number"), ["TYPE_CHANGED"]],
    ["a narrower type", one("number"), one("integer"), ["TYPE_CHANGED!"]],
    ["a column that moved", one("string"), schemaOf({ a: column(1, "string") }), ["COLUMN_MOVED!"]],
    [
      "a new column",
      one("string"),
      schemaOf({ a: column(0, "string"), b: column(1, "string") }),
      ["PROPERTY_ADDED!"],
    ],
    [
      "a column that is gone",
      schemaOf({ a: column(0, "string"), b: column(1, "string") }),
      one("string"),
      ["PROPERTY_REMOVED"],
    ],
    [
      "a tighter bound",
      one("number", { maximum: 9 }),
      one("number", { maximum: 8 }),
      ["KEYWORD_CHANGED!"],
    ],
    [
      "a looser bound",
      one("number", { minimum: 9 }),
      one("number", { minimum: 8 }),
      ["KEYWORD_CHANGED"],
    ],
    [
      "more words",
      one("string", { enum: ["x"] }),
      one("string", { enum: ["x", "y"] }),
      ["KEYWORD_CHANGED"],
    ],
    [
      "fewer words",
      one("string", { enum: ["x", "y"] }),
      one("string", { enum: ["x"] }),
      ["KEYWORD_CHANGED!"],
    ],
    ["a new pattern", one("string"), one("string", { pattern: "x" }), ["KEYWORD_ADDED!"]],
    ["a pattern that is gone", one("string", { pattern: "x" }), one("string"), ["KEYWORD_REMOVED"]],
    ["other decimals", one("number"), one("number", { decimalChar: "," }), ["CELLS_CHANGED!"]],
    [
      "a number that may be missing",
      one("number"),
      one(["number", "null"]),
      ["MISSING_VALUES_CHANGED"],
    ],
    ["a number that may not", one(["number", "null"]), one("number"), ["MISSING_VALUES_CHANGED!"]],
    [
      "another separator",
      one("string"),
      one("string", {}, { seperator: ";" }),
      ["DIALECT_CHANGED!"],
    ],
    ["a key", one("string"), one("string", {}, { primaryKey: "a" }), ["KEY_ADDED!"]],
    ["no key", one("string", {}, { primaryKey: "a" }), one("string"), ["KEY_REMOVED"]],
  ])("finds %s", async (_what, before, after, codes) => {
    const breaks = codes.some((code) => code.endsWith("!"));
    expect(await changes(before, after)).toEqual([breaks ? 1 : 0, codes]);
  });

  it("says it in lines, those that break first", async () => {
    await write("old.json", one("integer", { minimum: 1 }));
    await write("new.json", one("integer", { maximum: 5 }));
    expect(await run("schema diff old.json new.json")).toEqual({
      status: 1,
      stdout: "breaks: a: maximum 5 is new\ncompatible: a: minimum 1 is gone\n",
      stderr: "",
    });
    expect((await run("schema diff old.json old.json")).stdout).toBe("No difference\n");
    expect((await run("schema diff old.json none.json")).status).toBe(1);
  });
});
