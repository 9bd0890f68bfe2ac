import { getIntrospectionQuery, type IntrospectionQuery } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forGraphql } from "../../src/graphql/errors.js";
import type { JsonObject } from "../../src/model/field.js";
import { KINDS } from "../../src/model/kinds.js";
import { bodyOf, WRITABLE } from "../support/bodies.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = await Promise.all([server.person("ada"), server.person("bob")]);
});
afterAll(() => server.stop());

/** A REST body as the input of the GraphQL mutation. */
function inputOf(kind: keyof typeof KINDS, body: JsonObject): JsonObject {
  const declared = new Set(
    Object.keys(KINDS[kind].fields).filter(
      (name) => !(kind === "schema" && ["type", "additionalProperties"].includes(name)),
    ),
  );
  const input: JsonObject = {};
  const more: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    if (name.startsWith("@")) input[name.slice(1)] = value;
    else if (declared.has(name)) input[name] = value;
    else more[name] = value;
  }
  return { ...input, additionalProperties: more };
}
const field = (kind: keyof typeof KINDS) => {
  const { typeName } = KINDS[kind];
  const abbreviation = ["RO", "ML"].find((letters) => typeName.startsWith(letters));
  const first = abbreviation ?? typeName[0]!;
  return first.toLowerCase() + typeName.slice(first.length);
};
const mutate = (
  verb: string,
  kind: keyof typeof KINDS,
  body: JsonObject,
  token: string | undefined,
  more = "",
) => {
  const { typeName } = KINDS[kind];
  return server.graphql<
    Record<string, { id: string; revision: number; document: JsonObject } | null>
  >(
    `mutation ($input: ${typeName}Input!) { ${verb}${typeName}(input: $input${more}) { id ` +
      "revision document } }",
    { input: inputOf(kind, body) },
    token,
  );
};

describe("the schema", () => {
  /** Lists of records under the names that their queries have. */
  const HOLDINGS: Readonly<Record<string, string>> = {
    evidencegraphs: "evidenceGraphs",
    rocrates: "roCrates",
    software: "softwares",
  };
  it("can be introspected, and has a type, a single and a list query of each kind", async () => {
    const { body } = await server.graphql<IntrospectionQuery & JsonObject>(getIntrospectionQuery());
    const types = new Map(body.data.__schema.types.map((type) => [type.name, type]));
    const queries = new Set(
      (types.get("Query") as unknown as { fields: { name: string }[] }).fields.map(
        ({ name }) => name,
      ),
    );
    for (const kind of Object.values(KINDS)) {
      const type = types.get(kind.typeName) as unknown as {
        interfaces: { name: string }[];
        fields: { name: string }[];
      };
      expect(type.interfaces.map(({ name }) => name).sort()).toEqual([
        ...(kind.hasContent ? ["HasContent"] : []),
        "Node",
        "Record",
      ]);
      const fields = new Set(type.fields.map(({ name }) => name));
      for (const name of [
        "id",
        "kind",
        "types",
        "name",
        "description",
        "keywords",
        "license",
        "url",
        "owner",
        "revision",
        "createdAt",
        "modifiedAt",
        "publicationStatus",
        "document",
        "additionalProperties",
        "revisions",
      ])
        expect(fields.has(name), `${kind.typeName}.${name}`).toBe(true);
      for (const [name, spec] of Object.entries(kind.fields))
        expect(fields.has(HOLDINGS[name] ?? name), `${kind.typeName}.${name}`).toBe(
          !name.startsWith("@") && name !== "author" && !spec.private && !spec.secret,
        );
      expect(queries.has(kind.plural) && queries.has(field(kind.name)), kind.name).toBe(true);
    }
    expect(
      ["email", "password", "adminToken"].some((name) =>
        (types.get("User") as unknown as { fields: { name: string }[] }).fields.some(
          (one) => one.name === name,
        ),
      ),
    ).toBe(false);
  });
});

