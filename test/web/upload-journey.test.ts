import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { CHROMIUM, launch, watchedPage } from "../support/chromium.js";
import { RegistryProcess } from "../support/registry-process.js";

const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
const PASSWORD = "correct horse battery staple";

describe.skipIf(!CHROMIUM)("bringing a crate, in a browser", () => {
  let registry: RegistryProcess;
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    registry = await RegistryProcess.start();
    browser = await launch();
    folder = await mkdtemp(join(tmpdir(), "arkgraph-pages-"));
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await registry.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test.each([
    ["desktop-light", { ...DESKTOP, colorScheme: "light" as const }],
    ["desktop-dark", { ...DESKTOP, colorScheme: "dark" as const }],
    ["phone-light", { ...PHONE, colorScheme: "light" as const }],
    ["phone-dark", { ...PHONE, colorScheme: "dark" as const }],
  ])(
    "sign up, upload a folder, see the plan, watch it arrive, publish and send the link: %s",
    async (name, options) => {
      const inner = join(folder, name);
      await rm(inner, { recursive: true, force: true });
      await mkdir(join(inner, "data"), { recursive: true });
      await writeFile(join(inner, "data", "a.csv"), "id,x\n1,2\n");
      await writeFile(join(inner, "run.py"), "print(1)\n");
      const { page, outside, faults } = await watchedPage(browser, registry.url, options);
      await page.goto(`${registry.url}/upload`);
      await page.click("main a:has-text('Create an account')");
      await page.fill("#field-name", `Ada of the ${name}`);
      await page.fill("#field-email", `${name}@example.org`);
      await page.fill("#field-password", PASSWORD);
      await page.click("main button:has-text('Create the account')");
      await page.waitForURL(/\/upload$/);
      await page.setInputFiles("#folder", inner);
      await page.fill("#describe-name", `Two files of the ${name}`);
      await page.fill("#describe-description", "A table and a script.");
      await page.click("#steps button:has-text('Continue')");
      await page.locator("#steps", { hasText: "This is what will happen" }).waitFor();
      expect(await page.textContent("#steps")).toContain("1 crate, 2 files");
      await page.click("#steps button:has-text('Upload')");
      await page.locator("h1", { hasText: "Your crate is here" }).waitFor();
      await page.click("button:has-text('Publish')");
      await page.locator(".badge.public").waitFor();
      const link = await page.locator("main h2 a").getAttribute("href");
      // Whoever gets the link reads it without an account.
      const { page: other } = await watchedPage(browser, registry.url, options);
      await other.goto(registry.url + link!);
      expect(await other.textContent("h1")).toContain(`Two files of the ${name}`);
      expect({ outside, faults }).toEqual({ outside: [], faults: [] });
      await page.context().close();
      await other.context().close();
    },
    90_000,
  );

  test("an archive goes up by the plain form, without scripts", async () => {
    const archive = join(folder, "demo.zip");
    await writeFile(archive, await buildDemoCrate());
    const { page } = await watchedPage(browser, registry.url, { javaScriptEnabled: false });
    await page.goto(`${registry.url}/signup?to=/upload`);
    await page.fill("#field-name", "Grace");
    await page.fill("#field-email", "grace@example.org");
    await page.fill("#field-password", PASSWORD);
    await page.click("main button:has-text('Create the account')");
    await page.setInputFiles("#file", archive);
    await page.click("main button:has-text('Upload')");
    await page.waitForURL(/\/upload\/[0-9a-f-]+$/);
    await page.locator("h1", { hasText: "Your crate is here" }).waitFor();
    await page.context().close();
  }, 90_000);

  test("a broken archive names what to correct, and nothing is stored", async () => {
    const { page } = await watchedPage(browser, registry.url);
    await page.goto(`${registry.url}/signup?to=/upload`);
    await page.fill("#field-name", "Joan");
    await page.fill("#field-email", "joan@example.org");
    await page.fill("#field-password", PASSWORD);
    await page.click("main button:has-text('Create the account')");
    await page.waitForURL(/\/upload$/);
    const broken = join(folder, "broken.zip");
    await writeFile(broken, "this is no archive");
    await page.setInputFiles("#file", broken);
    await page.locator("#steps", { hasText: "This cannot be uploaded yet" }).waitFor();
    expect(await page.locator("#steps button:has-text('Upload')").count()).toBe(0);
    await page.context().close();
  }, 60_000);

  test("an anonymous reader is asked to sign in, and a form of another site is refused", async () => {
    const page = await fetch(`${registry.url}/upload`, { headers: { Accept: "text/html" } });
    expect(await page.text()).toContain("sign in first");
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(await buildDemoCrate())]), "crate.zip");
    const answer = await fetch(`${registry.url}/upload`, {
      method: "POST",
      headers: { Accept: "text/html" },
      body: form,
    });
    expect(answer.status).toBe(401);
  });
});
