import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
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

test("the script of the page /sparql makes no HTML of what it gets", () => {
  const script = readFileSync(join(packageRoot, "src", "web", "assets", "sparql.js"), "utf8");
  expect(script).not.toMatch(/innerHTML|https?:|eval/);
});
