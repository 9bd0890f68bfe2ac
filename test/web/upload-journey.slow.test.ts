import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { CHROMIUM, launch, watchedPage } from "../support/chromium.js";
import { crate } from "../support/crates.js";
import { alone, emptiedRelease, RELEASE, release, SUB } from "../support/linked-crate.js";
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

  // The style sheets set nothing but colours by the colour scheme, and no script of these pages asks
  // for it: each screen has one of them.
  test.each([
    ["desktop-light", { ...DESKTOP, colorScheme: "light" as const }],
    ["phone-dark", { ...PHONE, colorScheme: "dark" as const }],
  ])(
    "sign up, upload a folder, see the plan, watch it arrive, publish and send the link: %s",
    async (name, options) => {
      const inner = join(folder, name);
      await rm(inner, { recursive: true, force: true });
      await mkdir(join(inner, "data"), { recursive: true });
      await writeFile(join(inner, "data", "a.csv"), "id,x\n1,2\n");
      await writeFile(join(inner, "run.py"), "print(1)\n");
      const readme = `# Two files of the ${name}\n\nA table and a script.\n`;
      await writeFile(join(inner, "README.md"), readme);
      const { page, outside, faults } = await watchedPage(browser, registry.url, options);
      await page.goto(`${registry.url}/upload`);
      await page.click("main a:has-text('Create an account')");
      await page.fill("#field-name", `Ada of the ${name}`);
      await page.fill("#field-email", `${name}@example.org`);
      await page.fill("#field-password", PASSWORD);
      await page.click("main button:has-text('Create the account')");
      await page.waitForURL(/\/upload$/);
      await page.setInputFiles("#folder", inner);
      await page.locator("#steps #field-name").waitFor();
      expect(await page.inputValue("#steps #field-name")).toBe(`Two files of the ${name}`);
      expect(await page.inputValue("#steps #field-description")).toBe("A table and a script.");
      await page.click("summary:has-text('Leave out single files')");
      await page.uncheck("#steps input[value='README.md']");
      await page.click("#steps button:has-text('Continue')");
      await page.locator("#steps", { hasText: "This is what will happen" }).waitFor();
      expect(await page.textContent("#steps")).toContain("1 crate, 2 files");
      // Few names are seen without a click.
      expect(await page.locator("#steps details[open]").allTextContents()).toEqual([
        "Crate to create (1)the crate itself",
        expect.stringMatching(/^Files to create \(2\).*data\/a\.csv/),
      ]);
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

  async function signUp(page: Page, name: string, to = "/upload"): Promise<void> {
    await page.goto(`${registry.url}/signup?to=${encodeURIComponent(to)}`);
    await page.fill("#field-name", name);
    await page.fill("#field-email", `${name.toLowerCase()}@example.org`);
    await page.fill("#field-password", PASSWORD);
    await page.click("main button:has-text('Create the account')");
    await page.waitForURL((url) => url.pathname === to.split("?")[0]);
  }

  test("a session that ends behind the plan loses nothing: one signs in elsewhere and goes on", async () => {
    const { page } = await watchedPage(browser, registry.url);
    await signUp(page, "Lise");
    const archive = join(folder, "ended.zip");
    await writeFile(archive, await crate([], { "a.txt": "a" }, { name: "Sent after all" }));
    await page.setInputFiles("#file", archive);
    await page.locator("#steps", { hasText: "This is what will happen" }).waitFor();
    await page.context().clearCookies();
    await page.click("#steps button:has-text('Upload')");
    await page.locator("#steps", { hasText: "What you chose is still here" }).waitFor();
    const [other] = await Promise.all([
      page.context().waitForEvent("page"),
      page.click("#steps a:has-text('sign in')"),
    ]);
    await other.fill("[name=username]", "lise@example.org");
    await other.fill("[name=password]", PASSWORD);
    await other.click("main button:has-text('Sign in')");
    await other.waitForURL(/\/my\/uploads$/);
    await page.click("#steps button:has-text('Try again')");
    await page.locator("h1", { hasText: "Your crate is here" }).waitFor();
    // Another session meanwhile, with another token, is no hindrance.
    await page.goto(`${registry.url}/upload`);
    await other.context().clearCookies();
    await other.goto(`${registry.url}/signin`);
    await other.fill("[name=username]", "lise@example.org");
    await other.fill("[name=password]", PASSWORD);
    await other.click("main button:has-text('Sign in')");
    await other.waitForURL((url) => url.pathname !== "/signin");
    await page.setInputFiles("#file", archive);
    await page.locator("#steps", { hasText: "This is what will happen" }).waitFor();
    await page.context().close();
  }, 90_000);

  test("a new version shows what changes in each record before it is sent", async () => {
    const { page, faults } = await watchedPage(browser, registry.url);
    await signUp(page, "Rosalind");
    const version = (name: string, files: Record<string, string>, more: object) =>
      crate(
        [
          { "@id": "a.csv", "@type": "File", name, ...more },
          ...Object.keys(files)
            .filter((path) => path !== "a.csv")
            .map((path) => ({ "@id": path, "@type": "File", name: path })),
        ],
        files,
        { "@id": "ark:99999/two-versions", name: "Two versions" },
      );
    const archive = join(folder, "version.zip");
    await writeFile(
      archive,
      await version(
        "Plate",
        { "a.csv": "1", "old.csv": "o" },
        { description: "First <b>text</b>" },
      ),
    );
    await page.setInputFiles("#file", archive);
    await page.locator("#steps button:has-text('Upload')").click();
    await page.locator("h1", { hasText: "Your crate is here" }).waitFor();
    await page.goto(`${registry.url}/upload?crate=ark:99999/two-versions`);
    await writeFile(
      archive,
      await version("Plate 7", { "a.csv": "1", "new.csv": "n" }, { keywords: ["wells"] }),
    );
    await page.setInputFiles("#file", archive);
    const changes = page.locator("#changes");
    await changes.locator("summary", { hasText: "Plate 7" }).click();
    const table = changes.locator("details[open] tbody");
    const rows = await table
      .locator("tr")
      .evaluateAll((all) =>
        all.map((row) => [...row.children].map((cell) => cell.textContent.trim())),
      );
    expect(rows).toContainEqual(["Namechanged", "Plate", "Plate 7"]);
    expect(rows).toContainEqual(["Descriptionremoved", "First <b>text</b>", ""]);
    expect(rows).toContainEqual(["Keywordsadded", "", "wells"]);
    expect(await changes.textContent()).toContain("Withdrawn: the upload does not describe");
    expect(await changes.textContent()).toContain("new.csv");
    await page.locator("#steps button:has-text('Upload')").click();
    await page.locator("h1", { hasText: "Your crate is here" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  }, 90_000);

  test("Enter in the date of an embargo does not publish the crate that has arrived", async () => {
    const { page } = await watchedPage(browser, registry.url);
    await signUp(page, "Emmy");
    const archive = join(folder, "embargoed.zip");
    await writeFile(archive, await crate([], { "a.txt": "a" }, { name: "Not yet public" }));
    await page.setInputFiles("#file", archive);
    await page.locator("#steps button:has-text('Upload')").click();
    await page.locator("h1", { hasText: "Your crate is here" }).waitFor();
    const until = page.locator("#until");
    await until.press("Enter");
    await until.fill("2999-01-01");
    await Promise.all([page.waitForNavigation(), until.press("Enter")]);
    expect(await page.textContent(".panel .badge")).toMatch(/embargo/i);
    await page.context().close();
  }, 60_000);

  test("an update that would empty a linked crate says so, and is asked for", async () => {
    const { page, faults } = await watchedPage(browser, registry.url);
    await signUp(page, "Hedy");
    const archive = join(folder, "linked.zip");
    for (const bytes of [await alone(), await release()]) {
      await page.goto(`${registry.url}/upload`);
      await writeFile(archive, bytes);
      await page.setInputFiles("#file", archive);
      await page.locator("#steps button:has-text('Upload')").click();
      await page.locator("h1", { hasText: "Your crate is here" }).waitFor();
    }
    await writeFile(archive, await emptiedRelease());
    await page.goto(`${registry.url}/upload?crate=${RELEASE}`);
    await page.setInputFiles("#file", archive);
    const steps = page.locator("#steps");
    await steps.locator("h3", { hasText: "would lose every statement" }).waitFor();
    expect(await steps.textContent()).toContain(SUB);
    expect(await steps.locator("button:has-text('Upload')").count()).toBe(0);
    await steps.locator("button:has-text('Remove these statements')").click();
    await steps.locator("h2", { hasText: "This is what will happen" }).waitFor();
    // The page that shows the plan is left; the form without scripts brings the same archive.
    const cookies = await page.context().cookies();
    const plain = await browser.newContext({ javaScriptEnabled: false });
    await plain.addCookies(cookies);
    const form = await plain.newPage();
    await form.goto(`${registry.url}/upload?crate=${RELEASE}`);
    await form.setInputFiles("#file", archive);
    await form.click("main button:has-text('Upload')");
    await form.locator("h1", { hasText: "The upload failed" }).waitFor();
    expect(await form.textContent("main")).toContain(SUB);
    await form.click("a:has-text('Upload again and remove these statements')");
    expect(await form.textContent("main")).toContain("It may remove every statement");
    await form.setInputFiles("#file", archive);
    await form.click("main button:has-text('Upload')");
    await form.locator("h1", { hasText: "Your crate is here" }).waitFor();
    expect((await registry.ask(`/${SUB}`)).body).not.toHaveProperty("name");
    expect(faults).toEqual([]);
    await plain.close();
    await page.context().close();
  }, 90_000);

  test("the token of a form with a file is one of its fields, before the file", async () => {
    const { page } = await watchedPage(browser, registry.url, { javaScriptEnabled: false });
    await signUp(page, "Barbara");
    const form = page.locator("#upload-form");
    expect(await form.getAttribute("action")).toBe("/upload");
    const csrf = (await form.locator("[name=csrf]").getAttribute("value"))!;
    expect(csrf).not.toBe("");
    const cookie = (await page.context().cookies()).map((one) => `${one.name}=${one.value}`)[0]!;
    const archive = new Blob([new Uint8Array(await crate([], { "b.txt": "b" }))]);
    const send = async (query: string, ...parts: [string, string | Blob][]) => {
      const body = new FormData();
      for (const [name, value] of parts)
        if (typeof value === "string") body.append(name, value);
        else body.append(name, value, "crate.zip");
      return (
        await fetch(`${registry.url}/upload${query}`, {
          method: "POST",
          redirect: "manual",
          headers: { Accept: "text/html", Cookie: cookie, Origin: registry.url },
          body,
        })
      ).status;
    };
    expect(await send("", ["file", archive])).toBe(403);
    expect(await send(`?csrf=${csrf}`, ["file", archive])).toBe(403);
    expect(await send("", ["csrf", "wrong"], ["file", archive])).toBe(403);
    expect(await send("", ["file", archive], ["csrf", csrf])).toBe(403);
    expect(await send("", ["csrf", csrf], ["file", archive])).toBe(303);
    // No other form is sent that way.
    const other = new FormData();
    other.set("csrf", csrf);
    const refused = await fetch(`${registry.url}/signout`, {
      method: "POST",
      headers: { Accept: "text/html", Cookie: cookie, Origin: registry.url },
      body: other,
    });
    expect(refused.status).toBe(415);
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
