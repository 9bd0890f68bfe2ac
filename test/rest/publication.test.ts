import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { instantOf } from "../../src/model/dates.js";
import type { JsonObject } from "../../src/model/field.js";
import { bodyOf } from "../support/bodies.js";
import { crate, metadata, zip } from "../support/crates.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

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

const publish = (
  id: unknown,
  publicationStatus: unknown,
  more: JsonObject = {},
  token = ada.token,
  headers: Record<string, string> = {},
) =>
  server.request("PUT", "/publish", {
    token,
    headers,
    json: { "@id": id, publicationStatus, ...more },
  });
/** As an embargo that was set before it ended; a new one that has ended is refused. */
const embargoed = async (ark: string, embargoedUntil: string) =>
  server.deps.records.commit({
    by: ada.id,
    at: Date.now(),
    records: [{ op: "publish", ark, status: "EMBARGOED", embargoedUntil }],
  });
const status = async (id: string) => (await server.request("GET", `/publish/${id}`)).body;
const dataset = async () =>
  (
    await server.request<{ "@id": string }>("POST", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id),
    })
  ).body["@id"];

/** A file record with content, owned by Ada. */
async function file(text: string): Promise<string> {
  const form = new FormData();
  form.set("download", JSON.stringify(bodyOf("datadownload", ada.id)));
  form.set("file", new Blob([text]), "bytes.txt");
  return (
    await server.request<{ "@id": string }>("POST", "/register", { token: ada.token, body: form })
  ).body["@id"];
}
const readable = async (id: string) => (await server.request("GET", `/download/${id}`)).status;

