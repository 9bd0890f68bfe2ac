import { XMLParser, XMLValidator } from "fast-xml-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../../support/bodies.js";
import { startServer, type TestServer } from "../../support/server.js";
import { ask } from "../../support/sparql.js";

const NAME = "Soil\u0002 cores\r below\u000b & above\uffff";
// eslint-disable-next-line no-control-regex
const NOT_IN_XML = /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|&#x?0*[12];/;

describe("control characters", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    const ada = await server.person("ada");
    const stored = await server.request("POST", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id, { "@id": "ark:99999/soil", name: NAME }),
    });
    expect(stored.status).toBe(200);
  });
  afterAll(() => server.stop());

  it.each([
    ["a name", "SELECT ?n { <ark:99999/soil> <https://schema.org/name> ?n }"],
    ["a literal of the query", 'SELECT ("a\\u0001b\\rc" AS ?n) {}'],
    ["a literal as it is in the query", 'SELECT ("""a\u0001b\rc""" AS ?n) {}'],
  ])("of %s never break results as XML", async (_what, query) => {
    const { status, text } = await ask(server, query, {
      Accept: "application/sparql-results+xml",
    });
    expect(status, text).toBe(200);
    expect(text).not.toMatch(NOT_IN_XML);
    expect(text).toContain("&#13;");
    expect(XMLValidator.validate(text)).toBe(true);
  });

  it.each(["DESCRIBE <ark:99999/soil>", 'CONSTRUCT { <urn:a> <urn:b> "a\\u0001b\\rc" } WHERE {}'])(
    "never break the graph of %s as RDF/XML",
    async (query) => {
      const { status, text } = await ask(server, query, { Accept: "application/rdf+xml" });
      expect(status, text).toBe(200);
      expect(text).not.toMatch(NOT_IN_XML);
      expect(XMLValidator.validate(text)).toBe(true);
      expect(new XMLParser().parse(text)).toBeTypeOf("object");
    },
  );

  it("are in the answer as JSON", async () => {
    const { body } = await ask(
      server,
      "SELECT ?n { <ark:99999/soil> <https://schema.org/name> ?n }",
    );
    expect(body.results?.bindings[0]!["n"]!.value).toBe(NAME);
  });
});

describe("a malformed query is answered with its place in the query that was sent", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());
  it.each<[string, string, { line: number; column: number } | "none or at most the end"]>([
    ["the end", "SELECT * {\n  ?s ?p", { line: 2, column: 8 }],
    ["after escapes", "SELECT ?\\u0061 { ?\\u0061 ?p ] }", { line: 1, column: 29 }],
    [
      "after escapes in an IRI",
      "SELECT * { <urn:\\u0061\\u0062> ?p ?o ?x }",
      { line: 1, column: 37 },
    ],
    [
      "a variable that is not grouped, which the engine finds",
      "SELECT ?s ?o\n{ ?s ?p ?o }\nGROUP BY ?s",
      "none or at most the end",
    ],
    [
      "a bound variable that is bound again, beside a rewritten order",
      "SELECT ?s {\n ?s ?p ?o BIND(1 AS ?s) } ORDER BY ?o",
      "none or at most the end",
    ],
  ])("%s", async (_where, query, place) => {
    const { status, body } = await ask(server, query);
    expect(status, JSON.stringify(body)).toBe(400);
    const { line, column } = body as { line?: number; column?: number };
    if (place !== "none or at most the end") expect({ line, column }).toEqual(place);
    else if (line !== undefined) {
      const lines = query.split("\n");
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1);
    }
  });
});
