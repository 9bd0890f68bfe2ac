import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server.js";

describe("GET /page/{page_name}", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  test.each(["about", "help", "api", "provenance"])("answers %s as HTML", async (name) => {
    const { status, headers, text } = await server.request("GET", `/page/${name}`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(text).toMatch(/<h1[ >]/);
  });

  test("leads browsers from help to the documentation, which others get at once", async () => {
    const { status, headers } = await server.request("GET", "/page/help", {
      headers: { Accept: "text/html" },
      redirect: "manual",
    });
    expect([status, headers.get("location")]).toEqual([302, "/help"]);
    expect((await server.request("GET", "/page/help")).text).toContain("All help pages");
  });

  test("lists the pages when none has the name, and shows all text escaped", async () => {
    const { status, text } = await server.request("GET", "/page/%3Cimg%20src=x%3E");
    expect(status).toBe(404);
    expect(text).toContain('href="/page/about"');
    expect(text).not.toContain("<img src=x>");
    expect((await server.request("GET", "/page/constructor")).status).toBe(404);
  });
});
