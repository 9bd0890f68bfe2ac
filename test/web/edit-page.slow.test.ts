import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, launch, signIn } from "../support/chromium.js";
import { crate } from "../support/crates.js";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";

describe.skipIf(!CHROMIUM)("changing a record by its form, in a browser", () => {
  let registry: RegistryProcess;
  let browser: Browser;
  let ada: User;
  let context: BrowserContext;
  beforeAll(async () => {
    registry = await RegistryProcess.start();
    browser = await launch();
    ada = await registry.user("Ada");
    context = await browser.newContext();
    await signIn(await context.newPage(), registry.url, ada);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await registry.stop();
  });

  async function ask<T>(query: string, variables: object): Promise<T> {
    const answer = await fetch(`${registry.url}/graphql`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${ada.token}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await answer.json()) as { data: T; errors?: unknown };
    expect(errors).toBeUndefined();
    return data;
  }

  async function dataset(name: string): Promise<string> {
    const input = {
      name,
      description: "What was counted in twelve wells.",
      keywords: ["cells", "wells"],
      owner: ada.ark,
      author: "Ada",
      license: "https://creativecommons.org/licenses/by/4.0/",
      additionalProperties: { measured: { depth: 3 } },
    };
    const { createDataset } = await ask<{ createDataset: { dataset: { id: string } } }>(
      "mutation ($input: DatasetInput!) { createDataset(input: { dataset: $input }) { dataset { id } } }",
      { input },
    );
    return createDataset.dataset.id;
  }

  const documentOf = async (id: string): Promise<Record<string, unknown>> =>
    (
      await ask<{ record: { document: Record<string, unknown> } }>(
        "query ($id: ID!) { record(id: $id) { document } }",
        { id },
      )
    ).record.document;

  test("the form is filled with the record; what is saved changes only what was typed", async () => {
    const id = await dataset("Cell counts");
    const before = await documentOf(id);
    const page = await context.newPage();
    await page.goto(`${registry.url}/${id}`);
    await page.click("main a:has-text('Edit')");
    expect(await page.inputValue("#field-name")).toBe("Cell counts");
    expect(await page.inputValue("#field-keywords")).toBe("cells\nwells");
    await page.fill("#field-name", "Counted cells");
    await page.fill("#field-keywords", "cells\nwells\nimaging");
    await page.click("main button:has-text('Save')");
    await page.waitForURL((url) => url.pathname === `/${id}`);
    expect(await page.textContent("h1")).toBe("Counted cells");
    const after = await documentOf(id);
    const changed = Object.keys({ ...before, ...after }).filter(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    );
    expect(changed.filter((name) => !/modif/i.test(name)).sort()).toEqual(["keywords", "name"]);
    await page.close();
  }, 30_000);

  test("a refused value is shown at its field, with all that was typed", async () => {
    const id = await dataset("Refused");
    const page = await context.newPage();
    await page.goto(`${registry.url}/edit/${id}`);
    await page.fill("#field-description", "Too short");
    await page.evaluate(() =>
      document.querySelector("form[data-keep]")!.setAttribute("novalidate", ""),
    );
    await page.fill("#field-name", "");
    await page.click("main button:has-text('Save')");
    await page.locator(".field.wrong").first().waitFor();
    expect(await page.inputValue("#field-description")).toBe("Too short");
    await page.close();
  }, 30_000);

  test("of two tabs the second is warned, sees both texts, and can merge", async () => {
    const id = await dataset("Two tabs");
    const [first, second] = [await context.newPage(), await context.newPage()];
    await first.goto(`${registry.url}/edit/${id}`);
    await second.goto(`${registry.url}/edit/${id}`);
    await first.fill("#field-name", "Name of the first");
    await first.fill("#field-author", "Ada and Grace");
    await first.click("main button:has-text('Save')");
    await first.waitForURL((url) => url.pathname === `/${id}`);
    await second.fill("#field-name", "Name of the second");
    await second.fill("#field-description", "A description of the second tab.");
    await second.click("main button:has-text('Save')");
    await second.locator(".warning", { hasText: "has changed this record" }).waitFor();
    const table = await second.locator("table.differences tbody").textContent();
    for (const text of ["Two tabs", "Name of the first", "Name of the second"])
      expect(table).toContain(text);
    // Nothing is lost: the texts of the second, and the author of the first.
    expect(await second.inputValue("#field-name")).toBe("Name of the second");
    expect(await second.inputValue("#field-description")).toBe("A description of the second tab.");
    expect(await second.inputValue("#field-author")).toBe("Ada and Grace");
    await second.check("input[name=theirs][value=name]");
    await second.click("main button:has-text('Save')");
    await second.waitForURL((url) => url.pathname === `/${id}`);
    expect(await documentOf(id)).toMatchObject({
      name: "Name of the first",
      description: "A description of the second tab.",
      author: "Ada and Grace",
    });
    await first.close();
    await second.close();
  }, 30_000);

  test("a session that ends while a form is filled loses nothing that was typed", async () => {
    const id = await dataset("Kept");
    const own = await browser.newContext();
    const page = await own.newPage();
    // Some browsers do not say the status of the page.
    await page.addInitScript(() =>
      Object.defineProperty(PerformanceNavigationTiming.prototype, "responseStatus", {
        get: () => undefined,
      }),
    );
    await signIn(page, registry.url, ada);
    for (const [path, field, button] of [
      [`/edit/${id}`, "#field-description", "Save"],
      ["/new/dataset", "#field-name", "Create"],
    ] as const) {
      await page.goto(registry.url + path);
      await page.fill(field, "Typed for an hour, in twelve wells.");
      await own.clearCookies();
      await page.evaluate(() =>
        document.querySelector("form[data-keep]")!.setAttribute("novalidate", ""),
      );
      await page.click(`main button:has-text('${button}')`);
      await page.locator("main", { hasText: "Your session has ended" }).waitFor();
      await page.click("nav a:has-text('Sign in')");
      await signIn(page, registry.url, ada);
      await page.waitForURL(registry.url + path);
      expect(await page.inputValue(field)).toBe("Typed for an hour, in twelve wells.");
    }
    await page.goto(`${registry.url}/edit/${id}`);
    await page.click("main button:has-text('Save')");
    await page.waitForURL((url) => url.pathname === `/${id}`);
    expect(await documentOf(id)).toMatchObject({
      description: "Typed for an hour, in twelve wells.",
    });
    await own.close();
  }, 30_000);

  test("references stay references, and what the record never had is not required", async () => {
    const archive = await crate(
      [
        {
          "@id": "#cells",
          "@type": ["Dataset", "https://w3id.org/EVI#Dataset"],
          name: "Cells of a crate",
          license: { "@id": "https://spdx.org/licenses/MIT" },
          keywords: [{ "@id": "https://example.org/cells" }],
        },
      ],
      {},
      { "@id": "ark:99999/of-a-crate" },
    );
    expect(await registry.take(archive, ada.token)).toMatchObject({ status: "finished" });
    const { datasets } = await ask<{ datasets: { nodes: { id: string }[] } }>(
      'query { datasets(filter: { name: { equals: "Cells of a crate" } }) { nodes { id } } }',
      {},
    );
    const id = datasets.nodes[0]!.id;
    expect(await documentOf(id)).not.toHaveProperty("description");
    const page = await context.newPage();
    await page.goto(`${registry.url}/edit/${id}`);
    await page.fill("#field-name", "Cells, renamed");
    expect(await page.locator("#field-license option:checked").textContent()).toMatch(/^MIT/);
    await page.click("summary:has-text('Another licence')");
    await page.fill("#field-otherLicence", "https://spdx.org/licenses/ISC");
    await page.fill("#field-keywords", "https://example.org/cells\nhttps://example.org/wells");
    await page.click("main button:has-text('Save')");
    await page.waitForURL((url) => url.pathname === `/${id}`);
    expect(await documentOf(id)).toMatchObject({
      name: "Cells, renamed",
      license: { "@id": "https://spdx.org/licenses/ISC" },
      keywords: [{ "@id": "https://example.org/cells" }, { "@id": "https://example.org/wells" }],
    });
    // One that the form does not offer stays, under its name.
    await page.goto(`${registry.url}/edit/${id}`);
    expect(await page.locator("#field-license option:checked").textContent()).toBe("ISC");
    await page.fill("#field-name", "Cells, renamed twice");
    await page.click("main button:has-text('Save')");
    await page.waitForURL((url) => url.pathname === `/${id}`);
    expect(await documentOf(id)).toMatchObject({
      name: "Cells, renamed twice",
      license: { "@id": "https://spdx.org/licenses/ISC" },
    });
    await page.close();
  }, 30_000);

  test("others cannot open the form", async () => {
    const id = await dataset("Not yours");
    const grace = await registry.user("Grace");
    const own = await browser.newContext();
    const page = await own.newPage();
    await signIn(page, registry.url, grace);
    expect((await page.goto(`${registry.url}/edit/${id}`))?.status()).toBe(403);
    await page.goto(`${registry.url}/${id}`);
    expect(await page.locator("main a:has-text('Edit')").count()).toBe(0);
    await own.close();
  }, 30_000);
});
