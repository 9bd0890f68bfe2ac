import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Parser } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { EXAMPLES } from "../../src/web/pages/explorers.js";
import { OAI_FORMATS } from "../../src/services/harvest/oai.js";
import { formatsOf } from "../../src/services/formats/table.js";
import type { KindName } from "../../src/model/kind.js";
import type { EvidenceGraph, EvidenceNode } from "../../src/services/evidence/types.js";
import { bodyOf } from "../support/bodies.js";
import { type Entity, metadata, zip } from "../support/crates.js";
import { type Person, startServer, type TestServer } from "../support/server.js";
import { ask } from "../support/sparql.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

/** In every text that the other user writes. */
const PLANTED = "Planted";
const PERSON = "https://orcid.org/0000-0002-1825-0097";
const ORGANIZATION = "https://ror.org/05dxps055";
const TOOL = "https://example.org/tools/aligner";
const LICENCE = "https://example.org/licences/lab";
const INSTRUMENT = "https://example.org/instruments/7";
const DATA = "https://example.org/data/plate.csv";
const RESULT = "https://example.org/data/counts.csv";
/** Nothing of the world describes it. */
const UNKNOWN = "https://orcid.org/0000-0001-5109-3700";
const URLS = [PERSON, ORGANIZATION, TOOL, LICENCE, INSTRUMENT, DATA, RESULT, UNKNOWN];

const CRATE = "ark:99999/first-crate";
const SECOND = "ark:99999/second-crate";
const THIRD = "ark:99999/third-crate";
const ref = (id: string): Entity => ({ "@id": id });
const called = (id: string, type: string, name: string, more: Entity = {}): Entity => ({
  "@id": id,
  "@type": type,
  name,
  description: `${name}, described.`,
  ...more,
});

/** A run by a person with a tool, whose inputs and results have URLs. */
const run = (word: string): Entity[] => [
  called(PERSON, "Person", `${word} Person`, { affiliation: ref(ORGANIZATION) }),
  called(ORGANIZATION, "Organization", `${word} Institute`),
  called(TOOL, "SoftwareApplication", `${word} Aligner`, { author: ref(PERSON) }),
  called(LICENCE, "CreativeWork", `${word} Licence`),
  called(INSTRUMENT, "evi:Instrument", `${word} Instrument`, { manufacturer: ref(ORGANIZATION) }),
  called(DATA, "Dataset", `${word} Plate`),
  called(RESULT, "Dataset", `${word} Counts`, { license: ref(LICENCE), author: ref(PERSON) }),
];
const counting: Entity = called("#run", "CreateAction", "Counting", {
  agent: [ref(PERSON), ref(UNKNOWN)],
  instrument: ref(TOOL),
  object: [ref(DATA), ref("plate.txt")],
  result: [ref(RESULT), ref("counts.txt")],
});
const root = {
  author: [ref(PERSON), ref(UNKNOWN)],
  publisher: ref(ORGANIZATION),
  license: ref(LICENCE),
};
const file = (id: string, more: Entity = {}): Entity => called(id, "File", `File ${id}`, more);
const CONTEXT = ["https://w3id.org/ro/crate/1.1/context", { evi: "https://w3id.org/EVI#" }];

let server: TestServer;
let owner: Person;
let colleague: Person;
let other: Person;
let arks: { ark: string; kind: KindName }[];

async function ok(work: Promise<{ status: number; text: string; body: unknown }>): Promise<Entity> {
  const { status, text, body } = await work;
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body as Entity;
}

