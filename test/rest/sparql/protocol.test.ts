import { Parser } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openOxigraphEngine } from "../../../src/storage/graph/oxigraph/index.js";
import { bodyOf } from "../../support/bodies.js";
import { select } from "../../support/select.js";
import { PASSWORD, startServer, type Person, type TestServer } from "../../support/server.js";
import { ask, type Results } from "../../support/sparql.js";

const NAME = "https://schema.org/name";
const NAMES =
  `SELECT DISTINCT ?name { ?record a <https://w3id.org/EVI#Dataset> ; <${NAME}> ?name } ORDER ` +
  "BY ?name";

let server: TestServer;
let ada: Person;
const datasets: string[] = [];
beforeAll(async () => {
  server = await startServer({ SPARQL_MAX_ROWS: "20" });
  ada = await server.person("ada");
  for (const name of ["Cells", 'Images, "raw"'])
    datasets.push(
      (
        await server.request<{ "@id": string }>("POST", "/dataset", {
          token: ada.token,
          json: { ...bodyOf("dataset", ada.id), "@id": `ark:99999/data-${datasets.length}`, name },
        })
      ).body["@id"],
    );
});
afterAll(() => server.stop());

const get = (query: string, headers: Record<string, string> = {}, more = "") =>
  server.request<Results & Record<string, string>>(
    "GET",
    `/sparql?query=${encodeURIComponent(query)}${more}`,
    { headers },
  );
const values = ({ results }: Results, name = "name") =>
  results!.bindings.map((row) => row[name]!.value);

