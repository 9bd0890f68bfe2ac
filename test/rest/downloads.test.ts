import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/field.js";
import { sweepObjects } from "../../src/services/objects/damage.js";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person, other: Person;
beforeAll(async () => {
  server = await startServer({ MAX_UPLOAD_BYTES: "100000", MAX_BODY_BYTES: "20000" });
  [ada, other] = [await server.person("ada"), await server.person("other")];
});
afterAll(() => server.stop());

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const record = (more: JsonObject = {}) => bodyOf("datadownload", ada.id, more);
const create = async (more: JsonObject = {}) =>
  (
    await server.request<{ "@id": string }>("POST", "/download", {
      token: ada.token,
      json: record(more),
    })
  ).body["@id"];
const fileForm = (text: string, name = "images.csv", type = "text/csv") => {
  const form = new FormData();
  form.set("file", new Blob([text], { type }), name);
  return form;
};
const upload = (
  id: string,
  text: string,
  token: string | undefined = ada.token,
  headers: Record<string, string> = {},
) =>
  server.request("POST", `/datadownload/${id}/upload`, {
    ...(token === undefined ? {} : { token }),
    headers,
    body: fileForm(text),
  });
const download = (id: string, token = ada.token) =>
  server.request("GET", `/datadownload/${id}/download`, { token });
const objects = async () => {
  const found: string[] = [];
  for await (const key of server.deps.objects.list()) found.push(key);
  return found;
};
const staged = () => readdir(join(server.deps.config.DATA_DIR, "objects", "staging"));
const sweep = () =>
  sweepObjects({
    objects: server.deps.objects,
    records: server.deps.records,
    intentLifetime: 86_400_000,
  });
const facts = (id: string, text: string) => ({
  "@id": id,
  contentUrl: `${server.url}/datadownload/${id}/download`,
  contentSize: String(Buffer.byteLength(text)),
  sha256: sha256(text),
  uploadDate: expect.stringMatching(/^\d{4}-.*Z$/) as string,
});

/**
 * Sends the beginning of a form, waits until it is being stored, and hangs up; the staged bytes
 * must go.
 */
async function hangUp(path: string, beginning: string): Promise<void> {
  const { port, hostname } = new URL(server.url);
  const req = httpRequest({
    host: hostname,
    port,
    method: "POST",
    path,
    headers: {
      Authorization: `Bearer ${ada.token}`,
      "Content-Type": "multipart/form-data; boundary=x",
      "Content-Length": "5000",
    },
  });
  req.on("error", () => undefined);
  req.write(beginning);
  await expect.poll(staged).not.toEqual([]);
  req.destroy();
  await expect.poll(staged).toEqual([]);
}

describe("POST /download", () => {
  it("creates the metadata record of a file, with the contract's defaults, and no content", async () => {
    const body = record();
    const answer = await server.request("POST", "/download", { token: ada.token, json: body });
    expect(answer).toMatchObject({
      status: 200,
      body: { ...body, version: "0.1.0", license: " https://creativecommons.org/licenses/by/4.0/" },
    });
    expect((await server.request("GET", `/datadownload/${body["@id"] as string}`)).body).toEqual(
      answer.body,
    );
    expect(await download(body["@id"] as string)).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
  });
  it("refuses without a token, without required fields, for another owner, and a second time", async () => {
    const body = record();
    expect((await server.request("POST", "/download", { json: body })).status).toBe(401);
    expect(
      await server.request("POST", "/download", {
        token: ada.token,
        json: { "@type": "evi:DataDownload" },
      }),
    ).toMatchObject({
      status: 422,
      body: {
        detail: expect.arrayContaining([
          { loc: ["body", "sha256"], msg: "Field required", type: "missing" },
        ]) as unknown,
      },
    });
    expect(
      (await server.request("POST", "/download", { token: other.token, json: body })).status,
    ).toBe(403);
    expect(
      (await server.request("POST", "/download", { token: ada.token, json: body })).status,
    ).toBe(200);
    expect(
      (await server.request("POST", "/download", { token: ada.token, json: body })).status,
    ).toBe(409);
  });
});

