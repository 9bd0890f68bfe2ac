import { setTimeout as wait } from "node:timers/promises";
import { strToU8, zipSync } from "fflate";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KINDS } from "../../src/model/kinds.js";
import { bodyOf, WRITABLE } from "../support/bodies.js";
import { CHROMIUM, launch } from "../support/chromium.js";
import { crate, type Entity, metadata, tableWithSchema } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";
import { cpuTimeOf } from "../support/cpu.js";

const SCRIPTS = [
  `"><script>window.ran = 1</script><img src=x onerror="window.ran = 1">`,
  `javascript:window.ran=1`,
  `</script><svg onload="window.ran = 1"><a href="javascript:window.ran=1">x</a>`,
];
const RIGHT_TO_LEFT = "خلايا ‮reversed‬ תאים <b>bold</b>";
const LONG = "W".repeat(10_000);
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

let registry: LiveRegistry;
let ada: User;
let browser: Browser | undefined;
beforeAll(async () => {
  registry = await LiveRegistry.start({ WRITE_RATE: "off" });
  ada = await registry.user("Ada");
  if (CHROMIUM) browser = await launch();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await registry?.stop();
});

/** `ms`: CPU time. */
async function page(path: string): Promise<{ text: string; ms: number }> {
  let text = "";
  const ms = await cpuTimeOf(async () => {
    const response = await fetch(registry.url + path, {
      headers: { Accept: "text/html", Authorization: `Bearer ${ada.token}` },
    });
    text = await response.text();
    expect(response.status, `${path}: ${text.slice(0, 1000)}`).toBe(200);
  });
  return { text, ms };
}

/** Creates a record; fields that the registry refuses are left out, and the others are tried again. */
async function create(kind: string, fields: Json): Promise<string> {
  const body: Json = { ...bodyOf(kind as "dataset", ada.ark), ...fields };
  for (let attempt = 0; attempt < 40; attempt++) {
    const answer = await registry.ask(`/${kind}`, { body, token: ada.token });
    if (answer.status < 300) return answer.body["@id"] as string;
    const refused = ((answer.body["detail"] ?? []) as { loc: unknown[] }[])
      .map(({ loc }) => String(loc[1]))
      .filter((name) => name in body);
    expect(refused, answer.text).not.toEqual([]);
    const usual = bodyOf(kind as "dataset", ada.ark);
    for (const name of refused) {
      if (body[name] !== usual[name] && usual[name] !== undefined) body[name] = usual[name];
      else delete body[name];
    }
  }
  throw new Error(`no ${kind} was accepted`);
}

const DESKTOP: BrowserContextOptions = {};
/** One tab for each kind of screen: a new one would fetch and compile the scripts of the pages again. */
const tabs = new Map<BrowserContextOptions, { view: Page; faults: string[] }>();

async function tab(options: BrowserContextOptions): Promise<{ view: Page; faults: string[] }> {
  const context = await browser!.newContext({
    ...options,
    extraHTTPHeaders: { Authorization: `Bearer ${ada.token}` },
  });
  const view = await context.newPage();
  const faults: string[] = [];
  view.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  view.on("pageerror", (error) => faults.push(error.message));
  view.on("dialog", (dialog) => faults.push(`dialog ${dialog.message()}`));
  return { view, faults };
}

/** Opens pages in Chromium: no script of a record runs, no markup of it is refused. */
async function look(paths: readonly string[], options = DESKTOP): Promise<void> {
  const { view, faults } = tabs.get(options) ?? (await tab(options));
  tabs.set(options, { view, faults });
  for (const path of paths) {
    await view.goto(registry.url + path);
    const seen = await view.evaluate(() => ({
      ran: (window as unknown as { ran?: number }).ran,
      links: [...document.querySelectorAll("a, form, iframe, object, embed, img, area, link")]
        .flatMap((element) =>
          ["href", "action", "src", "data"].map((name) => element.getAttribute(name)),
        )
        .filter(
          (address) => address !== null && /^\s*(?:javascript|vbscript|data:text)/i.test(address),
        ),
      handlers: [...document.querySelectorAll("*")].filter((element) =>
        [...element.attributes].some(({ name }) => name.startsWith("on")),
      ).length,
      width: document.documentElement.scrollWidth,
    }));
    const { width } = options.viewport ?? { width: 1280 };
    expect({ path, ...seen, width: Math.max(width, seen.width) }).toEqual({
      path,
      links: [],
      handlers: 0,
      width,
    });
  }
  expect(faults.splice(0)).toEqual([]);
}

/** Most ms of one act in a picture, on a busy machine. */
const AT_ONCE = 5_000;

