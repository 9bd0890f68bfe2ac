import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { IncomingMessage } from "node:http";
import { errorPage } from "../../../src/web/frame.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe("an identifier without a record", () => {
  let server: TestServer;
  let ada: Person;
  const get = (path: string, accept?: string, method = "GET") =>
    server.request<{ detail: string; code: string }>(method, path, {
      headers: accept === undefined ? {} : { Accept: accept },
    });
  const made = async (id: string) =>
    server.request("POST", "/dataset", {
      token: ada.token,
      json: {
        "@id": id,
        "@type": "evi:Dataset",
        name: "Plate seven",
        description: "Images of plate seven",
        owner: ada.id,
      },
    });
  beforeAll(async () => {
    server = await startServer();
    ada = await server.person("Ada");
    for (const id of ["ark:99999/gone"]) await made(id);
    await server.request(
      "DELETE",
      `/ark:99999/gone?reason=${encodeURIComponent('A <b>&"wrong" plate')}&successor=ark:99999/next`,
      { token: ada.token },
    );
  });
  afterAll(() => server.stop());

  test.each([
    "/ark:99999/none",
    "/ark:/99999/none",
    "/dataset/ark:99999/none",
    "/api/ark:99999/none",
  ])("is a page for browsers and JSON for everyone else: %s", async (path) => {
    const page = await get(path, BROWSER);
    expect([page.status, page.headers.get("content-type")]).toEqual([
      404,
      "text/html; charset=utf-8",
    ]);
    expect(page.text).toContain("Nothing is stored under ark:99999/none.</p>");
    expect(page.text).toContain('<html lang="en">');
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    for (const accept of [
      undefined,
      "*/*",
      "application/json",
      "application/ld+json, text/html",
      "text/turtle",
      "image/png",
      "text/html;q=0",
    ]) {
      const logged = await get(path, accept);
      expect([accept, logged.status, logged.headers.get("content-type"), logged.body]).toEqual([
        accept,
        404,
        "application/json",
        { detail: "Nothing is stored under ark:99999/none.", code: "NOT_FOUND" },
      ]);
      expect(logged.headers.get("vary")).toContain("Accept");
    }
    const head = await get(path, BROWSER, "HEAD");
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([
      404,
      "",
      String(Buffer.byteLength(page.text)),
    ]);
  });
  test("that was deleted shows its tombstone with all text escaped", async () => {
    for (const path of [
      "/ark:99999/gone",
      "/ark:99999/gone?format=html",
      "/dataset/ark:99999/gone",
    ]) {
      const { status, text } = await get(path, BROWSER);
      expect(status).toBe(410);
      const json = (await get("/ark:99999/gone")).body as unknown as { deletedAt: string };
      for (const shown of [
        `<time datetime="${json.deletedAt}"`,
        `<a href="/${ada.id}"`,
        "<bdi>Ada</bdi></a>",
        "A &lt;b>&amp;&quot;wrong&quot; plate",
        '<a href="/ark:99999/next"',
        "<bdi>ark:99999/next</bdi></a>",
      ])
        expect(text).toContain(shown);
      // What the record said is for those who may change it.
      expect(text.replaceAll(`${server.url}/`, "/")).not.toMatch(
        /<b>|<script(?! type="module" src="\/assets)|Plate seven|https?:\/\//,
      );
    }
    expect((await get("/ark:99999/gone")).body).toMatchObject({
      code: "GONE",
      successor: "ark:99999/next",
    });
  });
  test("that was deleted shows its own tombstone, whatever became of its successor", async () => {
    for (const id of ["ark:99999/one", "ark:99999/two"]) await made(id);
    const deleted = (path: string) => server.request("DELETE", path, { token: ada.token });
    await deleted("/ark:99999/one?reason=first&successor=ark:99999/two");
    await deleted("/ark:99999/two?reason=second");
    const { status, text } = await get("/ark:99999/one", BROWSER);
    expect([status, text.includes("second")]).toEqual([410, false]);
    expect(text).toContain("<bdi>first</bdi>");
    expect(text).toContain('<a href="/ark:99999/two"');
  });
  test.each([
    "/ARK:/99999/gone",
    "/ark99999/gone",
    "/evidence/ark:99999/gone",
    "/api/ark:99999/gone",
  ])("that was deleted has one page, with its identifier: %s", async (path) => {
    const { status, text } = await get(path, BROWSER);
    expect(status).toBe(410);
    expect(text).toContain("<title>Withdrawn: ark:99999/gone ·");
    expect(text).toContain('<a href="/history/ark:99999/gone"');
  });
  test("that several records could have lists them", () => {
    const page = errorPage({ url: "/ark:99999/c/-ab.csv" } as IncomingMessage, {
      status: 404,
      body: {
        detail: "Several.",
        code: "AMBIGUOUS",
        candidates: ["ark:99999/c/a-b.csv", "ark:99999/c/ab<.csv"],
      },
    });
    for (const [href, text] of [
      ["a-b.csv", "a-b.csv"],
      ["ab%3C.csv", "ab&lt;.csv"],
    ])
      expect(page).toMatch(
        new RegExp(`<a href="/ark:99999/c/${href}"><bdi>ark:99999/c/${text}</bdi></a>`),
      );
  });
  test("requested with ?info, or of another authority, is answered as before", async () => {
    expect((await get("/ark:99999/none?info", BROWSER)).headers.get("content-type")).toBe(
      "application/json",
    );
    expect((await get("/ark:12345/elsewhere", BROWSER)).status).toBe(302);
  });
});