describe("POST /datadownload/ark:…/upload", () => {
  it("stores the bytes and their facts as a new revision", async () => {
    const id = await create({ encodingFormat: "text/csv" });
    const answer = await upload(id, "a,b\n1,2\n");
    expect(answer).toMatchObject({ status: 200, body: facts(id, "a,b\n1,2\n") });
    expect(answer.headers.get("etag")).toBe('"2-0"');
    const bytes = await download(id);
    expect(bytes).toMatchObject({ status: 200, text: "a,b\n1,2\n" });
    expect(bytes.headers.get("content-type")).toBe("text/csv");
    expect(bytes.headers.get("content-disposition")).toContain("images.csv");
    expect(new URL(answer.body["contentUrl"] as string).pathname).toBe(
      `/datadownload/${id}/download`,
    );
    expect(await staged()).toEqual([]);
  });
  it("replaces the content; the earlier revision has its own, also after a sweep", async () => {
    const id = await create();
    await upload(id, "first content");
    expect(await upload(id, "second content")).toMatchObject({
      status: 200,
      body: facts(id, "second content"),
    });
    expect((await download(id)).text).toBe("second content");
    await sweep();
    expect(await objects()).toEqual(
      expect.arrayContaining([sha256("first content"), sha256("second content")]),
    );
    expect((await server.request("GET", `/datadownload/${id}?revision=2`)).body).toMatchObject(
      facts(id, "first content"),
    );
  });
  it("creates no revision for the same bytes", async () => {
    const id = await create();
    const first = await upload(id, "the same");
    const again = await upload(id, "the same");
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(await staged()).toEqual([]);
  });
  it.each<[string, JsonObject]>([
    ["SHA-256", { sha256: sha256("something else") }],
    ["size", { contentSize: "12345" }],
  ])("refuses bytes whose %s differs from the record's, and stores nothing", async (_, claim) => {
    const id = await create(claim);
    const before = await objects();
    expect(await upload(id, "these bytes")).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "file", Object.keys(claim)[0]], type: "value_error" }] },
    });
    expect(await objects()).toEqual(before);
    expect(await staged()).toEqual([]);
    expect((await server.request("GET", `/datadownload/${id}`)).headers.get("etag")).toBe('"1-0"');
  });
  it("accepts claims that agree, and a size that is no number of bytes", async () => {
    const claims = { sha256: sha256("agreed").toUpperCase(), contentSize: "6" };
    for (const more of [claims, { contentSize: "6 bytes" }]) {
      const id = await create(more);
      expect(await upload(id, "agreed")).toMatchObject({ status: 200, body: facts(id, "agreed") });
    }
  });
  it("preserves another address from the client as sourceContentUrl", async () => {
    const id = await create({ contentUrl: "https://data.example.org/images.tar" });
    expect((await upload(id, "bytes from there")).body).toMatchObject({
      ...facts(id, "bytes from there"),
      sourceContentUrl: "https://data.example.org/images.tar",
    });
  });
  it("refuses in the order of all operations: type, token, form, target, right, revision, size", async () => {
    const id = await create();
    expect(
      (await server.request("POST", `/datadownload/${id}/upload`, { token: ada.token, json: {} }))
        .status,
    ).toBe(415);
    expect(
      (await server.request("POST", `/datadownload/${id}/upload`, { body: fileForm("x") })).status,
    ).toBe(401);
    expect(
      (await server.request("POST", `/datadownload/${id}/upload`, { token: ada.token })).body,
    ).toMatchObject({ detail: [{ loc: ["body", "file"], type: "missing" }] });
    const text = new FormData();
    text.set("file", "not a file");
    expect(
      (await server.request("POST", `/datadownload/${id}/upload`, { token: ada.token, body: text }))
        .body,
    ).toMatchObject({
      detail: [
        { loc: ["body", "file"], msg: "Value error, Expected UploadFile, received: <class 'str'>" },
      ],
    });
    expect((await upload("ark:99999/nothing", "x")).status).toBe(404);
    expect((await upload(ada.id, "x")).status).toBe(404);
    expect((await upload(id, "x", other.token)).status).toBe(403);
    expect((await upload(id, "x", ada.token, { "If-Match": '"9-0"' })).status).toBe(412);
    expect(await upload(id, "x".repeat(100_001))).toMatchObject({
      status: 413,
      body: { code: "TOO_LARGE" },
    });
    expect((await upload(id, "x".repeat(2_000_000))).status).toBe(413);
    expect(await staged()).toEqual([]);
  });
  it("leaves nothing behind when the client disconnects", async () => {
    const id = await create();
    const before = await objects();
    await hangUp(
      `/datadownload/${id}/upload`,
      '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf of it',
    );
    expect(await objects()).toEqual(before);
    expect((await server.request("GET", `/datadownload/${id}`)).headers.get("etag")).toBe('"1-0"');
  });
});

