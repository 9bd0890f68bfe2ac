import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EntityIds } from "../../src/identifiers/entity-ids.js";
import { withUrls } from "../../src/web/pages/record/details.js";
import { crate, type Entity } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";
import { sharedData } from "../support/shared-data.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

async function taken(entities: Entity[], root: Entity = {}): Promise<string> {
  const answer = await registry.take(await crate(entities, {}, root), ada.token);
  return answer["rocrateIdentifier"] as string;
}
async function sent(path: string): Promise<string> {
  const { body, text } = await registry.ask("/rocrate/metadata", {
    token: ada.token,
    body: readFileSync(path, "utf8"),
    headers: { "Content-Type": "application/ld+json" },
  });
  expect(body["@id"], text).toMatch(/^ark:/);
  return body["@id"] as string;
}
const page = async (ark: string, token?: string): Promise<string> =>
  (await registry.ask(`/${ark}`, { token, headers: { Accept: "text/html" } })).text;
async function graphql(query: string): Promise<Json> {
  const { body, text } = await registry.graphql(query);
  expect(body["errors"], text).toBeUndefined();
  return body["data"] as Json;
}

const to = (id: string): Entity => ({ "@id": id });

describe("entities that are named by URLs", () => {
  const publisher = {
    "@id": "https://ror.org/02mhbdp94",
    "@type": "Organization",
    name: "Unique University",
  };
  const file = { "@id": "https://example.org/data.csv", "@type": "File", name: "Remote table" };
  const author = {
    "@id": "https://orcid.org/0000-0002-1825-0097",
    "@type": "Person",
    name: "Josiah Carberry",
  };
  const root = {
    publisher: to(publisher["@id"]),
    author: to(author["@id"]),
    hasPart: to(file["@id"]),
  };

  it("have links, and their names on pages", async () => {
    const ark = await taken([publisher, file, author], root);
    const query = `{ roCrate(id: "${ark}") {
      creators { record { name } }
      hasPart { totalCount nodes { ... on Record { name } } } } }`;
    const expected = {
      creators: [{ record: { name: "Josiah Carberry" } }],
      hasPart: { totalCount: 1, nodes: [{ name: "Remote table" }] },
    };
    expect((await graphql(query))["roCrate"]).toEqual(expected);
    const text = await page(ark);
    for (const name of ["Unique University", "Josiah Carberry", "Remote table"])
      expect(text).toContain(name);
    expect(text).not.toMatch(/>\s*(?:<bdi>)?https:\/\/ror\.org\/02mhbdp94/);
    // A change of the crate's own record loses none of them.
    const changed = await registry.ask(`/${ark}`, {
      method: "PATCH",
      token: ada.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: { description: "Changed" },
    });
    expect(changed.status, changed.text).toBe(200);
    expect((await graphql(query))["roCrate"]).toEqual(expected);
  });

  it("have none where the crate does not describe them", async () => {
    const ark = await taken([], root);
    const { roCrate } = await graphql(`{ roCrate(id: "${ark}") {
      creators { id record { id } } hasPart { totalCount }
      danglingReferences { nodes { target { text } } } } }`);
    expect(roCrate).toEqual({
      creators: [{ id: author["@id"], record: null }],
      hasPart: { totalCount: 0 },
      danglingReferences: { nodes: [] },
    });
  });
});

