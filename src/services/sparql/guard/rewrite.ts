import { randomUUID } from "node:crypto";
import sparqljs, {
  type IriTerm,
  type Pattern,
  type PropertyPath,
  type SelectQuery,
  type SparqlQuery,
  type Triple,
} from "sparqljs";
import { ServiceError } from "../../../errors.js";
import { type Token, tokens } from "./scan.js";

/** The service's own bookkeeping data in an endpoint. */
export interface Hidden {
  /** Beginning of all its IRIs. */
  prefix: string;
  /** The one predicate and the one graph of its statements. */
  predicate: string;
  graph: string;
}

type Node = Record<string, unknown>;
type Term = { termType: string; value: string };
type Path = { type: "path"; pathType: string; items: [Path | Term, ...(Path | Term)[]] };

const isTerm = (node: unknown): node is Term =>
  typeof node === "object" && node !== null && "termType" in node;
const isFree = (node: unknown): boolean =>
  isTerm(node) && node.termType !== "NamedNode" && node.termType !== "Literal";
const isVariable = (node: unknown): boolean => isTerm(node) && node.termType === "Variable";

/**
 * The query rewritten so that it cannot match the bookkeeping: patterns that could match it are
 * narrowed, so that counts and joins are right too. Queries without such patterns, nearly all, stay
 * as they were written.
 * @param parse parses a query like the original
 * @returns the narrowed query as text; `undefined` where no change was needed
 * @throws ServiceError `QUERY_REFUSED` for one that names the bookkeeping
 */
export function hide(
  query: SparqlQuery,
  hidden: Hidden,
  parse: (text: string) => SparqlQuery,
): string | undefined {
  const hiding = new Hiding(hidden);
  hiding.visit(query);
  if (!hiding.changed) return undefined;
  return generated(
    query,
    parse,
    "The query is too complex for a pattern that matches any predicate; name the " +
      "predicates, or write it in parts.",
  );
}

/** Casts are the only functions with an IRI that the built-in engine has (SPARQL 1.1, section 17.5). */
const CASTS = "http://www.w3.org/2001/XMLSchema#";

/**
 * The query with an error in the place of each call of a function that the built-in engine does not
 * have. SPARQL 1.1, section 17.6, makes such a call an error of its expression; the engine refuses
 * the whole query.
 * @param parse parses a query like the original
 * @returns the query as text; `undefined` where no change was needed
 * @throws ServiceError `QUERY_REFUSED`
 */
export function withoutUnknownFunctions(
  query: SparqlQuery,
  parse: (text: string) => SparqlQuery,
): string | undefined {
  let changed = false;
  // A tree may be as deep as the query is long.
  const left: unknown[] = [query];
  for (let node = left.pop(); left.length > 0 || node !== undefined; node = left.pop()) {
    if (typeof node !== "object" || node === null || isTerm(node)) continue;
    const part = node as Node;
    const called = part["type"] === "functionCall" ? (part["function"] as Term) : undefined;
    if (called && !called.value.startsWith(CASTS)) {
      delete part["function"];
      delete part["distinct"];
      Object.assign(part, anError());
      changed = true;
      continue;
    }
    for (const [key, child] of Object.entries(part)) if (key !== "prefixes") left.push(child);
  }
  if (!changed) return undefined;
  return generated(
    query,
    parse,
    "The query is too complex for an unknown function; leave the call out, or write the " +
      "query in parts.",
  );
}

/** An expression without a value: a division of integers by zero (SPARQL 1.1, section 17.4). */
const anError = (): object => AN_EXPRESSION.variables[0].expression;
const AN_EXPRESSION = new sparqljs.Parser().parse(
  "SELECT (1/0 AS ?error) {}",
) as unknown as SelectQuery & { variables: [{ expression: object }] };

/**
 * A changed query as text. The query that runs must mean the same as the changed one: should the
 * generator omit a bracket that the query needs, the query is refused.
 * @throws ServiceError `QUERY_REFUSED` with this message where it does not
 */
function generated(
  query: SparqlQuery,
  parse: (text: string) => SparqlQuery,
  refusal: string,
): string {
  const text = written(query);
  if (shapeOf(parsed(text, parse)) !== shapeOf(query))
    throw new ServiceError("QUERY_REFUSED", refusal);
  return text;
}

