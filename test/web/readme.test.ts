import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crate, type Entity } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

async function taken(files: Record<string, string>, entities: Entity[] = []): Promise<string> {
  const answer = await registry.take(await crate(entities, files), ada.token);
  return answer["rocrateIdentifier"] as string;
}
const page = async (ark: string, token: string | undefined = ada.token): Promise<string> =>
  (await registry.ask(`/${ark}`, { token, headers: { Accept: "text/html" } })).text;
/** The README on the page of a crate. */
const readmeOf = (text: string): string | undefined =>
  /<section id="readme">([^]*?)<\/section>/.exec(text)?.[1];

describe("the README of a crate", () => {
  it("is shown with headings, tables and code", async () => {
    const ark = await taken({
      "README.md": "# Cells\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nrun it\n```\n",
    });
    const readme = readmeOf(await page(ark));
    expect(readme).toContain('<h3 dir="auto">Cells</h3>');
    expect(readme).toMatch(/<th scope="col">a<\/th>/);
    expect(readme).toMatch(/<pre[^>]*>run it<\/pre>/);
  });

  it("leads to files of the crate and shows its pictures, also those without a record", async () => {
    const ark = await taken({
      "ReadMe.md":
        "See [the data](data/a%20b.csv#row=2), ![A figure](./figure.png) and [outside](../x).",
      "data/a b.csv": "a",
    });
    const readme = readmeOf(await page(ark));
    expect(readme).toContain(`<a href="/preview/${ark}/data/a%2520b.csv?crate=`);
    expect(readme).toContain(`<img src="/view/${ark}/figure.png" alt="A figure" loading="lazy"/>`);
    expect(readme).toContain("and outside.");
    const preview = /href="(\/preview\/[^"]*)"/.exec(readme!)![1]!.replaceAll("&amp;", "&");
    const { status } = await registry.ask(preview, {
      token: ada.token,
      headers: { Accept: "text/html" },
    });
    expect(status).toBe(200);
  });

  it("has links in place of pictures from elsewhere, and no HTML", async () => {
    const ark = await taken({
      "README.md":
        "![Plot](https://img.example/plot.png) [![Build](https://img.example/b.svg)](https://ci.example)\n\n" +
        '<p align="center"><img src="https://img.example/logo.svg" alt="Logo" onerror="alert(1)">' +
        '<a href="https://site.example/">Site</a><a href="javascript:alert(2)">no</a></p>\n' +
        "<script>alert(3)</script><iframe src=//x.example></iframe>",
    });
    const readme = readmeOf(await page(ark));
    expect(readme).toContain(
      '<a href="https://img.example/plot.png" rel="nofollow noopener">Image: Plot</a>',
    );
    expect(readme).toContain('<a href="https://ci.example" rel="nofollow noopener">Build</a>');
    expect(readme).toContain(">Image: Logo</a>");
    expect(readme).toContain('<a href="https://site.example/" rel="nofollow noopener">Site</a>');
    expect(readme).not.toMatch(/<img|<script|<iframe|javascript:|onerror|alert\(3\)/);
  });

  it("is hidden from those who may not read the files of a draft", async () => {
    const ark = await taken({ "README.md": "# Secret" });
    expect(readmeOf(await page(ark))).toContain("Secret");
    expect(await page(ark, "")).not.toContain("Secret");
  });

  it("is found in a root of many files", async () => {
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`A${n}.txt`, "a"]));
    const ark = await taken({ ...many, "README.md": "# Found" });
    expect(readmeOf(await page(ark))).toContain("Found");
  });

  it("of 100 KB with images and scripts is shown in part", async () => {
    const part =
      "![x](https://img.example/a.png) <script>alert(1)</script> **bold** <b>b</b> [a](b";
    const ark = await taken({ "README.md": part.repeat(Math.ceil(100_000 / part.length)) });
    const text = await page(ark);
    expect(readmeOf(text)).toContain("The text goes on.");
    expect(readmeOf(text)).not.toMatch(/<img|<script/);
  });
});
