import { describe, expect, it } from "vitest";
import { EXAMPLES } from "../../src/model/examples.js";
import { MAX_FINDINGS } from "../../src/model/findings.js";
import { KIND_NAMES, type KindName } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { validateRecord } from "../../src/model/validate.js";

const ARK = "ark:?/?[0-9]{5,}/.*";
/** The kind's example with some members replaced; `undefined` takes one away. */
const bodyWith = (kind: KindName, changes: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries({ ...EXAMPLES[kind], ...changes }).filter(([, value]) => value !== undefined),
  );

type Case = [what: string, kind: KindName, changes: Record<string, unknown>, items: unknown[]];
const text = (loc: (string | number)[]) => ({
  loc: ["body", ...loc],
  msg: "Input should be a valid string",
  type: "string_type",
});
const missing = (name: string) => ({ loc: ["body", name], msg: "Field required", type: "missing" });
const date = (error: string) => [
  {
    loc: ["body", "dateCreated"],
    msg: `Input should be a valid datetime or date, ${error}`,
    type: "datetime_from_date_parsing",
    ctx: { error },
  },
];
const notArk = (loc: (string | number)[], example: string) => ({
  loc: ["body", ...loc],
  msg: `String should match pattern '${ARK}'; for example ${example}`,
  type: "string_pattern_mismatch",
  ctx: { pattern: ARK },
});

const CASES: Case[] = [
  ["an absent required field", "dataset", { name: undefined }, [missing("name")]],
  [
    "absent fields in the contract's order",
    "dataset",
    { owner: undefined, "@type": undefined, description: undefined },
    [missing("@type"), missing("description"), missing("owner")],
  ],
  [
    "nullable keys that must be present",
    "datadownload",
    { contentUrl: undefined, sha256: undefined },
    [missing("contentUrl"), missing("sha256")],
  ],
  ["a number for text", "dataset", { name: 1 }, [text(["name"])]],
  ["null for text that may not be null", "dataset", { name: null }, [text(["name"])]],
  ["a list for text", "dataset", { name: ["a"] }, [text(["name"])]],
  [
    "a short description",
    "dataset",
    { description: "four" },
    [
      {
        loc: ["body", "description"],
        msg: "String should have at least 5 characters",
        type: "string_too_short",
        ctx: { min_length: 5 },
      },
    ],
  ],
  [
    "one character in the singular",
    "user",
    { password: "" },
    [
      {
        loc: ["body", "password"],
        msg: "String should have at least 1 character",
        type: "string_too_short",
        ctx: { min_length: 1 },
      },
    ],
  ],
  [
    "a long name",
    "dataset",
    { name: "x".repeat(201) },
    [
      {
        loc: ["body", "name"],
        msg: "String should have at most 200 characters",
        type: "string_too_long",
        ctx: { max_length: 200 },
      },
    ],
  ],
  ["200 characters beyond the basic plane", "dataset", { name: "𝄞".repeat(200) }, []],
  [
    "201 characters beyond the basic plane",
    "dataset",
    { name: "𝄞".repeat(201) },
    [
      {
        loc: ["body", "name"],
        msg: "String should have at most 200 characters",
        type: "string_too_long",
        ctx: { max_length: 200 },
      },
    ],
  ],
  [
    "an owner that is no ARK",
    "dataset",
    { owner: "ada" },
    [notArk(["owner"], "ark:99999/user-ada")],
  ],
  [
    "an owner as the contract's own pattern spells it",
    "dataset",
    { owner: "ark99999/user-ada" },
    [],
  ],
  ["an owner by resolver URL", "dataset", { owner: "https://n2t.net/ark:/99999/user-ada" }, []],
  [
    "a member that is no ARK",
    "group",
    { members: ["ark:99999/a", "b"] },
    [notArk(["members", 1], "ark:99999/user-ada")],
  ],
  [
    "a wrong constant",
    "dataset",
    { "@type": "Dataset" },
    [
      {
        loc: ["body", "@type"],
        msg: "Input should be 'evi:Dataset'",
        type: "literal_error",
        ctx: { expected: "'evi:Dataset'" },
      },
    ],
  ],
  [
    "a number for a constant",
    "dataset",
    { "@type": 1 },
    [
      {
        loc: ["body", "@type"],
        msg: "Input should be 'evi:Dataset'",
        type: "literal_error",
        ctx: { expected: "'evi:Dataset'" },
      },
    ],
  ],
  [
    "text for a list",
    "dataset",
    { keywords: "x" },
    [{ loc: ["body", "keywords"], msg: "Input should be a valid list", type: "list_type" }],
  ],
  ["a number in a list", "dataset", { keywords: ["a", 1] }, [text(["keywords", 1])]],
  ["null where a list may be null", "dataset", { usedBy: null, distribution: null }, []],
  [
    "null where a list may not be null",
    "software",
    { usedBy: null },
    [{ loc: ["body", "usedBy"], msg: "Input should be a valid list", type: "list_type" }],
  ],
  [
    "a list for a context",
    "dataset",
    { "@context": [1] },
    [{ loc: ["body", "@context"], msg: "Input should be a valid dictionary", type: "dict_type" }],
  ],
  [
    "a number in a context of strings",
    "dataset",
    { "@context": { k: 1 } },
    [text(["@context", "k"])],
  ],
  [
    "any object as the context of a group",
    "group",
    { "@context": { k: { "@id": "schema:k" } } },
    [],
  ],
  ["any object as the context of a user", "user", { "@context": { k: { "@id": "schema:k" } } }, []],
  [
    "text for a truth value",
    "schema",
    { header: "yes" },
    [{ loc: ["body", "header"], msg: "Input should be a valid boolean", type: "bool_type" }],
  ],
  [
    "a command that is neither",
    "computation",
    { command: 1 },
    [
      text(["command", "str"]),
      {
        loc: ["body", "command", "list[str]"],
        msg: "Input should be a valid list",
        type: "list_type",
      },
    ],
  ],
  [
    "a command with a number in it",
    "computation",
    { command: ["a", 1] },
    [text(["command", "str"]), text(["command", "list[str]", 1])],
  ],
  ["a command as text, list or null", "computation", { command: null }, []],
  [
    "references that are neither text nor list",
    "computation",
    { usedSoftware: { "@id": "ark:99999/s" }, usedDataset: 7 },
    [text(["usedSoftware"]), text(["usedDataset"])],
  ],
  ["no reference", "computation", { usedDataset: null }, [text(["usedDataset"])]],
  [
    "a number in a list of references",
    "computation",
    { usedSoftware: ["ark:99999/s", 1], usedDataset: [] },
    [text(["usedSoftware", 1])],
  ],
  ["an identifier that is no text", "dataset", { "@id": 5 }, [text(["@id"])]],
  ["words for a date", "dataset", { dateCreated: "not a date" }, date("invalid character in year")],
  [
    "a thirteenth month",
    "dataset",
    { dateCreated: "2020-13-01" },
    date("month value is outside expected range of 1-12"),
  ],
  [
    "a thirtieth of February",
    "dataset",
    { dateCreated: "2024-02-30" },
    date("day value is outside expected range"),
  ],
  ["nothing for a date", "dataset", { dateCreated: "" }, date("input is too short")],
  [
    "a twenty-fifth hour",
    "dataset",
    { dateCreated: "2020-01-01T25:00:00" },
    date("unexpected extra characters at the end of the input"),
  ],
  [
    "a list for a date",
    "dataset",
    { dateCreated: [] },
    [
      {
        loc: ["body", "dateCreated"],
        msg: "Input should be a valid datetime",
        type: "datetime_type",
      },
    ],
  ],
  [
    "a Unix time for a date",
    "dataset",
    { dateCreated: 1700000000 },
    [
      {
        loc: ["body", "dateCreated"],
        msg: "Input should be a valid datetime",
        type: "datetime_type",
      },
    ],
  ],
  ["null for a date", "computation", { dateCreated: null, dateFinished: null }, []],
  ["members nobody declared", "dataset", { extra: { deep: [1, null] }, metadataType: "x" }, []],
];

