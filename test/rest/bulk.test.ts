import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
let group: string;
beforeAll(async () => {
  server = await startServer({ MAX_BULK_RECORDS: "5" });
  [ada, bob] = [await server.person("ada"), await server.person("bob")];
  const made = await server.request("POST", "/group", {
    token: ada.token,
    json: bodyOf("group", ada.id, { members: [bob.id] }),
  });
  group = made.body["@id"] as string;
});
afterAll(() => server.stop());

const dataset = async (owner: Person, more = {}) => {
  const { body } = await server.request("POST", "/dataset", {
    token: owner.token,
    json: bodyOf("dataset", owner.id, more),
  });
  return body["@id"] as string;
};
const read = async (ark: string) => (await server.request("GET", `/${ark}`)).body;
interface Result {
  "@id": string;
  done: boolean;
  code: string | null;
  message: string | null;
}
const several = async (verb: string, json: object, token = ada.token) =>
  (await server.request<Result[]>("POST", `/records/${verb}`, { token, json })).body;

describe("many records at once", () => {
  it("are published with a result for each, as one by one", async () => {
    const [own, other] = [await dataset(ada), await dataset(bob)];
    const ids = [own, other, "ark:99999/none", "no identifier"];
    const results = await several("publish", { ids, publicationStatus: "PUBLISHED" });
    expect(results.map(({ done, code }) => code ?? done)).toEqual([
      true,
      "FORBIDDEN",
      "NOT_FOUND",
      "VALIDATION",
    ]);
    expect(results.map((result) => result["@id"])).toEqual(ids);
    for (const [index, id] of ids.entries()) {
      const { body, status } = await server.request("PUT", "/publish", {
        token: ada.token,
        json: { "@id": id, publicationStatus: "PUBLISHED" },
      });
      expect(status === 422 ? "VALIDATION" : (body["code"] ?? null), id).toBe(results[index]!.code);
    }
    const { headers } = await server.request("GET", `/${other}`);
    expect(headers.get("x-publication-status")).toBe("DRAFT");
  });

  it("are embargoed until a time", async () => {
    const own = await dataset(ada);
    const answer = await server.graphql(
      "mutation ($ids: [ID!]!) { publishRecords(input: { ids: $ids, publicationStatus: EMBARGOED, embargoedUntil: " +
        '"2030-05-01" }) { results { id done error { code } record { publicationStatus revision } } } }',
      { ids: [own] },
      ada.token,
    );
    expect(answer.body.data["publishRecords"]).toEqual({
      results: [
        {
          id: own,
          done: true,
          error: null,
          record: { publicationStatus: "EMBARGOED", revision: 2 },
        },
      ],
    });
    const { body } = await server.request("GET", `/publish/${own}`);
    expect(body).toMatchObject({ publicationStatus: "EMBARGOED", embargoedUntil: "2030-05-01" });
    // One list of what is embargoed, for those who curate.
    const listed = await server.graphql(
      "{ records(filter: { publicationStatus: EMBARGOED }) { nodes { id embargoEndsAt } } }",
    );
    expect(listed.body.data["records"]).toMatchObject({ nodes: [{ id: own }] });
  });

  it("are handed over to a group, whose members may change them then", async () => {
    const [own, other] = [await dataset(ada), await dataset(bob)];
    const results = await several("transfer", { ids: [own, other], owner: group });
    expect(results.map(({ done, code }) => code ?? done)).toEqual([true, "FORBIDDEN"]);
    expect([await read(own), await read(other)]).toMatchObject([
      { owner: group },
      { owner: bob.id },
    ]);
    // Nobody hands anything to a group that they do not belong to.
    const eve = await server.person("eve");
    const foreign = await several(
      "transfer",
      { ids: [await dataset(eve)], owner: group },
      eve.token,
    );
    expect(foreign[0]!.code).toBe("FORBIDDEN");
    const back = await several("transfer", { ids: [own], owner: bob.id }, bob.token);
    expect(back[0]!.done).toBe(true);
  });

  it("are deleted with a reason and a successor", async () => {
    const [one, two, other] = [await dataset(ada), await dataset(ada), await dataset(bob)];
    const results = await several("delete", {
      ids: [one, other],
      reason: "a wrong unit",
      successor: two,
    });
    expect(results.map(({ done, code }) => code ?? done)).toEqual([true, "FORBIDDEN"]);
    const gone = await server.request("GET", `/${one}`);
    expect(gone.status).toBe(410);
    expect(gone.text).toContain("a wrong unit");
    expect((await read(other))["@id"]).toBe(other);
    const again = await server.graphql(
      "mutation ($ids: [ID!]!) { deleteRecords(input: { ids: $ids }) { results { done record { id } error { code } } } }",
      { ids: [one] },
      ada.token,
    );
    expect(again.body.data["deleteRecords"]).toEqual({
      results: [{ done: false, record: null, error: { code: "GONE" } }],
    });
  });

  it("are refused as a whole where the list is no list of a few identifiers", async () => {
    const own = await dataset(ada);
    for (const ids of [undefined, own, [own, own], [7], Array(6).fill(own), { 0: own }]) {
      const { status } = await server.request("POST", "/records/delete", {
        token: ada.token,
        json: { ids },
      });
      expect(status, JSON.stringify(ids)).toBe(422);
    }
    expect((await read(own))["@id"]).toBe(own);
    const anonymous = await server.request("POST", "/records/delete", { json: { ids: [own] } });
    expect(anonymous.status).toBe(401);
  });
});