async function upload(by: Person, id: string, entities: Entity[], more: Entity = {}) {
  const files = entities
    .map((entity) => entity["@id"] as string)
    .filter((name) => name.endsWith(".txt"));
  const form = new FormData();
  const archive = await zip({
    "ro-crate-metadata.json": metadata(
      entities,
      { "@id": id, hasPart: entities.map((entity) => ref(entity["@id"] as string)), ...more },
      CONTEXT,
    ),
    ...Object.fromEntries(files.map((name) => [name, `${id} ${name}`])),
  });
  form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
  const { submission } = await ok(
    server.request("POST", "/rocrate/upload", { token: by.token, body: form }),
  );
  expect(submission).toMatchObject({ success: true });
}
const publish = (by: Person, id: string) =>
  ok(
    server.request("PUT", "/publish", {
      token: by.token,
      json: { "@id": id, publicationStatus: "PUBLISHED" },
    }),
  );
const create = (by: Person, kind: KindName, body: Entity) =>
  ok(server.request("POST", `/${kind}`, { token: by.token, json: bodyOf(kind, by.id, body) }));

beforeAll(async () => {
  server = await startServer();
  [owner, colleague, other] = (await Promise.all(
    ["owner", "colleague", "other"].map((name) => server.person(name)),
  )) as [Person, Person, Person];
  await upload(owner, CRATE, [...run("Honest"), counting, file("plate.txt"), file("counts.txt")], {
    name: "First honest crate",
    ...root,
  });
  await publish(owner, CRATE);
  // It names people and tools by URL only.
  await upload(
    owner,
    SECOND,
    [
      called("#again", "CreateAction", "Counting again", {
        agent: ref(PERSON),
        instrument: ref(TOOL),
        object: ref(`${CRATE}/counts.txt`),
        result: ref("again.txt"),
      }),
      file("again.txt", { author: ref(PERSON), license: ref(LICENCE) }),
    ],
    { name: "Second honest crate", ...root },
  );
  // A third user describes the same URLs in other words, and depends on the first.
  await upload(
    colleague,
    THIRD,
    [
      called(PERSON, "Person", "A Colleague's Person"),
      called("#third", "CreateAction", "Counting elsewhere", {
        agent: ref(PERSON),
        instrument: ref(TOOL),
        object: ref(`${SECOND}/again.txt`),
        result: ref("third.txt"),
      }),
      file("third.txt"),
    ],
    { name: "Third honest crate", ...root },
  );
  await create(owner, "dataset", {
    "@id": "ark:99999/plain-dataset",
    name: "Plain honest dataset",
    author: "Ada Example",
    isPartOf: [ref(CRATE)],
    sameAs: DATA,
    creator: ref(PERSON),
    license: LICENCE,
  });
  await create(owner, "computation", {
    "@id": "ark:99999/plain-computation",
    name: "Plain honest computation",
    usedDataset: ["ark:99999/plain-dataset", DATA],
    usedSoftware: [TOOL],
    runBy: PERSON,
    agent: ref(PERSON),
    generated: [],
  });
  const { items } = await server.deps.records.select({
    filter: {},
    order: AS_CREATED,
    limit: 1000,
  });
  arks = items.flatMap(({ ark, kind }) => (kind === "user" ? [] : [{ ark, kind }]));
}, 120_000);
afterAll(() => server.stop());

const GRAPHQL = `query ($id: ID!) {
  record(id: $id) { id kind name description license document owner { id name }
    __typename linksOut: links(first: 100) { totalCount } }
  evidence(id: $id, direction: BOTH, assertedBy: OWNER) {
    nodes { id name description types } edges { source { id } name target { id } thirdParty }
    dangling { id } }
}`;

/** What differs from one moment to the next, and the number of third parties' statements. */
const steady = (text: string): string =>
  text
    .replace(/"asOf":\s*\d+/g, '"asOf":0')
    .replace(/asOf=\d+/g, "asOf=0")
    .replace(/nonce[-=]"?[\w+/=-]+/g, "nonce")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "now");
const withoutThirdParties = (text: string): string =>
  steady(text)
    .replace(/"hidden":\{[^}]*\}/g, '"hidden":{}')
    .replace(/^.*\d+ edges of third parties.*\n/gm, "")
    .replace(/ Not shown: \d+ statements of third parties\./g, "")
    .replace(/<text[^>]*>[^<]*statements of third parties[^<]*<\/text>\n/g, "")
    .replace(/^ {2}style note .*\n/gm, "")
    .replace(/(<svg [^>]*?) height="\d+" viewBox="[^"]*"/, "$1");

