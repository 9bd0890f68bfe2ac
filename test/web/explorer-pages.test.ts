import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
}, 60_000);
afterAll(() => server.stop());

test.each(["/docs", "/graphql", "/sparql", "/"])(
  "the page %s runs and loads files of this registry only",
  async (path) => {
    const { status, text, headers } = await server.request("GET", path, {
      headers: { Accept: "text/html" },
    });
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toContain("script-src 'self';");
    const loaded = [...text.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)];
    expect(loaded.length).toBeGreaterThan(2);
    for (const [, target] of loaded) expect(target).toMatch(/^\//);
    expect(text).not.toMatch(/<script>|<script [^>]*>[^<]|\son\w+=|<style|\sstyle="/);
  },
);

test("help pages are the documentation: every link leads somewhere, every picture is there", async () => {
  const seen = new Set<string>();
  const waiting = ["/help"];
  const pages = new Map<string, string>();
  const links: string[] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, text } = await server.request("GET", path, {
      headers: { Accept: "text/html" },
    });
    expect([path, status]).toEqual([path, 200]);
    pages.set(path, text);
    for (const [, target] of text.matchAll(/(?:href|src)="((?:\/help|#|\/assets\/help)[^"]*)"/g)) {
      const [address = "", anchor] = target!.split("#", 2);
      const page = address === "" ? path : address;
      if (page.startsWith("/help")) waiting.push(page);
      links.push(`${page}#${anchor ?? ""}`);
    }
  }
  expect(pages.size).toBeGreaterThan(25);
  for (const link of new Set(links)) {
    const [page = "", anchor = ""] = link.split("#", 2);
    if (page.startsWith("/assets"))
      expect((await server.request("GET", page)).headers.get("content-type")).toBe("image/png");
    else if (anchor !== "")
      expect([link, pages.get(page)!.includes(`id="${anchor}"`)]).toEqual([link, true]);
  }
  expect(pages.get("/help/tutorials/researcher")).toContain("Bring a crate and share a result");
}, 60_000);

test("an unknown help page is not found", async () => {
  const { status, text } = await server.request("GET", "/help/nothing", {
    headers: { Accept: "text/html" },
  });
  expect(status).toBe(404);
  expect(text).toContain("/help");
});