describe("an earlier revision", () => {
  const change = (ark: string, patch: object) =>
    server.request("PATCH", `/${ark}`, {
      token: ada.token,
      body: JSON.stringify(patch),
      headers: { "Content-Type": "application/merge-patch+json" },
    });

  it("becomes the next one, and those in between stay", async () => {
    const ark = await dataset(ada, { name: "one", keywords: ["first"] });
    await change(ark, { name: "two", keywords: null, "https://example.org/more": "x" });
    const restored = await server.request("POST", `/restore/${ark}?revision=1`, {
      token: ada.token,
      headers: { "If-Match": '"2"' },
    });
    expect(restored.status).toBe(200);
    expect(restored.headers.get("etag")).toMatch(/^"3/);
    const now = await read(ark);
    expect(now).toMatchObject({ name: "one", keywords: ["first"] });
    expect(now).not.toHaveProperty("https://example.org/more");
    expect((await server.request("GET", `/${ark}?revision=2`)).body).toMatchObject({ name: "two" });
    // What the record says already makes no revision.
    const same = await server.graphql(
      "mutation ($id: ID!) { restoreRevision(input: { id: $id, revision: 1 }) { record { id } revision } }",
      { id: ark },
      ada.token,
    );
    expect(same.body.data["restoreRevision"]).toEqual({ record: { id: ark }, revision: 3 });
  });

  it("is restored by those who may change the record, and as it was when they read it", async () => {
    const ark = await dataset(ada);
    await change(ark, { name: "two" });
    const restore = (token: string | undefined, query: string, headers = {}) =>
      server.request("POST", `/restore/${ark}${query}`, {
        headers,
        ...(token === undefined ? {} : { token }),
      });
    const verdicts = [
      await restore(undefined, "?revision=1"),
      await restore(bob.token, "?revision=1"),
      await restore(ada.token, "?revision=1", { "If-Match": '"1"' }),
      await restore(ada.token, "?revision=9"),
      await restore(ada.token, ""),
      await restore(ada.token, "?revision=zero"),
    ].map(({ status }) => status);
    expect(verdicts).toEqual([401, 403, 412, 404, 422, 422]);
    expect(await read(ark)).toMatchObject({ name: "two" });
  });
});
