import * as fc from "fast-check";

/** A query that follows the grammar, and whether a SERVICE was put into it. */
export interface MadeQuery {
  text: string;
  service: boolean;
}

const pick = (...texts: string[]) => fc.constantFrom(...texts);
const VARIABLE = pick("?a", "?b", "$c", "?SERVICE", "?limit");
const TERM = fc.oneof(
  VARIABLE,
  pick(
    "<a:b>",
    "<http://x/#SERVICE>",
    "_:b1",
    "1",
    "-2.5",
    "1e3",
    "true",
    '"x"',
    "'y'@en",
    '"""SERVICE " { """',
    '"1"^^<a:t>',
    "[]",
    "[ a <a:b> ]",
    "(1 2)",
  ),
);
const VERB = fc.oneof(
  VARIABLE,
  pick(
    "a",
    "<a:p>",
    "<a:p>/<a:q>",
    "^<a:p>",
    "(<a:p>|!<a:q>)",
    "<a:p>*",
    "(<a:p>/<a:q>)+",
    "<a:p>?",
    "!(<a:p>|^<a:q>)",
  ),
);
const EXPRESSION: fc.Arbitrary<string> = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3 },
    VARIABLE,
    pick("1", '"a"', "<a:b>", "NOW()", "BOUND(?a)", "EXISTS { ?a ?b ?c }"),
    fc
      .tuple(
        tie("expression"),
        pick("+", "-", "*", "/", "=", "!=", "<", ">=", "&&", "||"),
        tie("expression"),
      )
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc
      .tuple(pick("STR", "LANG", "!", "UCASE", "isIRI"), tie("expression"))
      .map(([name, argument]) => `${name}(${argument})`),
    tie("expression").map((argument) => `(${argument} IN (1, "x"))`),
  ),
})).expression;
const SPACE = pick(" ", "\n", " # SERVICE {\n", "\t");

/** Queries by the grammar of SPARQL 1.1, with comments and strings that contain SPARQL syntax. */
export function grammarQuery(): fc.Arbitrary<MadeQuery> {
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4 },
      fc
        .tuple(TERM, VERB, TERM)
        .map(
          ([subject, verb, object]) =>
            `${subject.startsWith('"') || /^['\d-]|^true/.test(subject) ? "?s" : subject} ` +
            `${verb} ${object} .`,
        ),
      EXPRESSION.map((expression) => `FILTER(${expression})`),
      pick('VALUES (?v ?w) { (1 UNDEF) ("a" <a:b>) }', "VALUES ?z { 1 }"),
      tie("pattern").map((inner) => `OPTIONAL { ${inner} }`),
      tie("pattern").map((inner) => `MINUS { ${inner} }`),
      tie("pattern").map((inner) => `GRAPH ?g { ${inner} }`),
      tie("pattern").map((inner) => `{ SELECT * WHERE { ${inner} } LIMIT 3 }`),
      fc
        .tuple(tie("pattern"), tie("pattern"))
        .map(([one, other]) => `{ ${one} } UNION { ${other} }`),
    ),
  }));
  const service = pick(
    "SERVICE <http://x/> {}",
    "service silent ?x { ?a ?b ?c }",
    "\\u0053ERVICE<a:b>{}",
  );
  return fc
    .record({
      patterns: fc.array(pattern, { maxLength: 3 }),
      service: fc.option(service, { nil: undefined, freq: 1 }),
      space: SPACE,
      head: pick(
        "SELECT *",
        "SELECT DISTINCT ?a ?b",
        "ASK",
        "CONSTRUCT { ?a <a:b> ?b }",
        "DESCRIBE ?a",
        "SELECT (1 AS ?one)",
      ),
      tail: pick("", " ORDER BY ?a", " LIMIT 3", " OFFSET 2 LIMIT 1"),
    })
    .map(({ patterns, service: hidden, space, head, tail }) => ({
      text:
        `PREFIX service: <http://x/>${space}${head}${space}WHERE ` +
        `{${space}${[...unlabelled(patterns), ...(hidden ? [hidden] : [])].join(space)}${space}}${tail}`,
      service: hidden !== undefined,
    }));
}

/** A blank node's label may stand in one basic graph pattern only (SPARQL 1.1, section 4.1.4). */
function unlabelled(patterns: readonly string[]): string[] {
  let count = 0;
  return patterns.map((pattern) => pattern.replaceAll("_:b1", () => `_:n${++count}`));
}