describe.each(WRITABLE)("a %s", (kind) => {
  it("is written over GraphQL as over REST, and read by either", async () => {
    const body = bodyOf(kind, ada.id, { extra: { deep: [1, null] } });
    const made = await mutate("create", kind, body, ada.token);
    expect(made.body.errors).toBeUndefined();
    const created = made.body.data[`create${KINDS[kind].typeName}`]!;
    const rest = await server.request("GET", `/${kind}/${String(body["@id"])}`);
    expect(created).toEqual({ id: body["@id"], revision: 1, document: rest.body });
    expect(
      (
        await server.request("POST", `/${kind}`, {
          token: ada.token,
          json: { ...body, "@id": `${String(body["@id"])}x` },
        })
      ).body,
    ).toEqual({ ...rest.body, "@id": `${String(body["@id"])}x` });
    const changed = await mutate(
      "replace",
      kind,
      { ...body, name: "Changed" },
      ada.token,
      ", expectedRevision: 1",
    );
    expect(changed.body.data[`replace${KINDS[kind].typeName}`]).toMatchObject({
      revision: 2,
      document: { name: "Changed" },
    });
    const alias = String(body["@id"]).replace("ark:", "https://n2t.net/ark:/");
    const read = await server.graphql<Record<string, unknown>>(
      `query ($id: ID!) { ${field(kind)}(id: $id) { id name owner { id } ` +
        "additionalProperties revisions { nodes { number action by { id } changed } } } record(id: " +
        "$id) { id } node(id: $id) { id } }",
      { id: alias },
    );
    expect(read.body.data).toEqual({
      [field(kind)]: {
        id: body["@id"],
        name: "Changed",
        owner: { id: ada.id },
        additionalProperties: {
          extra: { deep: [1, null] },
          ...(kind === "schema"
            ? { additionalProperties: rest.body["additionalProperties"]! }
            : {}),
          // A property that the kind does not list.
          ...(kind === "software" ? { author: body["author"]! } : {}),
        },
        revisions: {
          nodes: [
            { number: 2, action: "UPDATE", by: { id: ada.id }, changed: ["/name"] },
            { number: 1, action: "CREATE", by: { id: ada.id }, changed: [] },
          ],
        },
      },
      record: { id: body["@id"] },
      node: { id: body["@id"] },
    });
  });
  it("is refused with the codes and the detail of REST", async () => {
    const body = bodyOf(kind, ada.id);
    await mutate("create", kind, body, ada.token);
    const pairs: [
      string,
      string,
      JsonObject,
      string | undefined,
      string,
      Record<string, string>,
    ][] = [
      ["create", "POST", { ...body, "@id": "x", description: "d", owner: "me" }, ada.token, "", {}],
      ["create", "POST", body, ada.token, "", {}],
      ["create", "POST", bodyOf(kind, ada.id), undefined, "", {}],
      ["create", "POST", bodyOf(kind, ada.id), bob.token, "", {}],
      ["replace", "PUT", bodyOf(kind, ada.id), ada.token, "", {}],
      ["replace", "PUT", { ...body, name: "n" }, bob.token, "", {}],
      [
        "replace",
        "PUT",
        { ...body, name: "n" },
        ada.token,
        ", expectedRevision: 7",
        { "If-Match": '"7-0"' },
      ],
    ];
    for (const [verb, method, sent, token, more, headers] of pairs) {
      const overRest = await server.request(method, `/${kind}`, {
        json: sent,
        headers,
        ...(token ? { token } : {}),
      });
      const { errors } = (await mutate(verb, kind, sent, token, more)).body;
      expect(errors).toHaveLength(1);
      const { code, detail } = errors![0]!.extensions;
      if (overRest.status === 422)
        expect([code, detail]).toEqual(["VALIDATION", overRest.body["detail"]]);
      else
        expect([code, errors![0]!.message]).toEqual([
          overRest.body["code"],
          forGraphql(overRest.body["detail"] as string),
        ]);
    }
  });
  it("is deleted with a reason, and then is gone", async () => {
    const body = bodyOf(kind, ada.id);
    await mutate("create", kind, body, ada.token);
    const remove = (token: string | undefined, more = "") =>
      server.graphql<{ deleteRecord: JsonObject }>(
        `mutation ($id: ID!) { deleteRecord(id: $id, reason: "r"${more}) { id name } }`,
        { id: body["@id"] },
        token,
      );
    expect((await remove(undefined)).body.errors![0]!.extensions.code).toBe("NOT_AUTHENTICATED");
    expect((await remove(bob.token)).body.errors![0]!.extensions.code).toBe("FORBIDDEN");
    expect(
      (await remove(ada.token, ", expectedRevision: 4")).body.errors![0]!.extensions.code,
    ).toBe("REVISION_MISMATCH");
    expect((await remove(ada.token)).body.data.deleteRecord).toEqual({
      id: body["@id"],
      name: body["name"],
    });
    expect(
      (await server.graphql("query ($id: ID!) { record(id: $id) { id } }", { id: body["@id"] }))
        .body.errors![0]!.extensions,
    ).toMatchObject({ code: "GONE", deletedBy: ada.id, reason: "r" });
  });
});

