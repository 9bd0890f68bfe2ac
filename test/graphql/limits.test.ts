import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventsOf, webSocketClient } from "../support/graphql-streams.js";
import { bodyOf } from "../support/bodies.js";
import { provenance } from "../support/provenance-world.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer({ GRAPHQL_MAX_DEPTH: "8", GRAPHQL_MAX_COST: "20000" });
  ada = await server.person("ada");
  await provenance(server.deps.records, ada.id, 150);
});
afterAll(() => server.stop());
const refused = async (query: string, variables = {}) => {
  const answer = await server.graphql(query, variables, ada.token);
  return answer.body.data === undefined
    ? answer.body.errors!.map(({ message }) => message).join(" ")
    : "answered";
};

describe("a document", () => {
  const nested = (depth: number) =>
    `{ record(id: "x") ${"{ owner ".repeat(depth)} { id }${" }".repeat(depth)} }`;
  it("is answered up to GRAPHQL_MAX_DEPTH, fragments included, and introspection at any depth", async () => {
    expect(await refused(nested(6))).toBe("answered");
    expect(await refused(nested(7))).toContain("GRAPHQL_MAX_DEPTH");
    const fragments =
      `{ record(id: "x") { ...a } } fragment a on Record { owner { ...b } } fragment b on ` +
      "Record { owner { ...c } } fragment c on Record { owner { ...d } } fragment d on Record " +
      "{ owner { owner { owner { owner { id } } } } }";
    expect(await refused(fragments)).toContain("GRAPHQL_MAX_DEPTH");
    expect(
      await refused(
        "{ __schema { types { ofType: fields { type { ofType { ofType { ofType { ofType { " +
          "ofType { name } } } } } } } } } }",
      ),
    ).toBe("answered");
  });
  it("counts a connection with its edges, nodes and their node as one level", async () => {
    const links = (depth: number, open: string, close: string): string =>
      `{ record(id: "x") { ${`related(relation: HAS_PART, first: 1) { ${open} `.repeat(depth)} id ${`${close} } `.repeat(depth)} } }`;
    for (const [open, close] of [
      ["nodes {", "}"],
      ["edges { node {", "} }"],
      ["... on RecordConnection { edges { ... on RecordEdge { node { ... on Record {", "} } } } }"],
    ] as const) {
      expect(await refused(links(6, open, close)), open).toBe("answered");
      expect(await refused(links(7, open, close)), open).toContain("GRAPHQL_MAX_DEPTH");
    }
    const spread = (depth: number) =>
      `{ record(id: "x") { ...P } } fragment P on Record { related(relation: HAS_PART, first: 1) {
        ...Q } } fragment Q on RecordConnection { nodes ${"{ owner ".repeat(depth)} { id } ${"}".repeat(depth)} }`;
    expect(await refused(spread(5))).toBe("answered");
    expect(await refused(spread(6))).toContain("GRAPHQL_MAX_DEPTH");
    // Fields of these names elsewhere are levels as any other.
    expect(await refused(`{ node(id: "x") { ... on Record ${nested(7).slice(17)} }`)).toContain(
      "GRAPHQL_MAX_DEPTH",
    );
  });
  it("may ask for __schema once and for __type once, counting those in fragments", async () => {
    const type = (name: string) => `${name}: __type(name: "Dataset") { name }`;
    expect(await refused(`{ __schema { queryType { name } } ${type("a")} }`)).toBe("answered");
    for (const repeated of [
      `{ ${type("a")} ${type("b")} }`,
      "{ a: __schema { queryType { name } } __schema { queryType { name } } }",
      "{ __schema { queryType { name } } ...f } fragment f on Query { __schema { types { name } } }",
      "{ ...f ...g } fragment f on Query { ...g } fragment g on Query { __schema { types { name } } }",
    ])
      expect(await refused(repeated)).toMatch(/asks for __(?:schema|type) 2 times/);
  });
  it("may have a hundred aliases, counting those in fragments at each spread", async () => {
    const aliases = (count: number) =>
      Array.from({ length: count }, (_, round) => `a${round}: __typename`).join(" ");
    expect(await refused(`{ ${aliases(100)} }`)).toBe("answered");
    expect(await refused(`{ ${aliases(101)} }`)).toContain("aliases");
    expect(await refused(`{ ...f } fragment f on Query { ${aliases(101)} }`)).toContain("aliases");
    expect(await refused(`{ ...f ...f ...f } fragment f on Query { ${aliases(40)} }`)).toContain(
      "aliases",
    );
    const doubling = Array.from(
      { length: 30 },
      (_, round) =>
        `fragment f${round} on Record { x: id ` +
        `${round === 29 ? "id" : `...f${round + 1} ...f${round + 1}`} }`,
    ).join(" ");
    expect(await refused(`{ record(id: "x") { ...f0 } } ${doubling}`)).toContain("aliases");
  });
  it("is stopped by the parser when it has too many tokens, and a fragment cycle is refused", async () => {
    expect(await refused(`{ ${"id ".repeat(10_001)} }`)).toContain("tokens");
    expect(
      await refused(
        `{ record(id: "x") { ...a } } fragment a on Record { ...b } fragment b on Record { ...a }`,
      ),
    ).toContain("itself");
  });
  it("may request GRAPHQL_MAX_COST records, counting nested pages as products", async () => {
    expect(
      await refused(
        "{ datasets(first: 100) { nodes { ... on Dataset { usedBy(first: 100) { nodes { id " +
          "} } } } } }",
      ),
    ).toBe("answered");
    expect(
      await refused(
        "{ datasets(first: 1000) { nodes { ... on Dataset { usedBy(first: 1000) { nodes { " +
          "id } } } } } }",
      ),
    ).toContain("GRAPHQL_MAX_COST");
    expect(
      await refused(
        "query ($n: Int!) { datasets(first: $n) { edges { node { ... on Dataset { " +
          "usedBy(first: $n) { nodes { ...f } } } } } } } fragment f on Record { owner { id } " +
          "}",
        { n: 500 },
      ),
    ).toContain("GRAPHQL_MAX_COST");
    expect(
      await refused(
        "{ datasets { nodes { hasPart(first: 30) { nodes { ... on Dataset { hasPart { nodes " +
          "{ id } } } } } } } }",
      ),
    ).toContain("first");
    expect(
      await refused(`{ record(id: "x") { revisions(first: 1000) { nodes { number } } } }`),
    ).toBe("answered");
  });
});

