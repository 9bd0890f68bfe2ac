import { afterAll, beforeAll, expect, test } from "vitest";
import { crate, type Entity } from "../support/crates.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
}, 60_000);
afterAll(() => server.stop());

async function page(archive: Buffer): Promise<{ ark: string; text: string }> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
  const { body } = await server.request<{ "@id": string }>("POST", "/rocrate/upload", {
    token: ada.token,
    body: form,
  });
  const { text } = await server.request("GET", `/${body["@id"]}`, {
    headers: { Accept: "text/html" },
  });
  return { ark: body["@id"], text };
}

const file: Entity = { "@id": "a.csv", "@type": "File", name: "A <table>" };

/** The part of a page with this id. */
const section = (text: string, id: string): string =>
  text.split(`<section id="${id}">`)[1]!.split("</section>")[0]!;

test("the page of a crate without hasPart leads to its members", async () => {
  const { ark, text } = await page(await crate([file], { "a.csv": "a" }));
  expect(section(text, "contents")).toMatch(
    new RegExp(`<a href="/${ark}/a\\.csv"><svg[^>]*>.*?</svg><bdi>A &lt;table></bdi></a>`),
  );
});

test("the page of a crate with hasPart lists its parts once among the contents", async () => {
  const { ark, text } = await page(
    await crate([file], { "a.csv": "a" }, { hasPart: [{ "@id": "a.csv" }] }),
  );
  expect(section(text, "contents").split(`href="/${ark}/a.csv"`)).toHaveLength(2);
});

test("the page of a crate counts its members, shows the first and leads to all in pages", async () => {
  const { ark, text } = await page(
    await crate(
      Array.from({ length: 120 }, (_, at) => ({
        "@id": `#e${at}`,
        "@type": "Thing",
        name: `Thing ${at}`,
      })),
    ),
  );
  const contents = section(text, "contents");
  expect(contents.match(/>Thing \d+</g)!.length).toBeLessThanOrEqual(24);
  expect(contents).toContain("<strong>120</strong> other objects");
  const seen = new Set<string>();
  let next: string | undefined = `/related/${ark}?relation=contents&kind=entity`;
  expect(contents).toContain(next.replace("&", "&amp;"));
  while (next !== undefined) {
    const { text: list }: { text: string } = await server.request("GET", next, {
      headers: { Accept: "text/html" },
    });
    for (const [name] of list.matchAll(/Thing \d+/g)) seen.add(name);
    next = /<a rel="next" href="([^"]*)"/.exec(list)?.[1]!.replaceAll("&amp;", "&");
  }
  expect(seen.size).toBe(120);
});

test("an author of a crate is shown by name and links to what the crate states", async () => {
  const people = [
    { "@id": "#grace", "@type": "Person", name: "Grace" },
    { "@id": "https://orcid.org/0000-0002-1825-0097", "@type": "Person", name: "Josiah" },
  ];
  const { text } = await page(
    await crate(
      people,
      {},
      {
        author: [
          { "@id": "#grace" },
          { "@id": "https://orcid.org/0000-0002-1825-0097" },
          "Plain Text",
        ],
      },
    ),
  );
  const byline = text.split('<p class="byline">')[1]!.split("</p>")[0]!;
  expect(byline).toMatch(
    /<a href="\/ark:[^"]*"[^>]*><bdi>Grace<\/bdi><\/a>, <bdi>Plain Text<\/bdi>/,
  );
  expect(byline).toContain("<bdi>Josiah</bdi>");
  expect(byline).toContain('<a class="orcid" href="https://orcid.org/0000-0002-1825-0097"');
});

test("the page of a crate shows each criterion of its score with what to add", async () => {
  const { ark } = await page(await crate([file], { "a.csv": "a" }));
  await server.request("GET", `/rocrate/ai-ready-score/${ark}`);
  const { text } = await server.request("GET", `/${ark}`, { headers: { Accept: "text/html" } });
  expect(section(text, "score")).toContain("● met");
  expect(section(text, "score")).toMatch(/○ not met<\/td><td[^>]*>.*?<p>/);
});