describe("/sparql answers", () => {
  it("by GET, by a form and by a body, with and without /api and a final slash", async () => {
    const answers = await Promise.all([
      get(NAMES),
      ask(server, NAMES),
      ask(server, NAMES, {}, "/api/sparql/"),
      server.request<Results>("GET", `/sparql/?query=${encodeURIComponent(NAMES)}`),
      server.request<Results>("POST", "/sparql", { body: new URLSearchParams({ query: NAMES }) }),
      ask(server, NAMES, { "Content-Type": 'application/sparql-query; charset="utf-8"' }),
    ]);
    for (const answer of answers) {
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers.get("content-type")).toBe("application/sparql-results+json");
      expect(answer.headers.get("vary")).toBe("Accept");
      expect(answer.headers.has("x-truncated")).toBe(false);
      expect(values(answer.body)).toEqual(["Cells", 'Images, "raw"']);
    }
  });

  it("with every write that was answered before", async () => {
    for (let i = 0; i < 10; i++) {
      const made = await server.request<{ "@id": string }>("POST", "/software", {
        token: ada.token,
        json: { ...bodyOf("software", ada.id), name: `Version ${i}` },
      });
      const { body, headers } = await ask(
        server,
        `ASK { <${made.body["@id"]}> <${NAME}> "Version ${i}" }`,
      );
      expect(body.boolean).toBe(true);
      expect(Number(headers.get("x-as-of"))).toBeGreaterThanOrEqual(
        await server.deps.records.sequence(),
      );
      await server.request("DELETE", `/software/${made.body["@id"]}`, { token: ada.token });
      expect((await ask(server, `ASK { <${made.body["@id"]}> ?p ?o }`)).body.boolean).toBe(false);
    }
  });

  it.each([
    [NAMES, "application/json", "application/json", "{"],
    [NAMES, "application/sparql-results+xml", "application/sparql-results+xml", "<?xml"],
    [NAMES, "application/xml;q=0.5, image/png", "application/xml", "<?xml"],
    [NAMES, "text/csv", "text/csv; charset=utf-8", 'name\r\nCells\r\n"Images, ""raw"""\r\n'],
    [
      NAMES,
      "text/tab-separated-values",
      "text/tab-separated-values; charset=utf-8",
      '?name\n"Cells"\n"Images, \\"raw\\""\n',
    ],
    [NAMES, "text/*", "text/csv; charset=utf-8", "name"],
    ["ASK {}", "application/sparql-results+xml", "application/sparql-results+xml", "<?xml"],
    ["ASK {}", "*/*", "application/sparql-results+json", "{"],
    ["DESCRIBE <ark:99999/data-0>", "*/*", "text/turtle; charset=utf-8", "@prefix"],
    [
      "DESCRIBE <ark:99999/data-0>",
      "application/n-triples",
      "application/n-triples",
      "<ark:99999/data-0> ",
    ],
    [
      "DESCRIBE <ark:99999/data-0>",
      "application/n-quads",
      "application/n-quads",
      "<ark:99999/data-0> ",
    ],
    [
      `CONSTRUCT { ?r <${NAME}> ?n } { ?r <${NAME}> ?n }`,
      "application/ld+json",
      "application/ld+json",
      "[{",
    ],
    [
      `CONSTRUCT { ?r <${NAME}> ?n } { ?r <${NAME}> ?n }`,
      "application/json",
      "application/json",
      "[{",
    ],
    [`CONSTRUCT WHERE { ?r <${NAME}> ?n }`, "application/rdf+xml", "application/rdf+xml", "<?xml"],
  ])("%s as %s", async (query, accept, type, begin) => {
    for (const answer of [
      await get(query, { Accept: accept }),
      await ask(server, query, { Accept: accept }),
    ]) {
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers.get("content-type")).toBe(type);
      expect(answer.text.startsWith(begin), answer.text.slice(0, 100)).toBe(true);
    }
    const head = await server.request("HEAD", `/sparql?query=${encodeURIComponent(query)}`, {
      headers: { Accept: accept },
    });
    expect([head.status, head.headers.get("content-type"), head.text]).toEqual([200, type, ""]);
    expect(Number(head.headers.get("content-length"))).toBeGreaterThan(10);
  });

  it("as a page where that is preferred, for a query in the address", async () => {
    const accept = "application/xml;q=0.5, text/html";
    const page = await get(NAMES, { Accept: accept });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.text).toContain("Cells");
    const sent = await ask(server, NAMES, { Accept: accept });
    expect(sent.headers.get("content-type")).toBe("application/xml");
  });

  it(
    "from the requested graphs, in any spelling, by FROM or by parameters, which take " +
      "precedence",
    async () => {
      const [cells, images] = datasets as [string, string];
      const all = `SELECT DISTINCT ?name { ?r <${NAME}> ?name }`;
      expect(
        values((await get(`SELECT ?name FROM <${cells}> { ?r <${NAME}> ?name }`)).body),
      ).toEqual(["Cells"]);
      expect(values((await get(all, {}, `&default-graph-uri=${cells}`)).body)).toEqual(["Cells"]);
      expect(
        values(
          (await get(all, {}, `&default-graph-uri=${encodeURIComponent(`${server.url}/${cells}`)}`))
            .body,
        ),
      ).toEqual(["Cells"]);
      expect(
        values(
          (await get(all, {}, `&default-graph-uri=ark:/99999/data-0&default-graph-uri=${images}`))
            .body,
        ).toSorted(),
      ).toEqual(["Cells", 'Images, "raw"']);
      expect(
        values(
          (
            await get(
              `SELECT ?name FROM <${cells}> { ?r <${NAME}> ?name }`,
              {},
              `&default-graph-uri=${images}`,
            )
          ).body,
        ),
      ).toEqual(['Images, "raw"']);
      expect(
        values(
          (
            await get(
              `SELECT ?name { GRAPH ?g { ?g <${NAME}> ?name } }`,
              {},
              `&named-graph-uri=${images}`,
            )
          ).body,
        ),
      ).toEqual(['Images, "raw"']);
      expect(
        values(
          (await get(`SELECT ?name { ?g <${NAME}> ?name }`, {}, `&named-graph-uri=${images}`)).body,
        ),
      ).toEqual([]);
      expect(
        values((await get(`SELECT ?name { GRAPH <${cells}> { ?g <${NAME}> ?name } }`)).body),
      ).toEqual(["Cells"]);
      expect(values((await get(all, {}, "&default-graph-uri=ark:99999/unknown")).body)).toEqual([]);
      expect(await get(all, {}, "&default-graph-uri=http://elsewhere.example/data")).toMatchObject({
        status: 400,
        body: { code: "QUERY_REFUSED" },
      });
      expect(await get(all, {}, "&default-graph-uri=a%20b")).toMatchObject({
        status: 400,
        body: { code: "QUERY_REFUSED" },
      });
    },
  );

  it("no more rows than allowed, and reports it", async () => {
    const all = "SELECT ?s ?p ?o { ?s ?p ?o }";
    const json = await get(all);
    expect(json.headers.get("x-truncated")).toBe("SPARQL_MAX_ROWS=20");
    expect(json.body.results!.bindings).toHaveLength(20);
    expect((await get(all, { Accept: "text/csv" })).text.trimEnd().split("\r\n")).toHaveLength(21);
    expect(
      (await get(all, { Accept: "application/sparql-results+xml" })).text.match(/<result>/g),
    ).toHaveLength(20);
    const exact = await get(`${all} LIMIT 20`);
    expect([exact.body.results!.bindings.length, exact.headers.get("x-truncated")]).toEqual([
      20,
      null,
    ]);
    const graph = await get("CONSTRUCT WHERE { ?s ?p ?o }");
    expect(graph.headers.get("x-truncated")).toBe("SPARQL_MAX_ROWS=20");
    expect(new Parser().parse(graph.text)).toHaveLength(20);
  });

  it("with a service description, when there is no query", async () => {
    const SD = "http://www.w3.org/ns/sparql-service-description#";
    const turtle = await server.request("GET", "/sparql");
    expect(turtle.headers.get("content-type")).toBe("text/turtle; charset=utf-8");
    const quads = new Parser().parse(turtle.text);
    const objects = (predicate: string) =>
      quads
        .filter(
          ({ subject, predicate: { value } }) =>
            subject.value === `${server.url}/sparql` && value === SD + predicate,
        )
        .map(({ object }) => object.value);
    expect(objects("endpoint")).toEqual([`${server.url}/sparql`]);
    expect(objects("supportedLanguage")).toEqual([`${SD}SPARQL11Query`]);
    expect(objects("feature")).toEqual([`${SD}UnionDefaultGraph`]);
    const types: Record<string, [string, string]> = {
      SPARQL_Results_JSON: ["ASK {}", "application/sparql-results+json"],
      SPARQL_Results_XML: ["ASK {}", "application/sparql-results+xml"],
      SPARQL_Results_CSV: [NAMES, "text/csv"],
      SPARQL_Results_TSV: [NAMES, "text/tab-separated-values"],
      Turtle: ["DESCRIBE <a:b>", "text/turtle"],
      "N-Triples": ["DESCRIBE <a:b>", "application/n-triples"],
      "N-Quads": ["DESCRIBE <a:b>", "application/n-quads"],
      "JSON-LD": ["DESCRIBE <a:b>", "application/ld+json"],
      RDF_XML: ["DESCRIBE <a:b>", "application/rdf+xml"],
    };
    expect(objects("resultFormat").toSorted()).toEqual(
      Object.keys(types)
        .map((name) => `http://www.w3.org/ns/formats/${name}`)
        .toSorted(),
    );
    for (const [query, type] of Object.values(types)) {
      const { status, headers } = await get(query, { Accept: type });
      expect([status, headers.get("content-type")!.split(";")[0]]).toEqual([200, type]);
    }
    expect(
      new Parser().parse(
        (await server.request("GET", "/sparql", { headers: { Accept: "application/n-triples" } }))
          .text,
      ),
    ).toHaveLength(quads.length);
    expect(
      JSON.parse(
        (await server.request("GET", "/sparql", { headers: { Accept: "application/ld+json" } }))
          .text,
      ),
    ).toHaveLength(3);
    expect(
      await server.request("GET", "/sparql", { headers: { Accept: "text/csv" } }),
    ).toMatchObject({ status: 406, body: { code: "NOT_ACCEPTABLE" } });
    const page = await server.request("GET", "/sparql", {
      headers: { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
    });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });
});

