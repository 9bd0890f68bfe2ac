import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { CHROMIUM, launch, signIn } from "../support/chromium.js";
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

  test("on phones the header has two rows, and a menu that works by keys and without scripts", async () => {
    const user = await registry.user("Wilhelmina-Featherstonehaugh-Smythe");
    // Letters of any installed font may be wider: letters far apart stand for all of them.
    for (const [width, wide] of [
      [390, false],
      [320, false],
      [390, true],
      [320, true],
    ] as const) {
      const context = await browser.newContext({
        viewport: { width, height: 844 },
        hasTouch: true,
        isMobile: true,
        javaScriptEnabled: false,
      });
      const page = await context.newPage();
      if (wide)
        await page.route(/\.css/, async (route) => {
          const response = await route.fetch();
          const body = `${await response.text()}\n* { letter-spacing: 0.5em !important; }`;
          await route.fulfill({ response, body });
        });
      for (const signedIn of [false, true]) {
        if (signedIn) await signIn(page, registry.url, user, "/browse");
        else await page.goto(`${registry.url}/browse`);
        const boxes = await page
          .locator(".top :is(a, summary, button, [name=q]):visible")
          .evaluateAll((controls) =>
            controls.map((control) => {
              const { top, bottom, left, right, height } = control.getBoundingClientRect();
              return { middle: Math.round((top + bottom) / 20), left, right, height };
            }),
          );
        expect(boxes).toHaveLength(5);
        expect(new Set(boxes.map(({ middle }) => middle)).size).toBe(2);
        for (const { left, right, height } of boxes) {
          expect(left).toBeGreaterThanOrEqual(0);
          expect(right).toBeLessThanOrEqual(width);
          expect(height).toBeGreaterThanOrEqual(44);
        }
        expect((await page.locator(".top").boundingBox())!.height).toBeLessThan(120);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        // One menu is open at a time, and each fits on the page.
        if (signedIn) await page.locator(".top summary", { hasText: "Wilhelm" }).tap();
        await page.locator(".top summary:has-text('Menu')").focus();
        await page.keyboard.press("Enter");
        expect(await page.locator(".top details[open]").count()).toBe(1);
        for (const text of ["Browse", "Upload", "GraphQL explorer", "Help"]) {
          const box = (await page.locator(".top .all a", { hasText: text }).boundingBox())!;
          expect([box.x >= 0, box.x + box.width <= width, box.height >= 44]).toEqual([
            true,
            true,
            true,
          ]);
        }
        await page.keyboard.press("Tab");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.waitForURL(/\/(?:upload|signin)/);
      }
      await context.close();
    }
  }, 600_000);

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

  test("the GraphQL explorer knows the schema, has a tab for each question, and runs one", async () => {
    const none = await open("/graphql");
    const withoutRecords = await none.page.locator(".graphiql-tab").count();
    await none.page.close();
    await registry.take(await buildDemoCrate(), (await registry.user("Zoe")).token);
    const { page, outside, faults } = await open("/graphql");
    const tabs = await page.locator(".graphiql-tab").count();
    expect([withoutRecords, tabs]).toEqual([8, 16]);
    await page.click(".graphiql-tab >> text=RecordsByMonth");
    await page.click(".graphiql-execute-button");
    // Locators: the page's policy lets no script be made of text, which a function to wait for
    // would be.
    await page.locator(".result-window", { hasText: "recordStatistics" }).waitFor();
    await page.click('[aria-label="Show Documentation Explorer"]');
    await page.locator(".graphiql-plugin", { hasText: "subscription" }).waitFor();
    expect({ outside, faults }).toEqual({ outside: [], faults: [] });
    await page.close();
  });

  test("the GraphQL explorer works as the signed-in reader: a query, a subscription, an upload", async () => {
    const ada = await registry.user("Ada");
    const archive = await buildDemoCrate();
    const { submissionUUID } = await registry.take(archive, ada.token);
    const context = await browser.newContext();
    const page = await context.newPage();
    await signIn(page, registry.url, ada, "/graphql");
    const run = async (query: string, result: string) => {
      await page.locator(".graphiql-query-editor .CodeMirror-lines").first().click();
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText(query);
      if (query.startsWith("mutation"))
        await page.setInputFiles("#file", {
          name: "again.zip",
          mimeType: "application/zip",
          buffer: archive,
        });
      await page.click(".graphiql-execute-button");
      await page.locator(".result-window", { hasText: result }).waitFor();
    };
    await run("{ me { name } }", '"Ada"');
    await run(
      `subscription { submissionProgress(id: "${submissionUUID}") { status } }`,
      "finished",
    );
    await run(
      "mutation ($file: Upload!) { planCrate(input: { source: { archive: $file } }) { plan { conforms } } }",
      '"conforms"',
    );
    await context.close();
  }, 60_000);

  test("the SPARQL page runs each of its examples, completes terms, and shares its answers", async () => {
    const { page, outside, faults } = await open("/sparql");
    const options = page.locator("#example option");
    const examples = (await options.allTextContents()).slice(1);
    expect(examples.length).toBe(13);
    for (const example of examples) {
      await page.selectOption("#example", { label: example });
      await Promise.all([page.waitForURL(/query=/), page.click("main button:has-text('Run')")]);
      expect(await page.locator("main h2", { hasText: "Answer" }).count(), example).toBe(1);
      expect(await page.locator("main .danger").count(), example).toBe(0);
      expect(await page.locator("#example option:checked").textContent()).toBe(example);
      await page.goto(`${registry.url}/sparql`);
    }
    // Completion declares the prefix of what it inserts.
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("SELECT ?file WHERE { ?file schema:sha");
    await page.locator(".cm-tooltip li", { hasText: "schema:sha256" }).click();
    await page.keyboard.type(" ?hash ");
    expect(await page.locator(".cm-content").textContent()).toMatch(
      /^PREFIX schema: <https:\/\/schema.org\/>SELECT \?file WHERE \{ \?file schema:sha256 \?hash/,
    );
    await Promise.all([page.waitForURL(/query=/), page.keyboard.press("Control+Enter")]);
    const first = page.locator("main table td a").first();
    expect(await first.getAttribute("href")).toMatch(/^\/ark:/);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.click("text=Download as CSV"),
    ]);
    expect(download.suggestedFilename()).toBe("answer.csv");
    expect({ outside, faults }).toEqual({ outside: [], faults: [] });
    await page.close();
  }, 90_000);

  test("the SPARQL page answers a plain form, without scripts", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${registry.url}/sparql`);
    await page.fill(
      "#query",
      'SELECT ?s ?said WHERE { GRAPH ?s { ?s ?p ?o } BIND("<b>bold</b>" AS ?said) } LIMIT 1',
    );
    await Promise.all([page.waitForURL(/query=/), page.click("main button:has-text('Run')")]);
    expect(await page.locator("main table tbody").textContent()).toContain("<b>bold</b>");
    expect(await page.locator("main b").count()).toBe(0);
    await page.fill("#query", "SELECT ?a { ?a ?b }");
    await Promise.all([page.waitForURL(/%3Fb/), page.click("main button:has-text('Run')")]);
    expect(await page.textContent("main .danger")).toContain("line 1");
    expect(await page.inputValue("#query")).toBe("SELECT ?a { ?a ?b }");
    await context.close();
  });

  test("the explorers load less than 500 KB until they can be used", async () => {
    for (const [path, ready] of [
      ["/docs", ".opblock-tag"],
      ["/graphql", ".graphiql-execute-button"],
    ] as const) {
      const page = await (await browser.newContext()).newPage();
      const devtools = await page.context().newCDPSession(page);
      await devtools.send("Network.enable");
      let bytes = 0;
      devtools.on("Network.loadingFinished", ({ encodedDataLength }) => {
        bytes += encodedDataLength;
      });
      await page.goto(registry.url + path, { waitUntil: "networkidle" });
      await page.locator(ready).first().waitFor();
      // 2.5 s at 1.6 Mbit/s.
      expect(bytes, path).toBeLessThan(500_000);
      await page.context().close();
    }
  }, 60_000);
});
