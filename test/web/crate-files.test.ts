import { crc32, deflateSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, launch, watchedPage } from "../support/chromium.js";
import { crate, tableWithSchema } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { User } from "../support/registry-client.js";

const ROOT = "ark:99999/files";
const MARKUP = "<img src=x onerror=alert(1)>";
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj
trailer<</Root 1 0 R>>
`;

/** An image of one black pixel. */
function png(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.from([0, 0]))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
  const archive = await crate(
    [
      ...tableWithSchema(
        { "@id": "data/cells.csv", name: "Cells" },
        {
          id: { type: "integer", index: 0, description: "Number" },
          label: { type: "string", index: 1, description: "Label" },
        },
        { required: ["id"] },
      ),
      { "@id": "data/run.ipynb", "@type": "File", name: "Notebook" },
      {
        "@id": "data/paper.pdf",
        "@type": "File",
        name: "Paper",
        encodingFormat: "application/pdf",
      },
      { "@id": "data/well.png", "@type": "File", name: "Well", encodingFormat: "image/png" },
    ],
    {
      "data/cells.csv": `id,label\n1,one\nnone,${MARKUP}\n`,
      "data/run.ipynb": JSON.stringify({
        nbformat: 4,
        metadata: { kernelspec: { language: "python" } },
        cells: [
          { cell_type: "markdown", source: [`# Steps ${MARKUP}`] },
          {
            cell_type: "code",
            source: "print(6 * 7)",
            outputs: [{ output_type: "stream", text: "42" }],
          },
        ],
      }),
      "data/paper.pdf": PDF,
      "data/well.png": png(),
      "data/deep/er/notes.md": `# Notes ${MARKUP}\n`,
      "data/page.html": "<script>alert(1)</script>",
      "data/drawing.svg": `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
      "data/values.json": '{"a":[1,2]}',
      "data/100% #1 ?.txt": "An odd name",
      "ro-crate-preview.html":
        "<h1>Seen</h1><script>document.title = 'ran'; parent.postMessage('ran', '*')</script>",
    },
    {
      "@id": ROOT,
      name: "Files of all forms",
      "rai:dataUseCases": "Counting cells",
      "rai:dataLimitations": "Drawn by hand",
    },
  );
  expect(await registry.take(archive, ada.token)).toMatchObject({ status: "finished" });
});
afterAll(() => registry?.stop());

const page = async (path: string, user: User | undefined = ada): Promise<string> => {
  const response = await fetch(registry.url + path, {
    headers: { Accept: "text/html", ...(user && { Authorization: `Bearer ${user.token}` }) },
  });
  const text = await response.text();
  expect(response.status, text.slice(0, 2000)).toBe(200);
  // Files are text here: their markup never becomes markup of the page.
  expect(text).not.toContain("<img src=x");
  expect(text).not.toContain("<script>alert");
  return text;
};
const section = (text: string, id: string): string =>
  text.split(`<section id="${id}">`)[1]!.split("</section>")[0]!;

describe("the preview of a file", () => {
  test("shows the first rows of a table with the errors of its schema at their cells", async () => {
    const preview = section(await page(`/${ROOT}/data/cells.csv`), "preview");
    expect(preview).toContain("1 error by the schema");
    expect(preview).toMatch(/<td class="wrong"[^>]*>none<small>[^<]+<\/small><\/td>/);
    expect(preview).toContain(">one</td>");
    expect(preview).toContain("its schema</a>");
  });

  test("has a page for a table: rows are counted, sorted, found and linked to, by links alone", async () => {
    const at = async (query = ""): Promise<string> =>
      section(await page(`/preview/${ROOT}/data/cells.csv${query}`), "preview");
    const rowsOf = (text: string) =>
      [...text.matchAll(/<tr id="row-(\d+)"/g)].map(([, row]) => Number(row));
    const whole = await at();
    expect(whole).toContain("<strong>2 rows</strong>, 2 columns");
    expect(whole).toMatch(/1 error by <a href="[^"]*">its schema<\/a>/);
    expect(whole).toContain('class="wrong"');
    expect(whole).toContain("whole number, 2 different");
    expect(rowsOf(whole)).toEqual([1, 2]);
    const link = (text: string, name: string): string =>
      new RegExp(`<a href="[^"?]*([^"]*)"[^>]*>(?:<bdi>)?${name}<`)
        .exec(text)![1]!
        .replaceAll("&amp;", "&");
    const sorted = await at(link(whole, "label"));
    expect(sorted).toContain('aria-sort="ascending"');
    const descending = await at(link(sorted, "label"));
    expect(descending).toContain('aria-sort="descending"');
    expect(rowsOf(descending)).toEqual(rowsOf(sorted).toReversed());
    const wrong = await at(link(whole, "Only rows with errors"));
    expect(rowsOf(wrong)).toHaveLength(1);
    expect(wrong).toContain("1 row found.");
    expect(rowsOf(await at("?find=%3Done"))).toEqual([1]);
    expect(await at("?find=%3Cimg%20src=x%3E")).toContain("No row has that.");
    const asked = await at("?row=2");
    expect(asked).toMatch(/<tr id="row-2" class="asked"/);
    // What is no number is ignored.
    expect(rowsOf(await at("?sort=-1&row=x&from=1e9&column=9999999999"))).toEqual([1, 2]);
  });

  test("shows text, code, JSON and notebooks as text, images as images", async () => {
    const at = async (name: string): Promise<string> =>
      section(await page(`/preview/${ROOT}/data/${name}?crate=${ROOT}`), "preview");
    expect(await at("deep/er/notes.md")).toContain("# Notes &lt;img");
    expect(await at("page.html")).toContain("&lt;script>alert(1)");
    // An SVG is a picture in which no script runs; its source is text.
    const drawing = await at("drawing.svg");
    expect(drawing).toMatch(/<img src="(\/view\/ark:[^"]*drawing\.svg)"/);
    expect(drawing).toMatch(/<summary>Source<\/summary><pre[^>]*>&lt;svg/);
    expect(await at("values.json")).toContain("&quot;a&quot;: [");
    expect(await at("100%25%20%231%20%3F.txt")).toContain("An odd name");
    const notebook = await at("run.ipynb");
    expect(notebook).toContain("print(6 * 7)");
    expect(notebook).toMatch(/class="output"[^>]*>42</);
    expect(await at("well.png")).toMatch(/<img src="\/view\/ark:[^"]*" alt="Well" width="1"/);
    expect(await at("paper.pdf")).toMatch(/<a [^>]*href="\/view\/ark:[^"]*paper\.pdf"/);
  });

  test("says why a table is shown without search and order", async () => {
    const hurried = await LiveRegistry.start({ PREVIEW_TIMEOUT: "1ms" });
    const { token } = await hurried.user("Ada");
    const archive = await crate([{ "@id": "wells.csv", "@type": "File", name: "Wells" }], {
      "wells.csv": "well,cells\nA1,7\n",
    });
    const root = (await hurried.take(archive, token)).rocrateIdentifier as string;
    const { text } = await hurried.ask(`/preview/${root}/wells.csv`, {
      token,
      headers: { Accept: "text/html" },
    });
    await hurried.stop();
    const preview = section(text, "preview");
    expect(preview).toContain(
      "Only the first rows are shown, without search and order: reading the whole table takes too long.",
    );
    expect(preview).toContain(">A1</td>");
  });

  test("is not shown to those who may not read the file", async () => {
    const bob = await registry.user("Bob");
    expect(await page(`/${ROOT}/data/cells.csv`, bob)).not.toContain('id="preview"');
    for (const path of ["data/cells.csv", `data/page.html?crate=${ROOT}`]) {
      const preview = await page(`/preview/${ROOT}/${path}`, bob);
      expect(preview).toContain("There is no preview.");
      expect(preview).not.toContain("Download");
    }
  });
});

describe("the page of a crate", () => {
  test("lists its folders with numbers and sizes, which lead to every file", async () => {
    const files = section(await page(`/${ROOT}`), "files");
    expect(files).toContain(`<bdi>data</bdi>/`);
    expect(files).toContain(">9 files<");
    const seen: string[] = [];
    const walk = async (path: string): Promise<void> => {
      const text = await page(path);
      for (const [, href] of text.matchAll(/<th scope="row"><a href="([^"]*)"/g)) {
        const address = href!.replaceAll("&amp;", "&");
        if (address.startsWith("/files/")) await walk(address);
        else {
          seen.push(address);
          await page(address);
        }
      }
    };
    await walk(`/files/${ROOT}`);
    expect(seen).toHaveLength(10);
    const thumbnail = `<img class="thumbnail" src="/view/${ROOT}/data/well.png"`;
    expect(await page(`/files/${ROOT}?path=data`)).toContain(thumbnail);
    // A draft: others may not read its files.
    const carol = await registry.user("Carol");
    expect(await page(`/files/${ROOT}?path=data`, carol)).not.toContain('class="thumbnail"');
    for (const query of ["path=nowhere", "path=nowhere&find=cells"]) {
      const missing = await fetch(`${registry.url}/files/${ROOT}?${query}`, {
        headers: { Accept: "text/html" },
      });
      expect([query, missing.status]).toEqual([query, 404]);
    }
  });

  test("offers one folder as an archive, with its number of files and their size", async () => {
    const offered = (text: string) =>
      /<a class="button" href="([^"]*)" download>Download this folder · (\d+) files<span class="size"> · [\d.]+ K?B?/.exec(
        text,
      );
    const text = await page(`/files/${ROOT}?path=data`);
    const [, address, count] = offered(text)!;
    const response = await fetch(address!.replaceAll("&amp;", "&"), {
      headers: { Authorization: `Bearer ${ada.token}`, Accept: "text/html" },
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "application/zip",
    ]);
    expect(Number(count)).toBeGreaterThan(3);
    // Not those that were found, nor the whole crate.
    expect(offered(await page(`/files/${ROOT}?path=data&find=cells`))).toBeNull();
    expect(offered(await page(`/files/${ROOT}`))).toBeNull();
    const ben = await registry.user("Ben");
    expect(offered(await page(`/files/${ROOT}?path=data`, ben))).toBeNull();
  });

  test("finds files by a part of their path, in a folder and below it", async () => {
    const found = async (query: string): Promise<string[]> =>
      [
        ...(await page(`/files/${ROOT}?${query}`)).matchAll(
          /<th scope="row">.*?<bdi>(.*?)<\/bdi>/g,
        ),
      ].map(([, name]) => name!);
    expect(await found("find=NOTES")).toEqual(["data/deep/er/notes.md"]);
    expect(await found("path=data&find=deep/er")).toEqual(["deep/er/notes.md"]);
    expect(await found("path=data/deep&find=cells")).toEqual([]);
    expect(await page(`/files/${ROOT}?find=%3Cb%3E`)).toContain("contains “&lt;b>”");
    // Spaces alone look for nothing.
    expect(await found("find=+")).toEqual(await found(""));
  });

  test("shows its datasheet, its validation and its downloads with sizes", async () => {
    const text = await page(`/${ROOT}`);
    expect(section(text, "datasheet")).toMatch(/<h3>Limitations<\/h3>.*Drawn by hand/s);
    expect(section(text, "datasheet")).toMatch(/<h3>Uses<\/h3>.*Counting cells/s);
    expect(text).toMatch(/Download \d+ files<span class="size"> · [\d.]+ (?:KB|bytes)/);
    expect(text).toMatch(/As uploaded<span class="size"> · [\d.]+ (?:KB|bytes)/);
    const validation = await page(`/validation/${ROOT}`);
    expect(validation).toMatch(/\d+ records were checked/);
    expect(validation).not.toMatch(/Value does not|Less than \d+ values|datatype/);
  });

  test.skipIf(!CHROMIUM)("shows its own page in a sandbox, where no script runs", async () => {
    const browser: Browser = await launch();
    try {
      const { page: view, faults } = await watchedPage(browser, registry.url, {
        extraHTTPHeaders: { Authorization: `Bearer ${ada.token}` },
      });
      await view.goto(`${registry.url}/${ROOT}`);
      await view.evaluate(() => addEventListener("message", () => (document.title = "ran")));
      await view.click("#own-page summary");
      const frame = view.frameLocator("#own-page iframe");
      await frame.locator("h1", { hasText: "Seen" }).waitFor();
      expect(await view.title()).toBe("Files of all forms · Arkgraph");
      // Chromium says that it did not run the script.
      expect(faults.filter((fault) => !/sandbox/.test(fault))).toEqual([]);
      expect(await view.locator("#own-page iframe").getAttribute("sandbox")).toBe("");
    } finally {
      await browser.close();
    }
  });
});
