import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/build-crate.js";
import { CHROMIUM, launch } from "../support/chromium.js";
import { RegistryProcess } from "../support/registry-process.js";

describe.skipIf(!CHROMIUM)("the web pages, in a browser", () => {
  let registry: RegistryProcess;
  let browser: Browser;
  beforeAll(async () => {
    registry = await RegistryProcess.start();
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await registry.stop();
  });

  /** Opens a page and gathers what it asks for elsewhere and what goes wrong in it. */
  async function open(path: string): Promise<{ page: Page; outside: string[]; faults: string[] }> {
    const page = await browser.newPage();
    const outside: string[] = [];
    const faults: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(registry.url) && !request.url().startsWith("data:"))
        outside.push(request.url());
    });
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(registry.url + path, { waitUntil: "networkidle" });
    return { page, outside, faults };
  }

  test("the front page leads to pages only, loads nothing from elsewhere, and resolves an identifier", async () => {
    const { page, outside, faults } = await open("/");
    expect(await page.title()).toBe("Arkgraph");
    await page.fill("main [name=q]", "ark:99999/nothing-here");
    await Promise.all([page.waitForURL(/ark:99999\/nothing-here/), page.click("main button")]);
    expect(await page.textContent("body")).toContain(
      "Nothing is stored under ark:99999/nothing-here",
    );
    expect({ outside, faults: faults.filter((fault) => !fault.includes("404")) }).toEqual({
      outside: [],
      faults: [],
    });
  });

  test("the explorer shows every operation of the contract and loads nothing from elsewhere", async () => {
    const { page, outside, faults } = await open("/docs");
    await page.waitForSelector(".opblock-tag");
    // Tags are collapsed, so that the page begins with what there is.
    expect(await page.locator(".opblock").count()).toBe(0);
    // Tag by tag: where too many operations are open at once, Swagger UI draws those in sight only.
    let shown = 0;
    for (const tag of await page.locator(".opblock-tag").all()) {
      await tag.click();
      shown += await page.locator(".opblock").count();
      await tag.click();
    }
    const contract = (await (await fetch(`${registry.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    const operations = Object.values(contract.paths).flatMap((item) =>
      Object.values(item).filter((operation) => operation.operationId),
    ).length;
    expect(shown).toBe(operations);
    expect({ outside, faults }).toEqual({ outside: [], faults: [] });
    // Swagger UI draws some 160 operations.
  }, 90_000);

  test(
    "the explorer's example of a create works as the signed-in user, who stays signed in over " +
      "a reload",
    async () => {
      const ada = await registry.user("swagger-user");
      const { page, faults } = await open("/docs");
      await page.click(".btn.authorize");
      await page.fill("#oauth_username", ada.email);
      await page.fill("#oauth_password", ada.password);
      await page.click(".modal-ux .btn.authorize");
      await page.locator(".modal-ux", { hasText: "Logout" }).waitFor();
      const execute = async (): Promise<string> => {
        await page.goto(`${registry.url}/docs#/records/create_dataset`, {
          waitUntil: "networkidle",
        });
        await page.reload({ waitUntil: "networkidle" });
        await page.click("#operations-records-create_dataset .execute");
        const answer = page
          .locator(
            "#operations-records-create_dataset .live-responses-table .response .highlight-code",
          )
          .first();
        await answer.waitFor();
        return (await answer.textContent())!;
      };
      // Twice, because an example that names an identifier works once.
      const [first, second] = [await execute(), await execute()];
      for (const answer of [first, second]) expect(answer).toContain(`"owner": "${ada.ark}"`);
      expect(first.match(/"@id": "([^"]*)"/)![1]).not.toBe(second.match(/"@id": "([^"]*)"/)![1]);
      // The password is stored nowhere, and the token ends with the tab.
      expect(
        await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])),
      ).not.toContain(ada.password);
      expect(await page.evaluate(() => localStorage.length)).toBe(0);
      // Swagger UI deprecates a form of deep links that operation names with `_` are mistaken for.
      expect(faults.filter((fault) => !fault.startsWith("Deprecated: escaping deep link"))).toEqual(
        [],
      );

      await page.click(".btn.authorize");
      await page.click(".modal-ux button:has-text('Logout')");
      expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
      await page.close();
    },
    90_000,
  );

  test("the GraphQL explorer knows the schema, runs a query and loads nothing from elsewhere", async () => {
    const { page, outside, faults } = await open("/graphql");
    await page.click(".graphiql-execute-button");
    // Locators: the page's policy lets no script be made of text, which a function to wait for
    // would be.
    await page.locator(".result-window", { hasText: "roCrates" }).waitFor();
    await page.click('[aria-label="Show Documentation Explorer"]');
    await page.locator(".graphiql-plugin", { hasText: "subscription" }).waitFor();
    expect({ outside, faults }).toEqual({ outside: [], faults: [] });
    await page.close();
  });

  test("the GraphQL explorer sends the token and shows a subscription's answers", async () => {
    const ada = await registry.user("Ada");
    const { submissionUUID } = await registry.take(await buildDemoCrate(), ada.token);
    const page = await browser.newPage();
    const query =
      `subscription { submissionProgress(id: "${submissionUUID}") { status rocrateIdentifier ` +
      "} }";
    await page.addInitScript((text) => localStorage.setItem("graphiql:query", text), query);
    await page.goto(`${registry.url}/graphql`, { waitUntil: "networkidle" });
    await page.fill("#token", ada.token);
    await page.click(".graphiql-execute-button");
    await page.locator(".result-window", { hasText: "finished" }).waitFor();
    await page.close();
  });

  test(
    "the SPARQL page shows each of its examples as a table, explains errors, and loads " +
      "nothing from elsewhere",
    async () => {
      const { page, outside, faults } = await open("/sparql");
      const examples = await page
        .locator("#example option")
        .evaluateAll((options) => options.map((option) => option.textContent));
      for (const example of examples) {
        await page.selectOption("#example", { label: example });
        await page.click("#run");
        await page.locator("#state", { hasText: /row/ }).waitFor();
        expect(await page.locator("#answer table tr").count(), example).toBeGreaterThan(2);
      }
      await page.fill("#query", "SELECT ?a { ?a ?b }");
      await page.press("#query", "Control+Enter");
      await page.locator("body", { hasText: "line 1" }).waitFor();
      await page.fill(
        "#query",
        'CONSTRUCT { ?s <urn:says> "<b>bold</b>" } WHERE { GRAPH ?s { ?s ?p ?o } } LIMIT 1',
      );
      await page.click("#run");
      await page.locator("#answer", { hasText: "<b>bold</b>" }).waitFor();
      expect(await page.locator("#answer b").count()).toBe(0);
      expect({ outside, faults: faults.filter((fault) => !fault.includes("400")) }).toEqual({
        outside: [],
        faults: [],
      });
      await page.close();
    },
  );
});