describe("the GraphQL endpoint", () => {
  const send = (method: string, path: string, options = {}) =>
    server.request<{ errors?: { extensions: { code: string } }[]; code?: string }>(
      method,
      path,
      options,
    );
  it("answers GET queries, which change nothing and carry no cookies, and no mutations", async () => {
    const query = (text: string) => `/graphql?query=${encodeURIComponent(text)}`;
    expect((await send("GET", query("{ me { id } }"))).body).toEqual({
      data: { me: null },
      extensions: { cost: expect.anything() },
    });
    const head = await send("HEAD", query("{ me { id } }"));
    expect([head.status, head.text]).toEqual([200, ""]);
    const mutation = await send(
      "GET",
      query(`mutation { deleteRecord(input: { id: "x" }) { revision } }`),
      {
        token: ada.token,
      },
    );
    expect(mutation.status).toBe(405);
    expect((await send("GET", "/graphql")).status).toBe(400);
    expect((await send("GET", "/graphql", { headers: { Accept: "text/html" } })).text).toContain(
      "/assets/graph",
    );
  });
  it.each(["PUT", "DELETE", "PATCH", "OPTIONS"])("has no %s", async (method) => {
    const answer = await send(method, "/graphql");
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  });
  it.each([
    "[]",
    "5",
    "null",
    `"x"`,
    "{}",
    `{"query":5}`,
    `{"query":"{ me { id } }","variables":[]}`,
    `{"query":"{"}`,
    `{"query":"{ nope }"}`,
    `{"query":"query ($a: ID!) { record(id: $a) { id } }"}`,
    `{"operationName":"x","query":"{ me { id } }"}`,
  ])("refuses %s as a client error", async (body) => {
    const answer = await send("POST", "/graphql", {
      body,
      headers: { "Content-Type": "application/json" },
    });
    expect(answer.status).toBeLessThan(500);
    expect(answer.body.errors![0]!.extensions.code).not.toBe("INTERNAL");
  });
  it.each([
    ["[]", "list"],
    ["5", "the body must be a JSON object"],
    ["{}", "query must be"],
    [`{"query":{"kind":"Document"}}`, "query must be"],
    [`{"query":"{ me { id } }","variables":"{}"}`, "variables must be a JSON object"],
    [`{"query":"{ me { id } }","extensions":[]}`, "extensions must be a JSON object"],
    [`{"query":"{ me { id } }","operationName":3}`, "operationName must be a string"],
  ])("states what is wrong with %s", async (body, why) => {
    const headers = { "Content-Type": "application/json" };
    const answer = await send("POST", "/graphql", { body, headers });
    expect([answer.status, answer.body.errors![0]!.extensions.code]).toEqual([400, "BAD_REQUEST"]);
    expect(answer.text).toContain(why);
  });
  it.each([
    ["query={__typename}&query={__typename}", "query must be one parameter"],
    ["query={__typename}&variables=x", "variables must be a JSON object"],
    ["query={__typename}&variables=[]", "variables must be a JSON object"],
    ["query={__typename}&variables={}&variables={}", "variables must be one parameter"],
    ["query={__typename}&extensions=1", "extensions must be a JSON object"],
    ["variables={}", "query must be"],
  ])("states what is wrong with the address ?%s", async (search, why) => {
    const answer = await send("GET", `/graphql?${search}`);
    expect([answer.status, answer.body.errors![0]!.extensions.code]).toEqual([400, "BAD_REQUEST"]);
    expect(answer.text).toContain(why);
    const headers = { "Content-Type": "text/plain" };
    expect((await send("GET", "/graphql?query={__typename}", { headers })).status).toBe(415);
  });
  it("answers many documents at once, more than it keeps", async () => {
    for (let wave = 0; wave < 12; wave++) {
      const names = Array.from({ length: 100 }, (_, at) => `a${(wave * 100 + at) % 700}`);
      const answers = await Promise.all(
        names.map((name) => server.graphql(`{ ${name}: __typename }`)),
      );
      for (const [at, { body }] of answers.entries())
        expect(body).toMatchObject({ data: { [names[at]!]: "Query" } });
    }
  });
  it("changes nothing for a client that could not read the answer", async () => {
    const { token } = ada;
    const made = await server.request("POST", "/dataset", {
      token,
      json: bodyOf("dataset", ada.id),
    });
    const id = made.body["@id"] as string;
    const headers = { "Content-Type": "application/json", Accept: "text/html" };
    const query = `mutation { deleteRecord(input: { id: "${id}" }) { revision } }`;
    const answer = await send("POST", "/graphql", {
      token,
      headers,
      body: JSON.stringify({ query }),
    });
    expect(answer.status).toBe(406);
    expect(answer.body.errors![0]!.extensions.code).toBe("NOT_ACCEPTABLE");
    expect((await server.request("GET", `/${id}`)).status).toBe(200);
  });
  it("accepts only JSON, or a form that no page of another origin can send", async () => {
    expect(
      (
        await send("POST", "/graphql", {
          body: "{ me { id } }",
          headers: { "Content-Type": "application/graphql" },
        })
      ).status,
    ).toBe(415);
    const form = (headers: Record<string, string>, body = "--x\r\n") =>
      send("POST", "/graphql", {
        body,
        headers: { "Content-Type": "multipart/form-data; boundary=x", ...headers },
      });
    expect((await form({})).status).toBe(400);
    expect((await form({ "apollo-require-preflight": "1" })).body.errors![0]!.extensions.code).toBe(
      "NOT_AUTHENTICATED",
    );
    const known = { "apollo-require-preflight": "1", Authorization: `Bearer ${ada.token}` };
    for (const body of [
      "--x\r\n",
      "",
      "--x--\r\n",
      `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{"query":5}\r\n` +
        `--x\r\nContent-Disposition: form-data; name="map"\r\n\r\n[]\r\n--x--\r\n`,
    ]) {
      const answer = await form(known, body);
      expect([body, answer.status]).toEqual([body, 400]);
    }
    expect((await form({ ...known, "Content-Type": "multipart/form-data" })).status).toBe(400);
    expect(server.faults).toEqual([]);
  });
  it("applies the limits of JSON to forms", async () => {
    const upload = (input: string) =>
      send("POST", "/graphql", {
        token: ada.token,
        headers: {
          "Content-Type": "multipart/form-data; boundary=x",
          "apollo-require-preflight": "1",
        },
        body:
          `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{"query":"mutation ` +
          "($i: DatasetInput!) { createDataset(input: { dataset: $i }) { dataset { id } } " +
          `}","variables":{"i":${input}}}\r\n--x\r\nContent-Disposition: form-data; ` +
          `name="map"\r\n\r\n{}\r\n--x--\r\n`,
      });
    const { "@id": _id, "@type": type, ...body } = bodyOf("dataset", ada.id);
    const good = JSON.stringify({ type, ...body });
    expect((await upload(good)).body).toHaveProperty("data.createDataset.dataset.id");
    const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
    for (const bad of [
      good.replace(`"type"`, `"additionalProperties":{"x":"a\\u0000"},"type"`),
      good.replace(`"type"`, `"additionalProperties":{"x":"\\ud800"},"type"`),
      good.replace(`"type"`, `"additionalProperties":{"x":${deep}},"type"`),
    ]) {
      expect((await upload(bad)).body.errors![0]!.extensions.code).toBe("VALIDATION");
    }
    expect(server.faults).toEqual([]);
  });
});

