import sparqljs, { type Pattern, type SparqlQuery, type Triple } from "sparqljs";
import { ServiceError } from "../../../errors.js";

/** What an endpoint holds for the service's own bookkeeping. */
export interface Hidden {
  /** Beginning of all its IRIs. */
  prefix: string;
  /** The one predicate and the one graph of its statements. */
  predicate: string;
  graph: string;
}

type Node = Record<string, unknown>;
type Term = { termType: string; value: string };
type Path = { type: "path"; pathType: string; items: (Path | Term)[] };

const isTerm = (node: unknown): node is Term => typeof node === "object" && node !== null && "termType" in node;
const isFree = (node: unknown): boolean => isTerm(node) && node.termType !== "NamedNode" && node.termType !== "Literal";
const isVariable = (node: unknown): boolean => isTerm(node) && node.termType === "Variable";

/**
 * The query with the bookkeeping out of its sight: patterns that could match it are narrowed, so that what is counted
 * and joined is right too. Queries without such patterns, nearly all, stay as they were written.
 * @param parse reads a query as it was read
 * @returns the narrowed query as text; `undefined` where nothing had to be done
 * @throws ServiceError `QUERY_REFUSED` for one that names the bookkeeping
 */
export function hide(query: SparqlQuery, hidden: Hidden, parse: (text: string) => SparqlQuery): string | undefined {
  const hiding = new Hiding(hidden);
  hiding.visit(query);
  if (!hiding.changed) return undefined;
  const text = new sparqljs.Generator().stringify(query);
  // What is run must be what was meant: the generator forgets brackets here and there.
  if (shapeOf(parsed(text, parse)) !== shapeOf(query)) throw new ServiceError("QUERY_REFUSED", "The query is too intricate for a pattern that matches any predicate; name the predicates, or write it in parts.");
  return text;
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

  constructor(private readonly hidden: Hidden) {}

  /** Looks over a part of a query, and narrows the groups in it. */
  visit(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if (isTerm(node)) {
      if (node.termType === "NamedNode" && node.value.startsWith(this.hidden.prefix)) throw new ServiceError("QUERY_REFUSED", `IRIs that begin with ${this.hidden.prefix} are the service's own.`);
      return;
    }
    if (Array.isArray(node)) return node.forEach((item) => this.visit(item));
    const part = node as Node;
    if (part["type"] === "union") part["patterns"] = (part["patterns"] as Pattern[]).map(asGroup);
    if (part["operator"] === "exists" || part["operator"] === "notexists") part["args"] = (part["args"] as Pattern[]).map(asGroup);
    for (const [key, child] of Object.entries(part)) if (key !== "prefixes") this.visit(child);
    if (part["type"] === "path") this.#widenNegation(part as unknown as Path);
    for (const key of ["where", "patterns"]) {
      const patterns = part[key];
      if (Array.isArray(patterns) && part["type"] !== "union") patterns.push(...this.#filtersFor(patterns as Pattern[]));
    }
  }

  #filtersFor(patterns: readonly Pattern[]): Pattern[] {
    const filters = new Set<string>();
    for (const pattern of patterns) {
      if (pattern.type === "bgp") for (const triple of pattern.triples) this.#filter(triple, filters);
      if (pattern.type === "graph" && isVariable(pattern.name) && !pattern.patterns.some((inner) => inner.type === "bgp" && inner.triples.length > 0)) {
        // Some engines remember graphs that hold nothing any more; some bind no name where nothing is looked up in the graph.
        const name = `?${pattern.name.value}`;
        filters.add(`FILTER(!BOUND(${name}) || (${name} != <${this.hidden.graph}> && EXISTS { GRAPH ${name} { ?s ?p ?o } }))`);
      }
    }
    if (filters.size === 0) return [];
    this.changed = true;
    const { where = [] } = this.#parts.parse(`SELECT * { ${[...filters].join(" ")} }`) as { where?: Pattern[] };
    return where;
  }

  #filter({ subject, predicate, object }: Triple, filters: Set<string>): void {
    if (!isFree(subject) || !isFree(object)) return;
    if (isVariable(predicate)) filters.add(`FILTER(?${(predicate as Term).value} != <${this.hidden.predicate}>)`);
    // A path of no length goes from every node to itself, the bookkeeping's own included.
    else if (!isTerm(predicate) && mayBeEmpty(predicate as unknown as Path)) {
      for (const end of [subject, object]) if (isVariable(end)) filters.add(`FILTER(!STRSTARTS(STR(?${(end as Term).value}), "${this.hidden.prefix}"))`);
    }
  }

  /** `!(a|b)` matches every other predicate: it gets one more. */
  #widenNegation(path: Path): void {
    if (path.pathType !== "!") return;
    const [inner] = path.items;
    const items = isTerm(inner) || inner?.pathType === "^" ? [inner] : inner!.items;
    const inverse = items.every((item) => !isTerm(item));
    const own: Path | Term = namedNode(this.hidden.predicate);
    path.items = [{ type: "path", pathType: "|", items: [...items, ...(inverse ? [{ type: "path", pathType: "^", items: [own] } as Path] : [own]), ...(!inverse && items.some((item) => !isTerm(item)) ? [{ type: "path", pathType: "^", items: [own] } as Path] : [])] }];
    this.changed = true;
  }
}

const namedNode = (iri: string): Term => (new sparqljs.Parser().parse(`ASK { ?s <${iri}> ?o }`) as unknown as { where: [{ triples: [{ predicate: Term }] }] }).where[0].triples[0].predicate;

const asGroup = (pattern: Pattern): Pattern => (pattern.type === "bgp" || pattern.type === "graph" ? { type: "group", patterns: [pattern] } : pattern);

function mayBeEmpty(path: Path | Term): boolean {
  if (isTerm(path)) return false;
  if (path.pathType === "*" || path.pathType === "?") return true;
  if (path.pathType === "!") return false;
  return path.pathType === "/" ? path.items.every(mayBeEmpty) : path.items.some(mayBeEmpty);
}

/** The query as text to compare: names of blank nodes are the parser's own. */
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
  // The parser takes the braces off an arm, or an argument, of one pattern.
  for (const key of rest["type"] === "union" ? ["patterns"] : rest["type"] === "operation" ? ["args"] : []) rest[key] = (rest[key] as Node[]).map(ungrouped);
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined).toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([key, value]) => [key, plain(value)]));
}

const ungrouped = (arm: Node): unknown => (arm["type"] === "group" && (arm["patterns"] as Pattern[]).length === 1 ? (arm["patterns"] as Pattern[])[0] : arm);
