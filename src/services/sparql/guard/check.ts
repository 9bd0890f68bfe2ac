import sparqljs, { type Pattern, type Query, type SparqlQuery } from "sparqljs";
import { type ErrorCode, ServiceError } from "../../../errors.js";
import { hide, type Hidden, withoutUnknownFunctions } from "./rewrite.js";
import { placeOf, syntaxError } from "./scan.js";

export interface CheckLimits {
  SPARQL_MAX_PATTERNS: number;
  SPARQL_MAX_OPERATORS: number;
  SPARQL_MAX_VALUES: number;
  SPARQL_MAX_CLOSURES: number;
}

/** Facts about a query that may be run. */
export interface Checked {
  form: Query["queryType"];
  /** Graphs that FROM and FROM NAMED name, absolute; `undefined` without either. */
  from?: { default: string[]; named: string[] };
  /**
   * Variables of a `SELECT *`, in the order in which the query names them; `undefined` for other
   * queries, and where there are none.
   */
  columns?: string[];
  /**
   * The query rewritten so that it cannot match the service's own bookkeeping, where it might have
   * matched, or without functions that the engine does not have.
   */
  narrowed?: string;
}

/** A query for a thread. */
interface GuardRequest {
  text: string;
  base: string;
  limits: CheckLimits;
  hidden: Hidden | undefined;
  /** Shared with the caller: when the thread began, in ms since the epoch; 0 before. */
  began: Float64Array;
}
export type GuardReply =
  | { checked: Checked }
  | { refusal: { code: ErrorCode; message: string; extra: Record<string, unknown> } };

/**
 * Parses a query by the grammar of SPARQL 1.1 and refuses unsupported features, and queries that
 * exceed the engine's limits.
 * @param text as {@link import("./scan.js").scan} passed it
 * @param base IRI that relative ones are resolved against
 * @param hidden data that the query must not see
 * @throws ServiceError `QUERY_SYNTAX`, `QUERY_REFUSED`, `UPDATE_REFUSED`
 */
export function check(text: string, base: string, limits: CheckLimits, hidden?: Hidden): Checked {
  const query = parse(text, base);
  if (query.type === "update")
    throw new ServiceError(
      "UPDATE_REFUSED",
      "This is an update; /sparql answers queries only. Records are changed through REST " +
        "and GraphQL.",
    );
  measure(query, limits);
  const { queryType: form, from } = query;
  const reparse = (generated: string) => parse(generated, base);
  // An endpoint has functions of its own, and says itself which it does not have.
  const narrowed = hidden ? hide(query, hidden, reparse) : withoutUnknownFunctions(query, reparse);
  const columns =
    query.queryType === "SELECT" && isWildcard(query.variables)
      ? visibleIn(query.where ?? [], query.values)
      : [];
  return {
    form,
    ...(columns.length > 0 && { columns }),
    ...(narrowed !== undefined && { narrowed }),
    ...(from && {
      from: {
        default: from.default.map(({ value }) => value),
        named: from.named.map(({ value }) => value),
      },
    }),
  };
}

/**
 * {@link check} for a thread, in which a query that takes too long, or crashes the parser, harms no
 * other. The class of an error is lost on the way: a refusal is an answer.
 */
