import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PASSWORD, startServer, type Person, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
let admin: Person;
const PHONE = "+1-555-0199";
beforeAll(async () => {
  server = await startServer();
  [ada, bob, admin] = await Promise.all([
    server.person("ada"),
    server.person("bob"),
    server.person("root", { admin: true }),
  ]);
  const put = await server.request("PUT", "/user", {
    token: ada.token,
    json: {
      "@id": ada.id,
      name: "Ada",
      email: ada.email,
      password: PASSWORD,
      phone: PHONE,
      "@type": "Person",
    },
  });
  expect(put.status).toBe(200);
});
afterAll(() => server.stop());

const GRAPHQL =
  "query ($id: ID!) { record(id: $id) { id name types additionalProperties document revisions { " +
  "nodes { changed } } ... on User { organizations { nodes { id } } } } user(id: $id) { " +
  "document } users { nodes { document additionalProperties } } me { document } }";
/** Every way to read a user, as text. */
const READS: [string, (token?: string) => Promise<string>][] = [
  [
    "GET /user/ark:…",
    async (token) => (await server.request("GET", `/user/${ada.id}`, token ? { token } : {})).text,
  ],
  [
    "GET /ark:…",
    async (token) => (await server.request("GET", `/${ada.id}`, token ? { token } : {})).text,
  ],
  [
    "an earlier revision",
    async (token) =>
      (await server.request("GET", `/${ada.id}?revision=1`, token ? { token } : {})).text,
  ],
  [
    "Turtle",
    async (token) =>
      (
        await server.request("GET", `/${ada.id}`, {
          headers: { Accept: "text/turtle" },
          ...(token ? { token } : {}),
        })
      ).text,
  ],
  [
    "N-Quads of an earlier revision",
    async (token) =>
      (
        await server.request("GET", `/${ada.id}?revision=1`, {
          headers: { Accept: "application/n-quads" },
          ...(token ? { token } : {}),
        })
      ).text,
  ],
  [
    "GET /user",
    async (token) => (await server.request("GET", "/user", token ? { token } : {})).text,
  ],
  [
    "GET /user by page",
    async (token) => (await server.request("GET", "/user?limit=10", token ? { token } : {})).text,
  ],
  ["GraphQL", async (token) => (await server.graphql(GRAPHQL, { id: ada.id }, token)).text],
  [
    "an evidence graph",
    async (token) =>
      (await server.request("GET", `/evidencegraph/query/${ada.id}`, token ? { token } : {})).text,
  ],
];

describe("a user's e-mail address and account fields", () => {
  it.each(READS)("are not shown to others by %s", async (_how, read) => {
    for (const token of [undefined, bob.token]) {
      const text = await read(token);
      for (const secret of [ada.email, PHONE, "$argon2", PASSWORD, "password", "adminToken"])
        expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
    }
  });
  it.each(
    READS.filter(
      ([how]) => how.startsWith("GET") || how === "GraphQL" || how === "an earlier revision",
    ),
  )(
    "except the password are shown to the user itself and administrators by %s",
    async (_how, read) => {
      for (const token of [ada.token, admin.token]) {
        const text = await read(token);
        expect(text).toContain(ada.email);
        expect(text).not.toContain(PASSWORD);
        expect(text).not.toContain("$argon2");
      }
    },
  );
  it("are not in the graph or in the search index, and cannot be found by SPARQL", async () => {
    const quads = (await server.deps.records.quads(ada.id))!;
    expect(quads).toContain("Ada");
    for (const secret of [ada.email, PHONE, PASSWORD, "argon2"])
      expect(quads).not.toContain(secret);
    const { stateOf } = await import("../../../src/services/records/state.js");
    const { KINDS } = await import("../../../src/model/kinds.js");
    const { text, keywords } = await stateOf(server.deps, KINDS.user, ada.id, {
      "@id": ada.id,
      name: "Ada",
      email: ada.email,
      phone: PHONE,
      description: ada.email,
      keywords: [ada.email],
      author: ada.email,
    });
    expect(JSON.stringify([text, keywords])).not.toContain(ada.email);
  });
  it("are not revealed by the ETag of one view to another", async () => {
    const [open, own] = await Promise.all([
      server.request("GET", `/${ada.id}`),
      server.request("GET", `/${ada.id}`, { token: ada.token }),
    ]);
    expect(open.headers.get("etag")).not.toBe(own.headers.get("etag"));
    expect(
      (
        await server.request("GET", `/${ada.id}`, {
          headers: { "If-None-Match": own.headers.get("etag")! },
        })
      ).status,
    ).toBe(200);
  });
  it("cannot be guessed by filters of the list", async () => {
    for (const query of [`name=${ada.email}`, `keyword=${ada.email}`])
      expect((await server.request("GET", `/user?${query}`, { token: bob.token })).text).toBe("[]");
  });
});

describe("users", () => {
  it("are listed to callers with a token", async () => {
    const refused = await server.request("GET", "/user?limit=x");
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(
      (await server.graphql("{ users { nodes { id } } }")).body.errors![0]!.extensions.code,
    ).toBe("NOT_AUTHENTICATED");
    expect(
      (await server.request<object[]>("GET", "/user", { token: bob.token })).body,
    ).toHaveLength(3);
  });
  it("may have no name; then the identifier does not contain the address", async () => {
    const answer = await server.request("POST", "/user", {
      json: { email: "no.name@example.org", password: PASSWORD },
    });
    expect(answer.body["@id"]).toMatch(/^ark:99999\/user-[0-9b-z]{10}$/);
    expect(answer.text).not.toContain(PASSWORD);
  });
  it("are not created without address and password, and the response does not repeat them", async () => {
    const answer = await server.request<{ detail: { loc: string[] }[] }>("POST", "/user", {
      json: { name: "x", password: ["hunter2"] },
    });
    expect(answer.body.detail.map(({ loc }) => loc.join("."))).toEqual([
      "body.email",
      "body.password",
    ]);
    expect(answer.text).not.toContain("hunter2");
  });
  it("are changed with address and password only", async () => {
    const answer = await server.request<{ detail: { loc: string[] }[] }>("PUT", "/user", {
      token: ada.token,
      json: { "@id": ada.id, name: "Ada" },
    });
    expect(answer.body.detail.map(({ loc }) => loc.join("."))).toEqual([
      "body.email",
      "body.password",
    ]);
    expect((await server.request("PUT", "/user", { json: { "@id": ada.id } })).status).toBe(401);
  });
});
