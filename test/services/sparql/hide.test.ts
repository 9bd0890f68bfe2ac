import fc from "fast-check";
import { Store } from "oxigraph";
import { afterAll, describe, expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.js";
import { CpuPool } from "../../../src/services/cpu-pool.js";
import { QueryGuard } from "../../../src/services/sparql/answer.js";
import { grammarQuery } from "../../support/sparql-grammar.js";

const HIDDEN = {
  prefix: "urn:arkgraph:projection",
  predicate: "urn:arkgraph:projection:at",
  graph: "urn:arkgraph:projection",
};
const BASE = "http://x/sparql";
const DATA = [
  "<ark:a> <http://p> <ark:b> <ark:a> .",
  '<ark:b> <http://q> "text" <ark:b> .',
  '<ark:a> <http://q> "other" <ark:b> .',
].join("\n");
const BOOKKEEPING =
  "<urn:arkgraph:projection> <urn:arkgraph:projection:at> <urn:arkgraph:projection:is:1> " +
  "<urn:arkgraph:projection> .";

function storeOf(text: string): Store {
  const store = new Store();
  store.load(text, { format: "application/n-quads" });
  return store;
}

describe("the bookkeeping of an endpoint", () => {
  const cpu = new CpuPool();
  const guard = new QueryGuard(readConfig({}), cpu, HIDDEN);
  afterAll(() => cpu.close());
  const without = storeOf(DATA);
  const withIt = storeOf(`${DATA}\n${BOOKKEEPING}`);
  const ask = (store: Store, query: string): string[] | string => {
    const answer = store.query(query, {
      results_format: "json",
      base_iri: BASE,
      use_default_graph_as_union: true,
    }) as string;
    const { results, boolean } = JSON.parse(answer) as {
      results?: { bindings: object[] };
      boolean?: boolean;
    };
    return (
      results?.bindings.map((row) => JSON.stringify(Object.entries(row).toSorted())).toSorted() ??
      String(boolean)
    );
  };

  it.each([
    "SELECT * { ?s ?p ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }",
    "SELECT * { GRAPH ?g { } }",
    "SELECT * { GRAPH ?g { } OPTIONAL { GRAPH ?g { ?s ?p ?o } } }",
    "SELECT (COUNT(?p) AS ?n) { ?s !<http://p> ?o }",
    "SELECT * { ?s !(<http://p>|^<http://q>) ?o }",
    "SELECT * { ?s !^<http://p> ?o }",
    "SELECT * { ?s <http://p>* ?o }",
    "SELECT * { ?s (<http://p>?/<http://q>*) ?o }",
    "SELECT * { ?s (<http://p>|!<http://q>)+ ?o }",
    "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?a ?b ?c } } UNION { ?s <http://p> ?o } }",
    "SELECT * { ?s <http://p> ?o MINUS { ?o ?q ?r } }",
    "SELECT * { ?s <http://p> ?o FILTER EXISTS { ?x ?y ?z FILTER(?y != <http://p> && ?y != " +
      "<http://q>) } }",
    'SELECT * { BIND(EXISTS { ?x ?y ?z FILTER(STRSTARTS(STR(?y), "urn")) } AS ?b) }',
    "SELECT * { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }",
    "SELECT ?p (COUNT(*) AS ?n) { [] ?p [] } GROUP BY ?p HAVING (COUNT(*) > 0) ORDER BY ?p LIMIT 5",
    'ASK { ?s ?p ?o FILTER(STRSTARTS(STR(?s), "urn:ark")) }',
    'SELECT * { BIND(IRI(CONCAT("urn:arkgraph", ":projection")) AS ?g) GRAPH ?g { ?s ?p ?o } }',
    'SELECT * { BIND(IRI(CONCAT("urn:arkgraph", ":projection")) AS ?s) ?s ?p ?o }',
    "SELECT * { ?s ?p ?o . ?o ?q ?r } ORDER BY DESC(?r) # comment",
    "PREFIX a: <http://> SELECT * { VALUES ?s { <ark:a> UNDEF } ?s ?p ?o } VALUES ?p { a:p a:q }",
  ])("is not seen by %s", async (query) => {
    const { text, narrowed } = await guard.check(query, BASE);
    expect(narrowed).toBeDefined();
    expect(ask(withIt, text)).toEqual(ask(without, query));
  });

  it.each([
    "SELECT ?s ?o { ?s <http://p> ?o }",
    "SELECT ?p ?o { <ark:a> ?p ?o }",
    "SELECT ?g ?s ?o { GRAPH ?g { ?s <http://p>+ ?o } }",
    "DESCRIBE <ark:a>",
  ])("needs no change of %s", async (query) => {
    const { text, narrowed } = await guard.check(query, BASE);
    expect([text, narrowed]).toEqual([query, undefined]);
  });

  it.each([
    "SELECT * { GRAPH <urn:arkgraph:projection> { ?s ?p ?o } }",
    "PREFIX p: <urn:arkgraph:> DESCRIBE p:projection",
    "SELECT * { ?s <urn:arkgraph:projection:at>* ?o }",
    "SELECT * { VALUES ?g { <urn:arkgraph:projection> } GRAPH ?g { ?s ?p ?o } }",
    "SELECT * FROM <urn:arkgraph:projection> { ?s ?p ?o }",
  ])("may not be named: %s", async (query) => {
    await expect(guard.check(query, BASE)).rejects.toMatchObject({ code: "QUERY_REFUSED" });
  });

  it("is not visible to any query of the grammar, and the query is otherwise unchanged", async () => {
    let narrowed = 0;
    let intricate = 0;
    for (const { text, service } of fc.sample(grammarQuery(), { numRuns: 600, seed: 11 })) {
      if (service || /CONSTRUCT|DESCRIBE/.test(text.split("WHERE")[0]!)) continue;
      const guarded = await guard.check(text, BASE).catch(({ message }: Error) => message);
      if (typeof guarded === "string") {
        expect(guarded).toContain("too complex");
        intricate++;
        continue;
      }
      if (guarded.narrowed === undefined) continue;
      narrowed++;
      let expected: string[] | string;
      try {
        expected = ask(without, text);
      } catch {
        continue;
      }
      if (/LIMIT|OFFSET|RAND|UUID|BNODE|SAMPLE|GROUP_CONCAT/i.test(text)) ask(withIt, guarded.text);
      else expect(ask(withIt, guarded.text), text).toEqual(expected);
    }
    expect(narrowed).toBeGreaterThan(50);
    expect(intricate).toBeLessThan(narrowed / 10);
  });
});
