import { afterAll, beforeAll, expect, test } from "vitest";
import { crate, type Entity } from "../support/crates.js";
import { Reader } from "../support/reader.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
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

const file: Entity = { "@id": "a.csv", "@type": "File", name: "A <b>&</b> p < 3" };

/** The part of a page with this id. */
const section = (text: string, id: string): string =>
  text.split(`<section id="${id}">`)[1]!.split("</section>")[0]!;

test("the page of a crate without hasPart leads to its members", async () => {
  const { ark, text } = await page(await crate([file], { "a.csv": "a" }));
  expect(section(text, "contents")).toMatch(
    new RegExp(`<a href="/${ark}/a\\.csv"><svg[^>]*>.*?</svg><bdi>A &amp; p &lt; 3</bdi></a>`),
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
  // In the order in which they are stated.
  expect(byline).toMatch(
    /<a href="\/ark:[^"]*"[^>]*><bdi>Grace<\/bdi><\/a>, .*<bdi>Josiah<\/bdi>.*, <bdi>Plain Text<\/bdi>/,
  );
  expect(byline).toContain('<a class="orcid" href="https://orcid.org/0000-0002-1825-0097"');
});

test("the page of a crate shows each criterion of its score with what to add", async () => {
  const { ark } = await page(await crate([file], { "a.csv": "a" }));
  await server.request("GET", `/rocrate/ai-ready-score/${ark}`);
  const { text } = await server.request("GET", `/${ark}`, { headers: { Accept: "text/html" } });
  expect(section(text, "score")).toContain("● met");
  expect(section(text, "score")).toMatch(/○ not met<\/small><\/dt><dd[^>]*>Not answered: /);
  expect(section(text, "score").match(/<meter /g)).toHaveLength(7);
  expect(section(text, "score")).not.toContain("#fix");
});

test("the line of facts says what is known of a crate's origin, each with a link", async () => {
  const files = [file, { "@id": "b.csv", "@type": "File", name: "Counts" }];
  const run = {
    "@id": "#run",
    "@type": "CreateAction",
    name: "Counting",
    object: { "@id": "a.csv" },
    result: { "@id": "b.csv" },
  };
  const { ark, text } = await page(await crate([...files, run], { "a.csv": "a", "b.csv": "b" }));
  const facts = (shown: string) =>
    /<ul class="origin-facts"[^>]*>(.*?)<\/ul>/s.exec(shown)![1]!.replaceAll(/<\/?li>/g, " ");
  expect(facts(text)).toContain("2 hashes verified");
  expect(facts(text)).toContain(`<a href="/score/${ark}">AI-readiness</a>`);
  await server.request("GET", `/rocrate/ai-ready-score/${ark}`);
  const scored = await server.request("GET", `/${ark}`, { headers: { Accept: "text/html" } });
  expect(facts(scored.text)).toMatch(/<a href="#score">AI-readiness: \d+ of \d+<\/a>/);
});

test("who may change a crate fixes its score by answering, on the page of the score", async () => {
  const { ark } = await page(await crate([file], { "a.csv": "a" }));
  const reader = new Reader(server);
  await reader.signIn(ada.email);
  const before = await reader.get(`/score/${ark}`);
  const fixes = section(before.text, "fix");
  expect(fixes).toContain("Which biases are known?");
  expect(fixes).not.toMatch(/<label[^>]*>[^<]*rai:/);
  expect((await new Reader(server).get(`/score/${ark}`)).text).not.toContain('id="fix"');
  expect((await reader.send(`/score/${ark}`, {})).text).toContain("Answer at least one question.");
  const revision = /name="revision" value="(\d+)"/.exec(fixes)![1]!;
  const answers = {
    "rai:dataBiases": "Only one plate.",
    "rai:dataUseCases": "Teaching.",
    "rai:dataLimitations": "Small.",
    keywords: "plates\ncells",
    "rai:notAsked": "x",
  };
  const saved = await reader.send(`/score/${ark}`, { ...answers, revision });
  expect([saved.status, saved.location]).toEqual([303, `/score/${ark}?answered=4`]);
  const after = await reader.get(`/score/${ark}?answered=4`);
  expect(after.text).toContain("4 answers were saved.");
  expect(section(after.text, "fix")).not.toContain("Which biases are known?");
  const { body } = await server.request("GET", `/rocrate/ai-ready-score/${ark}`);
  const { fairness, characterization } = body as Record<
    string,
    Record<string, { status: string; details: string }>
  >;
  expect(characterization!["potential_sources_of_bias"]!.status).toBe("met");
  expect(fairness!["interoperable"]!.details).not.toContain("not explained");
  const late = await reader.send(`/score/${ark}`, { "rai:dataCollection": "By hand.", revision });
  expect(late.status).toBe(422);
  expect(late.text).toContain("Somebody changed the crate meanwhile.");
  expect(late.text).toContain("By hand.");
  expect(fixes).toContain("Publish the crate");
  await server.request("PUT", "/publish", {
    token: ada.token,
    json: { "@id": ark, publicationStatus: "PUBLISHED" },
  });
  const published = section((await reader.get(`/score/${ark}`)).text, "fix");
  expect(published).not.toContain("Publish the crate");
});

