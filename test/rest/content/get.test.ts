import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../../support/bodies.js";
import { storeContent } from "../../support/content.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

const BYTES = "0123456789";
let server: TestServer;
let ada: Person;
let ark: string;
const stored = async (
  more = {},
  bytes: string | Buffer = BYTES,
  status: "PUBLISHED" | "DRAFT" = "PUBLISHED",
) => {
  const id = String(
    (
      await server.request("POST", "/dataset", {
        token: ada.token,
        json: bodyOf("dataset", ada.id),
      })
    ).body["@id"],
  );
  await storeContent(server.deps, (await server.deps.records.findMany([id]))[0]!, bytes, more);
  await server.deps.records.commit({
    by: null,
    at: Date.now(),
    records: [{ op: "publish", ark: id, status, embargoedUntil: null }],
  });
  return id;
};
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  ark = await stored();
});
afterAll(() => server.stop());
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  server.request(method, path, { headers });

describe.each(["/download/", "/view/", "/dataset/download/"])("GET %sark:…", (route) => {
  it("returns the bytes with their hash, length and type", async () => {
    const answer = await get(route + ark);
    expect([
      answer.status,
      answer.text,
      answer.headers.get("content-length"),
      answer.headers.get("content-type"),
      answer.headers.get("accept-ranges"),
    ]).toEqual([200, BYTES, "10", "text/plain", "bytes"]);
    expect(answer.headers.get("etag")).toBe(
      `"${createHash("sha256").update(BYTES).digest("hex")}"`,
    );
  });
  it.each([
    ["bytes=0-3", "0123", "0-3"],
    ["bytes=4-", "456789", "4-9"],
    ["bytes=-3", "789", "7-9"],
    ["bytes=0-99", BYTES, "0-9"],
    ["bytes=9-9", "9", "9-9"],
    ["bytes=-99", BYTES, "0-9"],
  ])("returns %s of them", async (range, text, logged) => {
    const answer = await get(route + ark, { Range: range });
    expect([
      answer.status,
      answer.text,
      answer.headers.get("content-range"),
      answer.headers.get("content-length"),
    ]).toEqual([206, text, `bytes ${logged}/10`, String(text.length)]);
  });
  it.each(["bytes=10-", "bytes=10-12", "bytes=-0"])("refuses %s", async (range) => {
    const answer = await get(route + ark, { Range: range });
    expect([answer.status, answer.body["code"], answer.headers.get("content-range")]).toEqual([
      416,
      "RANGE_NOT_SATISFIABLE",
      "bytes */10",
    ]);
  });
  it.each(["bytes=3-1", "lines=1-2", "bytes=a-b", "bytes=", "bytes=0-1,3-4", "bytes=-", "rubbish"])(
    "returns the whole for %s, which it does not know",
    async (range) => {
      expect((await get(route + ark, { Range: range })).status).toBe(200);
    },
  );
  it("returns ranges of the same bytes only", async () => {
    const etag = (await get(route + ark)).headers.get("etag")!;
    expect((await get(route + ark, { Range: "bytes=0-1", "If-Range": etag })).status).toBe(206);
    expect((await get(route + ark, { Range: "bytes=0-1", "If-Range": '"older"' })).text).toBe(
      BYTES,
    );
    expect((await get(route + ark, { "If-None-Match": etag })).status).toBe(304);
  });
  it("answers HEAD with the headers of GET", async () => {
    const [whole, head] = [await get(route + ark), await get(route + ark, {}, "HEAD")];
    expect(head.text).toBe("");
    for (const name of ["content-length", "etag", "content-type", "content-disposition"])
      expect(head.headers.get(name)).toBe(whole.headers.get(name));
    // Range is for GET alone: RFC 9110, 14.2.
    const part = await get(route + ark, { Range: "bytes=2-3" }, "HEAD");
    expect([part.status, part.headers.get("content-range")]).toEqual([200, null]);
  });
  it("serves content that cannot run in the service's own origin", async () => {
    const page = await stored(
      { mediaType: "text/html", name: `a/b/"x\r\n y.html` },
      "<script>alert(1)</script>",
    );
    const answer = await get(route + page);
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-disposition")).toMatch(
      /^attachment; filename="[\w.-]+"; filename\*=UTF-8''[!-~]+$/,
    );
    const svg = await stored({ mediaType: "image/svg+xml" }, "<svg/>");
    expect((await get(route + svg)).headers.get("content-disposition")).toMatch(/^attachment/);
    expect((await get(route + ark)).headers.get("content-disposition")).toMatch(
      route === "/view/" ? /^inline/ : /^attachment/,
    );
  });
  it("is for callers who may change the record until it is published", async () => {
    const draft = await stored({}, BYTES, "DRAFT");
    expect((await get(route + draft)).status).toBe(401);
    expect((await server.request("GET", route + draft, { token: ada.token })).text).toBe(BYTES);
    const bob = await server.person(`bob${route.length}`);
    expect((await server.request("GET", route + draft, { token: bob.token })).status).toBe(403);
  });
  it("is 404 where no content is stored, 404 and 410 where there is no record", async () => {
    const id = String(
      (
        await server.request("POST", "/dataset", {
          token: ada.token,
          json: bodyOf("dataset", ada.id),
        })
      ).body["@id"],
    );
    expect((await server.request("GET", route + id, { token: ada.token })).status).toBe(404);
    expect((await get(`${route}ark:99999/none`)).status).toBe(404);
    await server.request("DELETE", `/${id}`, { token: ada.token });
    expect((await get(route + id)).status).toBe(410);
  });
});

it("content of one kind is not served as that of another", async () =>
  expect((await get(`/software/download/${ark}`)).status).toBe(404));
it.each(["a\r\nSet-Cookie: x=1", "text/html; charset=\u00e9", "", "nonsense", "text/plain\0"])(
  "a media type such as %j does no harm",
  async (mediaType) => {
    const id = await stored({ mediaType: mediaType.replace("\0", "") });
    const answer = await get(`/download/${id}`);
    expect([answer.status, answer.text, answer.headers.get("set-cookie")]).toEqual([
      200,
      BYTES,
      null,
    ]);
  },
);
it("large content arrives completely, and a client that disconnects leaves nothing open", async () => {
  const big = Buffer.alloc(8 << 20, 7);
  const id = await stored({ mediaType: "application/octet-stream" }, big);
  const answer = await fetch(`${server.url}/download/${id}`);
  expect(Buffer.from(await answer.arrayBuffer()).equals(big)).toBe(true);
  for (let round = 0; round < 5; round++) {
    const leaving = new AbortController();
    const { body } = await fetch(`${server.url}/download/${id}`, { signal: leaving.signal });
    await body!.getReader().read();
    leaving.abort();
  }
  expect((await get(`/download/${ark}`)).text).toBe(BYTES);
  expect(server.faults).toEqual([]);
});