describe("the type of a kind that has one only", () => {
  it.each(["dataset", "computation"] as const)(
    "may be left out where the mutation implies it: %s",
    async (kind) => {
      const { "@type": type, ...body } = bodyOf(kind, ada.id);
      const { data } = (await mutate("create", kind, body, ada.token)).body;
      expect(data[`create${KINDS[kind].typeName}`]).toMatchObject({ document: { "@type": type } });
      expect(
        (await mutate("replace", kind, { ...body, name: "Without a type" }, ada.token)).body.data[
          `replace${KINDS[kind].typeName}`
        ],
      ).toMatchObject({ document: { "@type": type, name: "Without a type" } });
      for (const other of ["evi:Software", null])
        expect(
          (await mutate("replace", kind, { ...body, "@type": other }, ada.token)).body.errors![0]!
            .extensions,
        ).toMatchObject({
          code: "VALIDATION",
          detail: [{ loc: ["body", "@type"], type: "literal_error" }],
        });
    },
  );
});

describe("values", () => {
  it("that REST refuses in a body are refused beside and inside a document", async () => {
    const input = inputOf("dataset", bodyOf("dataset", ada.id));
    const withName = (name: string) =>
      server.graphql(
        `mutation { createDataset(input: {type: "evi:Dataset", owner: "${ada.id}", ` +
          `description: "enough", name: ${name}}) { id } }`,
        {},
        ada.token,
      );
    const code = async (answer: ReturnType<typeof withName>) =>
      (await answer).body.errors![0]!.extensions.code;
    expect(await code(withName(`"a\\u0000"`))).toBe("VALIDATION");
    expect(await code(withName(`"a\\uD800"`))).toBe("GRAPHQL_PARSE_FAILED");
    expect(
      await code(
        server.graphql(
          'mutation ($n: JSON) { createDataset(input: {name: "n", description: "enough", ' +
            `owner: "${ada.id}", additionalProperties: {n: 12345678901234567890, m: $n}}) { id } }`,
          {},
          ada.token,
        ),
      ),
    ).toBe("VALIDATION");
    expect(
      (
        await server.graphql(
          "mutation ($input: DatasetInput!) { createDataset(input: $input) { id } }",
          { input: { ...input, name: "a\0" } },
          ada.token,
        )
      ).status,
    ).toBe(422);
    expect(server.faults).toEqual([]);
  });
  it("under __proto__ are stored like others", async () => {
    const id = "ark:99999/proto-over-graphql";
    const variables = JSON.stringify({
      input: { ...inputOf("dataset", bodyOf("dataset", ada.id)), id },
    }).replace(
      `"additionalProperties":{}`,
      `"additionalProperties":{"__proto__":{"x":1},"constructor":2}`,
    );
    const answer = await server.request("POST", "/graphql", {
      token: ada.token,
      headers: { "Content-Type": "application/json" },
      body:
        `{"query":"mutation ($input: DatasetInput!) { createDataset(input: $input) { id } ` +
        `}","variables":${variables}}`,
    });
    expect(answer.text).toContain(id);
    expect((await server.request("GET", `/${id}`)).text).toContain(
      `"__proto__":{"x":1},"constructor":2`,
    );
  });
  it("in additionalProperties must be an object", async () => {
    const { body } = await server.graphql(
      'mutation { createDataset(input: {name: "n", description: "enough", owner: ' +
        `"${ada.id}", additionalProperties: [1]}) { id } }`,
      {},
      ada.token,
    );
    expect(body.errors![0]!.extensions.code).toBe("VALIDATION");
  });
});

