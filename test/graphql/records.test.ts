import { getIntrospectionQuery, type IntrospectionQuery } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forGraphql } from "../../src/graphql/errors.js";
import { nounOf } from "../../src/graphql/resolvers/types/mutations.js";
import type { JsonObject } from "../../src/model/field.js";
import { KINDS } from "../../src/model/kinds.js";
import { bodyOf, commandOf, WRITABLE } from "../support/bodies.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = await Promise.all([server.person("ada"), server.person("bob")]);
});
afterAll(() => server.stop());

const RENAMED: Readonly<Record<string, string>> = {
  evidencegraphs: "evidenceGraphs",
  rocrates: "roCrates",
  software: "softwares",
};
/** A REST body as the input of the GraphQL mutation. */
function inputOf(kind: keyof typeof KINDS, body: JsonObject): JsonObject {
  const declared = new Set(
    Object.keys(KINDS[kind].fields).filter(
      (name) =>
        !(kind === "schema" && ["type", "additionalProperties", "seperator"].includes(name)),
    ),
  );
  const input: JsonObject = {};
  const more: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    if (name.startsWith("@")) input[name.slice(1)] = value;
    else if (Object.hasOwn(RENAMED, name)) input[RENAMED[name]!] = value;
    else if (name === "command") input[name] = commandOf(value);
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
  const noun = nounOf(typeName);
  const { id, ...input } = inputOf(kind, body);
  return server.graphql<Record<string, Record<string, Shown>>>(
    `mutation ($id: ID${verb === "replace" ? "!" : ""}, $input: ${typeName}Input!) { ` +
      `${verb}${typeName}(input: { id: $id, ${noun}: $input${more} }) { ${noun} { id revision ` +
      "document } } }",
    { id: id ?? null, input },
    token,
  );
};
interface Shown {
  id: string;
  revision: number;
  document: JsonObject;
}
/** The record in the answer of {@link mutate}. */
const writtenIn = (data: Record<string, Record<string, Shown>>): Shown =>
  Object.values(Object.values(data)[0]!)[0]!;
/** The places of a body as those of an input. */
const asArguments = (kind: keyof typeof KINDS, detail: JsonObject[]): JsonObject[] =>
  detail.map((item) => {
    const [, name, ...rest] = item["loc"] as string[];
    const shown = name === "@type" ? "type" : name!;
    const place = name === "@id" ? ["id"] : [nounOf(KINDS[kind].typeName), shown];
    return { ...item, loc: ["input", ...place, ...rest] };
  });

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
    const created = writtenIn(made.body.data);
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
    expect(writtenIn(changed.body.data)).toMatchObject({
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
        expect([code, detail]).toEqual([
          "VALIDATION",
          asArguments(kind, overRest.body["detail"] as JsonObject[]),
        ]);
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
        `mutation ($id: ID!) { deleteRecord(input: { id: $id, reason: "r"${more} }) { revision ` +
          "record { id name tombstone { at by { id } reason } } } }",
        { id: body["@id"] },
        token,
      );
    expect((await remove(undefined)).body.errors![0]!.extensions.code).toBe("NOT_AUTHENTICATED");
    expect((await remove(bob.token)).body.errors![0]!.extensions.code).toBe("FORBIDDEN");
    expect(
      (await remove(ada.token, ", expectedRevision: 4")).body.errors![0]!.extensions.code,
    ).toBe("REVISION_MISMATCH");
    expect((await remove(ada.token)).body.data.deleteRecord).toEqual({
      revision: 2,
      record: {
        id: body["@id"],
        name: null,
        tombstone: { at: expect.any(String), by: { id: ada.id }, reason: "r" },
      },
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
      expect(writtenIn(data)).toMatchObject({ document: { "@type": type } });
      expect(
        writtenIn(
          (await mutate("replace", kind, { ...body, name: "Without a type" }, ada.token)).body.data,
        ),
      ).toMatchObject({ document: { "@type": type, name: "Without a type" } });
      for (const other of ["evi:Software", null])
        expect(
          (await mutate("replace", kind, { ...body, "@type": other }, ada.token)).body.errors![0]!
            .extensions,
        ).toMatchObject({
          code: "VALIDATION",
          detail: [{ loc: ["input", nounOf(KINDS[kind].typeName), "type"], type: "literal_error" }],
        });
    },
  );
});

