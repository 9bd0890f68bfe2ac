import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, launch, signIn, watchedPage, type Watched } from "../support/chromium.js";
import { creator } from "../support/create.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

let server: TestServer;
let ada: Person;
let create: ReturnType<typeof creator>;
let group: string;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  create = creator(server, ada);
  group = await create("group", { name: "Lab of Ada" });
});
afterAll(() => server.stop());

const dataset = (name: string) => create("dataset", { name });
const state = async (id: string): Promise<string> => {
  const [record] = await server.deps.records.findMany([id]);
  return record!.tombstone ? "withdrawn" : record!.publicationStatus;
};

describe.skipIf(!CHROMIUM)("the page of one's own records in a browser", () => {
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    browser = await launch();
    watched = await watchedPage(browser, server.url);
    watched.page.setDefaultTimeout(10_000);
    await signIn(watched.page, server.url, ada);
    for (let at = 0; at < 60; at++) await dataset(`Swarm ${at}`);
    await server.request("POST", "/user", {
      json: { name: "Hedy Lamarr", email: "hedy@example.org", password: PASSWORD },
    });
  });
  afterAll(() => browser.close());

  const FIELDS = [
    ["publish", null],
    ["archive", null],
    ["transfer", "owner"],
    ["withdraw", "successor"],
    ["withdraw", "reason"],
  ] as const;
  test.each(FIELDS)("Enter in the form %s, field %s, changes nothing", async (action, field) => {
    const { page } = watched;
    const name = `Enter in ${action} ${field}`;
    const id = await dataset(name);
    await page.goto(`${server.url}/my/records`);
    const box = page.locator(`input[name=id][value="${id}"]`);
    await box.check();
    await box.press("Enter");
    await page.waitForTimeout(300);
    expect(await state(id)).toBe("DRAFT");
    await page.goto(`${server.url}/my/records`);
    await box.check();
    await page.click(`button[name=choose][value=${action}]`);
    await page.locator("h1", { hasText: "1 record" }).waitFor();
    expect(await page.textContent("main form")).toContain(name);
    if (field !== null) {
      const input = page.locator(`[name=${field}]`);
      await (field === "owner" ? input.selectOption(group) : input.fill(group));
      await input.press("Enter");
    }
    await page.waitForTimeout(300);
    expect(await state(id)).toBe("DRAFT");
    expect((await server.deps.records.findMany([id]))[0]!.owner).toBe(ada.id);
    await page.click(`button[name=action][value=${action}]`);
    await page.locator("main", { hasText: "1 record " }).locator(".notice").first().waitFor();
    expect(await page.textContent("main")).toContain(name);
    const [record] = await server.deps.records.findMany([id]);
    expect(record!.revision).toBe(2);
  });

  test("Enter in the date of an embargo publishes and withdraws nothing", async () => {
    const { page } = watched;
    const id = await dataset("Enter in a date");
    await page.goto(`${server.url}/my/records`);
    await page.locator(`input[name=id][value="${id}"]`).check();
    await page.click("button[name=choose][value=embargo]");
    const until = page.locator("[name=until]");
    await until.press("Enter");
    await page.waitForTimeout(300);
    expect(await state(id)).toBe("DRAFT");
    await until.fill("2001-01-01");
    expect(await page.textContent(".field .error")).toContain("The first possible day is");
    await until.fill("2999-01-01");
    expect(await page.textContent(".field .error")).toBe("");
    await until.press("Enter");
    await page.waitForTimeout(300);
    expect(["DRAFT", "EMBARGOED"]).toContain(await state(id));
  });

  test("says how many are chosen, also on other pages, and asks before an action", async () => {
    const { page } = watched;
    await page.goto(`${server.url}/my/records?q=swarm`);
    const chosen = page.locator("[data-chosen]");
    expect(await chosen.textContent()).toBe("Choose records");
    expect(await page.locator("button[name=choose]").first().isDisabled()).toBe(true);
    await page.locator("input[data-check-all]").check();
    expect(await chosen.textContent()).toBe("50 chosen");
    await page.locator("input[name=all]").check();
    expect(await chosen.textContent()).toBe("60 chosen");
    const bar = (await page.locator(".chosen-bar").boundingBox())!;
    expect(bar.y + bar.height).toBeLessThanOrEqual(page.viewportSize()!.height);
    await page.locator("button[name=choose][value=withdraw]").click();
    expect(await page.locator("main h1").textContent()).toContain("Withdraw: 60 records");
    expect(await page.textContent("main")).toContain("This cannot be undone.");
  });

  test("handles 200 drafts in ten clicks and takes one action back", async () => {
    const { page } = watched;
    for (let at = 0; at < 200; at++) await dataset(`Flood ${at}`);
    let clicks = 0;
    const click = async (selector: string) => {
      clicks++;
      await page.locator(selector).first().click();
    };
    const says = (text: string) => page.locator(".notice", { hasText: text }).waitFor();
    await page.goto(`${server.url}/my/records?q=flood`);
    await click('aside a:has-text("Draft")');
    await click("input[name=all]");
    await click("button[name=choose][value=publish]");
    await click("button[name=action][value=publish]");
    await says("200 records published.");
    await page.goto(`${server.url}/my/records?q=flood`);
    await click("tbody input[name=id]");
    await click("button[name=choose][value=archive]");
    await page.fill("[name=reason]", "Wrong plate");
    await click("button[name=action][value=archive]");
    await says("1 record archived.");
    await click("button[value=undo]");
    await says("1 record set back");
    expect(clicks).toBeLessThanOrEqual(10);
    const { items } = await server.deps.records.select({
      filter: { kinds: ["dataset"] },
      order: AS_CREATED,
      limit: 1000,
    });
    const flood = items.filter(({ name }) => name?.startsWith("Flood"));
    expect(new Set(flood.map((one) => one.publicationStatus))).toEqual(new Set(["PUBLISHED"]));
  }, 60_000);

  test("suggests records and keywords in the search box of every page", async () => {
    const { page } = watched;
    await create("dataset", { name: "Okapi recordings", keywords: ["okapi"] });
    await page.goto(`${server.url}/browse`);
    await page.locator("header input[name=q]").pressSequentially("okap");
    const values = page.locator("header datalist option");
    await values.first().waitFor({ state: "attached" });
    const options = await values.evaluateAll((all) =>
      all.map((one) => (one as HTMLOptionElement).value),
    );
    expect(options).toEqual(["Okapi recordings", "okapi"]);
  });

  test("saves a filter in the browser, and forgets it", async () => {
    const { page } = watched;
    await page.goto(`${server.url}/my/records?q=swarm&status=PUBLISHED`);
    page.once("dialog", (dialog) => void dialog.accept("Public swarm"));
    await page.click("[data-save-filter]");
    await page.goto(`${server.url}/my/records`);
    await page.click("text=Public swarm");
    await page.waitForURL(/q=swarm&status=PUBLISHED/);
    await page.click("[aria-label='Forget the filter Public swarm']");
    expect(await page.locator("text=Public swarm").count()).toBe(0);
  });

  test("suggests a person by the whole e-mail address, and by no part of it", async () => {
    const { page } = watched;
    await page.goto(`${server.url}/my/groups`);
    const field = page.locator("input[data-picker=USER]").first();
    const option = page.locator("#picker-options option");
    const answered = () => page.waitForResponse((answer) => answer.url().endsWith("/graphql"));
    for (const [words, count] of [
      ["hedy@example", 0],
      ["hedy@example.or", 0],
      ["hedy@example.org", 1],
    ] as const) {
      await Promise.all([answered(), field.fill(words)]);
      await page.waitForTimeout(100);
      expect(await option.count(), words).toBe(count);
    }
  });

  test("suggests people by their names", async () => {
    const { page } = watched;
    await page.goto(`${server.url}/my/groups`);
    await page.locator("input[data-picker=USER]").first().pressSequentially("hedy");
    const option = page.locator("#picker-options option").first();
    await option.waitFor({ state: "attached" });
    expect(await option.getAttribute("value")).toMatch(/^Hedy Lamarr ark:/);
  });

  test("asks nothing of other places, and no script fails", () => {
    expect([watched.outside, watched.faults]).toEqual([[], []]);
  });
});