describe("validateRecord", () => {
  it.each(CASES)("answers %s (%s)", (_what, kind, changes, items) => {
    expect(validateRecord(KINDS[kind], bodyWith(kind, changes))).toEqual(items);
  });

  it.each(KIND_NAMES)("accepts the example of a %s", (kind) => {
    expect(validateRecord(KINDS[kind], EXAMPLES[kind])).toEqual([]);
  });

  it("reports a body that is null or absent, and refuses one that is no object", () => {
    for (const body of [null, undefined])
      expect(validateRecord(KINDS.dataset, body)).toEqual([
        { loc: ["body"], msg: "Field required", type: "missing" },
      ]);
    for (const body of [[1], "x", 1, true]) {
      expect(validateRecord(KINDS.dataset, body)).toEqual([
        {
          loc: ["body"],
          msg: "Input should be a valid dictionary or object to extract fields from",
          type: "model_attributes_type",
        },
      ]);
    }
  });

  it("names the place of the record when it is not the body", () => {
    expect(validateRecord(KINDS.dataset, null, ["body", "download"])).toEqual([
      { loc: ["body", "download"], msg: "Field required", type: "missing" },
    ]);
  });

  it("reads no field from a prototype", () => {
    const body = JSON.parse('{"__proto__": {"name": "inherited"}}') as object;
    expect(validateRecord(KINDS.group, body).map((item) => item.loc[1])).toEqual([
      "name",
      "description",
      "owner",
    ]);
  });

  it("lists the first thousand errors of a hostile body and says that there are more", () => {
    const items = validateRecord(
      KINDS.dataset,
      bodyWith("dataset", { keywords: Array.from({ length: 2_000_000 }, () => 1), usedBy: [1] }),
    );
    expect(items).toHaveLength(MAX_FINDINGS + 1);
    expect(items.at(-1)).toMatchObject({ loc: ["body"], type: "too_many_errors" });
  });
});
