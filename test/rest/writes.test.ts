import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/field.js";
import { KINDS } from "../../src/model/kinds.js";
import { WRITABLE, bodyOf } from "../support/bodies.js";
import { crate } from "../support/crates.js";
import { PASSWORD, startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person, other: Person;
beforeAll(async () => {
  server = await startServer();
  [ada, other] = [await server.person("ada"), await server.person("other")];
});
afterAll(() => server.stop());

const made = async (kind: (typeof WRITABLE)[number]) => {
  const body = bodyOf(kind, ada.id);
  return {
    body,
    id: (
      await server.request<{ "@id": string }>("POST", `/${KINDS[kind].path}`, {
        token: ada.token,
        json: body,
      })
    ).body["@id"],
  };
};
const put = (id: string, json: unknown, token = ada.token, headers: Record<string, string> = {}) =>
  server.request("PUT", `/${id}`, { token, json, headers });

describe("PUT /ark:…", () => {
  it.each(WRITABLE)("accepts the body of the record's own kind: %s", async (kind) => {
    const { id, body } = await made(kind);
    const { "@id": _id, ...unnamed }: JsonObject = { ...body, name: "renamed" };
    expect(await put(id, unnamed)).toMatchObject({ status: 200, body: { ...unnamed, "@id": id } });
    expect((await put(id, { ...unnamed, description: "x" })).body).toMatchObject({
      detail: [{ loc: ["body", "description"], type: "string_too_short" }],
    });
  });
  it("accepts a user's body, with its required fields", async () => {
    expect((await put(ada.id, { name: "Ada" })).body).toMatchObject({
      detail: [{ loc: ["body", "email"] }, { loc: ["body", "password"] }],
    });
    expect(
      (await put(ada.id, { name: "Ada", email: ada.email, password: PASSWORD })).body,
    ).toMatchObject({ "@id": ada.id, name: "Ada" });
    expect(
      (await put(ada.id, { name: "Eve", email: ada.email, password: PASSWORD }, other.token))
        .status,
    ).toBe(403);
  });
  it("refuses another identifier in the body than in the path, along with all other errors", async () => {
    const { id, body } = await made("dataset");
    expect((await put(id, { ...body, "@id": id.replace("ark:", "ark:/") })).status).toBe(200);
    expect((await put(id.replaceAll("-", ""), body)).status).toBe(200);
    expect(await put(id, { ...body, "@id": "ark:99999/another", name: 1 })).toMatchObject({
      status: 422,
      body: {
        detail: [{ loc: ["body", "name"] }, { loc: ["body", "@id"], type: "value_error" }],
      },
    });
    expect((await put(id, { ...body, "@id": "no ark" })).body).toMatchObject({
      detail: [{ loc: ["body", "@id"], type: "value_error" }],
    });
  });
  it(
    "refuses without a token, without a body, for other users, at another revision, and " +
      "for a missing record",
    async () => {
      const { id, body } = await made("dataset");
      expect((await server.request("PUT", `/${id}`, { json: body })).status).toBe(401);
      expect((await server.request("PUT", `/${id}`, { token: ada.token })).body).toMatchObject({
        detail: [{ loc: ["body"], type: "missing" }],
      });
      expect((await put(id, body, other.token)).status).toBe(403);
      expect((await put(id, body, ada.token, { "If-Match": '"2-0"' })).status).toBe(412);
      expect((await put("ark:99999/nothing", body)).status).toBe(404);
      await server.request("DELETE", `/${id}`, { token: ada.token });
      expect((await put(id, body)).status).toBe(410);
    },
  );
  it("leaves records of a crate with its uploader, whatever owner the body names", async () => {
    const form = new FormData();
    form.set(
      "file",
      new Blob([
        new Uint8Array(
          await crate(
            [{ "@id": "#scope", "@type": "Product", name: "Microscope" }],
            {},
            { mentions: { "@id": "#scope" } },
          ),
        ),
      ]),
      "crate.zip",
    );
    const root = (
      await server.request<{ "@id": string; mentions: { "@id": string } }>(
        "POST",
        "/rocrate/upload",
        { token: ada.token, body: form },
      )
    ).body;
    const entity = root.mentions["@id"];
    const { body } = await server.request("GET", `/${entity}`);
    expect((await put(entity, { ...body, name: "Confocal microscope" }, other.token)).status).toBe(
      403,
    );
    for (const name of ["Confocal microscope", "Light-sheet microscope"])
      expect((await put(entity, { ...body, name })).body).toMatchObject({ "@id": entity, name });
    expect(
      (
        await server.graphql<{ record: { owner: { id: string } } }>(
          "query ($id: ID!) { record(id: $id) { owner { id } } }",
          { id: entity },
        )
      ).body.data.record.owner.id,
    ).toBe(ada.id);
  });
});

describe("PUT /computation/execute/ark:…", () => {
  const execute = (id: string, token?: string) =>
    server.request("PUT", `/computation/execute/${id}`, token === undefined ? {} : { token });
  it("refuses with 503 while there is no container engine, and changes nothing", async () => {
    const { id } = await made("computation");
    const answer = await execute(id, ada.token);
    expect(answer).toMatchObject({ status: 503, body: { code: "NO_CONTAINER_ENGINE" } });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await server.request("GET", `/computation/${id}`)).headers.get("etag")).toBe('"1-0"');
  });
  it(
    "refuses before that without a token, for a record that is no computation, and for " +
      "other users",
    async () => {
      const { id } = await made("computation");
      expect((await execute(id)).status).toBe(401);
      expect((await execute("ark:99999/nothing", ada.token)).status).toBe(404);
      expect((await execute(ada.id, ada.token)).status).toBe(404);
      expect((await execute(id, other.token)).status).toBe(403);
      await server.request("DELETE", `/computation/${id}`, { token: ada.token });
      expect((await execute(id, ada.token)).status).toBe(410);
    },
  );
});