/**
 * The text of a query. The generator of sparqljs omits the brackets of nested paths, and of what
 * precedes IN: it gets a name in place of each, which is replaced by their text.
 */
function written(query: SparqlQuery): string {
  const texts = new Map<string, string>();
  const mark = `urn:part:${randomUUID()}:`;
  const named = (text: string): Term => {
    const iri = `${mark}${texts.size}`;
    texts.set(`<${iri}>`, text);
    return namedNode(iri);
  };
  const expressionText = (expression: unknown): string =>
    new sparqljs.Generator()
      .stringify({
        ...AN_EXPRESSION,
        variables: [{ ...AN_EXPRESSION.variables[0], expression }],
      } as never)
      .replace(/^SELECT \(/, "")
      .replace(/ AS \?error\) WHERE.*$/s, "");
  const copy = (node: unknown): unknown => {
    if (typeof node !== "object" || node === null || isTerm(node)) return node;
    if (Array.isArray(node)) return node.map(copy);
    if ((node as Node)["type"] === "path") return named(pathText(node as Path));
    const part = Object.fromEntries(
      Object.entries(node as Node).map(([key, value]) => [
        key,
        key === "prefixes" ? {} : copy(value),
      ]),
    );
    const { operator, args = [] } = part as { operator?: unknown; args?: unknown[] };
    const [first, ...others] = args;
    if ((operator === "in" || operator === "notin") && !isTerm(first))
      part["args"] = [named(`(${expressionText(first)})`), ...others];
    // It joins several conditions of HAVING within one pair of brackets.
    const { having } = part as { having?: unknown[] };
    if (having && having.length > 1)
      part["having"] = [named(having.map(expressionText).join(") ("))];
    return part;
  };
  const text = new sparqljs.Generator().stringify(copy(query) as SparqlQuery);
  const names = new RegExp(`<${mark}\\d+>`, "g");
  // What precedes IN may hold paths and other parts.
  const whole = (some: string): string =>
    some.replaceAll(names, (name) => whole(texts.get(name) ?? ""));
  return whole(text);
}

function pathText(path: Path | Term): string {
  if (isTerm(path)) return `<${path.value}>`;
  const { pathType, items } = path;
  const nested = (item: Path | Term): string =>
    isTerm(item) ? pathText(item) : `(${pathText(item)})`;
  if (pathType === "!") {
    // A predicate, or a set of them in brackets; each may be inverse.
    const member = (item: Path | Term): string =>
      isTerm(item) ? pathText(item) : `^${pathText(item.items[0])}`;
    const [inner] = items;
    return !isTerm(inner) && inner.pathType === "|"
      ? `!(${inner.items.map(member).join("|")})`
      : `!${member(inner)}`;
  }
  if (pathType === "^") return `^${nested(items[0])}`;
  return pathType === "/" || pathType === "|"
    ? items.map(nested).join(pathType)
    : `${nested(items[0])}${pathType}`;
}

function parsed(text: string, parse: (text: string) => SparqlQuery): SparqlQuery | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

class Hiding {
  changed = false;
  readonly #parts = new sparqljs.Parser();

  readonly #hidden: Hidden;

  constructor(hidden: Hidden) {
    this.#hidden = hidden;
  }