describe("the publication status", () => {
  it("is DRAFT at first, is in the response and its header, and may change to any other", async () => {
    const id = await dataset();
    expect(await status(id)).toEqual({
      "@id": id,
      publicationStatus: "DRAFT",
      embargoedUntil: null,
    });
    for (const next of ["PUBLISHED", "ARCHIVED", "EMBARGOED", "DRAFT", "PUBLISHED"]) {
      const answer = await publish(id, next);
      expect(answer).toMatchObject({
        status: 200,
        body: { "@id": id, publicationStatus: next, embargoedUntil: null },
      });
      expect(await status(id)).toEqual(answer.body);
      expect(
        (await server.request("GET", `/dataset/${id}`)).headers.get("x-publication-status"),
      ).toBe(next);
    }
  });
  it("ARCHIVED says why, and what to use instead; no other status does", async () => {
    const [id, next] = [await dataset(), await dataset()];
    const said = { reason: "A wrong unit", successor: next };
    const answer = await publish(id, "ARCHIVED", said);
    expect(answer.body).toEqual({
      "@id": id,
      publicationStatus: "ARCHIVED",
      embargoedUntil: null,
      ...said,
    });
    expect(await status(id)).toEqual(answer.body);
    const { body } = await server.graphql(
      "query ($id: ID!) { record(id: $id) { tombstone { at by { id } reason successor { id } } } }",
      { id },
    );
    expect(body.data["record"]).toEqual({
      tombstone: { at: null, by: null, reason: said.reason, successor: { id: next } },
    });
    const page = await server.request("GET", `/${id}`, { headers: { Accept: "text/html" } });
    expect(page.text).toContain("This record is archived");
    expect(page.text).toContain(said.reason);
    expect(page.text).toContain(`href="/${next}"`);
    expect((await publish(id, "PUBLISHED")).body).not.toHaveProperty("reason");
    for (const field of ["reason", "successor"] as const)
      expect(await publish(id, "PUBLISHED", { [field]: said[field] })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", field] }] },
      });
  });
  it("names an ARK as the successor, in every interface that takes one", async () => {
    const id = await dataset();
    const [ids, successor] = [[id], "the next one"];
    const { token } = ada;
    const send = (method: string, path: string, json?: JsonObject) =>
      server.request(method, path, { token, ...(json && { json }) });
    const said = `id: "${id}", successor: "${successor}"`;
    const many = `ids: ["${id}"], successor: "${successor}"`;
    const ask = (field: string) => server.graphql(`mutation { ${field} }`, {}, token);
    const answers = [
      await publish(id, "ARCHIVED", { successor }),
      await send("DELETE", `/dataset/${id}?successor=the+next+one`),
      await send("DELETE", `/${id}?successor=the+next+one`),
      await send("POST", "/records/delete", { ids, successor }),
      await send("POST", "/records/publish", { ids, successor, publicationStatus: "ARCHIVED" }),
      await ask(`publishRecord(input: { ${said}, publicationStatus: ARCHIVED }) { revision }`),
      await ask(`deleteRecord(input: { ${said} }) { revision }`),
      await ask(`deleteRecords(input: { ${many} }) { results { error { message } } }`),
      await ask(
        `publishRecords(input: { ${many}, publicationStatus: ARCHIVED }) { results { error { message } } }`,
      ),
    ];
    for (const { text } of answers) expect(text).toMatch(/successor.{1,30}not an ARK/);
    expect((await server.deps.records.findMany([id]))[0]).toMatchObject({ revision: 1 });
    const spelled = await publish(id, "ARCHIVED", { successor: "ARK:/99999/next" });
    expect(spelled.body["successor"]).toBe("ark:99999/next");
  });
  it("is no part of the document, and each change of it is a revision in the history", async () => {
    const id = await dataset();
    const before = (await server.request("GET", `/dataset/${id}`)).body;
    await publish(id, "EMBARGOED", { embargoedUntil: "2999-01-01" });
    const again = await publish(id, "EMBARGOED", { embargoedUntil: "2999-01-01" });
    expect(again.headers.get("etag")).toBe('"2-0"');
    expect((await server.request("GET", `/dataset/${id}`)).body).toEqual(before);
    const { body } = await server.request<{ revisions: JsonObject[] }>(
      "GET",
      `/dataset/${id}/history`,
    );
    expect(body.revisions).toMatchObject([
      { revision: 2, action: "publish", by: ada.id, changed: [] },
      { revision: 1, action: "create" },
    ]);
  });
  it("opens and closes the content", async () => {
    const id = await file("to be published");
    expect(await readable(id)).toBe(401);
    await publish(id, "PUBLISHED");
    expect(await readable(id)).toBe(200);
    await publish(id, "ARCHIVED");
    expect(await readable(id)).toBe(401);
    expect((await server.request("GET", `/download/${id}`, { token: other.token })).status).toBe(
      403,
    );
    expect((await server.request("GET", `/download/${id}`, { token: ada.token })).status).toBe(200);
  });
  it("EMBARGOED opens the content when its end has passed, in any form of a date", async () => {
    const id = await file("under embargo");
    await publish(id, "EMBARGOED");
    expect(await readable(id)).toBe(401);
    for (const until of ["2999-12-31", "2999-12-31T00:00:00Z"]) {
      expect(
        (await publish(id, "EMBARGOED", { embargoedUntil: until })).body["embargoedUntil"],
      ).toBe(until);
      expect(await readable(id)).toBe(401);
    }
    for (const until of ["2020-01-01", "20200101", "20200101T101500,5+0130"]) {
      await embargoed(id, until);
      expect(await readable(id), until).toBe(200);
    }
    expect(await status(id)).toEqual({
      "@id": id,
      publicationStatus: "PUBLISHED",
      embargoedUntil: null,
    });
  });
  it(
    "is set by callers who may change the record, on existing records, at the expected " +
      "revision",
    async () => {
      const id = await dataset();
      expect(
        (
          await server.request("PUT", "/publish", {
            json: { "@id": id, publicationStatus: "PUBLISHED" },
          })
        ).status,
      ).toBe(401);
      expect((await publish(id, "PUBLISHED", {}, other.token)).status).toBe(403);
      expect((await publish(id, "PUBLISHED", {}, ada.token, { "If-Match": '"3-0"' })).status).toBe(
        412,
      );
      expect(
        (
          await publish(id.replace("ark:", "https://n2t.net/ark:/"), "PUBLISHED", {}, admin.token, {
            "If-Match": '"1-0"',
          })
        ).body["@id"],
      ).toBe(id);
      expect((await publish("ark:99999/nothing", "PUBLISHED")).status).toBe(404);
      expect((await server.request("GET", "/publish/ark:99999/nothing")).status).toBe(404);
      await server.request("DELETE", `/dataset/${id}`, { token: ada.token });
      expect((await publish(id, "DRAFT")).status).toBe(410);
      expect((await server.request("GET", `/publish/${id}`)).status).toBe(410);
    },
  );
  it.each<[string, unknown, unknown]>([
    ["no body", undefined, [{ loc: ["body"], type: "missing" }]],
    ["a list", [], [{ loc: ["body"], type: "model_attributes_type" }]],
    [
      "nothing in it",
      {},
      [
        { loc: ["body", "@id"], type: "missing" },
        { loc: ["body", "publicationStatus"], type: "missing" },
      ],
    ],
    [
      "wrong types",
      { "@id": 1, publicationStatus: 2, embargoedUntil: 3 },
      [
        { loc: ["body", "@id"], type: "string_type" },
        {
          loc: ["body", "publicationStatus"],
          type: "literal_error",
          ctx: { expected: "'DRAFT', 'PUBLISHED', 'EMBARGOED' or 'ARCHIVED'" },
        },
        { loc: ["body", "embargoedUntil"], type: "datetime_type" },
      ],
    ],
    [
      "no ARK, another case, no date",
      { "@id": "dataset", publicationStatus: "published", embargoedUntil: "soon" },
      [
        { loc: ["body", "@id"], type: "value_error" },
        { loc: ["body", "publicationStatus"], type: "literal_error" },
        { loc: ["body", "embargoedUntil"], type: "datetime_from_date_parsing" },
      ],
    ],
    [
      "an embargo that has ended, or ends now",
      { "@id": "ark:99999/x", publicationStatus: "EMBARGOED", embargoedUntil: "2020-01-01" },
      [{ loc: ["body", "embargoedUntil"], type: "value_error" }],
    ],
    [
      "a misspelt field, which would be an embargo without an end",
      { "@id": "ark:99999/x", publicationStatus: "EMBARGOED", embargoUntil: "2999-01-01" },
      [{ loc: ["body", "embargoUntil"], type: "extra_forbidden" }],
    ],
    [
      "the end of an embargo that is none",
      { "@id": "ark:99999/x", publicationStatus: "PUBLISHED", embargoedUntil: "2030-01-01" },
      [{ loc: ["body", "embargoedUntil"], type: "value_error" }],
    ],
  ])("refuses a body with %s", async (_, json, detail) => {
    const answer = await server.request("PUT", "/publish", {
      token: ada.token,
      ...(json === undefined ? {} : { json }),
    });
    expect(answer, answer.text).toMatchObject({ status: 422, body: { detail } });
  });
});

