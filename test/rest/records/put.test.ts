import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/model/field.js";
import { KINDS } from "../../../src/model/kinds.js";
import { WRITABLE, bodyOf } from "../../support/bodies.js";
import { PASSWORD, startServer, type Person, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = await Promise.all([server.person("ada"), server.person("bob")]);
});
afterAll(() => server.stop());
const send = (method: string, kind: string, json: unknown, headers = {}, token = ada.token) =>
  server.request(method, `/${kind}`, { token, json, headers });
async function created(kind: string, body: JsonObject): Promise<JsonObject> {
  const answer = await send("POST", kind, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const revisionOf = async (ark: unknown) =>
  (await server.deps.records.findMany([String(ark)]))[0]!.revision;

describe.each(WRITABLE)("PUT /%s", (kind) => {
  it("replaces the whole record: missing fields are removed or get their defaults", async () => {
    const before = await created(
      kind,
      bodyOf(kind, ada.id, { extra: 1, keywords: ["a"], license: null }),
    );
    const next = bodyOf(kind, ada.id, {
      "@id": before["@id"]!,
      name: "Another name",
      url: "https://x.example/",
    });
    const { keywords: _keywords, license: _license, ...sent } = next;
    const answer = await send("PUT", kind, sent);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get("etag")).toBe('"2-0"');
    expect(answer.body).toMatchObject({
      name: "Another name",
      keywords: [],
      license: " https://creativecommons.org/licenses/by/4.0/",
    });
    expect(answer.body).not.toHaveProperty("extra");
    expect(
      (await server.request("GET", `/${kind}/${String(before["@id"])}?revision=1`)).body,
    ).toEqual(before);
  });
  it("creates no revision where nothing changes, in any order of keys", async () => {
    const before = await created(
      kind,
      bodyOf(kind, ada.id, { zero: -0, nested: { a: 1, b: [{ c: 2 }] } }),
    );
    const shuffled = Object.fromEntries(Object.entries(before).toReversed());
    for (const body of [
      before,
      shuffled,
      { ...before, zero: -0 },
      { ...before, "@id": String(before["@id"]).replace("ark:", "ark:/") },
    ])
      expect((await send("PUT", kind, body)).headers.get("etag")).toBe('"1-0"');
    expect(
      (await send("PUT", kind, { ...before, nested: { a: 1, b: [{ c: 3 }] } })).headers.get("etag"),
    ).toBe('"2-0"');
  });
  it("names the record by the body's @id, which is required", async () => {
    const { "@id": _id, ...body } = bodyOf(kind, ada.id);
    const answer = await send("PUT", kind, body);
    expect([answer.status, answer.body]).toEqual([
      422,
      { detail: [{ loc: ["body", "@id"], msg: "Field required", type: "missing" }] },
    ]);
    for (const id of [5, null, "x"])
      expect((await send("PUT", kind, { ...body, "@id": id })).status).toBe(422);
  });
  it("is 404 for a missing record, 410 for a deleted one, 409 for another kind", async () => {
    expect((await send("PUT", kind, bodyOf(kind, ada.id))).status).toBe(404);
    const gone = await created(kind, bodyOf(kind, ada.id));
    await server.request("DELETE", `/${kind}/${String(gone["@id"])}`, { token: ada.token });
    const answer = await send("PUT", kind, gone);
    expect([answer.status, answer.body["code"]]).toEqual([410, "GONE"]);
    const other = kind === "dataset" ? "software" : "dataset";
    const theirs = await created(other, bodyOf(other, ada.id));
    const wrong = await send("PUT", kind, bodyOf(kind, ada.id, { "@id": theirs["@id"]! }));
    expect([wrong.status, wrong.body["code"]]).toEqual([409, "WRONG_KIND"]);
    expect(String(wrong.body["detail"])).toContain(`/${other}`);
  });
  it("compares If-Match with the revision, also when links were added meanwhile", async () => {
    const before = await created(kind, bodyOf(kind, ada.id));
    const put = (name: string, match: string) =>
      send("PUT", kind, { ...before, name }, { "If-Match": match });
    expect((await put("two", '"1-0"')).headers.get("etag")).toBe('"2-0"');
    for (const stale of [
      '"1-0"',
      '"1-99"',
      '"9-0"',
      '"of another service"',
      "rubbish",
      '"1-0", "x"',
    ]) {
      const answer = await put("three", stale);
      expect([stale, answer.status, answer.body["code"], answer.body["revision"]]).toEqual([
        stale,
        412,
        "REVISION_MISMATCH",
        2,
      ]);
    }
    for (const [round, good] of ['"2-77"', "*", '"1-0", "4-0"', 'W/"5-0"'].entries())
      expect((await put(`name ${round}`, good)).status, good).toBe(200);
  });
  it("is refused to others before it reveals the record's state", async () => {
    const before = await created(kind, bodyOf(kind, ada.id));
    const put = (headers = {}) =>
      send("PUT", kind, { ...before, name: "mine now" }, headers, bob.token);
    expect([(await put()).status, (await put({ "If-Match": '"9-9"' })).status]).toEqual([403, 403]);
    expect(
      (
        await send(
          "PUT",
          kind === "dataset" ? "software" : "dataset",
          bodyOf(kind === "dataset" ? "software" : "dataset", bob.id, { "@id": before["@id"]! }),
          {},
          bob.token,
        )
      ).status,
    ).toBe(403);
    expect((await server.request("PUT", `/${kind}`, { json: before })).status).toBe(401);
  });
  it("loses none of many concurrent changes", async () => {
    const before = await created(kind, bodyOf(kind, ada.id));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, round) =>
        send("PUT", kind, { ...before, name: `turn ${round}` }, { "If-Match": '"1-0"' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
    const free = await Promise.all(
      Array.from({ length: 16 }, (_, round) =>
        send("PUT", kind, { ...before, name: `free ${round}` }),
      ),
    );
    expect(free.map(({ status }) => status)).toEqual(free.map(() => 200));
    expect(await revisionOf(before["@id"])).toBe(18);
  });
});

describe("derived entries", () => {
  const used = (dataset: string, more: JsonObject = {}) =>
    bodyOf("computation", ada.id, { usedDataset: dataset, ...more });
  it("follow the stated ones, without repetition, and change the ETag but no revision", async () => {
    const stated = await created("computation", used("ark:99999/elsewhere"));
    const dataset = await created(
      "dataset",
      bodyOf("dataset", ada.id, {
        usedBy: ["not an ark", String(stated["@id"]).replace("ark:", "ark:/")],
      }),
    );
    const path = `/dataset/${String(dataset["@id"])}`;
    const first = await server.request("GET", path);
    const run = await created("computation", used(String(dataset["@id"])));
    const second = await server.request("GET", path);
    expect(second.body["usedBy"]).toEqual([
      "not an ark",
      String(stated["@id"]).replace("ark:", "ark:/"),
      run["@id"],
    ]);
    expect(second.headers.get("etag")).not.toBe(first.headers.get("etag"));
    expect(second.headers.get("etag")!.startsWith('"1-')).toBe(true);
    expect(
      (
        await server.request("GET", path, {
          headers: { "If-None-Match": first.headers.get("etag")! },
        })
      ).status,
    ).toBe(200);
    expect(
      (await send("PUT", "dataset", dataset, { "If-Match": first.headers.get("etag")! })).status,
    ).toBe(200);
    await server.request("DELETE", `/computation/${String(run["@id"])}`, { token: ada.token });
    const third = await server.request("GET", path);
    expect(third.body["usedBy"]).toEqual(dataset["usedBy"]);
    expect(third.headers.get("etag")).not.toBe(second.headers.get("etag"));
  });
  it.each([
    ["stated by nobody", []],
    ["stated as null", null],
    ["stated in part", ["ark:99999/stated"]],
  ])("sent back change nothing where they were %s", async (_how, usedBy) => {
    const dataset = await created("dataset", bodyOf("dataset", ada.id, { usedBy }));
    await created("computation", used(String(dataset["@id"])));
    await created("computation", used(String(dataset["@id"])));
    const read = await server.request("GET", `/dataset/${String(dataset["@id"])}`);
    expect(read.body["usedBy"]).toHaveLength((usedBy?.length ?? 0) + 2);
    const answer = await send("PUT", "dataset", read.body);
    expect(answer.body).toEqual(read.body);
    expect(await revisionOf(dataset["@id"])).toBe(1);
    const added = await send("PUT", "dataset", {
      ...read.body,
      usedBy: [...(read.body["usedBy"] as string[]), "ark:99999/more"],
    });
    expect(added.status).toBe(200);
    const { document } = (await server.deps.records.findMany([String(dataset["@id"])]))[0]!;
    expect((JSON.parse(Buffer.from(document).toString()) as JsonObject)["usedBy"]).toEqual([
      ...(usedBy ?? []),
      "ark:99999/more",
    ]);
  });
  it("of a project and a user are the records that they own, and sent back change nothing", async () => {
    const cyd = await server.person("cyd");
    const organization = await created(
      "organization",
      bodyOf("organization", ada.id, { projects: null }),
    );
    const project = await created(
      "project",
      bodyOf("project", ada.id, {
        memberOf: String(organization["@id"]),
        datasets: null,
        software: [],
      }),
    );
    const make = (kind: string, body: JsonObject, token: string) =>
      server.request("POST", `/${kind}`, { token, json: body });
    const dataset = await make("dataset", bodyOf("dataset", String(project["@id"])), ada.token);
    const software = await make("software", bodyOf("software", cyd.id), cyd.token);
    const group = await make("group", bodyOf("group", cyd.id, { members: [cyd.id] }), cyd.token);
    const read = await server.request("GET", `/project/${String(project["@id"])}`);
    expect(read.body).toMatchObject({
      datasets: [dataset.body["@id"]],
      computations: null,
      software: [],
    });
    expect(
      (await server.request("GET", `/organization/${String(organization["@id"])}`)).body[
        "projects"
      ],
    ).toEqual([project["@id"]]);
    expect((await send("PUT", "project", read.body)).body).toEqual(read.body);
    expect(await revisionOf(project["@id"])).toBe(1);
    const whole = await server.request("GET", `/user/${cyd.id}`, { token: cyd.token });
    expect(whole.body).toMatchObject({
      software: [software.body["@id"]],
      organizations: [group.body["@id"]],
      email: cyd.email,
    });
    const back = await server.request("PUT", "/user", {
      token: cyd.token,
      json: { ...whole.body, password: PASSWORD },
    });
    expect([back.status, back.body]).toEqual([200, whole.body]);
    expect(await revisionOf(cyd.id)).toBe(1);
  });
  it("are cut at BACKLINK_LIMIT, and sending them back still changes nothing", async () => {
    const other = await startServer({ BACKLINK_LIMIT: "2" });
    try {
      const eve = await other.person("eve");
      for (let round = 0; round < 4; round++)
        await other.request("POST", "/software", {
          token: eve.token,
          json: bodyOf("software", eve.id),
        });
      const read = await other.request("GET", `/user/${eve.id}`, { token: eve.token });
      expect(read.body["software"]).toHaveLength(2);
      await other.request("PUT", "/user", {
        token: eve.token,
        json: { ...read.body, password: PASSWORD },
      });
      expect((await other.deps.records.findMany([eve.id]))[0]!.revision).toBe(1);
    } finally {
      await other.stop();
    }
  });
});

it("every kind that is written here is one of the model's", () =>
  expect(WRITABLE.every((kind) => KINDS[kind].path !== null)).toBe(true));