describe("values", () => {
  it("that REST refuses in a body are refused beside and inside a document", async () => {
    const { id: _id, ...input } = inputOf("dataset", bodyOf("dataset", ada.id));
    const withName = (name: string) =>
      server.graphql(
        `mutation { createDataset(input: { dataset: {type: "evi:Dataset", owner: "${ada.id}", ` +
          `description: "enough", name: ${name}} }) { revision } }`,
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
          'mutation ($n: JSON) { createDataset(input: { dataset: {name: "n", description: "enough", ' +
            `owner: "${ada.id}", additionalProperties: {n: 12345678901234567890, m: $n}} }) { revision } }`,
          {},
          ada.token,
        ),
      ),
    ).toBe("VALIDATION");
    expect(
      (
        await server.graphql(
          "mutation ($input: DatasetInput!) { createDataset(input: { dataset: $input }) { dataset { id } } }",
          { input: { ...input, name: "a\0" } },
          ada.token,
        )
      ).status,
    ).toBe(422);
    expect(server.faults).toEqual([]);
  });
  it("under __proto__ are stored like others", async () => {
    const id = "ark:99999/proto-over-graphql";
    const { id: _id, ...input } = inputOf("dataset", bodyOf("dataset", ada.id));
    const variables = JSON.stringify({ input }).replace(
      `"additionalProperties":{}`,
      `"additionalProperties":{"__proto__":{"x":1},"constructor":2}`,
    );
    const answer = await server.request("POST", "/graphql", {
      token: ada.token,
      headers: { "Content-Type": "application/json" },
      body:
        `{"query":"mutation ($input: DatasetInput!) { createDataset(input: { id: \\"${id}\\", dataset: $input }) { dataset { id } } ` +
        `}","variables":${variables}}`,
    });
    expect(answer.text).toContain(id);
    expect((await server.request("GET", `/${id}`)).text).toContain(
      `"__proto__":{"x":1},"constructor":2`,
    );
  });
  it("in additionalProperties must be an object", async () => {
    const { body } = await server.graphql(
      'mutation { createDataset(input: { dataset: {name: "n", description: "enough", owner: ' +
        `"${ada.id}", additionalProperties: [1]} }) { revision } }`,
      {},
      ada.token,
    );
    expect(body.errors![0]!.extensions.code).toBe("VALIDATION");
  });
});