export function checkInThread({ text, base, limits, hidden, began }: GuardRequest): GuardReply {
  began[0] = Date.now();
  try {
    return { checked: check(text, base, limits, hidden) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { refusal: { code: error.code, message: error.message, extra: { ...error.extra } } };
  }
}

/** The part of jison's errors that states the place. */
interface Hash {
  loc?: { first_line: number; first_column: number; last_line: number; last_column: number };
  expected?: readonly string[];
}

/**
 * Reductions in the tables of sparqljs 3.7: `TriplesNode PropertyList?` in a template, and a name
 * with a prefix.
 */
const NODE_IN_TEMPLATE = 103;
const PREFIXED_NAME = 213;
type Parser = InstanceType<typeof sparqljs.Parser>;
/**
 * The function that jison calls at each reduction: the rule is the fifth argument, the stack of
 * values the sixth.
 */
type Reduce = (
  this: unknown,
  ...of: [string, number, number, unknown, number, unknown[], unknown]
) => unknown;

/** A separate parser for each query: a parser remembers prefixes. */
function parserFor(base: string): Parser {
  const parser = new sparqljs.Parser({ baseIRI: base }) as Parser & { performAction: Reduce };
  const { performAction } = parser;
  // sparqljs assumes that properties follow a node in brackets; in `CONSTRUCT { [ <p> ?s ] }` none
  // do.
  parser.performAction = function (...of) {
    const [, , , , rule, values] = of;
    if (rule === NODE_IN_TEMPLATE) values[values.length - 1] ??= [];
    // It leaves the backslashes of a name such as `c:d\?` in the IRI.
    if (rule === PREFIXED_NAME) values.push((values.pop() as string).replaceAll(/\\(.)/g, "$1"));
    return performAction.apply(this, of);
  };
  return parser;
}

function parse(text: string, base: string): SparqlQuery {
  try {
    return parserFor(base).parse(text);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof RangeError) throw error;
    const { loc } = (error as { hash?: Hash }).hash ?? {};
    const [summary = ""] = error.message.split("\n");
    if (!loc)
      throw syntaxError(
        summary.replace(/\.$/, "").replace(/ undefined$/, ""),
        error.message.startsWith("Lexical error") ? lexicalPlace(summary, text) : undefined,
      );
    // The place is that of the last valid token; the invalid one follows it.
    const [, expected, got] = /^Expecting (.*), got '(.*)'$/m.exec(error.message) ?? [];
    const what =
      expected === undefined
        ? summary
        : `${got === "EOF" ? "it ends too early" : `${got} does not fit here`}; ` +
          `expected ${expected.split(", ").slice(0, 8).join(", ")}`;
    throw syntaxError(what, nextToken(text, loc.last_line, loc.last_column));
  }
}

/** The first token after a place; lines count from 1, columns from 0, as jison reports them. */
function nextToken(text: string, line: number, column: number): { line: number; column: number } {
  let at = column;
  for (const ended of text.matchAll(/\r\n|\r|\n/g)) {
    if (--line === 0) break;
    at = ended.index + ended[0].length + column;
  }
  const between = /(?:\s|#[^\r\n]*)*/y;
  between.lastIndex = Math.min(at, text.length);
  const start = between.lastIndex;
  const [skipped = ""] = between.exec(text) ?? [];
  return placeOf(text, start + skipped.length);
}

function lexicalPlace(message: string, text: string): { line: number; column: number } {
  return {
    line: Number(/line (\d+)/.exec(message)?.[1] ?? placeOf(text, text.length).line),
    column: 1,
  };
}

const isWildcard = (variables: readonly unknown[]): boolean =>
  variables.length === 1 && (variables[0] as { termType?: string }).termType === "Wildcard";

/**
 * Variables that `*` stands for, in order of appearance: those in scope at the end of the group
 * (SPARQL 1.1, section 18.2.1). Variables that only FILTER, MINUS and EXISTS name are not in scope.
 */
function visibleIn(patterns: readonly Pattern[], values: readonly object[] | undefined): string[] {
  const names = new Set<string>();
  const term = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { termType, value, subject, predicate, object } = node as {
      termType?: string;
      value?: string;
    } & Record<string, unknown>;
    if (termType === "Variable" && value !== undefined) names.add(value);
    else if (termType === "Quad") [subject, predicate, object].forEach(term);
  };
  const rows = (all: readonly object[]): void => {
    for (const name of Object.keys(all[0] ?? {})) names.add(name.slice(1));
  };
  const visit = (pattern: Pattern): void => {
    switch (pattern.type) {
      case "bgp":
        for (const { subject, predicate, object } of pattern.triples)
          [subject, predicate, object].forEach(term);
        break;
      case "bind":
        term(pattern.variable);
        break;
      case "values":
        rows(pattern.values);
        break;
      case "query":
        if (isWildcard(pattern.variables))
          for (const name of visibleIn(pattern.where ?? [], pattern.values)) names.add(name);
        else
          for (const variable of pattern.variables)
            term("variable" in variable ? variable.variable : variable);
        break;
      case "filter":
      case "minus":
        break;
      default:
        if ("name" in pattern) term(pattern.name);
        if ("patterns" in pattern) pattern.patterns.forEach(visit);
    }
  };
  patterns.forEach(visit);
  if (values) rows(values);
  return [...names];
}