const EVIDENCE = ["json", "prov-json", "turtle", "dot", "mermaid", "svg"];

/** Queries of the documentation and of the page at /sparql. */
const DOCUMENTED = [
  ...Array.from(
    readFileSync(join(packageRoot, "docs", "sparql.md"), "utf8").matchAll(
      /^```sparql\n([\s\S]*?)^```/gm,
    ),
    ([, query]) => query!,
  ),
  ...Object.values(EXAMPLES),
];

/** The parts of a feed that a pattern finds, over all pages. */
async function pagesOf(
  path: string,
  part: RegExp,
  next: (page: string, headers: Headers) => string | undefined = () => undefined,
): Promise<string[]> {
  const found: string[] = [];
  for (let at: string | undefined = path; at !== undefined;) {
    const { status, text, headers } = await server.request("GET", at);
    expect([at, status]).toEqual([at, 200]);
    found.push(...Array.from(text.matchAll(part), ([piece]) => piece));
    at = next(text, headers);
  }
  return found;
}
const nextOf = (_page: string, headers: Headers): string | undefined =>
  /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];

/** The answers to requests about the records of the world. */
class Said {
  readonly answers = new Map<string, string>();

  async ask(path: string, accept = "*/*", change = steady): Promise<string> {
    const { status, text } = await server.request("GET", path, { headers: { Accept: accept } });
    this.answers.set(`${path} as ${accept}`, `${status} ${change(text)}`);
    return text;
  }

  /** Everything, without the numbers of estimates. */
  async all(): Promise<this> {
    for (const crate of [CRATE, SECOND, THIRD]) {
      await this.ask(`/rocrate/summary/${crate}`);
      await this.ask(`/rocrate/ai-ready-score/${crate}`);
      await this.ask(`/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier=${crate}`);
    }
    for (const { ark, kind } of arks) {
      for (const { name, isBinary } of formatsOf(kind))
        if (!isBinary) await this.ask(`/${ark}?format=${name}`);
      await this.ask(`/${ark}`, "text/html");
      await this.ask(`/${ark}?info`);
      await this.ask(`/history/${ark}`, "text/html");
      await this.evidence(ark, "anyone");
      await this.ask(`/evidence/${ark}`, "text/html");
      const { text } = await server.graphql(GRAPHQL, { id: ark });
      this.answers.set(`graphql ${ark}`, steady(text));
    }
    for (const word of ["honest", "counting", "file"]) {
      const { body } = await server.request<{ results: { "@id": string; score: number }[] }>(
        "GET",
        `/search/basic?query=${word}&limit=100`,
      );
      const found = body.results.filter((one) => arks.some(({ ark }) => ark === one["@id"]));
      expect(found.length).toBeGreaterThan(0);
      // The more records there are, the rarer is a word.
      for (const { score: _, ...rest } of found)
        this.answers.set(`search ${word} ${rest["@id"]}`, JSON.stringify(rest));
    }
    await this.feeds();
    await this.queries();
    return this;
  }

