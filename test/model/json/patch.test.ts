import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/model/field.js";
import {
  applyJsonPatch,
  MAX_PATCH_OPERATIONS,
  mergePatch,
  readJsonPatch,
} from "../../../src/model/json/patch.js";

const LIMITS = { maxDepth: 200, maxValues: 20_000, maxCharacters: 2 ** 21 };
const patched = (document: JsonValue, operations: JsonValue, limits = LIMITS): JsonValue =>
  applyJsonPatch(structuredClone(document), readJsonPatch(operations, limits.maxDepth), limits);
const code = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
  return "none";
};

/** RFC 7396, appendix A: original, patch, result. */
const MERGES: [JsonValue, JsonValue, JsonValue][] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe("a JSON Merge Patch", () => {
  it.each(MERGES)("of RFC 7396, appendix A: %j with %j gives %j", (document, patch, result) => {
    expect(mergePatch(document, patch)).toEqual(result);
  });
  it("sets __proto__ as a member like any other", () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}}') as JsonValue;
    const result = mergePatch({ a: 1 }, patch);
    expect(JSON.stringify(result)).toBe('{"a":1,"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

/** RFC 6902, appendix A: document, patch, and the result or the code of the refusal. */
const PATCHES: [string, JsonValue, JsonValue, JsonValue][] = [
  ["A.1", { foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], { foo: "bar", baz: "qux" }],
  [
    "A.2",
    { foo: ["bar", "baz"] },
    [{ op: "add", path: "/foo/1", value: "qux" }],
    { foo: ["bar", "qux", "baz"] },
  ],
  ["A.3", { baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
  [
    "A.4",
    { foo: ["bar", "qux", "baz"] },
    [{ op: "remove", path: "/foo/1" }],
    { foo: ["bar", "baz"] },
  ],
  [
    "A.5",
    { baz: "qux", foo: "bar" },
    [{ op: "replace", path: "/baz", value: "boo" }],
    { baz: "boo", foo: "bar" },
  ],
  [
    "A.6",
    { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
    [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
    { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } },
  ],
  [
    "A.7",
    { foo: ["all", "grass", "cows", "eat"] },
    [{ op: "move", from: "/foo/1", path: "/foo/3" }],
    { foo: ["all", "cows", "eat", "grass"] },
  ],
  [
    "A.8",
    { baz: "qux", foo: ["a", 2, "c"] },
    [
      { op: "test", path: "/baz", value: "qux" },
      { op: "test", path: "/foo/1", value: 2 },
    ],
    { baz: "qux", foo: ["a", 2, "c"] },
  ],
  ["A.9", { baz: "qux" }, [{ op: "test", path: "/baz", value: "bar" }], "PATCH_CONFLICT"],
  [
    "A.10",
    { foo: "bar" },
    [{ op: "add", path: "/child", value: { grandchild: {} } }],
    { foo: "bar", child: { grandchild: {} } },
  ],
  [
    "A.11",
    { foo: "bar" },
    [{ op: "add", path: "/baz", value: "qux", xyz: 123 }],
    { foo: "bar", baz: "qux" },
  ],
  ["A.12", { foo: "bar" }, [{ op: "add", path: "/baz/bat", value: "qux" }], "PATCH_CONFLICT"],
  ["A.14", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
  ["A.15", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: "10" }], "PATCH_CONFLICT"],
  [
    "A.16",
    { foo: ["bar"] },
    [{ op: "add", path: "/foo/-", value: ["abc", "def"] }],
    { foo: ["bar", ["abc", "def"]] },
  ],
];

describe("a JSON Patch", () => {
  it.each(PATCHES)("of RFC 6902, appendix %s", (_name, document, operations, result) => {
    if (result === "PATCH_CONFLICT") expect(code(() => patched(document, operations))).toBe(result);
    else expect(patched(document, operations)).toEqual(result);
  });

  it("copies, so that the copy and its source change apart", () => {
    expect(
      patched({ a: { n: 1 } }, [
        { op: "copy", from: "/a", path: "/b" },
        { op: "replace", path: "/b/n", value: 2 },
      ]),
    ).toEqual({ a: { n: 1 }, b: { n: 2 } });
  });
  it("may replace the whole document", () => {
    expect(patched({ a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }])).toEqual({ b: 2 });
  });
  it("applies again to another document, as a repeated write needs it", () => {
    const operations = readJsonPatch(
      [
        { op: "add", path: "/a", value: { list: [] } },
        { op: "add", path: "/a/list/-", value: 1 },
      ],
      200,
    );
    for (let time = 0; time < 2; time++)
      expect(applyJsonPatch({}, operations, LIMITS)).toEqual({ a: { list: [1] } });
  });

  it.each([
    ["a path that leads nowhere", { op: "remove", path: "/none" }],
    ["an index past the end", { op: "add", path: "/list/3", value: 1 }],
    ["an index with a leading zero", { op: "test", path: "/list/00", value: 1 }],
    ["a member that every object inherits", { op: "test", path: "/constructor", value: 1 }],
    ["the prototype", { op: "add", path: "/__proto__/polluted", value: 1 }],
    ["the length of a list", { op: "replace", path: "/list/length", value: 0 }],
    ["a part of a string", { op: "test", path: "/text/0", value: "t" }],
    ["the whole document, removed", { op: "remove", path: "" }],
  ])("does not fit the document with %s", (_what, operation) => {
    expect(code(() => patched({ list: [1, 2], text: "t" }, [operation]))).toBe("PATCH_CONFLICT");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
  it.each([
    ["is no list", { op: "add" }],
    ["holds no object", ["add"]],
    ["has another operation", [{ op: "increment", path: "/a" }]],
    ["lacks a path", [{ op: "remove" }]],
    ["lacks a value", [{ op: "add", path: "/a" }]],
    ["lacks a source", [{ op: "copy", path: "/a" }]],
    ["has a pointer without a slash", [{ op: "remove", path: "a" }]],
    ["has a pointer with a wrong escape", [{ op: "remove", path: "/a~2" }]],
    ["moves a value into itself", [{ op: "move", from: "/a", path: "/a/b" }]],
    ["points deeper than documents are", [{ op: "remove", path: "/a".repeat(300) }]],
    [
      "has too many operations",
      Array.from({ length: MAX_PATCH_OPERATIONS + 1 }, () => ({ op: "remove", path: "/a" })),
    ],
  ])("is none when it %s", (_what, operations) => {
    expect(code(() => readJsonPatch(operations, 200))).toBe("VALIDATION");
  });

  it("cannot double a value without end", () => {
    const bomb = [
      { op: "add", path: "/a", value: ["x", "x"] },
      ...Array.from({ length: 40 }, () => ({ op: "copy", from: "/a", path: "/a/-" })),
    ];
    expect(code(() => patched({}, bomb))).toBe("TOO_LARGE");
  });
  it("cannot repeat a long text or a long name without end", () => {
    for (const value of ["x".repeat(2 ** 20), { ["x".repeat(2 ** 20)]: 1 }]) {
      const bomb = [
        { op: "add", path: "/a", value },
        ...Array.from({ length: 900 }, (_, n) => ({ op: "copy", from: "/a", path: `/b${n}` })),
      ];
      expect(code(() => patched({}, bomb))).toBe("TOO_LARGE");
    }
  });
  it("has pointers of at most 131072 characters together", () => {
    const remove = (...lengths: number[]) =>
      lengths.map((length) => ({ op: "remove", path: `/${"x".repeat(length - 1)}` }));
    expect(code(() => patched({}, remove(2 ** 17)))).toBe("PATCH_CONFLICT");
    expect(code(() => patched({}, remove(2 ** 16, 2 ** 16)))).toBe("PATCH_CONFLICT");
    const copy = [{ op: "copy", from: `/${"~1".repeat(250_000)}`, path: "/a" }];
    for (const [operations, index, name] of [
      [remove(2 ** 17 + 1), 0, "path"],
      [remove(500_000), 0, "path"],
      [remove(2 ** 16, 2 ** 16, 1), 2, "path"],
      [copy, 0, "from"],
    ] as const)
      expect(() => patched({}, operations as JsonValue)).toThrow(
        expect.objectContaining({
          items: [
            expect.objectContaining({
              loc: ["body", index, name],
              msg: expect.stringContaining("at most 131072 characters") as string,
            }),
          ],
        }),
      );
  });
  it("cannot nest without end", () => {
    const deeper = Array.from({ length: 300 }, (_, depth) => ({
      op: "add",
      path: "/a".repeat(depth + 1),
      value: {},
    }));
    expect(code(() => patched({}, deeper))).toBe("VALIDATION");
    const moved = [
      { op: "add", path: "/b", value: {} },
      ...Array.from({ length: 300 }, () => [
        { op: "move", from: "/b", path: "/c" },
        { op: "add", path: "/b", value: {} },
        { op: "move", from: "/c", path: "/b/c" },
      ]).flat(),
    ];
    expect(code(() => patched({}, moved, { ...LIMITS, maxValues: 1e6 }))).toBe("VALIDATION");
  });
  it("sets __proto__ as a member like any other", () => {
    const result = patched({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