describe("POST /register", () => {
  const registration = (
    document: JsonObject | string,
    text: string,
    { first = "download", blob = false } = {},
  ) => {
    const form = new FormData();
    const json = typeof document === "string" ? document : JSON.stringify(document);
    const parts: [string, string | Blob, string?][] = [
      ["download", blob ? new Blob([json], { type: "application/json" }) : json],
      ["file", new Blob([text]), "counts.csv"],
    ];
    for (const [name, value, file] of first === "download" ? parts : parts.toReversed()) {
      if (typeof value === "string") form.set(name, value);
      else form.set(name, value, file);
    }
    return form;
  };
  const register = (body: FormData, token: string | undefined = ada.token) =>
    server.request("POST", "/register", { ...(token === undefined ? {} : { token }), body });

  it.each([
    ["text", "download", false],
    ["text", "file", false],
    ["an application/json part", "download", true],
    ["an application/json part", "file", true],
  ] as const)("accepts the record as %s, %s first", async (_, first, blob) => {
    const document = record({ encodingFormat: "text/csv" });
    const text = `bytes ${first} ${blob}`;
    const answer = await register(registration(document, text, { first, blob }));
    expect(answer).toMatchObject({
      status: 200,
      body: { ...document, ...facts(document["@id"] as string, text) },
    });
    expect(answer.headers.get("etag")).toBe('"1-0"');
    expect((await download(document["@id"] as string)).text).toBe(text);
    expect(await staged()).toEqual([]);
    expect(
      await server.deps.records.claimUnreferenced([sha256(text)], {
        now: Date.now(),
        intentLifetime: 0,
      }),
    ).toEqual([]);
  });
  it("mints an identifier where none is given", async () => {
    const { "@id": _id, ...document } = record({ name: "Cell counts" });
    const { status, body } = await register(registration(document, "minted"));
    expect(status).toBe(200);
    expect(body["@id"]).toMatch(/^ark:99999\/datadownload-cell-counts-/);
    expect((await download(body["@id"] as string)).text).toBe("minted");
  });
  it.each<[string, string, string]>([
    ["no JSON", "{not json", "json_invalid"],
    ["a list", "[]", "model_attributes_type"],
    ["null", "null", "missing"],
    ["an empty text", "", "json_invalid"],
  ])("refuses a record that is %s with 422 at body.download", async (_, text, type) => {
    for (const first of ["download", "file"]) {
      const answer = await register(registration(text, "bytes", { first }));
      expect(answer, answer.text).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", "download"], type }] },
      });
    }
    expect(await staged()).toEqual([]);
  });
  it("reports every error of the record at its place, whichever part comes first", async () => {
    for (const first of ["download", "file"]) {
      const { body } = await register(
        registration({ ...record(), name: 1, keywords: ["a", 2] }, "bytes", { first }),
      );
      expect((body["detail"] as JsonObject[]).map(({ loc }) => loc)).toEqual([
        ["body", "download", "name"],
        ["body", "download", "keywords", 1],
      ]);
    }
    expect(await staged()).toEqual([]);
  });
  it("reports both parts when both are missing, and otherwise the missing one", async () => {
    expect((await register(new FormData())).status).toBeGreaterThanOrEqual(400);
    const half = new FormData();
    half.set("other", "x");
    expect((await register(half)).body).toMatchObject({
      detail: [
        { loc: ["body", "download"], type: "missing" },
        { loc: ["body", "file"], type: "missing" },
      ],
    });
    expect((await register(fileForm("alone"))).body).toEqual({
      detail: [{ loc: ["body", "download"], msg: "Field required", type: "missing" }],
    });
    expect(await staged()).toEqual([]);
  });
  it("refuses inconsistent claims, both at once, and stores neither record nor bytes", async () => {
    const document = record({ sha256: "0".repeat(64), contentSize: "1" });
    const { status, body } = await register(registration(document, "other bytes"));
    expect(status).toBe(422);
    expect((body["detail"] as JsonObject[]).map(({ loc }) => loc)).toEqual([
      ["body", "download", "contentSize"],
      ["body", "download", "sha256"],
    ]);
    expect((await server.request("GET", `/datadownload/${document["@id"] as string}`)).status).toBe(
      404,
    );
    expect(await objects()).not.toContain(sha256("other bytes"));
    expect(await staged()).toEqual([]);
  });
  it("leaves bytes of a refused registration to the sweep", async () => {
    const document = record();
    await register(registration(document, "taken first"));
    expect((await register(registration(document, "taken second"))).status).toBe(409);
    await sweep();
    expect(await objects()).toContain(sha256("taken first"));
    expect(await objects()).not.toContain(sha256("taken second"));
  });
  it("leaves nothing behind when the client disconnects, in the file or after it", async () => {
    const before = await objects();
    const file = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nbytes';
    await hangUp("/register", file);
    await hangUp(
      "/register",
      `${file}\r\n--x\r\nContent-Disposition: form-data; name="download"\r\n\r\n{"@type":`,
    );
    expect(await objects()).toEqual(before);
  });
  it("derives the type from the name of the file if neither record nor form states it", async () => {
    const { "@id": id, ...document } = record({ encodingFormat: "unknown" });
    expect((await register(registration({ ...document, "@id": id! }, "a,b"))).status).toBe(200);
    expect((await download(id as string)).headers.get("content-type")).toBe("text/csv");
  });
  it("refuses without a token, for another owner, and an oversized file", async () => {
    expect(
      (await server.request("POST", "/register", { body: registration(record(), "x") })).status,
    ).toBe(401);
    expect((await register(registration(record(), "x"), other.token)).status).toBe(403);
    expect((await register(registration(record({ note: "n".repeat(30_000) }), "x"))).status).toBe(
      413,
    );
    expect(
      (
        await register(
          registration(record({ note: "n".repeat(30_000) }), "x", { first: "file", blob: true }),
        )
      ).status,
    ).toBe(413);
    expect(
      (await register(registration(record(), "x".repeat(100_001), { first: "file" }))).status,
    ).toBe(413);
    expect((await server.request("POST", "/register", { token: ada.token, json: {} })).status).toBe(
      415,
    );
    await expect.poll(staged).toEqual([]);
  });
});