  /** What the feeds say of each record: they list the records of others too. */
  async feeds(): Promise<void> {
    const known = new Set(arks.map(({ ark }) => ark));
    const of = (id: string): string | undefined =>
      [id, id.slice(server.url.length + 1)].find((one) => known.has(one));
    const note = (feed: string, id: string, text: string): void => {
      const ark = of(id);
      if (ark !== undefined) this.answers.set(`${feed} of ${ark}`, steady(text));
    };
    for (const { prefix } of OAI_FORMATS)
      for (const record of await pagesOf(
        `/oai?verb=ListRecords&metadataPrefix=${prefix}`,
        /<record>.*?<\/record>/gs,
        (page) => {
          const token = /<resumptionToken[^>]*>([^<]+)</.exec(page)?.[1];
          return token && `/oai?verb=ListRecords&resumptionToken=${encodeURIComponent(token)}`;
        },
      ))
        note(prefix, /<identifier>([^<]*)</.exec(record)![1]!, record);
    for (const url of await pagesOf("/sitemap.xml?page=1", /<url>.*?<\/url>/gs))
      note("sitemap", /<loc>([^<]*)</.exec(url)![1]!, url);
    const catalogue = new Map<string, string[]>();
    for (const page of await pagesOf("/catalog", /^.*$/gs, nextOf))
      for (const { subject, predicate, object } of new Parser().parse(page)) {
        const said = `${predicate.value} ${object.termType === "BlankNode" ? "_:" : object.id}`;
        catalogue.set(subject.value, [...(catalogue.get(subject.value) ?? []), said]);
      }
    for (const [id, said] of catalogue) note("catalog", id, said.toSorted().join("\n"));
    const feeds = [...this.answers.keys()].filter((key) => key.endsWith(` of ${CRATE}`));
    expect(feeds).toHaveLength(OAI_FORMATS.length + 2);
  }