describe("an answer is bounded while it is made, over every transport:", () => {
  const all = (start: string, count: number, body: string, end = "") =>
    `{ ${start} ${Array.from({ length: count }, (_, index) => `a${index}: ${body}`).join(" ")} ${end} }`;
  it.each([
    [
      "types with many aliases",
      all(
        "__schema { types {",
        90,
        "fields(includeDeprecated: true) { name type { name } }",
        "} }",
      ),
    ],
    [
      "names of types",
      all(
        "datasets(first: 150) { nodes { usedBy(first: 50) { nodes {",
        100,
        "__typename",
        "} } } }",
      ),
    ],
  ])("%s", async (_name, query) => {
    const past = expect.objectContaining({
      message: expect.stringContaining("GRAPHQL_MAX_BYTES"),
      extensions: expect.objectContaining({ code: "QUERY_TOO_COSTLY" }),
    });
    const small = await startServer({ GRAPHQL_MAX_BYTES: "64K" });
    try {
      await provenance(small.deps.records, "ark:99999/user-ada", 150);
      const answer = await small.graphql(query);
      expect(answer.body.errors).toContainEqual(past);
      expect(answer.text.length).toBeLessThan(2 ** 17);
      const streamed = await eventsOf(
        await fetch(`${small.url}/graphql/stream`, {
          method: "POST",
          body: JSON.stringify({ query }),
          headers: { "Content-Type": "application/json" },
        }),
      );
      expect(streamed[0]!.data.errors).toContainEqual(past);
      const client = webSocketClient(small.url);
      const { value } = await client.iterate({ query }).next();
      expect((value as { errors: unknown[] }).errors).toContainEqual(past);
      await client.dispose();
    } finally {
      await small.stop();
    }
  });
});