test("every fix in the records of a crate leads to a field of a form that repairs it", async () => {
  const files = [file, { "@id": "b.bin", "@type": "File", name: "Of nothing" }];
  const run = { "@id": "#run", "@type": "CreateAction", name: "Counting" };
  const tool = { "@id": "#tool", "@type": "SoftwareApplication", name: "Counter" };
  const { ark } = await page(await crate([...files, run, tool], { "a.csv": "a", "b.bin": "b" }));
  const reader = new Reader(server);
  await reader.signIn(ada.email);
  const fixesNow = async () => section((await reader.get(`/score/${ark}`)).text, "fix");
  const fixes = await fixesNow();
  const links = [...fixes.matchAll(/href="(\/edit\/[^"]*)"/g)].map(([, href]) =>
    href!.replaceAll("&amp;", "&"),
  );
  const asked = new Set<string>();
  for (const href of links) {
    const form = (await reader.get(href)).text;
    for (const name of new URLSearchParams(href.split("?")[1]).getAll("field")) {
      asked.add(name);
      const stated = name.replace(/^(?:schema|hasSummaryStatistics)$/, "https://w3id.org/EVI#$&");
      expect(form.split('<details class="more"')[0]).toMatch(
        new RegExp(`name="${stated.replace("#schema", "#Schema")}"`),
      );
    }
  }
  for (const name of ["encodingFormat", "isBasedOn", "schema", "hasSummaryStatistics"])
    expect(asked).toContain(name);
  for (const name of ["usedDataset", "usedSoftware", "softwareRequirements", "url"])
    expect(asked).toContain(name);
  for (const [href, answers] of [
    [`/edit/${ark}/b.bin`, { encodingFormat: "text/csv", isBasedOn: "https://example.org/b" }],
    [`/edit/${ark}/a.csv`, { encodingFormat: "text/csv", isBasedOn: `${ark}/b.bin` }],
  ] as const) {
    const expected = /name="expected" value="(\d+)"/.exec((await reader.get(href)).text)![1]!;
    expect((await reader.send(href, { ...answers, expected })).status).toBe(303);
  }
  const after = await fixesNow();
  expect(after).not.toContain("Say in which format each file is.");
  expect(after).not.toContain("Say where each comes from.");
  const { body } = await server.request("GET", `/${ark}/a.csv`, { token: ada.token });
  expect(body).toMatchObject({ isBasedOn: [{ "@id": `${ark}/b.bin` }] });
});

test("references that lead nowhere are listed with their way on", async () => {
  const named = (count: number, at: string) =>
    Array.from({ length: count }, (_, n) => ({ "@id": `ark:99999/lost-${at}-${n}` }));
  const { ark } = await page(
    await crate([
      { "@id": "#run", "@type": "https://w3id.org/EVI#Computation", name: "A <run>" },
      {
        "@id": "#data",
        "@type": "https://w3id.org/EVI#Dataset",
        name: "What came of it",
        "evi:derivedFrom": named(60, "source"),
        "evi:generatedBy": { "@id": "ark:12345/run-elsewhere" },
      },
    ]),
  );
  const ask = async (after: string | null) => {
    const { body } = await server.request<{
      data: {
        roCrate: {
          danglingReferences: {
            nodes: {
              record: { name: string };
              predicate: string;
              target: { text: string };
              reason: string;
            }[];
            totalCount: number;
            pageInfo: { hasNextPage: boolean; endCursor: string };
          };
        };
      };
    }>("POST", "/graphql", {
      json: {
        query: `query ($ark: ID!, $after: String) { roCrate(id: $ark) {
          danglingReferences(first: 40, after: $after) {
            nodes { record { name } predicate pointer target { text } reason successor { id } }
            totalCount
            pageInfo { hasNextPage endCursor } } } }`,
        variables: { ark, after },
      },
    });
    return body.data.roCrate.danglingReferences;
  };
  const first = await ask(null);
  const second = await ask(first.pageInfo.endCursor);
  expect([first.nodes.length, first.pageInfo.hasNextPage]).toEqual([40, true]);
  expect([first.totalCount, second.totalCount]).toEqual([61, 61]);
  expect([second.nodes.length, second.pageInfo.hasNextPage]).toEqual([21, false]);
  const all = [...first.nodes, ...second.nodes];
  expect(new Set(all.map(({ target }) => target.text)).size).toBe(61);
  expect(all).toContainEqual({
    record: { name: "What came of it" },
    predicate: "evi:generatedBy",
    pointer: "/evi:generatedBy/@id",
    target: { text: "ark:12345/run-elsewhere" },
    reason: "UNKNOWN",
    successor: null,
  });
  const browser = { Accept: "text/html" };
  const read = async (path: string, headers: Record<string, string> = browser) =>
    (await server.request("GET", path, { headers })).text;
  const shown = await read(`/references/${ark}`);
  expect(shown).toContain("What came of it");
  const next = /<a rel="next" href="([^"]*)"/.exec(shown)![1]!.replaceAll("&amp;", "&");
  expect(await read(next)).toContain('href="https://n2t.net/ark:12345/run-elsewhere"');
  // Only those who may change the records are sent to edit them.
  expect(shown).not.toContain("Edit the record");
  const mine = { ...browser, Authorization: `Bearer ${ada.token}` };
  expect(await read(`/references/${ark}`, mine)).toContain("Edit the record");
  const work = await read("/my/references", mine);
  expect(work).toContain(`href="/references/${ark}"`);
  expect(
    (await server.request("GET", "/references/ark:99999/no", { headers: browser })).status,
  ).toBe(404);
});