  /** Visits a part of a query, and narrows the groups in it. */
  visit(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if (isTerm(node)) {
      if (node.termType === "NamedNode" && node.value.startsWith(this.#hidden.prefix))
        throw new ServiceError(
          "QUERY_REFUSED",
          `IRIs that begin with ${this.#hidden.prefix} are the service's own.`,
        );
      return;
    }
    if (Array.isArray(node)) return node.forEach((item) => this.visit(item));
    const part = node as Node;
    if (part["type"] === "union") part["patterns"] = (part["patterns"] as Pattern[]).map(asGroup);
    if (part["operator"] === "exists" || part["operator"] === "notexists")
      part["args"] = (part["args"] as Pattern[]).map(asGroup);
    for (const [key, child] of Object.entries(part)) if (key !== "prefixes") this.visit(child);
    if (part["type"] === "path") this.#widenNegation(part as unknown as Path);
    for (const key of ["where", "patterns"]) {
      const patterns = part[key];
      if (Array.isArray(patterns) && part["type"] !== "union")
        // oxlint-disable-next-line arkgraph/spread-into-call -- SPARQL_MAX_PATTERNS at most
        patterns.push(...this.#filtersFor(patterns as Pattern[]));
    }
  }

  #filtersFor(patterns: readonly Pattern[]): Pattern[] {
    const filters = new Set<string>();
    for (const pattern of patterns) {
      if (pattern.type === "bgp")
        for (const triple of pattern.triples) this.#filter(triple, filters);
      if (
        pattern.type === "graph" &&
        isVariable(pattern.name) &&
        !pattern.patterns.some((inner) => inner.type === "bgp" && inner.triples.length > 0)
      ) {
        // Some engines remember graphs that are empty now; some bind no name where no pattern is
        // evaluated in the graph.
        const name = `?${pattern.name.value}`;
        filters.add(
          `FILTER(!BOUND(${name}) || (${name} != <${this.#hidden.graph}> && EXISTS { GRAPH ` +
            `${name} { ?s ?p ?o } }))`,
        );
      }
    }
    if (filters.size === 0) return [];
    this.changed = true;
    const { where = [] } = this.#parts.parse(`SELECT * { ${[...filters].join(" ")} }`) as {
      where?: Pattern[];
    };
    return where;
  }

  #filter({ subject, predicate, object }: Triple, filters: Set<string>): void {
    if (!isFree(subject) || !isFree(object)) return;
    if (isVariable(predicate))
      filters.add(`FILTER(?${(predicate as Term).value} != <${this.#hidden.predicate}>)`);
    // A path of length zero connects every node to itself, including the bookkeeping's own.
    else if (!isTerm(predicate) && mayBeEmpty(predicate)) {
      for (const end of [subject, object])
        if (isVariable(end))
          filters.add(`FILTER(!STRSTARTS(STR(?${(end as Term).value}), "${this.#hidden.prefix}"))`);
    }
  }

  /** `!(a|b)` matches every other predicate: the bookkeeping's predicate is added to the list. */
  #widenNegation(path: Path): void {
    if (path.pathType !== "!") return;
    const [inner] = path.items;
    const items: Path["items"] = isTerm(inner) || inner.pathType === "^" ? [inner] : inner.items;
    const inverse = items.every((item) => !isTerm(item));
    const own: Path | Term = namedNode(this.#hidden.predicate);
    path.items = [
      {
        type: "path",
        pathType: "|",
        items: [
          ...items,
          ...(inverse ? [{ type: "path", pathType: "^", items: [own] } as Path] : [own]),
          ...(!inverse && items.some((item) => !isTerm(item))
            ? [{ type: "path", pathType: "^", items: [own] } as Path]
            : []),
        ],
      },
    ];
    this.changed = true;
  }
}

const namedNode = (iri: string): Term =>
  (
    new sparqljs.Parser().parse(`ASK { ?s <${iri}> ?o }`) as unknown as {
      where: [{ triples: [{ predicate: Term }] }];
    }
  ).where[0].triples[0].predicate;

const asGroup = (pattern: Pattern): Pattern =>
  pattern.type === "bgp" || pattern.type === "graph"
    ? { type: "group", patterns: [pattern] }
    : pattern;

function mayBeEmpty(path: PropertyPath | IriTerm): boolean {
  if (isTerm(path)) return false;
  if (path.pathType === "*" || path.pathType === "?") return true;
  if (path.pathType === "!") return false;
  return path.pathType === "/" ? path.items.every(mayBeEmpty) : path.items.some(mayBeEmpty);
}

/** The query as text for comparison: names of blank nodes are the parser's own. */
function shapeOf(query: unknown): string {
  const names = new Map<string, string>();
  return JSON.stringify(plain(query), (_, value: unknown) => {
    if (!isTerm(value)) return value;
    if (value.termType !== "BlankNode") return `${value.termType} ${JSON.stringify(value)}`;
    if (!names.has(value.value)) names.set(value.value, `_:${names.size}`);
    return names.get(value.value);
  });
}

