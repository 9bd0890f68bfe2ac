/** The requests of RDF clients such as Comunica, and what they expect to find in the answers. */
import jsonld from "jsonld";
import { Parser, type Quad, Store } from "n3";
import { RdfXmlParser } from "rdfxml-streaming-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../../support/bodies.js";
import { type Person, startServer, type TestServer } from "../../support/server.js";

const NAME = "https://schema.org/name";
const KEYWORD = "https://schema.org/keywords";
const DATASETS = 60;

let server: TestServer;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = [await server.person("ada"), await server.person("bob")];
  for (let index = 0; index < DATASETS; index++)
    await server.request("POST", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id, {
        "@id": `ark:99999/set-${index}`,
        name: `Set ${index}`,
        keywords: [index % 2 === 0 ? "even" : "odd"],
      }),
    });
});
afterAll(async () => {
  expect(server.faults).toEqual([]);
  await server.stop();
});

const ACCEPTED = {
  SELECT: "application/sparql-results+json;q=1.0,application/sparql-results+xml;q=0.7",
  CONSTRUCT:
    "application/n-quads,application/trig;q=0.95,application/ld+json;q=0.9," +
    "application/n-triples;q=0.8,text/turtle;q=0.6,application/rdf+xml;q=0.5",
};

interface Answer {
  head: object;
  results: { bindings: Record<string, { type: string; value: string }>[] };
  boolean: boolean;
}
const send = (query: string, accept = ACCEPTED.SELECT, token?: string) =>
  server.request<Answer>("POST", "/sparql", {
    ...(token === undefined ? {} : { token }),
    headers: { Accept: accept, "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ query }).toString(),
  });
const rows = async (query: string) => {
  const { status, text, body } = await send(query);
  expect(status, text).toBe(200);
  return body.results.bindings;
};

/** The default graph of an RDF text, as a client reads it. */
async function defaultGraph(text: string, type: string, base: string): Promise<Quad[]> {
  if (type.endsWith("json")) {
    const lines = await jsonld.toRDF(JSON.parse(text) as object, {
      format: "application/n-quads",
      base,
    });
    return defaultGraph(lines as unknown as string, "application/n-quads", base);
  }
  const quads = type.endsWith("xml") ? await readXml(text, base) : new Parser().parse(text);
  return quads.filter(({ graph }) => graph.termType === "DefaultGraph");
}
const readXml = (text: string, base: string): Promise<Quad[]> =>
  new Promise((resolve, reject) => {
    const quads: Quad[] = [];
    const parser = new RdfXmlParser({ baseIRI: base });
    parser.on("data", (quad: Quad) => quads.push(quad));
    parser.on("error", reject).on("end", () => resolve(quads));
    parser.end(text);
  });

const RDF_TYPES = [
  "text/turtle",
  "application/n-triples",
  "application/n-quads",
  "application/ld+json",
  "application/rdf+xml",
];

describe("a record", () => {
  it.each([...RDF_TYPES, "application/trig", ACCEPTED.CONSTRUCT])(
    "has its statements in the default graph as %s",
    async (accept) => {
      const { status, headers, text } = await server.request("GET", "/ark:99999/set-0", {
        headers: { Accept: accept },
      });
      expect(status).toBe(200);
      const type = headers.get("content-type")!.split(";")[0]!;
      const found = await defaultGraph(text, type, `${server.url}/`);
      const names = new Store(found).getObjects("ark:99999/set-0", NAME, null);
      expect(names.map(({ value }) => value)).toEqual(["Set 0"]);
    },
  );
});

describe("the service description", () => {
  it("is the same graph in every listed type", async () => {
    const sizes = await Promise.all(
      RDF_TYPES.map(async (type) => {
        const { headers, text } = await server.request("GET", "/sparql", {
          headers: { Accept: type },
        });
        expect(headers.get("content-type")!.split(";")[0]).toBe(type);
        return (await defaultGraph(text, type, server.url)).length;
      }),
    );
    expect(new Set(sizes)).toEqual(new Set([sizes[0]]));
    expect(sizes[0]).toBeGreaterThan(10);
  });
});

describe("a client over the SPARQL protocol gets", () => {
  it("the rows of SELECT", async () => {
    const found = await rows(`SELECT ?s ?n WHERE { ?s <${KEYWORD}> "even". ?s <${NAME}> ?n }`);
    expect(found).toHaveLength(DATASETS / 2);
  });
  it("the truth of ASK", async () => {
    expect((await send(`ASK { ?s <${NAME}> "Set 3" }`)).body.boolean).toBe(true);
    expect((await send(`ASK { ?s <${NAME}> "Set x" }`)).body.boolean).toBe(false);
  });
  it.each(["CONSTRUCT WHERE { ?s <https://schema.org/name> ?n }", "DESCRIBE <ark:99999/set-1>"])(
    "the graph of %s",
    async (query) => {
      const { status, headers, text } = await send(query, ACCEPTED.CONSTRUCT);
      expect(status).toBe(200);
      const type = headers.get("content-type")!.split(";")[0]!;
      const names = new Store(await defaultGraph(text, type, server.url));
      expect(names.countQuads("ark:99999/set-1", NAME, null, null)).toBe(1);
    },
  );
  it("the count of a pattern, before it plans a join", async () => {
    const [row] = await rows(`SELECT (COUNT(*) AS ?cardinality) WHERE { ?s <${KEYWORD}> "odd". }`);
    expect(row!["cardinality"]!.value).toBe(String(DATASETS / 2));
  });
  it("a join by VALUES", async () => {
    const values = Array.from({ length: 16 }, (_, index) => `( <ark:99999/set-${index}> )`);
    const found = await rows(
      `SELECT ?n ?s WHERE { ?s <${NAME}> ?n. VALUES (?s) { ${values.join(" ")} } }`,
    );
    expect(found).toHaveLength(16);
  });
  it("all of 300 queries of a bound join, while another caller is served between them", async () => {
    const asked = Array.from({ length: 300 }, (_, index) =>
      send(
        `SELECT ?n WHERE { <ark:99999/set-${index % DATASETS}> <${NAME}> ?n. }`,
        ACCEPTED.SELECT,
        ada.token,
      ),
    );
    let answered = 0;
    for (const one of asked) void one.then(() => answered++);
    const other = await send(`ASK { ?s <${NAME}> "Set 3" }`, ACCEPTED.SELECT, bob.token);
    expect([other.status, answered < 300]).toEqual([200, true]);
    const answers = await Promise.all(asked);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers.every(({ body }) => body.results.bindings.length === 1)).toBe(true);
  });
});