const DRAFT = ["raw.csv", "table.csv"];
async function uploaded(): Promise<string> {
  const entities = [...DRAFT, "secret.csv", "old.csv"].map((name) => ({
    "@id": name,
    "@type": "File",
    name,
  }));
  const marker = String(Math.random());
  const form = new FormData();
  form.set(
    "file",
    new Blob([
      new Uint8Array(
        await crate(
          entities,
          Object.fromEntries(entities.map(({ name }) => [name, `${name} ${marker}`])),
          { hasPart: entities.map(({ name }) => ({ "@id": name })) },
        ),
      ),
    ]),
    "crate.zip",
  );
  const { body } = await server.request<{ "@id": string }>("POST", "/rocrate/upload", {
    token: ada.token,
    body: form,
  });
  return body["@id"];
}
describe("publishing a crate", () => {
  it("publishes the members that are DRAFT in the same commit, and leaves all others unchanged", async () => {
    const root = await uploaded();
    await embargoed(`${root}/secret.csv`, "2020-01-01");
    await publish(`${root}/old.csv`, "ARCHIVED");
    // An embargo that is over publishes a member only when its crate is published.
    expect(await readable(`${root}/secret.csv`)).toBe(401);
    expect(await publish(root, "PUBLISHED")).toMatchObject({
      status: 200,
      body: { "@id": root, publicationStatus: "PUBLISHED" },
    });
    const together = await server.deps.records.findMany([
      root,
      ...DRAFT.map((name) => `${root}/${name}`),
    ]);
    expect(new Set(together.map((record) => record!.modifiedAt)).size).toBe(1);
    for (const name of DRAFT) {
      expect(await status(`${root}/${name}`)).toMatchObject({ publicationStatus: "PUBLISHED" });
      expect(await readable(`${root}/${name}`)).toBe(200);
    }
    // Its archive holds a member that is not for everybody.
    expect(await readable(root)).toBe(403);
    expect(await readable(`${root}/secret.csv`)).toBe(200);
    expect(await status(`${root}/old.csv`)).toMatchObject({ publicationStatus: "ARCHIVED" });
    expect(await readable(`${root}/old.csv`)).toBe(401);
  });
  it("does not withdraw its members when it is withdrawn", async () => {
    const root = await uploaded();
    await publish(root, "PUBLISHED");
    await publish(root, "DRAFT");
    expect(await readable(root)).toBe(401);
    expect(await readable(`${root}/raw.csv`)).toBe(200);
  });
  it("leaves a member unchanged that has a new owner", async () => {
    const root = await uploaded();
    const member = `${root}/raw.csv`;
    const { body } = await server.request("GET", `/datadownload/${member}`);
    const given = await server.request("PUT", `/ark:${member.slice(4)}`, {
      token: admin.token,
      json: {
        ...body,
        "@type": "evi:DataDownload",
        "@context": { "@vocab": "https://schema.org/" },
        description: "A raw table.",
        owner: other.id,
        encodingFormat: "text/csv",
        encodesCreativeWork: root,
      },
    });
    expect(given.status, given.text).toBe(200);
    await publish(root, "PUBLISHED");
    expect(await status(member)).toMatchObject({ publicationStatus: "DRAFT" });
    expect(await status(`${root}/table.csv`)).toMatchObject({ publicationStatus: "PUBLISHED" });
  });
});