function plain(node: unknown): unknown {
  if (typeof node !== "object" || node === null || isTerm(node)) return node;
  if (Array.isArray(node)) return node.map(plain);
  const { prefixes: _, base: __, ...rest } = node as Node;
  // The parser removes the braces of an arm, or an argument, with one pattern.
  for (const key of rest["type"] === "union"
    ? ["patterns"]
    : rest["type"] === "operation"
      ? ["args"]
      : [])
    rest[key] = (rest[key] as Node[]).map(ungrouped);
  return Object.fromEntries(
    Object.entries(rest)
      .filter(([, value]) => value !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, value]) => [key, plain(value)]),
  );
}

const ungrouped = (arm: Node): unknown =>
  arm["type"] === "group" && (arm["patterns"] as Pattern[]).length === 1
    ? (arm["patterns"] as Pattern[])[0]
    : arm;

/** Functions whose values are all comparable with each other: their conditions stay as they are. */
const OF_ONE_KIND = new Set(["COUNT", "STR", "LCASE", "UCASE", "STRLEN", "BOUND", "RAND"]);
const AFTER_CONDITIONS = new Set(["LIMIT", "OFFSET", "VALUES"]);
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "{": "}" };

/**
 * The query with every ORDER BY made a total order. SPARQL 1.1, section 15.1, leaves open how a
 * number compares with a string, or a date and time with a time zone with one without. Oxigraph
 * compares such pairs as text and pairs of one kind by value, which contradict each other (9 < 10,
 * "10" < "9"); numbers of two types it compares in the less exact of them, in which 16777216 and
 * 16777217 are equal. Its sort ends the engine when it meets such a contradiction. Each condition
 * is therefore replaced by keys that are total each, see {@link keysOf}. Each kind is sorted by
 * section 15.1, and unbound values, blank nodes, IRIs and literals are in the order of that section.
 * @param text as {@link import("./scan.js").scan} passed it
 * @throws ServiceError `QUERY_REFUSED`
 */
export function inTotalOrder(text: string): string {
  if (!/\border\b/i.test(text)) return text;
  const all = [...tokens(text)];
  const textOf = ({ from, to }: Token): string => text.slice(from, to);
  const isWord = (at: number, word: string): boolean =>
    all[at]?.kind === "word" && textOf(all[at]).toUpperCase() === word;
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < all.length; at++) {
    if (!isWord(at, "ORDER") || !isWord(at + 1, "BY")) continue;
    at += 2;
    for (let end = conditionEnd(text, all, at); end > at; end = conditionEnd(text, all, at)) {
      const directed = isWord(at, "ASC") || isWord(at, "DESC");
      const [begin, first, last] = [all[at], all[directed ? at + 1 : at], all[end - 1]];
      if (!begin || !first || !last) break;
      const written = text.slice(first.from, last.to);
      // A pattern in it may have a subquery with an order of its own.
      const condition = inTotalOrder(written);
      const direction = directed ? textOf(begin) : "ASC";
      const ordered = isOfOneKind(condition)
        ? condition
        : keysOf(copiesOf(condition, condition !== written))
            .map((key) => `${direction}(${key})`)
            .join(" ");
      if (ordered !== written) {
        const { from } = ordered === condition ? first : begin;
        parts.push(text.slice(done, from), ordered);
        done = last.to;
      }
      at = end;
    }
    at--;
  }
  return parts.join("") + text.slice(done);
}

/** The token after the condition that begins at one; the same where none begins. */
function conditionEnd(text: string, all: readonly Token[], begin: number): number {
  const first = all[begin];
  if (!first) return begin;
  const token = text.slice(first.from, first.to);
  if (first.kind === "name" && /^[?$]/.test(token)) return begin + 1;
  if (first.kind === "word" && AFTER_CONDITIONS.has(token.toUpperCase())) return begin;
  // A bracketed expression, or a function (ASC and DESC look like one) and its arguments; EXISTS
  // has a pattern.
  let depth = 0;
  for (const [index, { kind, from }] of all.slice(begin).entries()) {
    if (kind !== "other") continue;
    const character = text.charAt(from);
    if (character in CLOSING) depth++;
    else if (depth === 0) return begin;
    else if ((character === ")" || character === "}") && --depth === 0) return begin + index + 1;
  }
  return begin;
}