  /** What the graph of each record has, and what the documented queries of graphs find. */
  async queries(): Promise<void> {
    const rows = async (query: string): Promise<string[]> => {
      const { status, text } = await ask(server, query, { Accept: "text/csv" });
      if (status !== 200) throw new Error(`${status} ${text} ${query}`);
      return text.split("\r\n").slice(1).toSorted();
    };
    for (const { ark } of arks)
      for (const graph of [ark, `${ark}#inferred`]) {
        const query = `SELECT * { GRAPH <${graph}> { ?s ?p ?o } }`;
        this.answers.set(query, ["rows", ...(await rows(query))].join("\n"));
      }
    const own = DOCUMENTED.filter((query) => /\{\s*\?record\b/.test(query));
    expect(own.length).toBeGreaterThan(3);
    for (const query of own)
      for (const { ark } of arks) {
        const found = (await rows(query)).filter((row) => row.split(",").includes(ark));
        this.answers.set(`${query} of ${ark}`, ["rows", ...found].join("\n"));
      }
  }

  async evidence(ark: string, assertedBy: "owner" | "anyone", change = steady): Promise<void> {
    for (const direction of ["upstream", "downstream", "both"])
      for (const format of EVIDENCE)
        await this.ask(
          `/evidencegraph/query/${ark}?direction=${direction}&assertedBy=${assertedBy}` +
            (format === "json" ? "&statements=true" : `&format=${format}`),
          "*/*",
          change,
        );
    await this.ask(`/evidencegraph/impact/${ark}?assertedBy=${assertedBy}`, "*/*", change);
    await this.ask(
      `/evidencegraph/path/${ark}?to=${CRATE}&assertedBy=${assertedBy}`,
      "*/*",
      change,
    );
  }

  /** What the owners say. */
  async owned(): Promise<this> {
    for (const { ark } of arks) await this.evidence(ark, "owner", withoutThirdParties);
    return this;
  }

  differences(after: Said): string[] {
    return [...this.answers].flatMap(([request, text]) => {
      const now = after.answers.get(request)!;
      if (now === text) return [];
      let at = 0;
      while (text[at] === now[at]) at++;
      const around = (one: string): string => one.slice(Math.max(0, at - 80), at + 160);
      return [`${request}\n  before: ${around(text)}\n  after:  ${around(now)}`];
    });
  }
}

/** The nodes of evidence by its record and their identifiers, third parties included. */
async function nodes(): Promise<Map<string, EvidenceNode>> {
  const found = new Map<string, EvidenceNode>();
  for (const { ark } of arks)
    for (const direction of ["upstream", "downstream", "both"]) {
      const { body } = await server.request<EvidenceGraph>(
        "GET",
        `/evidencegraph/query/${ark}?direction=${direction}`,
      );
      for (const node of body["@graph"]) found.set(`${ark} ${direction} ${node["@id"]}`, node);
    }
  return found;
}

const plainly = ({ "@id": id, "@type": type, name, description, sameAs }: EvidenceNode) => ({
  id,
  type,
  name,
  description,
  sameAs,
});

const described = (): Entity[] => [
  ...run(PLANTED),
  called(UNKNOWN, "Person", `${PLANTED} Unknown`),
];

describe("what another user says about URLs that records of others name", () => {
  it("changes no answer about these records", async () => {
    const before = await new Said().all();
    const odd = [...before.answers].filter(([, text]) => !/^(?:200 |[^\d])/.test(text));
    // A format that the record lacks something for, and a path between records without one.
    for (const [request, text] of odd)
      expect([request, text.slice(0, 3)]).toEqual([request, expect.stringMatching(/^422|^404/)]);
    for (const name of ["a-planted-draft", "a-planted-release"])
      await upload(other, `ark:99999/${name}`, described(), { name: PLANTED, ...root });
    await publish(other, "ark:99999/a-planted-release");
    for (const [at, url] of URLS.entries())
      await create(other, "dataset", {
        "@id": `ark:99999/a-planted-${at}`,
        name: PLANTED,
        sameAs: url,
        about: { "@id": url, "@type": "Person", name: PLANTED, sameAs: ref(url) },
      });
    expect(before.differences(await new Said().all())).toEqual([]);
  }, 300_000);

  it("stands beside what their owners say, and names who says it", async () => {
    const [before, known] = [await new Said().owned(), await nodes()];
    await upload(
      other,
      "ark:99999/a-planted-claim",
      [
        ...described().map((entity): Entity => ({
          ...entity,
          "http://www.w3.org/ns/prov#wasDerivedFrom": ref("planted.txt"),
        })),
        called("#claim", "CreateAction", `${PLANTED} Run`, {
          agent: ref(PERSON),
          instrument: ref(TOOL),
          object: [ref("planted.txt"), ref(`${CRATE}/plate.txt`)],
          result: [ref(DATA), ref(RESULT), ref("out.txt"), ref(`${SECOND}/again.txt`)],
        }),
        file("planted.txt", { name: PLANTED }),
        file("out.txt", { name: PLANTED }),
      ],
      { name: PLANTED, ...root },
    );
    await create(other, "dataset", {
      "@id": "ark:99999/a-planted-part",
      name: PLANTED,
      about: [
        { "@id": CRATE, name: PLANTED, hasPart: ref("ark:99999/a-planted-claim") },
        { "@id": `${CRATE}/plate.txt`, name: PLANTED, isPartOf: ref("ark:99999/a-planted-claim") },
      ],
      isPartOf: [ref(CRATE)],
    });
    await ok(
      server.request("POST", "/api/v1/lineage", {
        token: other.token,
        json: {
          eventType: "COMPLETE",
          eventTime: "2026-11-24T10:00:00Z",
          producer: "https://example.org/scheduler",
          schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
          run: { runId: "0d3f1a70-5c7a-4f0e-9a44-3c1f8f3f9b1e" },
          job: { namespace: PLANTED, name: PLANTED },
          inputs: [
            { namespace: "https://example.org", name: "data/plate.csv" },
            { namespace: PLANTED, name: `${CRATE}/plate.txt` },
          ],
          outputs: [
            { namespace: "https://example.org/data", name: "counts.csv" },
            { namespace: PLANTED, name: `${CRATE}/counts.txt` },
          ],
        },
      }),
    );
    expect(before.differences(await new Said().owned())).toEqual([]);
    const now = await nodes();
    for (const [place, node] of known) {
      const after = now.get(place)!;
      expect([place, plainly(after)]).toEqual([place, plainly(node)]);
      expect(after.statements ?? []).toEqual(expect.arrayContaining(node.statements ?? []));
    }
    // The claims are there.
    expect(now.size).toBeGreaterThan(known.size);
  }, 300_000);
});