describe("a description on a page", () => {
  it("is Markdown without HTML, scripts and images of others", async () => {
    const ark = await taken([], {
      description:
        "# Cells\n\n[![Build](https://img.example/badge.svg)](https://ci.example)\n\n" +
        "See [the paper](https://doi.org/10.1/x), [not this](javascript:alert(1)) and " +
        "<img src=x onerror=alert(2)><script>alert(3)</script> **bold** p<0.05 & n>3.\n\n" +
        "- one\n- two",
    });
    const text = await page(ark);
    const [, head = ""] = /<header class="record-head">([^]*?)<\/header>/.exec(text) ?? [];
    expect(head).toContain("<strong>bold</strong>");
    expect(head).toContain(
      '<a href="https://doi.org/10.1/x" rel="nofollow noopener">the paper</a>',
    );
    expect(head).toMatch(/<li>\s*one\s*<\/li>/);
    expect(head).toContain("p&lt;0.05 &amp; n");
    expect(head).not.toMatch(/javascript:|<img|<script|img\.example|onerror="/);
  });

  it("that is short is hinted at to those who may change it", async () => {
    const ark = await taken([], { description: "Short." });
    expect(await page(ark, ada.token)).toContain("Google Dataset Search lists data with 50");
    expect(await page(ark)).not.toContain("Google Dataset Search");
  });

  it("of 6,000 characters is cut at a sentence for search engines, with the whole in the record", async () => {
    const whole = "A sentence of words that describe data. ".repeat(160).trim();
    const ark = await taken([], { description: `<p>${whole}</p>`, name: "name ".repeat(120) });
    await registry.publish(ark, ada.token);
    const { text, body } = await registry.ask(`/${ark}?format=schemaorg`);
    expect(body["description"].length, text).toBeLessThanOrEqual(5000);
    expect(body["description"]).toMatch(/data\.$/);
    expect(body["name"].length).toBeLessThanOrEqual(300);
    const block = /<script type="application\/ld\+json"[^>]*>([^<]*)</.exec(await page(ark))?.[1];
    expect((JSON.parse(block!) as Json)["description"].length).toBeLessThanOrEqual(5000);
    expect((await registry.ask(`/${ark}?format=jsonld`)).body["description"]).toBe(
      `<p>${whole}</p>`,
    );
  });
});

const CASES = sharedData("cases");
describe.skipIf(CASES === undefined)("a case", () => {
  const metadata = (...path: string[]): string => join(CASES!, ...path);

  it("shows names, descriptions and licences in lists of one, and with languages", async () => {
    const fields = (ark: string): string =>
      `{ roCrate(id: "${ark}") { name description license } }`;
    const lists = await sent(metadata("crates/one-element-lists/lists/ro-crate-metadata.json"));
    expect((await graphql(fields(lists)))["roCrate"]).toEqual({
      name: "Wrapped crate",
      description: "Kept as lists",
      license: "https://spdx.org/licenses/CC-BY-4.0.html",
    });
    const shown = await page(lists);
    expect(shown).toMatch(/<h1[^>]*>Wrapped crate<\/h1>/);
    expect(shown).toContain("Kept as lists");
    expect(shown).toContain("CC BY 4.0");
    const languages = await sent(
      metadata("crates/one-element-lists/languages/ro-crate-metadata.json"),
    );
    expect((await graphql(fields(languages)))["roCrate"]).toMatchObject({
      name: "Cells",
      description: "Beschreibung",
    });
    expect(await page(languages)).toMatch(/<h1[^>]*>Cells<\/h1>/);
    expect((await registry.ask(`/${languages}?format=citation`)).text).toContain(
      "Cells [Data set]",
    );
  });

  it("shows the names of entities that are URLs", async () => {
    const ark = await sent(metadata("crates/urls-of-named-entities/crate/ro-crate-metadata.json"));
    const { roCrate } = await graphql(
      `{ roCrate(id: "${ark}") { creators { record { name } } hasPart { totalCount } } }`,
    );
    expect(roCrate).toEqual({
      creators: [{ record: { name: "Josiah Carberry" } }],
      hasPart: { totalCount: 1 },
    });
    const text = await page(ark);
    for (const name of [
      "Unique University",
      "Unique Fund",
      "Unique article",
      "Uniquish",
      "Remote table",
      "Josiah Carberry",
    ])
      expect(text).toContain(name);
  });

  it("labels entities without a name by their type", async () => {
    const ark = await sent(metadata("crates/labels-of-nameless/crate/ro-crate-metadata.json"));
    const experiment = await page(`${ark}/exp1`);
    for (const label of [
      "Ella Example",
      "Temperature: 21.5 °C",
      "Operator: E. Example",
      "Looks good",
      "1. Weigh the sample",
      "Measured three beads &amp; noted",
    ])
      expect(experiment).toContain(label);
    const body = experiment.replace(/<script[^]*?<\/script>|href="[^"]*"|title="[^"]*"/g, "");
    expect(body).not.toMatch(/person-abc-17d7ecb5|pv-1-c0d39746|comment-1-f188f13d|&lt;p&gt;/);
  });
});

it("looks up the URLs of a document with hundreds of thousands of members", () => {
  const url = "https://orcid.org/0000-0002-1825-0097";
  const members = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`m${at}`, at]));
  const { ark } = new EntityIds("ark:99999/crate").of(url, "") as { ark: string };
  const names = new Map([[ark, { name: "Josiah Carberry", kind: null }]]);
  expect(withUrls(names, { members, author: url }, "ark:99999/crate").get(url)).toMatchObject({
    name: "Josiah Carberry",
  });
});