const nested = async (id: string): Promise<{ root: string; inner: string }> => {
  const file = (name: string) => ({ "@id": name, "@type": "File", name });
  const archive = await zip({
    "ro-crate-metadata.json": metadata([file("a.txt"), { "@id": id, "@type": "Dataset" }], {
      name: `Release ${Math.random()}`,
      hasPart: [{ "@id": "a.txt" }, { "@id": id }],
    }),
    "a.txt": id,
    "sub/ro-crate-metadata.json": metadata([file("b.txt"), file("late.txt"), file("other.txt")], {
      ...(id === "sub/" ? {} : { "@id": id }),
      hasPart: ["b.txt", "late.txt", "other.txt"].map((name) => ({ "@id": name })),
    }),
    ...Object.fromEntries(
      ["b.txt", "late.txt", "other.txt"].map((name) => [`sub/${name}`, `${name} ${id}`]),
    ),
  });
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
  const { body, text } = await server.request<{ "@id": string }>("POST", "/rocrate/upload", {
    token: ada.token,
    body: form,
  });
  const root = body["@id"];
  expect(root, text).toMatch(/^ark:/);
  const given = await server.request("PATCH", `/${root}/sub/other.txt`, {
    token: admin.token,
    headers: { "Content-Type": "application/merge-patch+json" },
    json: { owner: other.id },
  });
  expect(given.status, given.text).toBe(200);
  return { root, inner: id === "sub/" ? `${root}/sub` : id };
};
const statuses = async (...ids: string[]) =>
  (await Promise.all(ids.map(status))).map((found) => found["publicationStatus"]);

