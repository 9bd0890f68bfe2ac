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

test("the page of a crate without hasPart leads to its members", async () => {
  const { ark, text } = await page(await crate([file], { "a.csv": "a" }));
  expect(text).toContain("<h2>Members</h2>");
  expect(text).toContain(`<a href="/${ark}/a.csv">A &lt;table&gt;</a> <small>DataDownload</small>`);
});

test("the page of a crate with hasPart lists its parts once", async () => {
  const { text } = await page(
    await crate([file], { "a.csv": "a" }, { hasPart: [{ "@id": "a.csv" }] }),
  );
  expect(text).not.toContain("<h2>Members</h2>");
  expect(text).toContain("A &lt;table&gt;</a>");
});

test("the page of a crate without hasPart lists the first hundred members and leads to all", async () => {
  const { ark, text } = await page(
    await crate(
      Array.from({ length: 120 }, (_, at) => ({
        "@id": `#e${at}`,
        "@type": "Thing",
        name: `Thing ${at}`,
      })),
    ),
  );
  expect([...text.split("<h2>Members</h2>")[1]!.split("</ul>")[0]!.matchAll(/<li>/g)]).toHaveLength(
    100,
  );
  expect(text).toContain(`<a href="/rocrate/summary/${ark}">the summary</a>`);
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
  expect(text).toMatch(
    /<dt>Author<\/dt><dd><a href="\/ark:[^"]*">Grace<\/a>, Plain Text, <a href="https:\/\/orcid\.org\/0000-0002-1825-0097"[^>]*>Josiah<\/a>/,
  );
});
