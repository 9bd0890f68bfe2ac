import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arkKey } from "../../src/identifiers/ark.js";
import type { JsonObject } from "../../src/model/field.js";
import { KINDS } from "../../src/model/kinds.js";
import { stateOf } from "../../src/services/records/state.js";
import { bodyOf, WRITABLE } from "../support/bodies.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person, other: Person, admin: Person;
beforeAll(async () => {
  server = await startServer();
  [ada, other, admin] = [
    await server.person("ada"),
    await server.person("other"),
    await server.person("admin", { admin: true }),
  ];
});
afterAll(() => server.stop());

interface Revisions {
  "@id": string;
  revisions: { revision: number; at: string; by: string; action: string; changed: string[] }[];
}
const history = (path: string, token?: string) =>
  server.request<Revisions>("GET", path, token === undefined ? {} : { token });
async function made(
  path: string,
  body: JsonObject,
  names: readonly string[] = [],
): Promise<string> {
  const id = (
    await server.request<{ "@id": string }>("POST", `/${path}`, { token: ada.token, json: body })
  ).body["@id"];
  for (const name of names)
    await server.request("PUT", `/${path}`, {
      token: ada.token,
      json: { ...body, "@id": id, name },
    });
  return id;
}

describe("the history of a record", () => {
  it.each([...WRITABLE, "datadownload"] as const)(
    "lists who did what when, newest first: %s",
    async (kind) => {
      const path = KINDS[kind].path!;
      const body = bodyOf(kind, ada.id);
      const id = (
        await server.request<{ "@id": string }>(
          "POST",
          kind === "datadownload" ? "/download" : `/${path}`,
          { token: ada.token, json: body },
        )
      ).body["@id"];
      await server.request("PUT", `/${id}`, {
        token: ada.token,
        json: { ...body, name: "renamed", "more/so": 1 },
      });
      const answer = await history(`/${path}/${id}/history`);
      const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body).toEqual({
        "@id": id,
        revisions: [
          { revision: 2, at, by: ada.id, action: "update", changed: ["/name", "/more~1so"] },
          { revision: 1, at, by: ada.id, action: "create", changed: [] },
        ],
      });
      expect((await history(`/${id}/history`)).body).toEqual(answer.body);
      expect((await server.request("GET", `/${path}/${id}?revision=1`)).body["name"]).toBe(
        body["name"],
      );
      expect(
        (await history(`/${kind === "dataset" ? "software" : "dataset"}/${id}/history`)).status,
      ).toBe(404);
    },
  );
  it("comes in pages, with a link to the next one until there is none", async () => {
    const id = await made("dataset", bodyOf("dataset", ada.id), ["two", "three", "four", "five"]);
    const seen: number[] = [];
    let path: string | undefined = `/dataset/${id}/history?limit=2`;
    while (path !== undefined) {
      const { status, body, headers } = await history(path);
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(["@id", "revisions"]);
      seen.push(...body.revisions.map(({ revision }) => revision));
      path = /<[^>]*?(\/dataset[^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    }
    expect(seen).toEqual([5, 4, 3, 2, 1]);
    expect(
      (await history(`/${id}/history?before=3`)).body.revisions.map(({ revision }) => revision),
    ).toEqual([2, 1]);
  });
  it.each([
    ["limit=0", "greater_than_equal"],
    ["limit=1001", "less_than_equal"],
    ["limit=x", "int_parsing"],
    ["before=0", "greater_than_equal"],
    ["before=1.5", "int_parsing"],
  ])("refuses ?%s", async (query, type) => {
    expect(
      await history(
        `/dataset/${await made("dataset", bodyOf("dataset", ada.id))}/history?${query}`,
      ),
    ).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", query.split("=")[0]], type }] },
    });
  });
  it("is found under any spelling, and is a 404 for an unknown record", async () => {
    const id = await made("dataset", bodyOf("dataset", ada.id));
    for (const path of [
      `/api/${id}/history`,
      `/${id.replace("ark:", "ark:/")}/history/`,
      `/${id.replaceAll("-", "")}/history`,
    ])
      expect((await history(path)).body["@id"], path).toBe(id);
    expect((await history("/ark:99999/nothing-here/history")).status).toBe(404);
  });
  it("is hidden by a stored identifier that ends in the word", async () => {
    const id = await made("dataset", bodyOf("dataset", ada.id));
    // One of before such identifiers were refused.
    const child = `${id}/history`;
    const state = await stateOf(
      server.deps,
      KINDS.dataset,
      child,
      bodyOf("dataset", ada.id, { "@id": child, name: "A history of its own" }),
    );
    await server.deps.records.commit({
      by: ada.id,
      at: Date.now(),
      records: [{ op: "create", ark: child, key: arkKey(child), ...state }],
    });
    expect((await server.request("GET", `/${child}`)).body["name"]).toBe("A history of its own");
    expect((await server.request("GET", `/dataset/${child}`)).body["name"]).toBe(
      "A history of its own",
    );
    expect((await history(`/${child}/history`)).body["@id"]).toBe(child);
  });
  it("of a deleted record is for callers who may change it; others get the tombstone", async () => {
    const id = await made("dataset", bodyOf("dataset", ada.id));
    await server.request(
      "DELETE",
      `/dataset/${id}?reason=wrong+images&successor=ark:99999/better`,
      { token: ada.token },
    );
    for (const token of [undefined, other.token])
      expect(await history(`/${id}/history`, token)).toMatchObject({
        status: 410,
        body: { code: "GONE", reason: "wrong images", successor: "ark:99999/better" },
      });
    for (const token of [ada.token, admin.token])
      expect((await history(`/${id}/history`, token)).body.revisions[0]).toMatchObject({
        revision: 2,
        action: "delete",
      });
  });
});

describe("the history of a user", () => {
  it("names private fields to the user and administrators only, over every interface", async () => {
    const user = await server.person("private");
    const json = {
      "@id": user.id,
      name: "Renamed",
      email: "moved@example.org",
      password: PASSWORD,
      telephone: "555-0100",
      datasets: ["ark:99999/dataset-mine"],
    };
    expect((await server.request("PUT", "/user", { token: user.token, json })).status).toBe(200);
    const newest = async (path: string, token?: string) =>
      (await history(path, token)).body.revisions[0]!.changed.toSorted();
    for (const path of [`/user/${user.id}/history`, `/${user.id}/history`]) {
      for (const token of [undefined, ada.token])
        expect(await newest(path, token)).toEqual(["/datasets", "/name"]);
      for (const token of [user.token, admin.token])
        expect(await newest(path, token)).toEqual(["/datasets", "/email", "/name", "/telephone"]);
    }
    const query = "query ($id: ID!) { record(id: $id) { revisions { nodes { changed } } } }";
    const shown = async (token?: string) =>
      (
        await server.graphql<{ record: { revisions: { nodes: { changed: string[] }[] } } }>(
          query,
          { id: user.id },
          token,
        )
      ).body.data.record.revisions.nodes[0]!.changed.toSorted();
    expect(await shown()).toEqual(["/datasets", "/name"]);
    expect(await shown(user.token)).toEqual(["/datasets", "/email", "/name", "/telephone"]);
  });
});

it("no request ended in a fault", () => expect(server.faults).toEqual([]));
