import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, launch, signIn, watchedPage } from "../support/chromium.js";
import { creator } from "../support/create.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let create: ReturnType<typeof creator>;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("Ada");
  create = creator(server, ada);
});
afterAll(() => server.stop());

describe.skipIf(!CHROMIUM)("the owner's actions in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  test("takes a change of keywords back from the page of the record", async () => {
    const id = await create("dataset", { name: "Keywords there", keywords: ["cells"] });
    const { page } = await watchedPage(browser, server.url, {});
    await signIn(page, server.url, ada, `/edit/${id}`);
    await page.fill("[name=keywords]", "cells\nplates");
    await page.locator("main form button:not([disabled])").last().click();
    await page.locator(".notice", { hasText: "The record was changed." }).waitFor();
    await page.locator("button[value=undo]").click();
    await page.locator(".notice", { hasText: "set back to what it was" }).waitFor();
    const { body } = await server.request("GET", `/${id}`);
    expect(body["keywords"]).toEqual(["cells"]);
    await page.context().close();
  });

  test.each([
    ["with scripts on a screen", { viewport: { width: 1280, height: 900 } }],
    [
      "without scripts on a phone",
      { viewport: { width: 390, height: 844 }, javaScriptEnabled: false },
    ],
  ])("publish a record from its page, %s", async (_, options) => {
    const id = await create("dataset", { name: "From its page" });
    const { page, outside, faults } = await watchedPage(browser, server.url, options);
    await signIn(page, server.url, ada, `/${id}`);
    const publish = page.locator("main .actions a", { hasText: "Publish" });
    const filled = (locator: typeof publish) =>
      locator.evaluate((button) => getComputedStyle(button).backgroundColor);
    const weak = await filled(page.locator("main .actions a", { hasText: "Edit" }));
    expect(await filled(publish)).not.toBe(weak);
    await page.locator(".more-actions summary").click();
    expect(await page.locator(".more-actions a", { hasText: "Withdraw" }).isVisible()).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      options.viewport.width,
    );
    await page.locator(".more-actions summary").click();
    await publish.click();
    await page.locator("main button", { hasText: "Publish" }).click();
    await page.waitForURL(/\/share\//);
    expect(await page.locator(".qr svg").isVisible()).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      options.viewport.width,
    );
    await page.locator("main a", { hasText: "Open the record" }).click();
    expect(await page.locator(".state").textContent()).toContain("Public");
    expect([outside, faults]).toEqual([[], []]);
    await page.context().close();
  });
});