const PARTS = new Set([
  "bgp",
  "optional",
  "union",
  "group",
  "graph",
  "minus",
  "filter",
  "bind",
  "values",
  "query",
]);
const CALLS = new Set(["operation", "functionCall", "aggregate"]);
type Node = Readonly<Record<string, unknown>>;

/** Patterns of a node of the query, without those of its children. */
function patternsIn({ type, items, triples, variables, group, order }: Node): number {
  const results = Array.isArray(variables) ? (variables as Node[]) : [];
  const described = results.filter(
    (term) => "expression" in term || term["termType"] === "NamedNode",
  );
  return (
    (PARTS.has(type as string) ? 1 : 0) +
    lengthOf(triples) +
    lengthOf(items) +
    lengthOf(group) +
    lengthOf(order) +
    described.length
  );
}

/**
 * Counts the features that make a query slow to plan or deep to evaluate. Uses an explicit stack: a
 * tree may be as deep as the query is long.
 */
function measure(query: Query, limits: CheckLimits): void {
  const counts = {
    SPARQL_MAX_PATTERNS: 0,
    SPARQL_MAX_OPERATORS: 0,
    SPARQL_MAX_VALUES: 0,
    SPARQL_MAX_CLOSURES: 0,
  };
  const left: { node: unknown; closures: number }[] = [{ node: query, closures: 0 }];
  for (let next = left.pop(); next; next = left.pop()) {
    let { closures } = next;
    const { node } = next;
    if (typeof node !== "object" || node === null || "termType" in node) continue;
    if (Array.isArray(node)) {
      for (const item of node) {
        // A list within the arguments of IN.
        if (Array.isArray(item)) counts.SPARQL_MAX_VALUES += item.length;
        left.push({ node: item, closures });
      }
      continue;
    }
    const { type, pathType, values } = node as Node;
    if (type === "service")
      throw new ServiceError(
        "QUERY_REFUSED",
        "The query calls another service (SERVICE), which is not supported; query that " +
          "service directly.",
      );
    if (pathType === "*" || pathType === "+")
      counts.SPARQL_MAX_CLOSURES = Math.max(counts.SPARQL_MAX_CLOSURES, ++closures);
    counts.SPARQL_MAX_PATTERNS += patternsIn(node as Node);
    if (CALLS.has(type as string)) counts.SPARQL_MAX_OPERATORS++;
    if (Array.isArray(values))
      for (const row of values)
        counts.SPARQL_MAX_VALUES += Math.max(1, Object.keys(row as object).length);
    for (const [key, child] of Object.entries(node))
      if (key !== "prefixes" && key !== "template") left.push({ node: child, closures });
  }
  for (const [setting, what] of Object.entries(COUNTED) as [keyof CheckLimits, string][]) {
    if (counts[setting] > limits[setting])
      throw new ServiceError(
        "QUERY_REFUSED",
        `The query has ${what} ${counts[setting]}, more than ${limits[setting]} ` +
          `(${setting}); ask for less at a time.`,
      );
  }
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

const COUNTED: Readonly<Record<keyof CheckLimits, string>> = {
  SPARQL_MAX_PATTERNS: "triples, path steps and other parts numbering",
  SPARQL_MAX_OPERATORS: "operators and function calls numbering",
  SPARQL_MAX_VALUES: "terms in VALUES and IN numbering",
  SPARQL_MAX_CLOSURES: "* and + in a path nested as deep as",
};
