import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { metadata, zip } from "../support/crates.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

const [OPEN, USED] = ["ark:99999/private-open", "ark:99999/private-used"] as const;
const [HIDDEN, RUN, CRATE] = [
  "ark:99999/private-data",
  "ark:99999/private-run",
  "ark:99999/private-crate",
] as const;
/** Nothing has this identifier, which is as long as that of the private record. */
const NOTHING = "ark:99999/private-none";
const WORDS = /zirconium/i;

let server: TestServer;
let [owner, other]: Person[] = [];
type Reader = Person | null;

const read = async (path: string, reader: Reader, options: object = {}) => {
  const { status, headers, text } = await server.request("GET", path, {
    ...(reader ? { token: reader.token } : {}),
    ...options,
  });
  return { status, headers, text };
};
const graphql = async (query: string, reader: Reader) => {
  const { text } = await server.request("POST", "/graphql", {
    json: { query },
    ...(reader ? { token: reader.token } : {}),
  });
  return text;
};
const create = (path: string, body: object) =>
  server.request("POST", path, { token: owner!.token, json: body });

/** What a reader may ask of everything at once, or of an open record. */
const PATHS = [
  "/dataset",
  "/dataset?limit=1",
  "/computation",
  "/rocrate",
  `/dataset?name=zirconium`,
  `/dataset?keyword=zirconium`,
  "/search/basic?query=zirconium",
  "/search/basic?query=zirconum",
  `/search/basic?query=${HIDDEN}`,
  "/search/basic?query=table",
  "/sitemap.xml",
  "/feed",
  "/catalog",
  "/oai?verb=ListRecords&metadataPrefix=oai_dc",
  `/dataset/${OPEN}`,
  `/${OPEN}?format=turtle`,
  `/${OPEN}?format=jsonld`,
  `/evidencegraph/query/${OPEN}`,
  `/evidencegraph/query/${OPEN}?direction=downstream`,
  `/evidencegraph/query/${OPEN}?direction=both`,
  "/sparql?query=" + encodeURIComponent("SELECT (count(*) AS ?n) { ?s ?p ?o }"),
];
const PAGES = ["/", "/search?q=zirconium&drafts=yes", `/${OPEN}`];
const QUESTIONS = [
  "{ datasets(first: 10) { totalCount nodes { id name } } }",
  "{ computations(first: 10) { totalCount nodes { id } } }",
  '{ datasets(filter: { name: { contains: "zirconium" } }) { totalCount } }',
  `{ dataset(id: "${OPEN}") { usedBy(first: 10) { totalCount nodes { id name } } derivedFrom(first: 10) { nodes { id __typename } } } }`,
  `{ record(id: "${HIDDEN}") { id name } }`,
  `{ impact(id: "${OPEN}") { total } }`,
];

const everything = async (reader: Reader): Promise<string[]> => {
  const answers: string[] = [];
  const note = (name: string, status: number | string, text: string, total: string | null) =>
    answers.push(
      `${name} ${status} ${total ?? ""} ${text
        // The number of the last commit, times, and what each page has of its own.
        .replace(/"asOf":\s*\d+/g, "")
        .replace(/"time_taken_ms":\s*[\d.]+/g, "")
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "")
        .replace(/[\w-]{32,}/g, "")}`,
    );
  for (const path of PATHS) {
    const { status, headers, text } = await read(path, reader);
    expect([path, status]).toEqual([path, 200]);
    note(path, status, text, `${headers.get("x-total-count")} ${headers.get("etag")}`);
  }
  for (const path of PAGES) {
    const { status, text } = await read(path, reader, { headers: { Accept: "text/html" } });
    expect([path, status]).toEqual([path, 200]);
    note(path, status, text, null);
  }
  for (const query of QUESTIONS) {
    const text = await graphql(query, reader);
    expect(text).not.toContain('"errors"');
    note(query, "", text, null);
  }
  return answers;
};

beforeAll(async () => {
  server = await startServer();
  [owner, other] = [await server.person("ada"), await server.person("eve")];
  const made = await create(
    "/dataset",
    bodyOf("dataset", owner.id, {
      "@id": OPEN,
      name: "An open table",
      derivedFrom: [HIDDEN],
    }),
  );
  expect(made.status).toBe(200);
  await create("/dataset", bodyOf("dataset", owner.id, { "@id": USED, name: "Another table" }));
});
afterAll(() => server.stop());