describe("/sparql refuses", () => {
  it.each([
    ["GET", "/sparql?query=ASK%20%7B%7D&query=ASK%20%7B%7D", {}, undefined, 400, "BAD_REQUEST"],
    ["GET", "/sparql?default-graph-uri=ark:99999/x", {}, undefined, 400, "BAD_REQUEST"],
    ["GET", "/sparql?query=", {}, undefined, 400, "QUERY_SYNTAX"],
    ["GET", "/sparql?query=ASK%20%7B", {}, undefined, 400, "QUERY_SYNTAX"],
    ["GET", "/sparql?query=%FF", {}, undefined, 400, "BAD_REQUEST"],
    ["GET", "/sparql?update=CLEAR%20ALL", {}, undefined, 400, "UPDATE_REFUSED"],
    ["GET", "/sparql?query=CLEAR%20ALL", {}, undefined, 400, "UPDATE_REFUSED"],
    ["POST", "/sparql", {}, undefined, 400, "BAD_REQUEST"],
    [
      "POST",
      "/sparql",
      { "Content-Type": "application/x-www-form-urlencoded" },
      "update=CLEAR+ALL",
      400,
      "UPDATE_REFUSED",
    ],
    [
      "POST",
      "/sparql",
      { "Content-Type": "application/x-www-form-urlencoded" },
      "query=ASK%7B%7D&query=ASK%7B%7D",
      400,
      "BAD_REQUEST",
    ],
    [
      "POST",
      "/sparql?query=ASK%7B%7D",
      { "Content-Type": "application/sparql-query" },
      "ASK {}",
      400,
      "BAD_REQUEST",
    ],
    [
      "POST",
      "/sparql",
      { "Content-Type": "application/sparql-update" },
      "CLEAR ALL",
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "POST",
      "/sparql",
      { "Content-Type": "application/json" },
      "{}",
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "POST",
      "/sparql",
      { "Content-Type": "application/sparql-query; charset=utf-16" },
      "ASK {}",
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "POST",
      "/sparql",
      { "Content-Type": "application/sparql-query", Accept: "text/csv" },
      "ASK {}",
      406,
      "NOT_ACCEPTABLE",
    ],
    [
      "POST",
      "/sparql",
      { "Content-Type": "application/sparql-query", Accept: "text/turtle" },
      "SELECT * {}",
      406,
      "NOT_ACCEPTABLE",
    ],
    [
      "POST",
      "/sparql",
      { "Content-Type": "application/sparql-query", Accept: "application/sparql-results+json" },
      "DESCRIBE <a:b>",
      406,
      "NOT_ACCEPTABLE",
    ],
    ["PUT", "/sparql?query=ASK%20%7B%7D", {}, undefined, 405, "METHOD_NOT_ALLOWED"],
    ["DELETE", "/sparql", {}, undefined, 405, "METHOD_NOT_ALLOWED"],
  ] as const)("%s %s %j %s with %i %s", async (method, target, headers, body, status, code) => {
    const answer = await server.request(method, target, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
    expect([answer.status, answer.body["code"]], answer.text).toEqual([status, code]);
    if (status === 405) expect(answer.headers.get("allow")).toBe("GET, HEAD, POST");
    if (status === 406) expect(answer.headers.get("vary")).toBe("Accept");
  });

  it("nobody but callers with a wrong token", async () => {
    const ask = "/sparql?query=ASK%20%7B%7D";
    expect(await server.request("GET", ask)).toMatchObject({ status: 200 });
    expect(await server.request("GET", ask, { token: ada.token })).toMatchObject({ status: 200 });
    expect(await server.request("GET", ask, { token: "bad" })).toMatchObject({ status: 401 });
  });
});

describe("/sparql shows", () => {
  it("nothing private", async () => {
    const grace = await server.person("grace");
    await server.request("POST", "/user", {
      json: { name: "Adele", email: "adele@secret.example", password: PASSWORD },
    });
    // All of the graph, which is longer than answers of /sparql may be.
    const { records } = server.deps;
    const whole = await openOxigraphEngine({ openFeed: () => records.openFeed() });
    await whole.reach(await records.sequence(), 10_000);
    const everything = (
      await Promise.all(
        ["SELECT * { ?s ?p ?o }", "SELECT * { GRAPH ?g { ?s ?p ?o } }"].map((query) =>
          select(whole, query),
        ),
      )
    ).flatMap(({ rows }) => rows.flat());
    await whole.close();
    expect(everything).toContain("Adele");
    for (const word of [
      ada.email,
      grace.email,
      "adele@secret.example",
      PASSWORD,
      "$argon2",
      "password",
      ada.token,
      server.adminToken,
    ]) {
      expect(
        everything.filter((value) => value.includes(word)),
        word,
      ).toEqual([]);
      const { body, text } = await ask(
        server,
        "ASK { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } FILTER(CONTAINS(STR(?o), " +
          `${JSON.stringify(word)}) || CONTAINS(STR(?p), ${JSON.stringify(word)}) || ` +
          `CONTAINS(STR(?s), ${JSON.stringify(word)})) }`,
      );
      expect(body.boolean, `${word}: ${text}`).toBe(false);
    }
  });

  it("no fault in its log", () => expect(server.faults).toEqual([]));
});
