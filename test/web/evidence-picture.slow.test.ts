import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, launch, watchedPage } from "../support/chromium.js";
import { type Entity, metadata, zip } from "../support/crates.js";
import { RegistryProcess } from "../support/registry-process.js";

const RUNS = 98;
const OUTSIDE = "https://example.org/library";
const CONTEXT = ["https://w3id.org/ro/crate/1.1/context", { evi: "https://w3id.org/EVI#" }];
const to = (...ids: string[]): Entity[] => ids.map((id) => ({ "@id": id }));

/** More than 500 records: 98 runs of one program, each with one to four inputs and up to three results. */
function plates(): Entity[] {
  const results: string[] = [];
  const runs = Array.from({ length: RUNS }, (_, run): Entity[] => {
    const inputs = Array.from({ length: 1 + (run % 4) }, (_, field) => `#in-${run}-${field}`);
    const outputs = Array.from({ length: 1 + (run % 3) }, (_, mask) => `#out-${run}-${mask}`);
    results.push(...outputs);
    return [
      ...inputs.map((id, field) => ({
        "@id": id,
        "@type": "Dataset",
        name: `Plate ${run} field ${field}`,
      })),
      {
        "@id": `#run-${run}`,
        "@type": "evi:Computation",
        name: `Segmentation ${run}`,
        "evi:usedDataset": to(...inputs),
        "evi:usedSoftware": to("#tool"),
      },
      ...outputs.map((id, mask) => ({
        "@id": id,
        "@type": "Dataset",
        name: `Mask ${run}.${mask}`,
        "evi:generatedBy": to(`#run-${run}`),
      })),
    ];
  });
  return [
    { "@id": "#tool", "@type": "SoftwareSourceCode", name: "segment.py" },
    ...runs.flat(),
    {
      "@id": "#merge",
      "@type": "evi:Computation",
      name: "Merge of all masks",
      "evi:usedDataset": to(...results),
      "evi:usedSoftware": to(OUTSIDE),
    },
    {
      "@id": "#summary",
      "@type": "Dataset",
      name: "Summary of all plates",
      description: "One row a plate.",
      "evi:generatedBy": to("#merge"),
    },
  ];
}

