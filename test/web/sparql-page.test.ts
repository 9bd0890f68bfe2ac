import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { sparqlPage } from "../../src/web/pages.js";

test("the page at /sparql runs its own script only, and loads nothing from elsewhere", () => {
  const html = sparqlPage();
  expect(
    [...html.matchAll(/(?:src|href)="([^"]+)"/g)].every(([, target]) => target!.startsWith("/")),
  ).toBe(true);
  expect(html).not.toMatch(/<script>|<script [^>]*>[^<]|\son\w+=/);
  const script = readFileSync(join(packageRoot, "src", "web", "assets", "sparql.js"), "utf8");
  expect(script).not.toMatch(/innerHTML|https?:|eval/);
});
