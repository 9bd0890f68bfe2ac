import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getIntrospectionQuery } from "graphql";
import { LiveRegistry } from "../support/live-registry.js";
import { provenance } from "../support/provenance-world.js";

let registry: LiveRegistry;
beforeAll(async () => {
  registry = await LiveRegistry.start({
    GRAPHQL_MAX_COST: "2000",
    GRAPHQL_MAX_DEPTH: "8",
    MAX_BODY_BYTES: "1M",
  });
  const ada = await registry.user();
  await provenance(registry.deps.records, ada.ark, 60);
});
afterAll(() => registry?.stop());

const errorsOf = async (query: string, variables: object = {}) => {
  const before = process.cpuUsage();
  const { body, status } = await registry.graphql(query, variables);
  expect(status).toBeLessThan(500);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000);
  return (body["errors"] ?? []) as {
    message: string;
    extensions: { code: string; detail?: unknown[] };
  }[];
};
const costly = (setting: string) => [
  { message: expect.stringContaining(setting), extensions: { code: "QUERY_TOO_COSTLY" } },
];

describe("a document is refused, with the limit's name,", () => {
  test("that nests too deep, in fragments as well", async () => {
    expect(
      await errorsOf(
        `{ record(id: "ark:99999/x") ${"{ owner ".repeat(8)}{ id }${" }".repeat(8)} }`,
      ),
    ).toMatchObject(costly("GRAPHQL_MAX_DEPTH"));
    const chain = Array.from(
      { length: 12 },
      (_, index) => `fragment F${index} on Record { owner { ...F${index + 1} } }`,
    ).join(" ");
    expect(
      await errorsOf(
        `{ record(id: "ark:99999/x") { ...F0 } } ${chain} fragment F12 on Record { id }`,
      ),
    ).toMatchObject(costly("GRAPHQL_MAX_DEPTH"));
  });

  test("that asks for too many records: page sizes multiply, also when they are variables", async () => {
    expect(
      await errorsOf(
        "{ datasets(first: 100) { nodes { generatedBy(first: 40) { nodes { id } } } } }",
      ),
    ).toMatchObject(costly("GRAPHQL_MAX_COST"));
    const byVariable =
      "query ($n: Int) { datasets(first: $n) { nodes { generatedBy(first: $n) { nodes { id } } } } }";
    expect(await errorsOf(byVariable, { n: 1000 })).toMatchObject(costly("GRAPHQL_MAX_COST"));
    expect(await errorsOf(byVariable, { n: 10 })).toEqual([]);
    expect(
      await errorsOf(
        "query ($n: Int = 1000) { datasets(first: $n) { nodes { generatedBy(first: $n) { nodes " +
          "{ id } } } } }",
      ),
    ).toMatchObject(costly("GRAPHQL_MAX_COST"));
  });

  test("that repeats a field under too many names, in fragments as well", async () => {
    expect(
      await errorsOf(
        `{ ${Array.from({ length: 300 }, (_, index) => `a${index}: me { id }`).join(" ")} }`,
      ),
    ).toMatchObject(costly("300 aliases"));
    const doubling = Array.from(
      { length: 7 },
      (_, index) =>
        `fragment F${index} on Record { a: owner { ...F${index + 1} } b: owner { ` +
        `...F${index + 1} } }`,
    ).join(" ");
    expect(
      await errorsOf(
        `{ record(id: "ark:99999/x") { ...F0 } } ${doubling} fragment F7 on Record { id }`,
      ),
    ).toMatchObject(costly(""));
  });

  test.each([
    ["fields", `{ datasets { nodes { ${"name ".repeat(500)} } } }`],
    ["fields with selections", `{ ${"datasets { nodes { name } } ".repeat(120)} }`],
    ["fields in inline fragments", `{ datasets { nodes { ${"... { name } ".repeat(200)} } } }`],
    [
      "fragments",
      "{ datasets { nodes { " +
        `${Array.from({ length: 130 }, (_, index) => `...F${index}`).join(" ")} } } } ` +
        Array.from({ length: 130 }, (_, index) => `fragment F${index} on Dataset { name }`).join(
          " ",
        ),
    ],
    [
      "fragments in fragments",
      "{ datasets { nodes { ...F0 } } } " +
        Array.from(
          { length: 40 },
          (_, index) =>
            `fragment F${index} on Dataset { ` +
            `${Array.from({ length: Math.min(20, 39 - index) }, (_, further) => `...F${index + further + 1}`).join(" ")} ` +
            "name }",
        ).join(" "),
    ],
  ])(
    "that selects the same %s over and over, before they are compared with each other",
    async (_, query) => {
      expect(await errorsOf(query)).toMatchObject(costly("over and over"));
    },
  );

  test("that is too long, in tokens or in bytes", async () => {
    expect(await errorsOf(`{ ${"__typename ".repeat(3_000)} }`)).toMatchObject([
      {
        message: expect.stringContaining("GRAPHQL_MAX_TOKENS"),
        extensions: { code: "QUERY_TOO_COSTLY" },
      },
    ]);
    expect(await errorsOf(`${"#\n".repeat(40_000)}{ me { id } }`)).toMatchObject([
      {
        message: expect.stringContaining("GRAPHQL_MAX_DOCUMENT_BYTES"),
        extensions: { code: "TOO_LARGE" },
      },
    ]);
    const { status, body } = await registry.graphql("x".repeat(10 * 2 ** 20));
    expect({ status, body }).toMatchObject({
      status: 413,
      body: {
        errors: [
          { message: expect.stringContaining("MAX_BODY_BYTES"), extensions: { code: "TOO_LARGE" } },
        ],
      },
    });
  });

  test.each([
    [
      "a cycle of fragments",
      `{ record(id: "x") { ...A } } fragment A on Record { id ...B } fragment B on Record { ` +
        "name ...A }",
    ],
    [
      "a cycle through fields",
      `{ record(id: "x") { ...A } } fragment A on Record { owner { ...A } }`,
    ],
    ["ten thousand brackets", `{ record(id: ${"[".repeat(9_000)}`],
    [
      "fragments that nobody spreads and nest without end",
      "{ me { id } } " +
        `${Array.from(
          { length: 900 },
          (_, index) =>
            `fragment F${index} on Record { owner { ...F${index + 1} owner { ...F${index + 1} } ` +
            "} }",
        ).join(" ")} ` +
        "fragment F900 on Record { id }",
    ],
    [
      "inline fragments inside each other",
      `{ ${"... { ".repeat(1500)} me { id } ${"} ".repeat(1500)} }`,
    ],
    ["thousands of selections to be merged", `{ ${"me { id name } ".repeat(1600)} }`],
    ["an undefined variable", "{ record(id: $id) { id } }"],
    ["nothing at all", "   "],
  ])("with an answer and no fault: %s", async (_what, query) => {
    const errors = await errorsOf(query);
    for (const { extensions } of errors)
      expect([
        "GRAPHQL_PARSE_FAILED",
        "GRAPHQL_VALIDATION_FAILED",
        "BAD_REQUEST",
        "QUERY_TOO_COSTLY",
      ]).toContain(extensions.code);
  });
});

describe("links without a stated page size", () => {
  test("are counted while they are read", async () => {
    expect(
      await errorsOf(
        `{ software(id: "ark:99999/world-software") { usedBy { nodes { ... on Computation { ` +
          "usedSoftware { nodes { ... on Software { usedBy { nodes { id } } } } } } } } } }",
      ),
    ).toMatchObject(costly("GRAPHQL_MAX_COST"));
    expect(
      await errorsOf(
        "{ softwares(first: 1) { nodes { usedBy { nodes { ... on Computation { " +
          "usedDataset { nodes { id } } } } } } } }",
      ),
    ).toEqual([]);
  });
});

describe("unusual requests", () => {
  const ask = (init: RequestInit, search = "") => fetch(`${registry.url}/graphql${search}`, init);
  test("as a batch are refused", async () => {
    const response = await ask({
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify([{ query: "{ __typename }" }]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: "BAD_REQUEST" } }],
    });
  });
  test("as a GET are answered for queries and refused for mutations, without additional headers", async () => {
    const query = await ask(
      { headers: { Accept: "*/*" } },
      `?query=${encodeURIComponent("query ($id: ID!) { record(id: $id) { id } }")}&variables=${encodeURIComponent('{"id":"ark:99999/world-software"}')}`,
    );
    expect(await query.json()).toEqual({
      data: { record: { id: "ark:99999/world-software" } },
      extensions: { cost: expect.anything() },
    });
    const mutation = await ask(
      {},
      `?query=${encodeURIComponent('mutation { deleteRecord(input: { id: "ark:99999/x" }) { revision } }')}`,
    );
    expect([mutation.status, mutation.headers.get("allow")]).toEqual([405, "POST"]);
  });
  test("with another method, media type or token are refused in the form of GraphQL errors", async () => {
    for (const [init, status, code] of [
      [{ method: "DELETE" }, 405, "METHOD_NOT_ALLOWED"],
      [
        { method: "POST", headers: { "Content-Type": "text/plain" }, body: "{ __typename }" },
        415,
        "UNSUPPORTED_MEDIA_TYPE",
      ],
      [
        {
          method: "POST",
          headers: { "Content-Type": "application/json", Authorization: "Bearer nonsense" },
          body: "{}",
        },
        401,
        "INVALID_TOKEN",
      ],
      [
        {
          method: "POST",
          headers: { "Content-Type": "multipart/form-data; boundary=x" },
          body: "--x--",
        },
        400,
        "BAD_REQUEST",
      ],
      [
        {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: '{"query":"{ __typename }","query":"{ me { id } }"}',
        },
        422,
        "VALIDATION",
      ],
      [
        { method: "POST", headers: { "Content-Type": "application/json" }, body: "{" },
        400,
        "VALIDATION",
      ],
    ] as const) {
      const response = await ask(init);
      expect([response.status, await response.json()]).toMatchObject([
        status,
        { errors: [{ extensions: { code } }] },
      ]);
    }
  });
  test("under /api and with a slash at the end are equivalent", async () => {
    for (const path of ["/api/graphql", "/graphql/"]) {
      const response = await fetch(registry.url + path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ query: "{ __typename }" }),
      });
      expect(await response.json()).toEqual({
        data: { __typename: "Query" },
        extensions: { cost: expect.anything() },
      });
    }
  });
  test("for introspection are answered completely", async () => {
    const { body } = await registry.graphql(getIntrospectionQuery());
    expect(body["errors"]).toBeUndefined();
    expect(body["data"].__schema.types.length).toBeGreaterThan(80);
  });
});

