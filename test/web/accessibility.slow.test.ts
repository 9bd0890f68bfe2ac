import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { PICTURE_STYLE } from "../../src/services/evidence/picture/glyphs.js";
import { CHROMIUM, launch, signIn } from "../support/chromium.js";
import { LiveRegistry } from "../support/live-registry.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

describe.skipIf(!CHROMIUM)("the pages by WCAG 2.2 AA, judged by axe", () => {
  let registry: LiveRegistry;
  let browser: Browser;
  let crate: string;
  let email: string;
  let password: string;
  beforeAll(async () => {
    registry = await LiveRegistry.start();
    browser = await launch();
    [email, password] = ["ada@example.org", "correct horse battery staple"];
    const made = await registry.ask("/user", {
      body: { name: "Ada", email, password, adminToken: registry.running.adminToken },
    });
    expect(made.status, made.text).toBe(200);
    const token = await registry.login(email, password);
    crate = (await registry.take(await buildDemoCrate(), token))["rocrateIdentifier"] as string;
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await registry.stop();
  });

  async function faults(page: Page, path: string): Promise<string[]> {
    await page.goto(registry.url + path, { waitUntil: "load" });
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(where: object, options: object): Promise<{ violations: Violation[] }> };
      };
      const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
      // What other packages draw is theirs.
      const where = { exclude: [".swagger-ui", ".graphiql-container"] };
      const runOnly = { type: "tag", values: tags };
      return (await axe.run(where, { runOnly, resultTypes: ["violations"] })).violations;
    });
    return violations.map(
      ({ id, nodes }) =>
        `${path}: ${id}: ${nodes[0]!.html.slice(0, 200)} ${nodes[0]!.failureSummary}`,
    );
  }

  test.each([
    ["desktop, light", { viewport: { width: 1280, height: 900 }, colorScheme: "light" as const }],
    ["phone, dark", { viewport: { width: 390, height: 844 }, colorScheme: "dark" as const }],
  ])(
    "have no fault: %s",
    async (_name, options) => {
      const context = await browser.newContext({ ...options, bypassCSP: true });
      // As an element of each page, axe took as long to send and compile as to run.
      await context.addInitScript({ content: AXE });
      const page = await context.newPage();
      const found: string[] = [];
      for (const path of [
        "/",
        "/search?q=cell",
        "/search?q=cell&drafts=yes",
        "/search?q=quagga",
        "/browse",
        "/browse/datadownload",
        `/${crate}`,
        `/${crate}/results/embeddings.csv`,
        `/preview/${crate}/results/embeddings.csv`,
        `/files/${crate}?path=results`,
        `/validation/${crate}`,
        `/score/${crate}`,
        `/references/${crate}`,
        `/evidence/${crate}/results/embeddings.csv`,
        `/evidence/${crate}/results/embeddings.csv?depth=1&expand=${crate}/images`,
        `/impact/${crate}/results/embeddings.csv`,
        "/signin",
        "/signup",
        "/page/about",
        "/status",
        "/docs",
        "/graphql",
        "/sparql?query=SELECT%20%3Fa%20%3Fb%20%3Fc%20%7B%20%3Fa%20%3Fb%20%3Fc%20%7D%20LIMIT%205",
        "/help",
        "/help/graphql",
        `/history/${crate}`,
        `/share/${crate}`,
        "/ark:99999/nothing",
      ])
        found.push(...(await faults(page, path)));
      await signIn(page, registry.url, { email, password });
      for (const path of [
        "/my",
        "/my/records",
        "/my/uploads",
        "/my/references",
        "/my/access",
        "/my/groups",
        "/my/profile",
        "/admin",
        "/upload",
        "/new",
        "/new/dataset",
        "/reserve",
        `/reserve/${crate}`,
        `/edit/${crate}`,
        `/ask/${crate}`,
        `/${crate}`,
        `/my/records/publish?id=${crate}`,
        `/my/records/transfer?id=${crate}`,
      ])
        found.push(...(await faults(page, path)));
      expect(found).toEqual([]);
      await context.close();
    },
    180_000,
  );
});

/** Tests of pages rely on it: they look at each screen with one colour scheme. */
test("style sheets set nothing but colours by the colour scheme", () => {
  let count = 0;
  const page = readFileSync(new URL("../../src/web/assets/arkgraph.css", import.meta.url), "utf8");
  for (const [name, text] of [
    ["pages", page],
    ["pictures", PICTURE_STYLE],
  ] as const) {
    const blocks = text.match(/@media[^{]*prefers-color-scheme[^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}/g);
    expect(blocks, name).toHaveLength(1);
    expect(text.match(/prefers-color-scheme/g), name).toHaveLength(1);
    for (const [, declarations] of blocks![0].matchAll(/\{([^{}]*)\}/g))
      for (const declaration of declarations!.split(";").filter((one) => one.trim() !== "")) {
        expect(declaration).toMatch(/^\s*(?:--[\w-]+|fill|stroke):\s*(?:#[0-9a-f]{3,8}|none)\s*$/);
        count++;
      }
  }
  expect(count).toBeGreaterThan(40);
});