describe("PUT /datadownload/ark:…", () => {
  it("replaces the metadata; the identifier of the path counts", async () => {
    const id = await create();
    const { "@id": _id, ...body } = record({
      name: "renamed.tar",
      encodesCreativeWork: "ark:99999/dataset-cells",
    });
    const put = (json: JsonObject, token = ada.token) =>
      server.request("PUT", `/datadownload/${id}`, { token, json });
    expect(await put(body)).toMatchObject({ status: 200, body: { ...body, "@id": id } });
    expect(
      (await put({ ...body, "@id": id.replace("ark:", "https://n2t.net/ark:/"), name: "by alias" }))
        .body,
    ).toMatchObject({ "@id": id, name: "by alias" });
    expect(await put({ ...body, "@id": "ark:99999/another" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "@id"], type: "value_error" }] },
    });
    expect(await put(body, other.token)).toMatchObject({ status: 403 });
    expect(
      (
        await server.request("PUT", "/datadownload/ark:99999/nothing", {
          token: ada.token,
          json: body,
        })
      ).status,
    ).toBe(404);
    expect(
      (
        await server.request("PUT", "/datadownload/ark:99999/nothing", {
          token: ada.token,
          json: {},
        })
      ).status,
    ).toBe(422);
    expect((await server.request("PUT", `/datadownload/${id}`, { json: body })).status).toBe(401);
  });
  it("states the facts of stored content again, and refuses contradictions", async () => {
    const document = record({ encodingFormat: "text/plain" });
    const id = await create(document);
    const before = (await upload(id, "stored")).body;
    const put = (more: JsonObject) =>
      server.request("PUT", `/datadownload/${id}`, {
        token: ada.token,
        json: { ...document, "@id": id, ...more },
      });
    expect((await put({ name: "renamed" })).body).toEqual({ ...before, name: "renamed" });
    expect(
      (await put({ name: "renamed", contentUrl: "https://elsewhere.example/x" })).body,
    ).toMatchObject({ ...facts(id, "stored"), sourceContentUrl: "https://elsewhere.example/x" });
    expect(await put({ sha256: "f".repeat(64) })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "sha256"] }] },
    });
    await put({ encodingFormat: "application/json" });
    const bytes = await download(id);
    expect(bytes.text).toBe("stored");
    expect(bytes.headers.get("content-type")).toBe("application/json");
  });
  it("changes nothing when a record is sent back unchanged", async () => {
    const id = await create();
    const { body, headers } = await upload(id, "round trip");
    const answer = await server.request("PUT", `/datadownload/${id}`, {
      token: ada.token,
      json: body,
    });
    expect(answer).toMatchObject({ status: 200, body });
    expect(answer.headers.get("etag")).toBe(headers.get("etag"));
  });
});

