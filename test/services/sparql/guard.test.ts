import * as fc from "fast-check";
import { afterAll, describe, expect, it, vi } from "vitest";
import { readConfig } from "../../../src/config/config.js";
import { ServiceError } from "../../../src/errors.js";
import { CpuPool } from "../../../src/services/cpu-pool.js";
import { type GuardLimits, QueryGuard } from "../../../src/services/sparql/answer.js";
import { check } from "../../../src/services/sparql/guard/check.js";
import { scan } from "../../../src/services/sparql/guard/scan.js";
import { grammarQuery } from "../../support/sparql-grammar.js";

const LIMITS: GuardLimits = readConfig({});
const BASE = "https://registry.example/sparql";
const cpu = new CpuPool();
const guard = new QueryGuard(LIMITS, cpu);
afterAll(() => cpu.close());

/** The code that a query is refused with; its form when it is not. */
async function verdict(query: string): Promise<string> {
  return guard.check(query, BASE).then(
    ({ form }) => form,
    (error: unknown) => {
      if (error instanceof ServiceError) return error.code;
      throw error;
    },
  );
}

describe("the guard accepts", () => {
  it.each([
    ["SELECT", "SELECT * { ?s ?p ?o }"],
    ["ASK", "ask {}"],
    ["CONSTRUCT", "CONSTRUCT WHERE { ?s ?p ?o }"],
    ["CONSTRUCT", "CONSTRUCT { [ <a:p> ?s ; <a:q> ?o ] . } WHERE { ?s ?p ?o }"],
    ["CONSTRUCT", "CONSTRUCT { ?s <a:p> ?o . (1 [ <a:q> 2 ]) . [ <a:p> ?s ] } WHERE { ?s ?p ?o }"],
    ["CONSTRUCT", "CONSTRUCT WHERE { [ <a:p> ?s ; <a:q> ?o ] . }"],
    ["DESCRIBE", "DESCRIBE <ark:99999/a>"],
    [
      "SELECT",
      "PREFIX service: <http://service.example/> SELECT ?service { ?service service:service " +
        "\"SERVICE\"@service ; service:load 'INSERT' }",
    ],
    ["SELECT", "# SERVICE <http://x/> {}\nSELECT * { ?s ?p <http://x/SERVICE> }"],
    ["SELECT", "SELECT * { ?s ?p '''it's \"SERVICE\" {{{{''' FILTER(?a<?b && ?c>?d) }"],
    ["SELECT", 'SELECT * { ?s ?p "a \\" } SERVICE { " }'],
    ["SELECT", "SELECT ?\\u0061 { ?a \\u0061 <http://x/\\u00e9> }"],
    ["SELECT", "PREFIX e: <http://e/> SELECT * { e:a\\,b e:c%20d e:\\~x }"],
    ["SELECT", "SELECT * { ?s (<a:p>/^<a:q>|!(<a:r>|^a))* ?o . [] <a:b> (1 2.5 true) }"],
  ])("%s: %s", async (form, query) => expect(await verdict(query)).toBe(form));
});

describe("the guard writes vocabularies with two spellings in that of the graph", () => {
  it.each([
    [
      "PREFIX s: <http://schema.org/> SELECT * { ?x s:name ?n }",
      "PREFIX s: <https://schema.org/> SELECT ?x ?n { ?x s:name ?n }",
    ],
    [
      "ASK { ?x <http://schema.org/name> ?y ; a <http://w3id.org/EVI#Dataset>, " +
        "<https://w3id.org/evi#Software> }",
      "ASK { ?x <https://schema.org/name> ?y ; a <https://w3id.org/EVI#Dataset>, " +
        "<https://w3id.org/EVI#Software> }",
    ],
    [
      "PREFIX p: <https://www.w3.org/ns/prov#> ASK { ?x p:used ?y }",
      "PREFIX p: <http://www.w3.org/ns/prov#> ASK { ?x p:used ?y }",
    ],
  ])("%s", async (written, meant) => expect((await guard.check(written, BASE)).text).toBe(meant));

  it.each([
    "SELECT ?x ?p { ?x ?p 'http://schema.org/' FILTER(?a<?b && ?c>?d) } # <http://schema.org/>",
    'ASK { ?x <https://schema.org/name> "<http://schema.org/name>" }',
    "ASK { ?x <http://schema.organisation.example/> <http://example.org/?u=http://schema.org/> }",
  ])("and leaves all else: %s", async (query) =>
    expect((await guard.check(query, BASE)).text).toBe(query),
  );

  it("reports places in the query as written, and limits its rows", async () => {
    const refused = await guard.check("SELECT * { ?x <http://schema.org/name> ?y ?z }", BASE).then(
      () => undefined,
      (error: unknown) => error as ServiceError,
    );
    expect(refused).toMatchObject({ code: "QUERY_SYNTAX", extra: { line: 1, column: 43 } });
    const guarded = await guard.check(
      "SELECT * { ?x <http://schema.org/name> ?y } LIMIT 900 VALUES ?x { <http://schema.org/a> }",
      BASE,
    );
    expect(guarded.bounded(7)).toBe(
      "SELECT ?x ?y { ?x <https://schema.org/name> ?y } LIMIT 7 VALUES ?x { " +
        "<https://schema.org/a> }",
    );
  });
});

