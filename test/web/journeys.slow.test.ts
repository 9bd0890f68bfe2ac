import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unnamed } from "../support/bodies.js";
import { CHROMIUM, launch, signIn, watchedPage, type Watched } from "../support/chromium.js";
import { crate, tableWithSchema, zipFolder } from "../support/crates.js";
import { sharedData } from "../support/shared-data.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { User } from "../support/registry-client.js";

const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/**
 * How the pages are looked at. The style sheets set nothing but colours by the colour scheme, so each
 * screen has one of them.
 */
const READERS: [string, BrowserContextOptions][] = [
  ["desktop, light", { ...DESKTOP, colorScheme: "light" }],
  ["phone, dark", { ...PHONE, colorScheme: "dark" }],
];
/** Two real crates: one with a run's files, one with pictures and what was made of them. */
const RUN = "run-profile-ex-provenance";
const PICTURES = "run-profile-ex-process";

const REAL = sharedData("crates");
const skip = !CHROMIUM || !REAL;

describe.skipIf(skip)("journeys of readers, in a browser", () => {
  let registry: LiveRegistry;
  let browser: Browser;
  let ada: User;
  let root: User;
  /** Identifiers of the crates, by name. */
  const crates: Record<string, string> = {};

  const taken = async (archive: Uint8Array): Promise<string> => {
    const ended = await registry.take(archive, ada.token);
    expect(ended["status"], JSON.stringify(ended)).toBe("finished");
    const ark = ended["rocrateIdentifier"] as string;
    const published = await registry.ask("/publish", {
      method: "PUT",
      token: ada.token,
      body: { "@id": ark, publicationStatus: "PUBLISHED" },
    });
    expect(published.status, published.text).toBe(200);
    return ark;
  };
  beforeAll(async () => {
    registry = await LiveRegistry.start();
    const admin = {
      name: "Root",
      email: "root@example.org",
      password: "correct horse battery staple",
    };
    const made = await registry.ask("/user", {
      body: { ...admin, adminToken: registry.running.adminToken },
    });
    expect(made.status, made.text).toBe(200);
    root = { ...admin, ark: made.body["@id"] as string, token: "" };
    ada = await registry.user("Ada");
    for (const name of [RUN, PICTURES])
      crates[name] = await taken(await zipFolder(join(REAL!, name)));
    crates["plates"] = await taken(
      await crate(
        tableWithSchema(
          { "@id": "wells.csv", name: "Wells of plate 7" },
          {
            well: { type: "integer", index: 0, description: "Number of the well" },
            dose: { type: "number", index: 1, description: "Dose in micromole" },
          },
          { name: "Columns of wells", required: ["well"] },
        ),
        { "wells.csv": "well,dose\n1,0.5\nseven,0.25\n" },
        { name: "Plate 7" },
      ),
    );
    browser = await launch();
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await registry?.stop();
  });

  /** A page of the reader; `done` says that nothing went wrong on the way. */
  async function opened(
    options: BrowserContextOptions,
  ): Promise<Watched & { done(): Promise<void> }> {
    const watched = await watchedPage(browser, registry.url, options);
    watched.page.setDefaultTimeout(10_000);
    return {
      ...watched,
      async done() {
        const { page, outside, faults } = watched;
        expect({ outside, faults }).toEqual({ outside: [], faults: [] });
        await page.context().close();
      },
    };
  }
  /** No page is wider than the screen. */
  async function fits(page: Page): Promise<void> {
    const wide = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(wide, page.url()).toBeLessThanOrEqual(0);
  }
  async function search(page: Page, words: string, name: string): Promise<void> {
    await page.goto(registry.url);
    await page.fill("main [name=q]", words);
    await page.click("main button:has-text('Search')");
    await page.locator(".results-list a", { hasText: name }).first().click();
    await page.locator("h1", { hasText: name }).waitFor();
  }

  describe.each(READERS)("%s", (name, options) => {
    const suffix = name.replace(", ", "-");
    test("find, read, cite and download", async () => {
      const { page, done } = await opened({ ...options, acceptDownloads: true });
      await search(page, "pictures", "My Pictures");
      await fits(page);
      expect(await page.textContent(".badge")).toContain("Public");
      await page.click("a:has-text('Cite')");
      expect(await page.textContent("#cite")).toContain("My Pictures");
      await page.click("#cite summary:has-text('BibTeX')");
      await page.locator("#cite pre", { hasText: "title" }).first().waitFor();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.locator("a.button", { hasText: /^Download \d+ files?/ }).click(),
      ]);
      expect(await download.failure()).toBeNull();
      expect(download.suggestedFilename()).toMatch(/\.zip$/);
      await done();
    });

    test("three clicks from home to where a result came from, and what falls with its input", async () => {
      const { page, done } = await opened(options);
      await page.goto(registry.url);
      await page.click(`main a[href="/${crates[PICTURES]}"]`);
      await page.click("main nav a:has-text('Evidence')");
      await page.locator("#picture svg [data-id]").first().waitFor();
      await fits(page);
      expect(await page.textContent("#outline")).toContain("My Pictures");
      const input = `${crates[PICTURES]}/pics/2017-06-11%2012.56.14.jpg`;
      await page.goto(`${registry.url}/${input}`);
      await page.click("a:has-text('What depends on it')");
      await page.locator("main table a", { hasText: "sepia_fence" }).first().waitFor();
      await fits(page);
      await done();
    });

    test("find a table, preview it, and see the errors of its schema", async () => {
      const { page, done } = await opened(options);
      await search(page, "wells", "Wells of plate 7");
      await page.locator("#preview td", { hasText: "seven" }).waitFor();
      expect(await page.textContent("#preview")).toContain("1 error by the schema");
      expect(await page.textContent("#preview td.wrong")).toContain("not of the type");
      await fits(page);
      await done();
    });

    test("curate twenty records at once, and withdraw one", async () => {
      const { page, done } = await opened(options);
      const curator = await registry.user(`Curator-${suffix}`);
      for (let at = 1; at <= 20; at++) {
        const body = unnamed("dataset", curator.ark, { name: `Plate ${at} of ${name}` });
        expect((await registry.ask("/dataset", { token: curator.token, body })).status).toBe(200);
      }
      await signIn(page, registry.url, curator);
      await page.goto(`${registry.url}/my/records`);
      await fits(page);
      await page.check("[data-check-all=id]");
      await page.click("button[name=choose][value=publish]");
      await page.click("button[name=action][value=publish]");
      await page.locator("main", { hasText: "20 records published." }).waitFor();
      await page.goto(`${registry.url}/my/records?status=PUBLISHED`);
      expect(await page.locator("[name=id]").count()).toBe(20);
      await page.check(`[aria-label^='Choose Plate 3 of']`);
      await page.click("button[name=choose][value=withdraw]");
      await page.fill("[name=reason]", "Wrong plate");
      await page.click("button[name=action][value=withdraw]");
      await page.locator("main", { hasText: "1 record withdrawn." }).waitFor();
      await done();
    }, 60_000);

    test("an administrator resets a password", async () => {
      const { page, done } = await opened(options);
      const grace = await registry.user(`Grace-${suffix}`);
      await signIn(page, registry.url, root);
      await page.goto(`${registry.url}/admin`);
      await fits(page);
      // On phones each row is a card with the names of its columns, and nothing scrolls sideways.
      const tables = await page
        .locator(".scroll:has(table.entries)")
        .evaluateAll((boxes) =>
          boxes.map((box) => [
            box.scrollWidth > box.clientWidth,
            getComputedStyle(box.querySelector("td[data-label]")!, "::before").content,
          ]),
        );
      const label = (text: string) => (options.isMobile ? JSON.stringify(text) : "none");
      expect(tables).toEqual([
        [false, label("E-mail")],
        [false, label("Began")],
      ]);
      await page
        .locator("tr, li", { hasText: grace.email })
        .locator("button[value=reset]")
        .first()
        .click();
      const link = (await page.locator("pre", { hasText: "/reset" }).textContent())!;
      await done();
      const { page: other, done: over } = await opened(options);
      await other.goto(link);
      await other.fill("[name=password]", "seven quiet green lamps");
      await other.click("main button:has-text('Set the password')");
      await signIn(other, registry.url, {
        email: grace.email,
        password: "seven quiet green lamps",
      });
      await over();
    }, 60_000);
  });

  test("reading works without scripts", async () => {
    const { page } = await opened({ ...DESKTOP, javaScriptEnabled: false });
    await search(page, "pictures", "My Pictures");
    await page.locator("a", { hasText: "Explore the evidence" }).click();
    expect(await page.locator("#picture svg [data-id]").count()).toBeGreaterThan(0);
    await page.goto(`${registry.url}/${crates[RUN]}`);
    await page.locator("#files a", { hasText: "packed.cwl" }).first().click();
    await page.waitForURL(/\/packed\.cwl$/);
    expect(await page.textContent("h1")).toContain("packed.cwl");
    await page.context().close();
  });
});
