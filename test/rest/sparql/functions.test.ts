import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer } from "../../support/server.js";
import { ask } from "../../support/sparql.js";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

async function rowsOf(query: string): Promise<string[]> {
  const { status, text } = await ask(server, query, { Accept: "text/tab-separated-values" });
  expect(status, text).toBe(200);
  return text.replace(/\n$/, "").split("\n").slice(1);
}

// SPARQL 1.1, section 17.6: a call of an unknown function raises an error.
describe("a function that the engine does not have", () => {
  it.each([
    ["SELECT ?n (<urn:f>(?n + 1) AS ?x) { VALUES ?n { 1 2 } }", ["1\t", "2\t"]],
    ["PREFIX : <urn:> SELECT (COALESCE(:f(), 'none') AS ?x) {}", ['"none"']],
    ["SELECT ?n { VALUES ?n { 1 2 } FILTER(<urn:f>(?n) || ?n = 2) }", ["2"]],
    ["SELECT * { VALUES ?n { 1 } BIND(<urn:f>(?n) AS ?x) }", ["1\t"]],
    ["SELECT (SUM(<urn:f>(?n)) AS ?x) { VALUES ?n { 1 2 } }", [""]],
    ["SELECT ?n { VALUES ?n { 2 1 } } ORDER BY <urn:f>(?n) ?n", ["1", "2"]],
    ["SELECT ?n { VALUES ?n { 1 } FILTER EXISTS { FILTER(!BOUND(?m)) } FILTER(<urn:f>(1)) }", []],
  ])("is an error of its expression: %s", async (query, rows) => {
    expect(await rowsOf(query)).toEqual(rows);
  });

  it("leaves casts and collections after a predicate unchanged", async () => {
    const integer = "<http://www.w3.org/2001/XMLSchema#integer>";
    expect(await rowsOf(`SELECT (${integer}("7") AS ?x) {}`)).toEqual(["7"]);
    expect(await rowsOf("SELECT ?s { ?s <urn:f> (1 2) }")).toEqual([]);
  });
});