describe("private records", () => {
  it("change nothing that others see, and are there for their owner", async () => {
    const before = { anonymous: await everything(null), other: await everything(other!) };
    const made = await create(
      "/dataset?visibility=private",
      bodyOf("dataset", owner!.id, {
        "@id": HIDDEN,
        name: "Zirconium table",
        description: "Zirconium description",
        keywords: ["zirconium"],
        derivedFrom: [USED],
      }),
    );
    expect(made.text).toContain(HIDDEN);
    const run = await create(
      "/computation?visibility=private",
      bodyOf("computation", owner!.id, {
        "@id": RUN,
        name: "Zirconium run",
        usedDataset: [OPEN],
      }),
    );
    expect(run.status).toBe(200);
    const form = new FormData();
    const file = { "@id": "zirconium.csv", "@type": "File", name: "zirconium.csv" };
    form.set(
      "file",
      new Blob([
        new Uint8Array(
          await zip({
            "ro-crate-metadata.json": metadata([file], { "@id": CRATE, name: "Zirconium crate" }),
            "zirconium.csv": "a,b\n1,2\n",
          }),
        ),
      ]),
      "crate.zip",
    );
    const uploaded = await server.request("POST", "/rocrate/upload?visibility=private", {
      token: owner!.token,
      body: form,
    });
    expect(uploaded.status).toBe(200);

    expect(await everything(null)).toEqual(before.anonymous);
    expect(await everything(other!)).toEqual(before.other);
    const page = await read(`/${HIDDEN}`, owner!, { headers: { Accept: "text/html" } });
    expect(page.text).toContain("Private: until it is published");
    const mine = (await everything(owner!)).join("\n");
    expect(mine).toMatch(WORDS);
  });

  it("are found by their words in searches and lists of their owner, and of nobody else", async () => {
    const found = async (words: string, reader: Reader): Promise<number[]> => {
      const counts: number[] = [];
      for (const mode of ["basic", "semantic"]) {
        const { text } = await read(`/search/${mode}?query=${words}`, reader);
        counts.push((JSON.parse(text) as { total_results: number }).total_results);
      }
      const query = `{ search(query: "${words}") { totalCount nodes { id } facets(by: [KIND]) {
        values { count } } } records(filter: { text: "${words}" }) { totalCount } }`;
      const { data } = JSON.parse(await graphql(query, reader)) as {
        data: Record<"search" | "records", { totalCount: number }>;
      };
      return [...counts, data.search.totalCount, data.records.totalCount];
    };
    // The dataset, the run, and the crate with its file.
    expect(await found("zirconium", owner!)).toEqual([4, 4, 4, 4]);
    expect(await found("zirconium", other!)).toEqual([0, 0, 0, 0]);
    expect(await found("zirconium", null)).toEqual([0, 0, 0, 0]);
    const html = { headers: { Accept: "text/html" } };
    expect((await read("/search?q=zirconium", owner!, html)).text).toContain(HIDDEN);
    for (const drafts of ["", "&drafts=yes"])
      expect((await read(`/search?q=zirconium${drafts}`, other!, html)).text).not.toContain(HIDDEN);
  });

  it("answer others as an identifier that nobody has", async () => {
    const asked = (ark: string) => [
      `/${ark}`,
      `/dataset/${ark}`,
      `/${ark}?format=turtle`,
      `/${ark}?info`,
      `/dataset/${ark}/history`,
      `/dataset/${ark}?revision=1`,
      `/publish/${ark}`,
      `/dataset/download/${ark}`,
      `/evidencegraph/query/${ark}`,
      `/rocrate/summary/${ark}`,
      `/rocrate/ai-ready-score/${ark}`,
    ];
    for (const reader of [null, other!])
      for (const [index, path] of asked(HIDDEN).entries()) {
        const [hidden, nothing] = [
          await read(path, reader),
          await read(asked(NOTHING)[index]!, reader),
        ];
        expect([path, hidden.status, hidden.text.replaceAll(HIDDEN, NOTHING)]).toEqual([
          path,
          nothing.status,
          nothing.text,
        ]);
        expect(hidden.status).toBe(404);
      }
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      const to = (ark: string) =>
        server.request(method, `/${ark}`, {
          token: other!.token,
          ...(method === "DELETE"
            ? {}
            : { json: method === "PUT" ? bodyOf("dataset", other!.id, { "@id": ark }) : {} }),
        });
      const [hidden, nothing] = [await to(HIDDEN), await to(NOTHING)];
      expect([hidden.status, hidden.text.replaceAll(HIDDEN, NOTHING)]).toEqual([
        nothing.status,
        nothing.text,
      ]);
    }
  });

  it("have evidence for their owner, through private and open records alike", async () => {
    const nodes = async (query: string, reader: Reader) => {
      const { text } = await read(`/evidencegraph/query/${query}`, reader);
      const graph = JSON.parse(text) as { "@graph": { "@id": string; name?: string }[] };
      return graph["@graph"].map(({ "@id": id, name }) => `${id} ${name ?? ""}`).sort();
    };
    expect(await nodes(OPEN, owner!)).toEqual([
      `${HIDDEN} Zirconium table`,
      `${OPEN} An open table`,
      `${USED} Another table`,
    ]);
    expect(await nodes(`${HIDDEN}?direction=both`, owner!)).toEqual([
      `${HIDDEN} Zirconium table`,
      `${OPEN} An open table`,
      `${RUN} Zirconium run`,
      `${USED} Another table`,
    ]);
    expect(await nodes(`${OPEN}?direction=downstream`, owner!)).toEqual([
      `${OPEN} An open table`,
      `${RUN} Zirconium run`,
    ]);
    expect(await nodes(OPEN, other!)).toEqual([`${OPEN} An open table`]);
    expect(await nodes(RUN, owner!)).toEqual([
      `${HIDDEN} Zirconium table`,
      `${OPEN} An open table`,
      `${RUN} Zirconium run`,
      `${USED} Another table`,
    ]);
  });

  it("are counted in evidence as identifiers that nobody has", async () => {
    const [ofHidden, ofNothing] = ["ark:99999/private-names-one", "ark:99999/private-names-two"];
    for (const [ark, named] of [
      [ofHidden, HIDDEN],
      [ofNothing, NOTHING],
    ] as const)
      await create("/dataset", bodyOf("dataset", owner!.id, { "@id": ark, derivedFrom: [named] }));
    const html = { headers: { Accept: "text/html" } };
    const unknown = async (ark: string, reader: Reader) => {
      const { text } = await read(`/evidencegraph/query/${ark}`, reader);
      const graph = JSON.parse(text) as { hidden: object; dangling: object[] };
      const asked = `{ evidence(id: "${ark}") { hidden { unknown } } }`;
      const { data } = JSON.parse(await graphql(asked, reader)) as {
        data: { evidence: { hidden: { unknown: number } } };
      };
      const page = await read(`/evidence/${ark}`, reader, html);
      return [
        graph.hidden,
        graph.dangling.length,
        data.evidence.hidden.unknown,
        page.text.includes("1 record that you may not see, or that nobody registered here."),
      ];
    };
    for (const reader of [null, other!])
      for (const ark of [ofHidden, ofNothing])
        expect(await unknown(ark, reader)).toEqual([{ unknown: 1 }, 1, 1, true]);
    expect(await unknown(ofHidden, owner!)).toEqual([{}, 0, 0, false]);
  });

  it("say that they are, in GraphQL and on pages; open ones offer no anonymous link", async () => {
    for (const [ark, visibility] of [
      [HIDDEN, "PRIVATE"],
      [OPEN, "OPEN"],
    ]) {
      const answer = await graphql(`{ record(id: "${ark}") { visibility } }`, owner!);
      expect(JSON.parse(answer)).toMatchObject({ data: { record: { visibility } } });
    }
    const html = { headers: { Accept: "text/html" } };
    for (const [ark, isPrivate] of [
      [HIDDEN, true],
      [OPEN, false],
    ] as const) {
      const page = (await read(`/${ark}`, owner!, html)).text;
      expect(page.includes('<span class="badge draft">Private draft</span>'), ark).toBe(isPrivate);
      const links = (await read(`/reviewers/${ark}`, owner!, html)).text;
      expect(links.includes("Hide who made it"), ark).toBe(isPrivate);
    }
  });

  it("are open once they are published, a crate with its members", async () => {
    const published = await server.request("PUT", "/publish", {
      token: owner!.token,
      json: { "@id": CRATE, publicationStatus: "PUBLISHED" },
    });
    expect(published.status).toBe(200);
    for (const ark of [CRATE, `${CRATE}/zirconium.csv`])
      expect((await read(`/${ark}`, null)).status).toBe(200);
    expect((await read("/search/basic?query=zirconium", null)).text).toContain(CRATE);
    expect((await read(`/${HIDDEN}`, null)).status).toBe(404);
  });

  it("of somebody else within an open crate are in no list of its files for others", async () => {
    const form = new FormData();
    const shared = "ark:99999/private-shared";
    const files = ["plain.csv", "niobium/data.csv"];
    const archive = await zip({
      "ro-crate-metadata.json": metadata(
        files.map((name) => ({ "@id": name, "@type": "File", name })),
        { "@id": shared, name: "A shared crate" },
      ),
      ...Object.fromEntries(files.map((name) => [name, `a\n${name}\n`])),
    });
    form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
    const { token } = owner!;
    const made = await server.request("POST", "/rocrate/upload?visibility=private", {
      token,
      body: form,
    });
    expect(made.status).toBe(200);
    const handed = await server.request("PATCH", `/${shared}/niobium/data.csv`, {
      token: (await server.person("root", { admin: true })).token,
      json: { owner: other!.id },
    });
    expect(handed.status, handed.text).toBe(200);
    const published = await server.request("PUT", "/publish", {
      token,
      json: { "@id": shared, publicationStatus: "PUBLISHED" },
    });
    expect(published.status).toBe(200);
    const listed = async (reader: Reader) => {
      const answers = [
        (await read(`/rocrate/files/${shared}`, reader)).text,
        await graphql(
          `{ roCrate(id: "${shared}") { folder { nodes { name } totalCount } } }`,
          reader,
        ),
      ];
      return answers.map((text) => text.includes("niobium"));
    };
    expect(await listed(other!)).toEqual([true, true]);
    expect(await listed(owner!)).toEqual([false, false]);
    expect(await listed(null)).toEqual([false, false]);
    expect((await read(`/${shared}/niobium/data.csv`, null)).status).toBe(404);
  });

  it("are in their owner's evidence however many there are", async () => {
    const runs = Array.from({ length: 1_050 }, (_, at) => ({
      "@id": `#run${at}`,
      "@type": ["https://w3id.org/EVI#Computation", "CreateAction"],
      name: `Run ${at}`,
      usedDataset: { "@id": USED },
    }));
    const crate = await create("/rocrate/metadata?visibility=private", metadata(runs));
    expect(crate.status, crate.text.slice(0, 500)).toBe(200);
    const path = `/evidencegraph/query/${USED}?direction=downstream`;
    const countOf = ({ text }: { text: string }) => text.split("/entity/run").length - 1;
    const [own, others] = [await read(path, owner!), await read(path, other!)];
    expect([others.status, countOf(others)]).toEqual([200, 0]);
    const named = new Set(own.text.match(/\/entity\/run\d+-\w+/g));
    expect(named.size).toBe(1_050);
  });

  it("are in no feed, also for those who see them", async () => {
    const archived = "ark:99999/private-archived";
    const crate = await create(
      "/rocrate/metadata?visibility=private",
      metadata([], { "@id": archived, name: "An archive of osmium" }),
    );
    expect(crate.status).toBe(200);
    const json = { "@id": archived, publicationStatus: "ARCHIVED" };
    const { token } = owner!;
    expect((await server.request("PUT", "/publish", { token, json })).status).toBe(200);
    expect((await read(`/${archived}`, owner!)).text).toContain("osmium");
    for (const path of [
      "/feed",
      `/feed?owner=${owner!.id}`,
      "/feed?text=osmium",
      "/catalog",
      "/sitemap.xml?page=1",
      "/oai?verb=ListRecords&metadataPrefix=oai_dc",
      `/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier=${archived}`,
    ]) {
      const [own, others] = [await read(path, owner!), await read(path, null)];
      expect([path, /an archive of osmium/i.test(own.text)]).toEqual([path, false]);
      expect([path, own.status]).toEqual([path, others.status]);
    }
  });

  it("are made over GraphQL as well, one record or a crate", async () => {
    const ask = async (query: string, variables: object) => {
      const { text } = await server.request("POST", "/graphql", {
        json: { query, variables },
        token: owner!.token,
      });
      expect(text).not.toContain(`"errors"`);
      return JSON.parse(text) as { data: Record<string, Record<string, Record<string, string>>> };
    };
    const statuses = (ark: string) =>
      Promise.all([owner!, other!, null].map(async (who) => (await read(`/${ark}`, who)).status));
    const { data } = await ask(
      `mutation ($input: CreateSoftwareInput!) { createSoftware(input: $input) { software { id } } }`,
      {
        input: {
          visibility: "PRIVATE",
          software: {
            name: "A program",
            description: "Of one person, for now",
            owner: owner!.id,
            additionalProperties: {
              author: "Ada",
              dateModified: "2026-01-01",
              version: "1",
              format: "x",
            },
          },
        },
      },
    );
    expect(await statuses(data["createSoftware"]!["software"]!["id"]!)).toEqual([200, 404, 404]);
    const uploaded = await ask(
      `mutation ($input: UploadCrateInput!) { uploadCrate(input: $input) { submission { id } } }`,
      {
        input: { visibility: "PRIVATE", source: { metadata: metadata([]) } },
      },
    );
    const id = uploaded.data["uploadCrate"]!["submission"]!["id"]!;
    const crate = async () =>
      (await ask("query ($id: ID!) { submission(id: $id) { record { id } } }", { id })).data[
        "submission"
      ]!["record"]?.["id"];
    await expect.poll(crate, { timeout: 30_000 }).toMatch(/^ark:/);
    expect(await statuses((await crate())!)).toEqual([200, 404, 404]);
  });

  it("say so over REST, until they are published", async () => {
    const id = "ark:99999/said-to-be-private";
    const body = bodyOf("dataset", owner!.id, { "@id": id });
    const visibility = ({ headers }: { headers: Headers }) => headers.get("x-visibility");
    expect(visibility(await create("/dataset?visibility=private", body))).toBe("private");
    const paths = [`/${id}`, `/dataset/${id}`, `/${id}?format=turtle`, `/publish/${id}`];
    const stated = () =>
      Promise.all(paths.map(async (path) => visibility(await read(path, owner!))));
    expect(await stated()).toEqual(paths.map(() => "private"));
    const published = await server.request("PUT", "/publish", {
      token: owner!.token,
      json: { "@id": id, publicationStatus: "PUBLISHED" },
    });
    expect([published.status, visibility(published)]).toEqual([200, "open"]);
    expect(await stated()).toEqual(paths.map(() => "open"));
  });

  it("have identifiers of which others learn no more than that they are taken", async () => {
    const id = "ark:99999/zinc-sulfide";
    await create("/software?visibility=private", bodyOf("software", owner!.id, { "@id": id }));
    const root = (ark: string) => metadata([], { "@id": ark, name: "A crate" });
    const refusals = async () => {
      const body = bodyOf("dataset", other!.id, { "@id": "ark:99999/zincsulfide" });
      const made = await server.request("POST", "/dataset", { token: other!.token, json: body });
      const form = new FormData();
      const archive = await zip({ "ro-crate-metadata.json": JSON.stringify(root(id)) });
      form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
      const dry = await server.request("POST", "/rocrate/validate", {
        token: other!.token,
        body: form,
      });
      const crate = await server.request("POST", "/rocrate/metadata", {
        token: other!.token,
        json: root(id),
      });
      expect([made.status, dry.status, crate.status]).toEqual([409, 200, 409]);
      expect(made.text).toContain("ark:99999/zincsulfide is taken; choose another identifier");
      expect(dry.text).toContain("is the identifier of another record; give the crate another");
      expect(crate.text).toContain("is the identifier of another record; give the crate another");
      return [made.text, dry.text, crate.text];
    };
    const before = await refusals();
    for (const text of before) expect(text).not.toMatch(/software|user|delete|zinc-sulfide,/i);
    await server.request("DELETE", `/software/${id}`, { token: owner!.token });
    expect((await read(`/${id}`, owner!)).status).toBe(410);
    const now = await refusals();
    expect(now[0]).toBe(before[0]);
    for (const text of now) expect(text).not.toMatch(/software|user|delete/i);
  });

  it("are refused for users, groups, organizations and projects", async () => {
    const made = await create("/group?visibility=private", bodyOf("group", owner!.id));
    expect([made.status, made.text]).toEqual([422, expect.stringContaining("visibility")]);
    const unknown = await create("/dataset?visibility=secret", bodyOf("dataset", owner!.id));
    expect(unknown.status).toBe(422);
  });
});