describe("names, where one is known", () => {
  /** Takes the place of the usual name, and is not written. */
  const NAMELESS = { name: undefined } as unknown as Entity;
  const label = async (ark: string): Promise<unknown> =>
    (await graphql(`{ record(id: "${ark}") { label } }`))["record"]["label"];

  it("a crate without a name is called as its main entity, also after a change", async () => {
    const ark = await taken([{ "@id": "#flow", "@type": "SoftwareSourceCode", name: "Sorting" }], {
      ...NAMELESS,
      mainEntity: to("#flow"),
    });
    expect(await label(ark)).toBe("Sorting");
    expect(await page(ark)).toMatch(/<h1[^>]*>Sorting<\/h1>/);
    expect((await registry.ask(`/${ark}?format=citation`)).text).toContain("Sorting");
    await registry.ask(`/${ark}`, {
      method: "PATCH",
      token: ada.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: { description: "Changed" },
    });
    expect(await page(ark)).toMatch(/<h1[^>]*>Sorting<\/h1>/);
  });

  it("else as its archive, and never by its identifier", async () => {
    const form = new FormData();
    const bytes = await crate([], {}, NAMELESS);
    form.set("file", new Blob([new Uint8Array(bytes)]), "Plates of May.zip");
    const answer = await fetch(`${registry.url}/rocrate/upload`, {
      method: "POST",
      headers: { Authorization: `Bearer ${ada.token}` },
      body: form,
    });
    const { "@id": ark } = (await answer.json()) as { "@id": string };
    expect(await page(ark)).toMatch(/<h1[^>]*>Plates of May<\/h1>/);
    const nameless = await taken([], { ...NAMELESS, description: "Another one." });
    expect(await page(nameless)).toMatch(/<h1[^>]*>Crate without a name<\/h1>/);
  });

  it("a licence that the crate describes is called by its name", async () => {
    const licence = {
      "@id": "https://example.org/terms-of-use",
      "@type": "CreativeWork",
      name: "Terms of the biobank",
    };
    const text = await page(await taken([licence], { license: to(licence["@id"]) }));
    const [, head = ""] = /<header class="record-head">([^]*?)<\/header>/.exec(text) ?? [];
    expect(head).toContain("Terms of the biobank");
    expect(head).not.toMatch(/>\s*https:\/\/example\.org/);
  });

  it("search and pictures call things without a name as their pages do", async () => {
    const ark = await taken([
      {
        "@id": "#run",
        "@type": "CreateAction",
        endTime: "2026-01-02",
        result: to("#sheet"),
        object: to("#temperature"),
      },
      { "@id": "#sheet", "@type": "Dataset", name: "Sheet" },
      {
        "@id": "#temperature",
        "@type": "PropertyValue",
        name: "Temperature",
        value: "21.5",
        unitText: "°C",
      },
    ]);
    const { search } = await graphql(`
      {
        search(query: "Temperature") {
          nodes {
            label
          }
        }
      }
    `);
    expect(JSON.stringify(search)).toContain("Temperature: 21.5 °C");
    const picture = await registry.ask(`/evidencegraph/query/${ark}?format=svg&direction=both`);
    expect(picture.text).toContain("Create action, 2 Jan 2026");
    expect(picture.text).not.toMatch(/>run-[0-9a-f]{8}</);
  });

  it("an object within a record is shown by its label where it says nothing more", async () => {
    const { body } = await registry.ask("/dataset", {
      token: ada.token,
      body: {
        "@type": "evi:Dataset",
        owner: ada.ark,
        name: "Objects",
        description: "For a test.",
        measurementTechnique: { "@type": "DefinedTerm", name: "Microscopy" },
        funder: { "@id": "https://ror.org/021nxhr62", name: "A fund" },
        instrument: { "@type": "Thing", name: "Lens", serialNumber: "7" },
      },
    });
    const text = await page(body["@id"] as string);
    expect(text).toMatch(/<dd><bdi class="text">Microscopy<\/bdi><\/dd>/);
    expect(text).toMatch(/href="https:\/\/ror\.org\/021nxhr62"[^>]*><bdi>A fund</);
    expect(text).toMatch(/Serial number/);
  });

  it("5,000 authors and 100 KB of Markdown with scripts are shown in part, on every page", async () => {
    const authors = Array.from({ length: 5000 }, (_, at) => ({
      "@id": `#author-${at}`,
      "@type": "Person",
      name: `Author ${at} <script>alert(${at})</script>`,
    }));
    const markdown = "![x](https://img.example/x.png) <script>alert(1)</script> **bold** text\n\n";
    const ark = await taken(authors, {
      author: authors.map((author) => to(author["@id"])),
      description: markdown.repeat(Math.ceil(100_000 / markdown.length)),
    });
    for (const path of [ark, `share/${ark}`]) {
      const text = await page(path);
      expect(text.length).toBeLessThan(1_000_000);
      expect(text).not.toMatch(/<script>alert|<img[^>]*img\.example/);
      expect(text).toContain("Author 0");
    }
    expect(await page(ark)).toContain("and many more");
  }, 60_000);

  it("names of 10,000 characters, with marks and in lists, break no place that shows them", async () => {
    const long = `<b onclick=x>${"Very long name ".repeat(700)}</b>`;
    const ark = await taken([{ "@id": "#flow", "@type": ["SoftwareSourceCode"], name: [long] }], {
      ...NAMELESS,
      mainEntity: [to("#flow")],
    });
    const text = await page(ark);
    expect(text).not.toContain("<b onclick");
    expect(/<h1[^>]*>([^<]*)</.exec(text)![1]!.length).toBeLessThan(400);
  });

  it("an author and a keyword of 10,000 characters hide neither the citation nor a result", async () => {
    const [author, keyword] = ["N".repeat(10_000), `quokka-${"K".repeat(10_000)}`];
    const ark = await taken([{ "@id": "#ann", "@type": "Person", name: author }], {
      name: "A crate of quokkas",
      author: [to("#ann")],
      keywords: ["quokka", keyword],
    });
    const cited = /<p class="citation"[^>]*>([^<]*)</.exec(await page(ark))![1]!;
    expect(cited).toMatch(/^N{199}…\. \(\d{4}\)\. A crate of quokkas \[/);
    const { text } = await registry.ask("/search?q=quokka&drafts=yes", {
      headers: { Accept: "text/html" },
    });
    expect(text).toContain("A crate of quokkas");
    expect(text).not.toContain("K".repeat(301));
  });
});