function isOfOneKind(condition: string): boolean {
  const all = [...tokens(condition)];
  let at = 0;
  const textOf = ({ from, to }: Token): string => condition.slice(from, to).toUpperCase();
  const textAt = (place: number): string => (all[place] ? textOf(all[place]) : "");
  while (textAt(at) === "(") at++;
  if (textAt(at) === "NOT" && textAt(at + 1) === "EXISTS") at++;
  if (all[at]?.kind !== "word") return false;
  if (textAt(at) === "EXISTS" ? textAt(at + 1) !== "{" : !OF_ONE_KIND.has(textAt(at))) return false;
  // Only closing brackets follow the call: `STR(?a)`, not `STR(?a) < 2`.
  let depth = 0;
  for (const token of all.slice(at + 1)) {
    const character = token.kind === "other" ? textOf(token) : "";
    if (character in CLOSING) depth++;
    else if (character === ")" || character === "}") depth--;
    else if (depth <= 0) return false;
  }
  return true;
}

/**
 * The condition as often as it is asked for. The label of a blank node may stand in one pattern
 * only: each copy gets labels of its own.
 * @throws ServiceError `QUERY_REFUSED`
 */
function copiesOf(condition: string, hasOrder: boolean): () => string {
  // Each level would be copied with every copy of the level above.
  if (hasOrder)
    throw new ServiceError(
      "QUERY_REFUSED",
      "A condition of ORDER BY has a subquery with an ORDER BY of its own, which changes nothing " +
        "there; leave the inner one out.",
    );
  const labels = [...tokens(condition)].filter(
    ({ kind, from }) => kind === "name" && condition.startsWith("_:", from),
  );
  if (labels.length === 0) return () => condition;
  let mark = "copy";
  while (condition.includes(mark)) mark += "y";
  let copies = 0;
  return () => {
    const copy = ++copies;
    const parts: string[] = [];
    let done = 0;
    for (const { from, to } of labels) {
      parts.push(condition.slice(done, from), `_:${mark}${copy}_`, condition.slice(from + 2, to));
      done = to;
    }
    return parts.join("") + condition.slice(done);
  };
}

/**
 * Keys that sort as a condition does: the kind of its value, the value where values of that kind
 * are comparable, else its text, and what distinguishes equal ones. Numbers are compared as
 * decimals, which hold integers and decimals exactly, then as doubles: a float is a double, and a
 * decimal has too few digits for the smallest doubles. Those that are no decimal are kinds of their
 * own: very large ones, infinities and NaN. Numbers with one value are equal, whatever their types:
 * the next condition decides. All keys fail where the condition does, which then sorts first.
 * @param copy the condition; each copy may differ in the labels of its blank nodes
 */
function keysOf(copy: () => string): string[] {
  const decimal = (): string => `<${CASTS}decimal>(${copy()})`;
  const double = (): string => `<${CASTS}double>(${copy()})`;
  const numeric = (): string => `isNumeric(${copy()})`;
  // NaN is neither below 0 nor above; some engines make an error of the comparison.
  const size = `COALESCE(IF(${decimal()} = 0, "12", "12"), IF(${copy()} < 0, "11", "13"), "13")`;
  // TZ has a value for well-formed dates and times only, and an empty one for those without a time
  // zone.
  const moment = `CONCAT(IF(TZ(${copy()}) = "", "2", "3"), STR(DATATYPE(${copy()})))`;
  const number = `COALESCE(${decimal()}, ${double()})`;
  const literal = `COALESCE(IF(STRLEN(TZ(${copy()})) >= 0, ${copy()}, ""), STR(${copy()}))`;
  return [
    `IF(${numeric()}, ${size}, IF(isLiteral(${copy()}), COALESCE(${moment}, "4"), "0"))`,
    `IF(${numeric()}, ${number}, IF(isLiteral(${copy()}), ${literal}, ${copy()}))`,
    `IF(${numeric()}, ${double()}, ${copy()})`,
  ];
}