describe("accounts", () => {
  it("can be created, logged into and queried", async () => {
    const made = await server.graphql<{ createUser: { user: { id: string; name: string } } }>(
      `mutation { createUser(input: { user: {name: "Cyd", email: "cyd@example.org", password: ` +
        `"${PASSWORD}"} }) { user { id name } } }`,
    );
    expect(made.body.data.createUser.user.name).toBe("Cyd");
    const login = await server.graphql<{
      signIn: { token: { accessToken: string; tokenType: string; expiresIn: number } };
    }>(
      `mutation { signIn(input: { username: "cyd@example.org", password: "${PASSWORD}" }) { token { ` +
        "accessToken tokenType expiresIn } } }",
    );
    expect(login.body.data.signIn.token).toMatchObject({ tokenType: "bearer", expiresIn: 86400 });
    const me = await server.graphql<{ me: { id: string; document: JsonObject } }>(
      "{ me { id document } }",
      {},
      login.body.data.signIn.token.accessToken,
    );
    expect(me.body.data.me).toMatchObject({
      id: made.body.data.createUser.user.id,
      document: { email: "cyd@example.org" },
    });
    expect((await server.graphql("{ me { id } }")).body.data).toEqual({ me: null });
    expect(
      (
        await server.graphql(
          `mutation { signIn(input: { username: "cyd@example.org", password: "x" }) { token { accessToken } } }`,
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

it("an unknown identifier is null; one of another kind, or none, is an error as over REST", async () => {
  const { body } = await server.graphql(
    `{ record(id: "ark:99999/none") { id } node(id: "x") { id } dataset(id: ` +
      `"ark:99999/none") { id } other: dataset(id: "${ada.id}") { id } }`,
  );
  expect(body.data).toEqual({ record: null, node: null, dataset: null, other: null });
  expect(body.errors).toMatchObject([
    {
      path: ["node"],
      message: expect.stringMatching(/^x is not an ARK/),
      extensions: { code: "NOT_FOUND" },
    },
    {
      path: ["other"],
      message: `${ada.id} is a User: ask for record(id: "${ada.id}").`,
      extensions: { code: "NOT_FOUND" },
    },
  ]);
  const empty = await server.graphql(`{ record(id: "") { id } }`);
  expect(empty.body.errors![0]!.message).toMatch(/^An empty identifier is not an ARK/);
});

it("a body that is nested too deep names the beginning and the end of its place", async () => {
  const deep = "[".repeat(300) + "]".repeat(300);
  for (const [text, start] of [
    [`{"query": "{ me { id } }", "variables": {"a": ${deep}}}`, ["variables", "a", 0]],
    [deep, ["request", 0, 0]],
  ] as const) {
    const { status, body } = await server.request<{
      errors: { extensions: { detail: { loc: (string | number)[]; type: string }[] } }[];
    }>("POST", "/graphql", { headers: { "Content-Type": "application/json" }, body: text });
    const [{ loc, type }] = body.errors[0]!.extensions.detail as [{ loc: string[]; type: string }];
    expect([status, type, loc.slice(0, 3)]).toEqual([422, "too_deep", start]);
    expect(loc.length).toBeLessThan(25);
  }
});

it("node finds submissions and access tokens of the caller, and of nobody else", async () => {
  const made = await server.graphql<{
    createAccessToken: { accessToken: { id: string } };
    uploadCrate: { submission: { id: string } };
  }>(
    `mutation { createAccessToken(input: { name: "n" }) { accessToken { id } } uploadCrate(input: {
      source: { metadata: {} } }) { submission { id } } }`,
    {},
    ada.token,
  );
  const { accessToken } = made.body.data.createAccessToken;
  const { submission } = made.body.data.uploadCrate;
  const read = (token?: string) =>
    server.graphql(
      "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }",
      { ids: [accessToken.id, submission.id, ada.id] },
      token,
    );
  const user = { __typename: "User", id: ada.id };
  expect((await read(ada.token)).body.data["nodes"]).toEqual([
    { __typename: "AccessToken", ...accessToken },
    { __typename: "Submission", ...submission },
    user,
  ]);
  expect((await read(bob.token)).body.data["nodes"]).toEqual([null, null, user]);
  expect((await read()).body.errors![0]!.extensions.code).toBe("NOT_AUTHENTICATED");
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
    "query ($id: ID!) { evidence(id: $id) { nodes { id kind } edges { source { id } name " +
      "target { id } } document } }",
    { id: dataset.body["@id"] },
  );
  expect(body).not.toHaveProperty("errors");
  expect(body.data.evidence.nodes.map(({ id }) => id)).toEqual(
    expect.arrayContaining([dataset.body["@id"], run.body["@id"]]),
  );
  expect(body.data.evidence.edges).toContainEqual({
    source: { id: run.body["@id"] },
    name: "generated",
    target: { id: dataset.body["@id"] },
  });
  expect(
    (await server.request("GET", `/evidencegraph/query/${String(dataset.body["@id"])}`)).body[
      "@graph"
    ],
  ).toEqual(body.data.evidence.document["@graph"]);
});