describe("WRITE_RATE", () => {
  let limited: TestServer;
  beforeAll(async () => {
    limited = await startServer({ WRITE_RATE: "4" });
  });
  afterAll(() => limited.stop());

  it(
    "refuses further writes of an account within a minute, over all interfaces together, " +
      "and of no other",
    async () => {
      const [busy, calm] = [await limited.person("busy"), await limited.person("calm")];
      const create = (token: string) =>
        limited.request("POST", "/dataset", { token, json: bodyOf("dataset", busy.id) });
      const { "@id": id } = (await create(busy.token)).body as { "@id": string };
      expect(
        (
          await limited.request("PUT", "/publish", {
            token: busy.token,
            json: { "@id": id, publicationStatus: "PUBLISHED" },
          })
        ).status,
      ).toBe(200);
      const mutation =
        "mutation ($input: DatasetInput!) { createDataset(input: { dataset: $input }) { dataset { id } } }";
      const input = {
        type: "evi:Dataset",
        name: "By GraphQL",
        description: "A dataset.",
        owner: busy.id,
      };
      const graphql = () => limited.graphql(mutation, { input }, busy.token);
      expect((await graphql()).body.errors).toBeUndefined();
      expect((await limited.request("DELETE", `/${id}`, { token: busy.token })).status).toBe(200);
      const refused = await create(busy.token);
      expect(refused).toMatchObject({ status: 429, body: { code: "TOO_MANY_REQUESTS" } });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await graphql()).body.errors![0]!.extensions.code).toBe("TOO_MANY_REQUESTS");
      const form = new FormData();
      form.set("file", new Blob(["x"]), "x");
      for (const [method, path, body] of [
        ["POST", "/rocrate/upload-async", form],
        ["POST", "/register", form],
        ["POST", `/datadownload/${id}/upload`, form],
      ] as const) {
        expect(
          (await limited.request(method, path, { token: busy.token, body })).status,
          path,
        ).toBe(429);
      }
      for (const path of [`/group/${id}/addUser?userID=${calm.id}`, `/computation/execute/${id}`])
        expect((await limited.request("PUT", path, { token: busy.token })).status, path).toBe(429);
      expect((await limited.request("GET", `/dataset`, { token: busy.token })).status).toBe(200);
      expect(
        (
          await limited.request("POST", "/dataset", {
            token: calm.token,
            json: bodyOf("dataset", calm.id),
          })
        ).status,
      ).toBe(200);
    },
  );
  it("counts new accounts by their client address, and still reports a missing token", async () => {
    const register = (name: string) =>
      limited.request("POST", "/user", {
        json: { name, email: `${name}@example.org`, password: PASSWORD },
      });
    const statuses: number[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) statuses.push((await register(name)).status);
    expect(statuses).toContain(429);
    expect((await limited.request("POST", "/dataset", { json: {} })).status).toBe(401);
  });
});

it("no request ended in a fault", () => expect(server.faults).toEqual([]));

describe("SIGNUP_RATE", () => {
  it("refuses further accounts of an address within a minute, over all interfaces together", async () => {
    const limited = await startServer({ SIGNUP_RATE: "3" });
    try {
      const { token } = await limited.person("root", { admin: true });
      let made = 0;
      const account = () => ({
        name: "Grace",
        email: `grace-${++made}@example.org`,
        password: "correct horse battery staple",
      });
      const rest = (token?: string) =>
        limited.request("POST", "/user", { json: account(), ...(token && { token }) });
      const graphql = () =>
        limited.graphql(
          "mutation ($input: UserInput!) { createUser(input: { user: $input }) { user { id } } }",
          {
            input: account(),
          },
        );
      const page = () =>
        limited.request("POST", "/signup", {
          headers: { Accept: "text/html", Origin: limited.url, "Sec-Fetch-Site": "same-origin" },
          body: new URLSearchParams(account()),
        });
      expect((await rest()).status).toBe(200);
      expect((await graphql()).body.errors).toBeUndefined();
      const refused = await rest();
      expect(refused).toMatchObject({ status: 429, body: { code: "TOO_MANY_REQUESTS" } });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await graphql()).body.errors![0]!.extensions.code).toBe("TOO_MANY_REQUESTS");
      expect((await page()).text).toContain("SIGNUP_RATE");
      // Administrators create accounts for others.
      for (let count = 0; count < 4; count++) expect((await rest(token)).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});