/** At the same time: they wait for the clock. */
describe("an embargo of a crate that ends", () => {
  const ask = async (path: string) => (await server.request("GET", path)).text;
  // Each with its own `expect`: that of the file does not know which of them polls.
  it.concurrent(
    "is that of the draft members, and publishes all of them when it ends",
    async ({ expect }) => {
      const root = await uploaded();
      await publish(`${root}/old.csv`, "ARCHIVED");
      await publish(`${root}/secret.csv`, "EMBARGOED", { embargoedUntil: "2999-01-01" });
      const until = new Date(Date.now() + 4000).toISOString();
      const answer = await publish(root, "EMBARGOED", { embargoedUntil: until });
      expect(answer.status, answer.text).toBe(200);
      const raw = `${root}/raw.csv`;
      expect(await status(raw)).toMatchObject({
        publicationStatus: "EMBARGOED",
        embargoedUntil: until,
      });
      expect([await readable(root), await readable(raw)]).toEqual([401, 401]);
      const set = new Map<string, string>();
      for (const id of [root, raw]) set.set(id, (await server.request("GET", `/${id}`)).text);
      await expect.poll(async () => (await status(raw))["publicationStatus"]).toBe("PUBLISHED");
      for (const id of [root, raw]) {
        const read = await server.request("GET", `/${id}`);
        expect(read.headers.get("x-publication-status"), id).toBe("PUBLISHED");
        expect(read.text).toBe(set.get(id));
        expect(await ask(`/${id}/history`)).toContain('"action":"publish"');
      }
      expect(await readable(raw)).toBe(200);
      expect(await status(`${root}/secret.csv`)).toMatchObject({ embargoedUntil: "2999-01-01" });
      expect(await status(`${root}/old.csv`)).toMatchObject({ publicationStatus: "ARCHIVED" });
      const published = `status=PUBLISHED&crate=${root}`;
      expect(await ask(`/records?${published}`)).toContain(raw);
      expect(await ask(`/records/statistics?by=status&crate=${root}`)).toMatch(/PUBLISHED/);
      const { body } = await server.graphql<{ record: JsonObject }>(
        "query ($id: ID!) { record(id: $id) { publicationStatus embargoEndsAt } }",
        { id: root },
      );
      expect(body.data.record).toEqual({ publicationStatus: "PUBLISHED", embargoEndsAt: null });
    },
  );
  it.concurrent("of which all files may be read opens its archive", async ({ expect }) => {
    const root = await uploaded();
    const until = new Date(Date.now() + 3000).toISOString();
    await publish(root, "EMBARGOED", { embargoedUntil: until });
    expect(await readable(root)).toBe(401);
    await expect.poll(() => readable(root)).toBe(200);
  });

  it.concurrent.for(["sub/", "ark:59852/embargoed-by-itself"])(
    "within a crate opens its own parts: %s",
    async (id, { expect }) => {
      const { root, inner } = await nested(id);
      const late = `${root}/sub/late.txt`;
      await publish(late, "EMBARGOED", { embargoedUntil: "2999-01-01" });
      const embargoedUntil = new Date(Date.now() + 3000).toISOString();
      await publish(inner, "EMBARGOED", { embargoedUntil });
      const part = `${root}/sub/b.txt`;
      expect(await status(part)).toMatchObject({ publicationStatus: "EMBARGOED", embargoedUntil });
      await expect.poll(() => readable(part)).toBe(200);
      expect(await statuses(inner, part, late, `${root}/sub/other.txt`, root)).toEqual([
        "PUBLISHED",
        "PUBLISHED",
        "EMBARGOED",
        "DRAFT",
        "DRAFT",
      ]);
    },
  );
});

describe("an embargo of a crate", () => {
  it("and its publication leave members of another owner alone, also by an administrator", async () => {
    const root = await uploaded();
    const member = `${root}/raw.csv`;
    const moved = await server.request("PATCH", `/${member}`, {
      token: admin.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      json: { owner: other.id },
    });
    expect(moved.status, moved.text).toBe(200);
    await publish(root, "EMBARGOED", { embargoedUntil: "2999-01-01" }, admin.token);
    expect(await status(member)).toMatchObject({ publicationStatus: "DRAFT" });
    await publish(root, "PUBLISHED", {}, admin.token);
    expect(await status(member)).toMatchObject({ publicationStatus: "DRAFT" });
  });
});

describe("a crate within a crate", () => {
  it.each(["sub/", "ark:59852/published-by-itself"])(
    "publishes its own drafts only, and none of another owner: %s",
    async (id) => {
      const { root, inner } = await nested(id);
      expect((await publish(inner, "PUBLISHED")).status).toBe(200);
      expect(
        await statuses(inner, `${root}/sub/b.txt`, `${root}/sub/other.txt`, root, `${root}/a.txt`),
      ).toEqual(["PUBLISHED", "PUBLISHED", "DRAFT", "DRAFT", "DRAFT"]);
      expect(await readable(`${root}/sub/b.txt`)).toBe(200);
      expect(await readable(`${root}/a.txt`)).toBe(401);
    },
  );
});

describe("the instant of a date", () => {
  it.each([
    ["2024-05-01", "2024-05-01T00:00:00.000Z"],
    ["20240501", "2024-05-01T00:00:00.000Z"],
    ["2024-05-01T10:30", "2024-05-01T10:30:00.000Z"],
    ["2024-05-01 10:30:15.25", "2024-05-01T10:30:15.250Z"],
    ["2024-05-01T10:30:00+02:00", "2024-05-01T08:30:00.000Z"],
    ["20240501T103000-0230", "2024-05-01T13:00:00.000Z"],
    ["2024-05-01T24:00:00Z", "2024-05-02T00:00:00.000Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["0050-01-01", "0050-01-01T00:00:00.000Z"],
  ])("%s is %s, wherever the service runs", (text, instant) =>
    expect(new Date(instantOf(text)!).toISOString()).toBe(instant),
  );
  it("is undefined for text that is no date", () =>
    expect(["", "soon", "2024-02-30", "2024-05-01T25:00"].map(instantOf)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]));
});

it("no request ended in a fault", () => expect(server.faults).toEqual([]));
