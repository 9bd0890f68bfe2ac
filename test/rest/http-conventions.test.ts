/** Conventions of HTTP that clients rely on without reading our documentation. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const created = async (): Promise<string> => {
  const { body } = await server.request("POST", "/dataset", {
    token: ada.token,
    json: bodyOf("dataset", ada.id),
  });
  return String(body["@id"]);
};

describe("an error", () => {
  const PROBLEM = "application/problem+json";
  const asked = (method: string, path: string, more: object = {}, accept = PROBLEM) =>
    server.request(method, path, { ...more, headers: { Accept: accept } });

  it("is a problem of RFC 9457 where Accept names one", async () => {
    for (const accept of [PROBLEM, `application/json, ${PROBLEM}`, `${PROBLEM};q=0.5, */*`]) {
      const { status, headers, body } = await asked("GET", "/ark:99999/none", {}, accept);
      expect([status, headers.get("content-type")]).toEqual([404, PROBLEM]);
      expect(headers.get("vary")).toContain("Accept");
      expect(body).toEqual({
        title: "Not Found",
        status: 404,
        detail: expect.stringContaining("ark:99999/none") as unknown,
        code: "NOT_FOUND",
      });
    }
  });

  it("has the broken rules in errors, and one sentence", async () => {
    const { status, headers, body } = await asked("POST", "/dataset", {
      token: ada.token,
      body: JSON.stringify({ ...bodyOf("dataset", ada.id), name: 1 }),
    });
    expect([status, headers.get("content-type")]).toEqual([415, PROBLEM]);
    expect(body).toMatchObject({ title: "Unsupported Media Type", code: "UNSUPPORTED_MEDIA_TYPE" });
    const broken = await server.request("POST", "/dataset", {
      token: ada.token,
      headers: { Accept: PROBLEM },
      json: { ...bodyOf("dataset", ada.id), name: 1 },
    });
    expect(broken.headers.get("content-type")).toBe(PROBLEM);
    expect(broken.body).toEqual({
      title: "Unprocessable Entity",
      status: 422,
      detail: "body.name: Input should be a valid string",
      code: "VALIDATION",
      errors: [
        { loc: ["body", "name"], msg: "Input should be a valid string", type: "string_type" },
      ],
    });
  });

  it("is of the same type on every path", async () => {
    for (const [method, path] of [
      ["GET", "/nothing"],
      ["DELETE", "/search/basic"],
      ["GET", "/user"],
      ["GET", "/sparql?query=SELECT"],
      ["GET", "/dataset?limit=x"],
      ["GET", "/%ff"],
      ["POST", "/token"],
    ] as const) {
      const { status, headers } = await asked(method, path);
      expect(status, path).toBeGreaterThanOrEqual(400);
      expect(headers.get("content-type"), path).toBe(PROBLEM);
    }
  });

  it("stays plain JSON for everybody else", async () => {
    for (const accept of ["*/*", "application/json", `${PROBLEM};q=0`, "application/*"]) {
      const { headers, body } = await asked("GET", "/ark:99999/none", {}, accept);
      expect(headers.get("content-type")).toBe("application/json");
      expect(Object.keys(body)).toEqual(["detail", "code"]);
    }
  });
});

describe("the date of a record", () => {
  it("answers 304 to those who have its state, and only where no ETag is sent", async () => {
    const ark = await created();
    // Dates have whole seconds: this state may still change within its own.
    const early = (await server.request("GET", `/${ark}`)).headers.get("last-modified")!;
    await sleep(1100);
    const { headers } = await server.request("GET", `/${ark}`);
    const date = headers.get("last-modified")!;
    expect(Date.parse(date)).toBeGreaterThan(Date.parse(early));
    const at = async (since: string, more: Record<string, string> = {}) =>
      (
        await server.request("GET", `/${ark}`, {
          headers: { "If-Modified-Since": since, ...more },
        })
      ).status;
    expect(await at(date)).toBe(304);
    expect(await at(early)).toBe(200);
    expect(await at("yesterday")).toBe(200);
    expect(await at(date, { "If-None-Match": '"other"' })).toBe(200);
    expect(await at(early, { "If-None-Match": headers.get("etag")! })).toBe(304);

    await server.request("PATCH", `/${ark}`, {
      token: ada.token,
      headers: { "Content-Type": "application/json" },
      body: '{"name":"Other"}',
    });
    expect(await at(date)).toBe(200);
  });

  it("answers no 304 where records that link to it are shown", async () => {
    await created();
    await sleep(1100);
    const { headers } = await server.request("GET", `/${ada.id}`);
    const again = await server.request("GET", `/${ada.id}`, {
      headers: { "If-Modified-Since": headers.get("last-modified")! },
    });
    expect(again.status).toBe(200);
  });
});

describe("stored content", () => {
  it("has its digest and date, and is answered 304 by date", async () => {
    const form = new FormData();
    form.set("file", new Blob(["0123456789"]), "digits.txt");
    form.set("download", JSON.stringify(bodyOf("datadownload", ada.id)));
    const made = await server.request("POST", "/register", { token: ada.token, body: form });
    const path = `/download/${String(made.body["@id"])}`;
    const digest = createHash("sha256").update("0123456789").digest("base64");
    await sleep(1100);
    const read = (method: string, headers: Record<string, string> = {}) =>
      server.request(method, path, { token: ada.token, headers });
    const whole = await read("GET");
    const part = await read("GET", { Range: "bytes=2-4" });
    const since = { "If-Modified-Since": whole.headers.get("last-modified")! };
    const same = await read("GET", since);
    expect([whole, await read("HEAD"), part, same].map(({ status }) => status)).toEqual([
      200, 200, 206, 304,
    ]);
    for (const { headers } of [whole, part, same])
      expect(headers.get("repr-digest")).toBe(`sha-256=:${digest}:`);
    expect((await read("GET", { ...since, "If-None-Match": '"other"' })).status).toBe(200);
  });
});

describe("JSON", () => {
  it("in another charset than UTF-8 is refused, and says so", async () => {
    const send = (type: string) =>
      server.request("POST", "/dataset", {
        token: ada.token,
        headers: { "Content-Type": type },
        body: Buffer.from(JSON.stringify({ ...bodyOf("dataset", ada.id), name: "Zürich" })),
      });
    for (const type of [
      "application/json; charset=iso-8859-1",
      'application/ld+json; profile="x"; Charset="UTF-16"',
    ])
      expect(await send(type)).toMatchObject({
        status: 415,
        body: { detail: expect.stringContaining("send it in UTF-8") as unknown },
      });
    for (const type of ["application/json; charset=utf-8", 'application/json;charset="UTF8"'])
      expect((await send(type)).status).toBe(200);
    const graphql = await server.request("POST", "/graphql", {
      headers: { "Content-Type": "application/json; charset=iso-8859-1" },
      body: '{"query":"{ __typename }"}',
    });
    expect(graphql.status).toBe(415);
  });
});