describe("an error", () => {
  test("in a variable names its place and does not repeat its value", async () => {
    const [error, ...more] = await errorsOf(
      "mutation ($input: UserInput!) { createUser(input: { user: $input }) { user { id } } }",
      { input: { email: "a@b.example", password: "hunter2; hunter3", bogus: 1 } },
    );
    expect(more).toEqual([]);
    expect(error).toMatchObject({
      extensions: {
        code: "VALIDATION",
        detail: [{ loc: ["variables", "input"], type: "value_error" }],
      },
    });
    const [number] = await errorsOf(
      "mutation ($input: UserInput!) { createUser(input: { user: $input }) { user { id } } }",
      { input: { email: "a@b.example", password: 31337 } },
    );
    expect(number).toMatchObject({
      extensions: { detail: [{ loc: ["variables", "input", "password"] }] },
    });
    expect(JSON.stringify([error, number])).not.toMatch(/hunter|31337/);
  });
  test("in many variables at once is a validation error to its end", async () => {
    const errors = await errorsOf("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {
      ids: Array.from({ length: 60 }, () => ({})),
    });
    expect(errors.length).toBeGreaterThan(50);
    expect(new Set(errors.map(({ extensions }) => extensions?.["code"]))).toEqual(
      new Set(["VALIDATION"]),
    );
    expect(errors.at(-1)).toMatchObject({
      message: expect.stringContaining("only the first are listed") as string,
      extensions: { detail: [{ loc: ["variables"] }] },
    });
  });
  test("in a literal that no store can hold is a validation error", async () => {
    for (const [value, type] of [
      [String.raw`{ name: "a\u0000b" }`, "string_unicode"],
      ["{ name: 12345678901234567890 }", "number_precision"],
    ] as const) {
      expect(await errorsOf(`{ datasets(filter: ${value}) { totalCount } }`)).toMatchObject([
        { extensions: { code: "VALIDATION", detail: [{ type }] } },
      ]);
    }
  });
});

test("a variable that is nested too deep is named by its argument, not as part of a body", async () => {
  const nested = `${'{"not":'.repeat(300)}{}${"}".repeat(300)}`;
  const response = await fetch(`${registry.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"query":"query ($f: RecordFilter) { datasets(filter: $f) { totalCount } }","variables":{"f":${nested}}}`,
  });
  const { errors } = (await response.json()) as { errors: { message: string }[] };
  expect(errors[0]!.message).toMatch(/^variables\.f\.not\./);
});

test.each(['"a"', "1.5", "true"])("a BigInt is not %s, by its own name", async (value) => {
  const { body } = await registry.graphql(
    `{ roCrate(id: "ark:99999/rocrate-example") { files(minSize: ${value}) { nodes { path } } } }`,
  );
  expect((body["errors"] as { message: string }[])[0]!.message).toMatch(/^BigInt cannot represent/);
});