describe.skipIf(!CHROMIUM)("the picture of evidence, in a browser", () => {
  let registry: RegistryProcess;
  let browser: Browser;
  /** The record at the end, and its evidence. */
  let summary: string;
  let crate: string;
  beforeAll(async () => {
    registry = await RegistryProcess.start();
    browser = await launch();
    const ada = await registry.user("Ada");
    const archive = await zip({
      "ro-crate-metadata.json": metadata(
        plates(),
        { name: "Plates", mentions: to("#merge") },
        CONTEXT,
      ),
    });
    crate = (await registry.take(archive, ada.token))["rocrateIdentifier"] as string;
    const { body } = await registry.graphql(
      '{ datasets(filter: { name: { contains: "Summary of all" } }) { nodes { id } } }',
    );
    summary = body["data"].datasets.nodes[0].id as string;
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await registry.stop();
  });

  /** Opens the picture, lets a test act, and expects no fault and no request elsewhere. */
  async function see(
    query: string,
    options: BrowserContextOptions,
    act: (page: Page) => Promise<void>,
  ): Promise<void> {
    const { page, outside, faults } = await watchedPage(browser, registry.url, {
      viewport: { width: 1280, height: 800 },
      ...options,
    });
    await page.goto(`${registry.url}/evidence/${summary}${query}`);
    await act(page);
    expect({ outside, faults }).toEqual({ outside: [], faults: [] });
    await page.context().close();
  }

  const boxOf = async (page: Page, selector: string) =>
    (await page.locator(selector).first().boundingBox())!;
  const named = (page: Page, name: string) =>
    page.locator("#picture [data-id]", { has: page.locator(`text="${name}"`) }).first();
  test("500 records one by one open at the record, in a canvas as high as the window", () =>
    see("?siblings=single", {}, async (page) => {
      const canvas = await boxOf(page, "#picture");
      expect(canvas.height).toBeGreaterThanOrEqual(800 - 160);
      expect(canvas.height).toBeLessThanOrEqual(800);
      const root = await boxOf(page, "[data-root]");
      const offCentre = root.y + root.height / 2 - (canvas.y + canvas.height / 2);
      expect(Math.abs(offCentre)).toBeLessThan(canvas.height / 4);
      expect(root.x).toBeGreaterThan(canvas.x);
      expect(root.x + root.width).toBeLessThan(canvas.x + canvas.width);
      // Names can be read.
      const name = page.locator("[data-root] .ev-name");
      expect(await name.evaluate((text) => text.getBoundingClientRect().height)).toBeGreaterThan(9);
      // It goes on above and below, and fades there.
      const more = await page
        .locator("#picture")
        .evaluate((frame) =>
          ["left", "right", "top", "bottom"].map((side) =>
            frame.style.getPropertyValue(`--more-${side}`),
          ),
        );
      expect(more.slice(2)).toEqual(["1", "1"]);
    }));

  test("a picture that can be read as a whole is seen whole", () =>
    see("?depth=1", {}, async (page) => {
      const frame = page.locator("#picture");
      expect(
        await frame.evaluate(
          ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
            scrollWidth <= clientWidth && scrollHeight <= clientHeight,
        ),
      ).toBe(true);
      expect(await page.locator("#minimap").isHidden()).toBe(true);
      const seen = (canvas: { y: number; height: number }) => canvas.y + canvas.height;
      expect(seen(await boxOf(page, "#picture"))).toBeLessThanOrEqual(800);
      // It grows with the window, and is never lower than 420 pixels.
      await page.setViewportSize({ width: 1280, height: 1200 });
      const tall = await boxOf(page, "#picture");
      expect(seen(tall)).toBeGreaterThan(1100);
      expect(seen(tall)).toBeLessThanOrEqual(1200);
      await page.setViewportSize({ width: 1280, height: 400 });
      expect((await boxOf(page, "#picture")).height).toBe(420);
    }));

  test("a record alone has no empty canvas around it", () =>
    see("?hide=dataset&hide=computation&hide=software&hide=absent", {}, async (page) => {
      expect(await page.locator("#picture [data-id]").count()).toBe(1);
      expect((await boxOf(page, "#picture")).height).toBeLessThan(120);
    }));

  test("on paper the picture is whole, without tools and choices", () =>
    see("", { viewport: { width: 794, height: 1123 } }, async (page) => {
      const parts = [".picture-tools", ".toolbar", "#minimap", "#why", ".top"];
      const cut = () =>
        page
          .locator("#picture")
          .evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1);
      expect(await cut()).toBe(true);
      await page.emulateMedia({ media: "print" });
      expect(await cut()).toBe(false);
      for (const part of parts) expect(await page.locator(part).isHidden(), part).toBe(true);
      await page.goto(page.url().replace("/evidence/", "/"));
      const picture = await boxOf(page, "#provenance svg");
      expect(picture.x + picture.width).toBeLessThanOrEqual(794);
    }));

  test("header, head of the page and footer have one left edge; the picture goes past it", () =>
    see("", { viewport: { width: 1900, height: 1000 } }, async (page) => {
      const left = async (selector: string) => Math.round((await boxOf(page, selector)).x);
      const edge = await left(".brand");
      expect(await left("h1")).toBe(edge);
      expect(await left(".bottom li")).toBe(edge);
      expect(await left(".picture-frame")).toBeLessThan(40);
      await page.goto(page.url().replace("/evidence/", "/"));
      expect([await left(".brand"), await left("h1"), await left(".bottom li")]).toEqual([
        edge,
        edge,
        edge,
      ]);
    }));

  test("search leads from one match to the next, and into the picture by keys", () =>
    see("?siblings=single", {}, async (page) => {
      await page.fill("#find", "plate 59");
      expect(await page.textContent("#found")).toBe("1 of 4");
      const first = await page.locator(".ev-current title").first().textContent();
      const at = await boxOf(page, ".ev-current");
      expect(at.y).toBeGreaterThan(0);
      expect(at.y + at.height).toBeLessThan(800);
      await page.press("#find", "Enter");
      expect(await page.textContent("#found")).toBe("2 of 4");
      expect(await page.locator(".ev-current title").first().textContent()).not.toBe(first);
      await page.press("#find", "Shift+Enter");
      await page.press("#find", "ArrowDown");
      await page.keyboard.press("Enter");
      await page.locator("#details h2", { hasText: "Plate 59 field" }).waitFor();
      // Escape closes the details, and the focus is at the node again.
      await page.keyboard.press("Escape");
      expect(await page.locator("#details").isHidden()).toBe(true);
      expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Plate 59");
      await page.fill("#find", "no such words");
      expect(await page.textContent("#found")).toBe("Nothing found");
      await page.fill("#find", "");
      expect(await page.locator(".ev-found").count()).toBe(0);
    }));

  test("the small map moves the picture", () =>
    see("?siblings=single", {}, async (page) => {
      const top = () => page.locator("#picture").evaluate((frame) => frame.scrollTop);
      await page.locator("#minimap").scrollIntoViewIfNeeded();
      const before = await top();
      const map = await boxOf(page, "#minimap svg");
      await page.mouse.click(map.x + map.width / 2, map.y + 4);
      expect(await top()).toBeLessThan(before / 4);
    }));

  test("kinds are the legend, and are left out and shown again in place", () =>
    see("", {}, async (page) => {
      const chip = (name: string) => page.locator(`.chips a[data-name=${name}]`);
      expect(await chip("computation").innerText()).toMatch(/Computations\s+99/);
      const groups = await page.locator("#picture [data-kind=computation]").count();
      expect(groups).toBeGreaterThan(1);
      await chip("computation").click();
      await page.waitForURL(/hide=computation/);
      expect(await page.locator("#picture [data-kind=computation]").count()).toBe(0);
      // The focus stays at the chip, which has the number still.
      const active = () => page.evaluate(() => document.activeElement?.textContent);
      expect(await active()).toMatch(/^Show: ?.*Computations.*99$/);
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => !url.search.includes("hide"));
      expect(await page.locator("#picture [data-kind=computation]").count()).toBe(groups);
    }));

  test("the arrows of a program of 98 runs are folded until they are asked for", () =>
    see("?siblings=single", {}, async (page) => {
      const folded = page.locator("#picture [data-from*='tool'][visibility=hidden]");
      expect(await folded.count()).toBe(RUNS);
      expect(await named(page, "segment.py").textContent()).toContain("98 arrows folded");
      expect(await page.textContent("[data-part=legend]")).toContain("98 arrows");
      await page.click(".chips a[data-name=hubs]");
      await page.waitForURL(/hubs=all/);
      expect(await folded.count()).toBe(0);
      expect(await page.locator("#picture [data-from*='tool']").count()).toBe(RUNS);
    }));

  test("the arrows of the node under the pointer, or with the focus, are drawn strongly above all others", () =>
    see("?siblings=single", {}, async (page) => {
      const near = () =>
        page.locator("#picture .ev-edges path").evaluateAll((paths) => {
          const lit = paths.filter((path) => path.classList.contains("ev-near"));
          const strong = lit.every((path) => getComputedStyle(path).strokeOpacity === "1");
          return [lit.length, strong, paths.slice(-lit.length).every((path) => lit.includes(path))];
        });
      await named(page, "Summary of all plates").hover();
      expect(await near()).toEqual([1, true, true]);
      await page.hover(".crumb");
      expect((await near())[0]).toBe(0);
      await named(page, "Mask 1.0").locator("a").focus();
      expect(await near()).toEqual([2, true, true]);
    }));

  test("every way from an input to the result lights up, folded arrows too", () =>
    see("?siblings=single", {}, async (page) => {
      const lit = () =>
        page
          .locator("#picture .ev-node.ev-lit .ev-name")
          .evaluateAll((names) => names.map((name) => name.textContent).sort());
      await page.fill("#find", "plate 1 field 0");
      await page.press("#find", "ArrowDown");
      await page.keyboard.press("Enter");
      await page.locator("#details h2", { hasText: "Plate 1 field 0" }).waitFor();
      expect(await lit()).toEqual([
        "Mask 1.0",
        "Mask 1.1",
        "Merge of all masks",
        "Plate 1 field 0",
        "Segmentation 1",
        "Summary of all plates",
      ]);
      await page.click("#details button[aria-label='Close the details']");
      expect(await lit()).toEqual([]);
      await page.fill("#find", "segment.py");
      await page.press("#find", "ArrowDown");
      await page.keyboard.press("Enter");
      await page.locator("#details h2", { hasText: "segment.py" }).waitFor();
      const folded = page.locator("#picture [data-from*='tool'].ev-lit").first();
      expect(await folded.evaluate((arrow) => getComputedStyle(arrow).visibility)).toBe("visible");
    }));

  test("details stand beside the picture, with their actions and a close button", () =>
    see("", {}, async (page) => {
      await page.locator("[data-root]").click();
      await page.locator("#details", { hasText: "One row a plate." }).waitFor();
      const [canvas, details] = [await boxOf(page, "#picture"), await boxOf(page, "#details")];
      expect(details.x).toBeGreaterThanOrEqual(canvas.x + canvas.width);
      const actions = () => page.locator("#details .actions a").allTextContents();
      expect(await actions()).toEqual(["Open the record"]);
      await named(page, "Merge of all masks").click();
      await page.locator("#details h2", { hasText: "Merge of all masks" }).waitFor();
      expect(await actions()).toEqual([
        "Open the record",
        "Evidence from here",
        "How it is connected",
      ]);
      await page.click("#details button[aria-label='Close the details']");
      expect(await page.locator("#details").isHidden()).toBe(true);
    }));

  test("on a phone details are a sheet below the node, and the page is no wider than it", () =>
    see(
      "",
      { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
      async (page) => {
        await page.locator("[data-root]").tap();
        await page.locator("#details", { hasText: "One row a plate." }).waitFor();
        const [root, details] = [await boxOf(page, "[data-root]"), await boxOf(page, "#details")];
        expect(details.y + details.height).toBeCloseTo(844, 0);
        expect(root.y + root.height).toBeLessThanOrEqual(details.y);
        for (const action of await page.locator("#details .actions a").all()) {
          const box = (await action.boundingBox())!;
          expect(box.y + box.height).toBeLessThanOrEqual(844);
        }
        await page.locator("#details button[aria-label='Close the details']").tap();
        expect(await page.locator("#details").isHidden()).toBe(true);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      },
    ));

  test("on a phone a node that the sheet would cover is brought above it", () =>
    see(
      "",
      { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
      async (page) => {
        await page.evaluate(() => scrollTo(0, 0));
        await page.locator("[data-root] .ev-shape").dispatchEvent("click");
        await page.locator("#details", { hasText: "One row a plate." }).waitFor();
        const [root, details] = [await boxOf(page, "[data-root]"), await boxOf(page, "#details")];
        expect(root.y).toBeGreaterThan(0);
        expect(root.y + root.height).toBeLessThan(details.y);
      },
    ));

  test("of a crate, to which no arrow leads, all that a node came from and led to lights up", () =>
    see("", {}, async (page) => {
      await page.goto(`${registry.url}/evidence/${crate}`);
      await named(page, "Merge of all masks").click();
      await page.locator("#details h2", { hasText: "Merge of all masks" }).waitFor();
      const lit = await page.locator("#picture .ev-node.ev-lit .ev-name").allTextContents();
      expect(lit).toContain("Summary of all plates");
      expect(lit).toContain("segment.py");
      expect(lit).not.toContain("Plates");
    }));

  test("what is elsewhere opens its details first, and is left for by a marked link", () =>
    see("", {}, async (page) => {
      await page.locator(`#picture [data-id="${OUTSIDE}"]`).click();
      const leave = page.locator("#details .actions a");
      await leave.waitFor();
      expect(await leave.textContent()).toBe("Leave for example.org ↗");
      expect(await leave.getAttribute("href")).toBe(OUTSIDE);
      expect(await leave.getAttribute("rel")).toBe("nofollow noopener");
      expect(page.url()).toContain("/evidence/");
    }));

  test("the way to another record is marked in the picture", () =>
    see("?siblings=single", {}, async (page) => {
      const plate = await named(page, "Plate 1 field 0").getAttribute("data-id");
      await page.goto(
        `${registry.url}/evidence/${summary}?siblings=single&to=${encodeURIComponent(plate!)}`,
      );
      expect(await page.locator("#picture .ev-node.ev-lit").count()).toBe(6);
    }));

  test("without scripts the picture, its legend and its list are there, and nothing is folded away for good", () =>
    see("?siblings=single", { javaScriptEnabled: false }, async (page) => {
      expect(await page.locator("#picture [data-id]").count()).toBeGreaterThan(500);
      expect(await page.locator(".picture-tools").isHidden()).toBe(true);
      await page.click(".chips a[data-name=hubs]");
      expect(await page.locator("#picture [visibility=hidden]").count()).toBe(0);
      await page.click(".chips a[data-name=software]");
      expect(await page.locator("#picture [data-kind=software]").count()).toBe(0);
      expect(await page.textContent("#outline")).toContain("Merge of all masks");
    }));
});