describe("accounts", () => {
  it("can be created, logged into and queried", async () => {
    const made = await server.graphql<{ createUser: { id: string; name: string } }>(
      `mutation { createUser(input: {name: "Cyd", email: "cyd@example.org", password: ` +
        `"${PASSWORD}"}) { id name } }`,
    );
    expect(made.body.data.createUser.name).toBe("Cyd");
    const login = await server.graphql<{
      login: { accessToken: string; tokenType: string; expiresIn: number };
    }>(
      `mutation { login(username: "cyd@example.org", password: "${PASSWORD}") { accessToken ` +
        "tokenType expiresIn } }",
    );
    expect(login.body.data.login).toMatchObject({ tokenType: "bearer", expiresIn: 86400 });
    const me = await server.graphql<{ me: { id: string; document: JsonObject } }>(
      "{ me { id document } }",
      {},
      login.body.data.login.accessToken,
    );
    expect(me.body.data.me).toMatchObject({
      id: made.body.data.createUser.id,
      document: { email: "cyd@example.org" },
    });
    expect((await server.graphql("{ me { id } }")).body.data).toEqual({ me: null });
    expect(
      (
        await server.graphql(
          `mutation { login(username: "cyd@example.org", password: "x") { accessToken } }`,
        )
      ).body.errors![0]!.extensions.code,
    ).toBe("BAD_CREDENTIALS");
  });
  it("with an invalid token are refused, not served as anonymous", async () => {
    const answer = await server.graphql("{ me { id } }", {}, "rubbish");
    expect([
      answer.status,
      answer.body.errors![0]!.extensions.code,
      answer.headers.get("www-authenticate"),
    ]).toEqual([401, "INVALID_TOKEN", 'Bearer error="invalid_token"']);
  });
});

it("a missing record is null, and so is an invalid identifier", async () => {
  const { body } = await server.graphql(
    `{ record(id: "ark:99999/none") { id } node(id: "x") { id } dataset(id: ` +
      `"ark:99999/none") { id } other: dataset(id: "${ada.id}") { id } }`,
  );
  expect(body).toEqual({
    data: { record: null, node: null, dataset: null, other: null },
    extensions: { cost: expect.anything() },
  });
});
it("an evidence graph has the same nodes and edges as over REST", async () => {
  const dataset = await server.request("POST", "/dataset", {
    token: ada.token,
    json: bodyOf("dataset", ada.id),
  });
  const run = await server.request("POST", "/computation", {
    token: ada.token,
    json: bodyOf("computation", ada.id, { generated: [dataset.body["@id"]!] }),
  });
  const { body } = await server.graphql<{
    evidence: { nodes: { id: string }[]; edges: JsonObject[]; document: JsonObject };
  }>(
    "query ($id: ID!) { evidence(id: $id) { nodes { id kind } edges { source name " +
      "target } document } }",
    { id: dataset.body["@id"] },
  );
  expect(body).not.toHaveProperty("errors");
  expect(body.data.evidence.nodes.map(({ id }) => id)).toEqual(
    expect.arrayContaining([dataset.body["@id"], run.body["@id"]]),
  );
  expect(body.data.evidence.edges).toContainEqual({
    source: run.body["@id"],
    name: "generated",
    target: dataset.body["@id"],
  });
  expect(
    (await server.request("GET", `/evidencegraph/query/${String(dataset.body["@id"])}`)).body[
      "@graph"
    ],
  ).toEqual(body.data.evidence.document["@graph"]);
});