describe("the guard names the columns of SELECT *", () => {
  it.each([
    [
      "SELECT * { ?z <a:p> ?a . OPTIONAL { ?b <a:q> ?z } BIND(1 AS ?c) FILTER(?hidden = 1) }",
      "z a b c",
    ],
    [
      "SELECT DISTINCT * { { ?x ?p ?o } UNION { ?x <a:b>/<a:c> ?y } MINUS { ?no <a:b> ?o } }",
      "x p o y",
    ],
    [
      "SELECT * { GRAPH ?g { ?s <a:b> [ <a:c> ?v ] } { SELECT ?inner (1 AS ?one) { ?inner " +
        "<a:b> ?not } } VALUES (?k ?l) { (1 2) } }",
      "g s v inner one k l",
    ],
    ["SELECT * { { SELECT * { ?b <a:b> ?a } } } VALUES ?w { 1 }", "b a w"],
    ["PREFIX s: <http://schema.org/> SELECT REDUCED * { ?x s:name ?n }", "x n"],
  ])("%s", async (query, columns) => {
    const { text } = await guard.check(query, BASE);
    expect(text).toContain(
      `${columns
        .split(" ")
        .map((name) => `?${name}`)
        .join(" ")} {`,
    );
    expect(text.replace(/\?[\w ?]+ \{/, "").includes("* {")).toBe(query.includes("SELECT * { ?b"));
  });
  it.each([
    "SELECT * {}",
    "SELECT * { <a:a> <a:b> <a:c> }",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "ASK { ?s ?p ?o }",
    "SELECT ?b ?a { ?a <a:b> ?b }",
  ])("and leaves %s", async (query) => expect((await guard.check(query, BASE)).text).toBe(query));
});

describe("the guard reads booleans in any case", () => {
  it.each([
    ["ASK { FILTER(TRUE) }", "ASK { FILTER(true) }"],
    ["ASK { ?s <a:b> True ; <a:TRUE> 'TRUE' , ?TRUE , TRUE:x }", undefined],
  ])("%s", async (query, meant) => {
    if (meant !== undefined) expect((await guard.check(query, BASE)).text).toBe(meant);
    else
      expect((await guard.check(`PREFIX TRUE: <a:> ${query}`, BASE)).text).toBe(
        `PREFIX TRUE: <a:> ASK { ?s <a:b> true ; <a:TRUE> 'TRUE' , ?TRUE , TRUE:x }`,
      );
  });
});

describe("the guard refuses", () => {
  it.each([
    ["SELECT * { SERVICE <http://localhost:1/> { ?s ?p ?o } }"],
    ["SELECT * { service silent <http://localhost:1/> {} }"],
    ["SELECT * { SERVICE#comment\n<http://localhost:1/> {} }"],
    ["SELECT * { ?a ?b ?c.SERVICE ?where {} }"],
    ["PREFIX a: <http://localhost/> SELECT * { { SELECT * { SERVICE a:b {} } } }"],
    ["SELECT * { FILTER EXISTS { SERVICE <http://localhost:1/> {} } }"],
    ["SELECT * { \\u0053ERVICE <http://localhost:1/> {} }"],
    ["SELECT * { S\\U00000045RVICE <http://localhost:1/> {} }"],
    ['SELECT * { ?s ?p """a\\"""" SERVICE <http://localhost:1/> {} }'],
    ["SELECT * { ?s ?p <http://x/it's> . SERVICE <http://localhost:1/> { ?a ?b 'x' } }"],
  ])("another service, however it is written: %s", async (query) =>
    expect(await verdict(query)).toBe("QUERY_REFUSED"),
  );

  it.each([
    "INSERT DATA { <a:a> <a:b> <a:c> }",
    "LOAD <http://localhost:1/>",
    "prefix a: <b:c> delete where { ?s ?p ?o }",
    "CLEAR ALL",
    "DROP SILENT DEFAULT",
    "CREATE GRAPH <a:b>",
    "ADD <a:b> TO <c:d>",
    "MOVE <a:b> TO <c:d>",
    "COPY DEFAULT TO <a:b>",
    "WITH <a:b> DELETE {} WHERE {}",
    "# c\n\\u0049NSERT DATA {}",
  ])("an update: %j", async (query) => expect(await verdict(query)).toBe("UPDATE_REFUSED"));

  it.each([
    ["1,000 nested braces", `SELECT * ${"{".repeat(1000)}${"}".repeat(1000)}`],
    ["1,000,000 open braces", `SELECT * ${"{".repeat(60_000)}`],
    [
      "deep brackets of a filter",
      `SELECT * { ?s ?p ?o FILTER(${"(".repeat(500)}1${")".repeat(500)}) }`,
    ],
    ["deep sub-queries", `SELECT * {${"{ SELECT * {".repeat(100)} ?s ?p ?o ${"} }".repeat(100)}}`],
    ["deep lists", `SELECT * { ?s ?p ${"(".repeat(100)}1${")".repeat(100)} }`],
    ["deep paths", `SELECT * { ?s ${"(".repeat(100)}<a:b>${")*".repeat(100)} ?o }`],
    ["a path of paths of paths", "SELECT * { ?s ((<a:b>*)+)* ?o }"],
    [
      "5,000 arms of a union",
      `SELECT * {${Array.from({ length: 5000 }).fill("{}").join("UNION")}}`,
    ],
    ["a long path", `SELECT * { ?s ${Array.from({ length: 200 }).fill("<a:p>").join("/")} ?o }`],
    ["a wide path", `SELECT * { ?s ${Array.from({ length: 200 }).fill("<a:p>").join("|")} ?o }`],
    ["many triples", `SELECT * { ${"?s ?p ?o . ".repeat(300)} }`],
    ["many optional parts", `SELECT * { ${"OPTIONAL { ?s ?p ?o } ".repeat(200)} }`],
    ["a long sum", `SELECT (${Array.from({ length: 2000 }).fill("1").join("+")} AS ?x) {}`],
    ["huge VALUES", `SELECT * { VALUES ?x { ${"1 ".repeat(20_000)} } }`],
    ["empty rows of VALUES", `SELECT * { VALUES () { ${"() ".repeat(20_000)} } }`],
    [
      "a long IN",
      `SELECT * { ?s ?p ?o FILTER(?o IN (${Array.from({ length: 20_000 }).fill("1").join(",")})) }`,
    ],
    [
      "many projected expressions",
      `SELECT ${Array.from({ length: 300 }, (_, i) => `(1 AS ?v${i})`).join(" ")} {}`,
    ],
    ["many described things", `DESCRIBE ${"<a:b> ".repeat(500)}`],
  ])("%s", async (_what, query) => expect(await verdict(query)).toBe("QUERY_REFUSED"));

  it("a query that is too long, whatever it holds", async () => {
    expect(await verdict(`SELECT * {} #${"x".repeat(10_000_000)}`)).toBe("TOO_LARGE");
    expect(await verdict("é".repeat(40_000))).toBe("TOO_LARGE");
  });

  it.each([
    ['SELECT * { ?s ?p "a }', 1, 18],
    ["SELECT *\n{ ?s ?p\n}", 3, 1],
    ["SELECT * { ?s ?p ?o", 1, 20],
    ["SELECT * ) {}", 1, 10],
    ["SELECT * {\r\n ?s ?p ?o ]", 2, 11],
    ["SELECT * { ?s ?p <a b> }", 1, 18],
    ["ASK {} extra", 1, 8],
    ["SELECT * { ?s\\u0020?p ?o }", 1, 14],
    ['SELECT * { ?s ?p "\0" }', 1, 19],
    ["SELECT * { \\u007B } }", 1, 12],
  ])("a malformed query, with the place: %j", async (query, line, column) => {
    await expect(guard.check(query, BASE)).rejects.toMatchObject({
      code: "QUERY_SYNTAX",
      status: 400,
      extra: { line, column },
      message: expect.stringContaining(`line ${line}, column ${column}`) as string,
    });
  });

  it.each([
    'SELECT * { ?s ?p "\ud800" }',
    "SELECT",
    "{",
    "",
    "\ufeff",
    "PREFIX a: <b:c>",
    'SELECT * { ?s ?p "\\uD800" }',
    "SELECT * { LATERAL { ?s ?p ?o } }",
    "SELECT * { <<( ?s ?p ?o )>> ?a ?b }",
  ])("invalid SPARQL 1.1: %j", async (query) => expect(await verdict(query)).toBe("QUERY_SYNTAX"));
});

describe("the guard", () => {
  it("returns the graphs that FROM names, absolute and without escapes", async () => {
    const { from } = await guard.check(
      "BASE <https://x.example/y/> PREFIX ark: <ark:> SELECT * FROM <z> FROM NAMED <ark:99999/a> " +
        "FROM NAMED ark:99999\\/b\\~1 {}",
      BASE,
    );
    expect(from).toEqual({
      default: ["https://x.example/y/z"],
      named: ["ark:99999/a", "ark:99999/b~1"],
    });
  });

  it.each([
    ["SELECT * {}", "SELECT * {}\nLIMIT 5"],
    ["SELECT * {} # end", "SELECT * {} # end\nLIMIT 5"],
    ["SELECT * {} LIMIT 3 OFFSET 1", "SELECT * {} LIMIT 3 OFFSET 1"],
    ["SELECT * {} OFFSET 1 limit\n300", "SELECT * {} OFFSET 1 limit\n5"],
    [
      "SELECT * { { SELECT * {} LIMIT 300 } } VALUES ?x { 1 }",
      "SELECT ?x { { SELECT * {} LIMIT 300 } } \nLIMIT 5\nVALUES ?x { 1 }",
    ],
    ["SELECT * {} LIMIT # 7\n 300 VALUES ?x { 1 }", "SELECT ?x {} LIMIT # 7\n 5 VALUES ?x { 1 }"],
    [
      "PREFIX limit: <a:b> SELECT ?limit { ?limit limit:limit 300 }",
      "PREFIX limit: <a:b> SELECT ?limit { ?limit limit:limit 300 }\nLIMIT 5",
    ],
  ])("bounds the rows of the outermost query: %s", async (query, expected) => {
    const guarded = await guard.check(query, BASE);
    expect(guarded.bounded(5)).toBe(expected);
    expect(check(guarded.bounded(5), BASE, LIMITS).form).toBe("SELECT");
  });

  it("refuses a query that takes too long to read, and no other", async () => {
    const hasty = new QueryGuard(
      {
        ...LIMITS,
        SPARQL_PARSE_TIMEOUT: 1,
        SPARQL_MAX_VALUES: 100_000,
      },
      cpu,
    );
    const slow = hasty.check(`SELECT * { VALUES ?x { ${"<a:b> ".repeat(10_000)} } }`, BASE);
    await expect(slow).rejects.toMatchObject({
      code: "QUERY_REFUSED",
      message: expect.stringContaining("SPARQL_PARSE_TIMEOUT") as string,
    });
    hasty.close();
    const retrying = new QueryGuard(LIMITS, cpu);
    const many = await Promise.all(
      Array.from({ length: 20 }, () => retrying.check("ASK {}", BASE)),
    );
    expect(many.map(({ form }) => form)).toEqual(Array.from({ length: 20 }).fill("ASK"));
    retrying.close();
    await expect(retrying.check("ASK {}", BASE)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  });

  it("parses the same query once, under the same base, and a refused one each time", async () => {
    const parsed = vi.spyOn(cpu, "run");
    const fresh = new QueryGuard(LIMITS, cpu);
    const once = "SELECT * FROM <z> { ?once ?b ?c }";
    const first = await fresh.check(once, BASE);
    const again = await fresh.check(once, BASE);
    const { bounded, refusal: _, ...rest } = first;
    expect(again).toMatchObject(rest);
    expect(again.bounded(5)).toEqual(bounded(5));
    expect(parsed).toHaveBeenCalledTimes(1);
    expect((await fresh.check(once, "https://other.example/")).from).toEqual({
      default: ["https://other.example/z"],
      named: [],
    });
    for (let time = 0; time < 2; time++)
      await expect(fresh.check("SELECT ?a { ?a ?b }", BASE)).rejects.toMatchObject({
        code: "QUERY_SYNTAX",
      });
    expect(parsed).toHaveBeenCalledTimes(4);
    parsed.mockRestore();
    fresh.close();
  });

  it("accepts or refuses any text without a fault", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc
        .array(
          fc.constantFrom(
            "SELECT",
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            "<",
            ">",
            '"',
            "'",
            "'''",
            '"""',
            "\\",
            "\\u0041",
            "#",
            "\n",
            "?x",
            "SERVICE",
            "a:b",
            ".",
            ";",
            "LIMIT",
            "1",
            "VALUES",
            "UNION",
            "*",
            "@en",
            "^^",
            "_:b",
            "\0",
            "\ud800",
            "é",
          ),
          { maxLength: 60 },
        )
        .map((parts) => parts.join(" ")),
    );
    fc.assert(
      fc.property(text, (query) => {
        try {
          check(scan(query, LIMITS).text, BASE, LIMITS);
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("parses every query of the grammar, and finds SERVICE in any place", () => {
    fc.assert(
      fc.property(grammarQuery(), ({ text, service }) => {
        if (service)
          expect(() => check(scan(text, LIMITS).text, BASE, LIMITS), text).toThrow(
            expect.objectContaining({ code: "QUERY_REFUSED" }) as Error,
          );
        else
          expect(["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"], text).toContain(
            check(scan(text, LIMITS).text, BASE, LIMITS).form,
          );
      }),
      { numRuns: 300 },
    );
  });
});