/** A picture is bounded, says so, and answers while it is used: search, details, zoom, the way back. */
async function usePicture(path: string): Promise<void> {
  const { view, faults } = await tab(DESKTOP);
  view.setDefaultTimeout(AT_ONCE);
  await view.goto(registry.url + path, { timeout: 30_000 });
  const drawn = await view.locator("#picture [data-id]").count();
  expect(drawn).toBeGreaterThan(10);
  expect(drawn).toBeLessThanOrEqual(700);
  expect(await view.locator("main").textContent()).toMatch(/[\d,]{6,} further away/);
  await view.fill("#find", "Data 1");
  await view.locator("#found", { hasText: /^1 of / }).waitFor();
  await view.press("#find", "ArrowDown");
  await view.keyboard.press("Enter");
  await view.locator("#details h2", { hasText: "Data 1" }).waitFor();
  const width = () =>
    view.locator("#picture svg").evaluate((svg) => svg.getBoundingClientRect().width);
  const before = await width();
  await view.locator("#picture").focus();
  await view.keyboard.press("-");
  await expect.poll(width, { timeout: AT_ONCE }).toBeLessThan(before);
  await view.keyboard.press("Escape");
  await view.locator("#details").waitFor({ state: "hidden" });
  expect(faults.splice(0)).toEqual([]);
}

const about = (id: string): string[] =>
  ["", "history/", "evidence/", "impact/", "validation/", "preview/", "reserve/"].map(
    (at) => `/${at}${id}`,
  );

describe.skipIf(!CHROMIUM)("records with hostile fields", () => {
  test.each(WRITABLE)(
    "of the kind %s run no script on any page",
    async (kind) => {
      const ids: string[] = [];
      for (const script of SCRIPTS) {
        const fields = Object.keys(KINDS[kind].fields).filter(
          (name) => !name.startsWith("@") && !["owner", "members", "memberOf"].includes(name),
        );
        ids.push(
          await create(kind, {
            ...Object.fromEntries(fields.map((name) => [name, script])),
            name: script,
            description: script,
            keywords: [script],
            author: { "@id": script, name: script },
            [`evil ${script}`]: { [script]: [script] },
            additionalProperty: [{ "@type": "PropertyValue", name: script, value: script }],
            url: script,
          }),
        );
      }
      for (const id of ids) expect((await page(`/${id}`)).text).toContain("window.ran");
      await look([...ids.flatMap(about), `/browse/${kind}?drafts=yes`, "/"]);
      await look([
        `/search?q=${encodeURIComponent(SCRIPTS[0]!)}&drafts=yes`,
        "/search?q=script&drafts=yes",
      ]);
    },
    600_000,
  );

  test("with addresses that run scripts lead nowhere", async () => {
    const bad = "javascript:window.ran=1";
    const id = await create("software", {
      contentUrl: bad,
      url: bad,
      codeRepository: bad,
      license: bad,
      sameAs: [bad, "JAVASCRIPT:alert(1)", " javascript:alert(1)", "data:text/html,<b>x"],
      author: [{ "@id": bad, name: "Somebody" }],
    });
    await look(about(id));
  }, 60_000);

  test("that refer to nothing are listed as text, however they and their targets are named", async () => {
    const archive = await crate([
      {
        "@id": "#data",
        "@type": "https://w3id.org/EVI#Dataset",
        name: SCRIPTS[0]!,
        "evi:derivedFrom": [
          { "@id": "ark:99999/lost%22%3E%3Cscript%3Ewindow.ran=1%3C/script%3E" },
          { "@id": `ark:99999/${LONG.slice(0, 1500)}` },
        ],
      },
      {
        "@id": "#arabic",
        "@type": "https://w3id.org/EVI#Dataset",
        name: RIGHT_TO_LEFT,
        "evi:generatedBy": { "@id": "ark:12345/elsewhere?info=<b>" },
      },
    ]);
    const { rocrateIdentifier } = await registry.take(archive, ada.token);
    const paths = [`/references/${rocrateIdentifier as string}`, "/my/references"];
    expect((await page(paths[0]!)).text).toContain("Not known here");
    await look(paths);
    await look(paths, PHONE);
  }, 60_000);

  test("of 10,000 characters, or written from right to left, leave the page as wide as it is", async () => {
    const long = await create("dataset", {
      name: LONG,
      description: LONG,
      keywords: [LONG],
      x: LONG,
    });
    const arabic = await create("dataset", {
      name: RIGHT_TO_LEFT,
      description: RIGHT_TO_LEFT,
      keywords: [RIGHT_TO_LEFT],
      author: RIGHT_TO_LEFT,
    });
    const run = await create("computation", {
      name: LONG,
      command: LONG,
      usedDataset: [long, arabic],
      generated: [],
    });
    const paths = [long, arabic, run].flatMap(about);
    await look([...paths, "/", "/browse/dataset?drafts=yes", "/search?q=reversed&drafts=yes"]);
    await look([...paths, "/", "/browse/dataset?drafts=yes"], PHONE);
  }, 600_000);
});