describe("DELETE /datadownload/ark:…", () => {
  it.each(["datadownload/", ""])(
    "removes the content permanently and preserves the metadata: /%sark:…",
    async (path) => {
      const id = await create();
      const text = `to be deleted over /${path}`;
      const { body } = await upload(id, text);
      expect((await server.request("DELETE", `/${path}${id}`)).status).toBe(401);
      expect((await server.request("DELETE", `/${path}${id}`, { token: other.token })).status).toBe(
        403,
      );
      expect(await server.request("DELETE", `/${path}${id}`, { token: ada.token })).toMatchObject({
        status: 200,
        body: { ...body, contentUrl: null },
      });
      expect(await server.request("GET", `/datadownload/${id}`)).toMatchObject({
        status: 200,
        body: { ...body, contentUrl: null },
      });
      for (const from of ["datadownload", "download"]) {
        const answer = await server.request(
          "GET",
          from === "download" ? `/download/${id}` : `/datadownload/${id}/download`,
          { token: ada.token },
        );
        expect(answer).toMatchObject({ status: 410, body: { code: "CONTENT_DELETED" } });
      }
      await sweep();
      expect(await objects()).not.toContain(sha256(text));
      expect(await upload(id, "new content of another size")).toMatchObject({
        status: 200,
        body: facts(id, "new content of another size"),
      });
      expect((await download(id)).text).toBe("new content of another size");
    },
  );
  it("changes nothing where nothing is stored", async () => {
    const id = await create();
    const answer = await server.request("DELETE", `/datadownload/${id}`, { token: ada.token });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("etag")).toBe('"1-0"');
    expect(
      (
        await server.request("DELETE", `/datadownload/${id}`, {
          token: ada.token,
          headers: { "If-Match": '"4-0"' },
        })
      ).status,
    ).toBe(412);
  });
});

it("no request ended in a fault", () => expect(server.faults).toEqual([]));
