import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, launch, watchedPage } from "../support/chromium.js";
import { crate, tableWithSchema } from "../support/crates.js";
import { RegistryProcess } from "../support/registry-process.js";

const ROWS = 400;
const WRONG = 250;

describe.skipIf(!CHROMIUM)("the preview of a file, in a browser", () => {
  let registry: RegistryProcess;
  let browser: Browser;
  let id: string;
  beforeAll(async () => {
    registry = await RegistryProcess.start();
    browser = await launch();
    const ada = await registry.user("Ada");
    const rows = Array.from({ length: ROWS }, (_, row) => {
      const cells = row === WRONG - 1 ? "many" : String((row * 7919) % 1000);
      return `W${row + 1},${cells},${["control", "treated"][row % 2]}`;
    });
    const archive = await crate(
      [
        ...tableWithSchema(
          { "@id": "wells.csv", name: "Wells" },
          {
            well: { type: "string", index: 0, description: "Well" },
            cells: { type: "integer", index: 1, description: "Cells" },
            treatment: { type: "string", index: 2, description: "Treatment" },
          },
        ),
        { "@id": "figure.svg", "@type": "File", name: "Figure", encodingFormat: "image/svg+xml" },
      ],
      {
        "wells.csv": ["well,cells,treatment", ...rows].join("\n"),
        "figure.svg":
          '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40">' +
          "<script>top.document.title = 'run'</script><rect width='120' height='40'/></svg>",
      },
      { hasPart: [{ "@id": "wells.csv" }, { "@id": "figure.svg" }] },
    );
    id = (await registry.take(archive, ada.token)).rocrateIdentifier as string;
    await registry.publish(id, ada.token);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await registry.stop();
  });

  for (const javaScriptEnabled of [true, false])
    test(`a table is sorted, searched and linked to on a phone, ${javaScriptEnabled ? "with" : "without"} scripts`, async () => {
      const { page, outside, faults } = await watchedPage(browser, registry.url, {
        javaScriptEnabled,
        viewport: { width: 390, height: 844 },
      });
      await page.goto(`${registry.url}/preview/${id}/wells.csv`);
      expect(await page.locator("#preview").innerText()).toContain("400 rows, 3 columns.");
      expect(await page.locator("thead .chart rect").count()).toBe(12 + 2);
      expect(await page.locator("tbody tr").count()).toBe(100);
      await page.click("thead a:has-text('cells')");
      expect(await page.locator("tbody tr td:nth-of-type(2)").first().innerText()).toBe("0");
      await page.fill("[name=find]", ">900");
      await page.selectOption("[name=column]", { label: "cells" });
      await page.click("#preview form button");
      const found = (await page.locator("tbody tr td:nth-of-type(2)").allInnerTexts()).map(Number);
      expect(found.length).toBeGreaterThan(10);
      expect(Math.min(...found.slice(0, 100))).toBeGreaterThan(900);
      expect(found).toEqual(found.toSorted((a, b) => a - b));
      await page.click("#preview a:has-text('Only rows with errors')");
      await page.click("#preview a:has-text('All rows')");
      await page.click("#preview a:has-text('Only rows with errors')");
      const wrong = page.locator("td.wrong");
      expect(await wrong.innerText()).toContain("many");
      const red = await wrong.evaluate((cell) => getComputedStyle(cell).backgroundColor);
      expect(red).not.toBe("rgba(0, 0, 0, 0)");
      // The link to the row leads to its page, where it stands out.
      await page.click(`tbody th a:has-text("${WRONG}")`);
      await page.waitForURL(new RegExp(`row=${WRONG}#row-${WRONG}`));
      expect(await page.locator("tr.asked").innerText()).toContain("many");
      expect(await page.locator("tbody tr").count()).toBe(100);
      const box = (await page.locator("tr.asked th").boundingBox())!;
      expect(box.y).toBeGreaterThan(0);
      expect(box.y + box.height).toBeLessThan(844);
      expect({ outside, faults }).toEqual({ outside: [], faults: [] });
      await page.context().close();
    });

  test("an SVG is a picture in which no script runs, with its source one click further", async () => {
    const { page, outside, faults } = await watchedPage(browser, registry.url);
    await page.goto(`${registry.url}/preview/${id}/figure.svg`);
    const picture = page.locator(".preview-image img");
    await picture.scrollIntoViewIfNeeded();
    await page.waitForFunction(
      () => document.querySelector<HTMLImageElement>(".preview-image img")!.naturalWidth === 120,
    );
    expect(await page.title()).not.toBe("run");
    expect(await page.locator("pre.preview").isVisible()).toBe(false);
    await page.click("summary:has-text('Source')");
    expect(await page.locator("pre.preview").innerText()).toContain("<script>");
    // Opened by itself it has a policy under which nothing runs.
    const shown = await fetch(`${registry.url}/view/${id}/figure.svg`);
    expect(shown.headers.get("content-security-policy")).toMatch(/default-src 'none'.*sandbox/);
    expect({ outside, faults }).toEqual({ outside: [], faults: [] });
    await page.context().close();
  });
});