describe("crates and tables of a great size", () => {
  test("a crate with 20,000 files has pages that are quick, and lists each file", async () => {
    // Equal content is stored once: the names are what the pages list.
    const files = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [
        `runs/${at % 40}/file ${at}.txt`,
        "the same in each",
      ]),
    );
    const document = metadata(
      Object.keys(files)
        .slice(0, 5_000)
        .map((path): Entity => ({ "@id": encodeURI(path), "@type": "File", name: path })),
      { "@id": "ark:99999/many-files", name: "Many files" },
    );
    // `crate` would open a zlib stream for each file: eight times the CPU of this.
    const archive = zipSync({
      "ro-crate-metadata.json": strToU8(JSON.stringify(document)),
      ...Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])),
    });
    expect(await registry.take(archive, ada.token, 240_000)).toMatchObject({ status: "finished" });
    await page("/ark:99999/many-files");
    const whole = await page("/ark:99999/many-files");
    expect(whole.text).toContain("20,000");
    expect(whole.text.length).toBeLessThan(300_000);
    expect(whole.ms).toBeLessThan(1_500);
    const folder = await page("/files/ark:99999/many-files?path=runs");
    expect(folder.text).toContain(">500 files<");
    expect(folder.ms).toBeLessThan(1_500);
    const seen = new Set<string>();
    let next: string | undefined = "/files/ark:99999/many-files?path=runs/7";
    while (next !== undefined) {
      const { text } = await page(next);
      for (const [, name] of text.matchAll(/<bdi>(file \d+\.txt)<\/bdi>/g)) seen.add(name!);
      next = /<a rel="next" href="([^"]*)"/.exec(text)?.[1]!.replaceAll("&amp;", "&");
    }
    expect(seen.size).toBe(500);
  }, 300_000);

  test("a table and a schema with 10,000 columns are shown in part, and say so", async () => {
    const columns = Array.from({ length: 10_000 }, (_, at) => `column_${at}`);
    const archive = await crate(
      tableWithSchema(
        { "@id": "wide.csv", name: "Wide" },
        Object.fromEntries(
          columns.map((name, index) => [name, { type: "integer", index, description: name }]),
        ),
      ),
      { "wide.csv": `${columns.join(",")}\n${columns.map((_, at) => at).join(",")}\n` },
      { "@id": "ark:99999/wide-table", name: "Wide table" },
    );
    expect(await registry.take(archive, ada.token)).toMatchObject({ status: "finished" });
    const { text } = await page("/ark:99999/wide-table/wide.csv");
    expect(text).toContain("column_0");
    expect(text).toContain("The file has more columns.");
    expect(text.length).toBeLessThan(300_000);
    const preview = await page("/preview/ark:99999/wide-table/wide.csv");
    expect(preview.text).toMatch(/the first [\d,]+ columns/);
    expect(preview.text.length).toBeLessThan(500_000);
    const { body } = await registry.graphql(
      `{ schemas(filter: {crate: "ark:99999/wide-table"}) { nodes { id } } }`,
    );
    const schema = await page(`/${body["data"].schemas.nodes[0].id as string}`);
    expect(schema.text).toContain("10,000");
    expect(schema.text).toContain("The first 200 are shown.");
    expect(schema.text.length).toBeLessThan(500_000);
  }, 600_000);

  test("an evidence graph of 100,000 nodes is drawn in part, within 15 s on a busy machine, and says so", async () => {
    const steps = 49_990;
    const entities: Entity[] = [];
    for (let at = 0; at < steps; at++)
      entities.push(
        {
          "@id": `#run${at}`,
          "@type": "https://w3id.org/EVI#Computation",
          name: `Run ${at}`,
          "evi:usedDataset": { "@id": at === 0 ? "#source" : `#data${Math.floor((at - 1) / 2)}` },
        },
        {
          "@id": `#data${at}`,
          "@type": "https://w3id.org/EVI#Dataset",
          name: `Data ${at}`,
          "evi:generatedBy": { "@id": `#run${at}` },
        },
      );
    entities.push({ "@id": "#source", "@type": "https://w3id.org/EVI#Dataset", name: "Source" });
    const archive = await crate(entities, {}, { "@id": "ark:99999/huge", name: "Huge" });
    expect(await registry.take(archive, ada.token, 500_000)).toMatchObject({ status: "finished" });
    const { body } = await registry.graphql(
      `{ datasets(filter: {name: {equals: "Source"}}) { nodes { id } } }`,
    );
    const source = body["data"].datasets.nodes[0].id as string;
    // The index of evidence follows the commit.
    for (let tries = 0; tries < 100; tries++) {
      const { body: answer } = await registry.graphql(
        `query ($id: ID!) { impact(id: $id) { total } }`,
        { id: source },
      );
      if (answer["data"]?.impact?.total >= 2 * steps) break;
      await wait(500);
    }
    const texts: string[] = [];
    for (const path of [`/evidence/${source}`, `/${source}`, `/impact/${source}`]) {
      const { text, ms } = await page(path);
      expect(text.length, path).toBeLessThan(1_500_000);
      expect(ms, path).toBeLessThan(15_000);
      texts.push(text);
    }
    expect(texts[0]).toMatch(/[\d,]{6,} further away/);
    expect(texts[2]).toContain("99,980 records");
    if (!browser) return;
    const single = `/evidence/${source}?siblings=single&hubs=all`;
    await look([`/evidence/${source}`, `/${source}`, single]);
    await look([single], PHONE);
    await usePicture(single);
  }, 600_000);
});
