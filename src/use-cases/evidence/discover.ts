import { PROVENANCE, SUPPORTED_BY, type ProvenanceName } from "../../model/provenance.js";
import { iriTerm } from "../../stores/queries/iri.js";
import { eachCell, iriIn, rowsIn, tsvRows } from "../../stores/queries/tsv.js";
import type { Asking } from "./asking.js";
import { textsOf } from "./descriptions.js";
import { statedAs } from "./edge-names.js";
import { namesInUse } from "./names-in-use.js";
import type { Net, OneWay } from "./net.js";

const SUPPORT = iriTerm(SUPPORTED_BY);
/** With so few ends left and this far to go, one property path beats a query a step: 10 ms against 60 for 1000 steps. */
const FEW = 2;
const FAR = 16;

/** With no more edges than that, all are read in one query, which finds the nodes by itself; some megabytes of text. */
const AT_ONCE = 25_000;

/** `texts`: what records among the nodes say of themselves, asked for while the edges were read. */
export interface Discovered { texts?: Promise<string> }
export interface Discovery {
  /** Steps from the seeds. */
  depth: number;
  /** Nodes at which to stop, with all that is as near as the first of them. */
  until?: ReadonlySet<string>;
  /** With no more edges than that the descriptions of all nodes will be wanted. */
  describe?: number;
}

/**
 * Every edge on the way from the seeds in one direction, and those that lead out of what the depth allows. Cycles
 * end by themselves: no node is asked about twice.
 */
export async function discover(ask: Asking, net: Net, seeds: readonly string[], way: OneWay, { depth, until, describe = 0 }: Discovery): Promise<Discovered> {
  const seen = new Set(seeds);
  let frontier = [...seen];
  for (let step = 0; step <= depth && frontier.length > 0; step++) {
    if (frontier.length <= FEW && depth - step > FAR) {
      if (frontier.length === 1 && step === 0) return beyond(ask, net, frontier[0]!, way, describe);
      for (const start of frontier) await beyond(ask, net, start, way, 0);
      return {};
    }
    const next: string[] = [];
    await readEdges(ask, net, frontier, way, (node) => {
      if (seen.has(node)) return;
      seen.add(node);
      next.push(node);
    });
    frontier = next;
    if (until && frontier.some((node) => until.has(node))) break;
  }
  return {};
}

/** Adds every edge from one node on, however far. */
async function beyond(ask: Asking, net: Net, start: string, way: OneWay, describe: number): Promise<Discovered> {
  const nodes = closure(start, way);
  if (await isLone(ask, start, way)) return {};
  const arms = await armsOf(ask, way);
  if (arms.length === 0) return {};
  const tsv = await ask.table(`${edgesQuestion(`{ ${nodes} }`, arms)} LIMIT ${AT_ONCE}`);
  const rows = rowsIn(tsv);
  if (rows === 0) return {};
  if (rows < AT_ONCE) {
    // Asked before the edges are read, so that the engine works meanwhile.
    const texts = rows <= describe ? textsOf(ask, `{ ${nodes} }`, rows + 1) : undefined;
    texts?.catch(() => {});
    addEdges(net, tsv, arms);
    return texts ? { texts } : {};
  }
  const found: string[] = [];
  for (const [cell] of tsvRows(await ask.table(nodes))) found.push(net.know(iriIn(cell)!));
  await readEdges(ask, net, found, way);
  return {};
}

/**
 * Whether a node has no edge in one direction. Every edge has its inferred one, but those of a node to itself. A fifth
 * of the time of the question for the edges, and many records are asked about that rest on nothing.
 */
async function isLone(ask: Asking, start: string, way: OneWay): Promise<boolean> {
  const node = iriTerm(start);
  const edge = way === "upstream" ? `${node} ${SUPPORT} ?o` : `?o ${SUPPORT} ${node}`;
  return rowsIn(await ask.table(`SELECT ?o { { ${edge} } UNION { ${node} ?o ${node} } } LIMIT 1`)) === 0;
}

/** A node and all that lies beyond it, however far. One end of the path is always bound. */
const closure = (start: string, way: OneWay): string =>
  `SELECT DISTINCT ?n { ${way === "upstream" ? `${iriTerm(start)} ${SUPPORT}* ?n` : `?n ${SUPPORT}* ${iriTerm(start)}`} }`;

/** One way to state that a node rests on another, or another on it; `forward`: as the subject. */
interface Arm { name: ProvenanceName; forward: boolean }

const armsOf = async (ask: Asking, way: OneWay): Promise<Arm[]> =>
  (await namesInUse(ask)).map((name) => ({ name, forward: (PROVENANCE[name].support === "object") === (way === "upstream") }));

/** With the record that states each edge, and a column for each property: its IRI in every row would cost as much as the rest of the row. */
function edgesQuestion(pattern: string, arms: readonly Arm[]): string {
  const union = arms.map(({ name, forward }, index) => (forward ? `{ GRAPH ?g { ?n ${iriTerm(statedAs(name))} ?o${index} } }` : `{ GRAPH ?g { ?o${index} ${iriTerm(statedAs(name))} ?n } }`));
  return `SELECT ?n ?g ${arms.map((_, index) => `?o${index}`).join(" ")} { ${pattern} { ${union.join(" UNION ")} } }`;
}

function addEdges(net: Net, tsv: string, arms: readonly Arm[], each?: (node: string) => void): void {
  let last = "";
  let from: string | undefined;
  let lastGraph = "";
  let graph = "";
  eachCell(tsv, 2, (key, second, arm, cell) => {
    if (key !== last) [last, from] = [key, iriIn(key)];
    if (second !== lastGraph) [lastGraph, graph] = [second, iriIn(second)!];
    // Text where an identifier belongs is no edge.
    const to = iriIn(cell);
    if (from === undefined || to === undefined) return;
    const { name, forward } = arms[arm]!;
    if (forward) net.add(from, name, to, graph);
    else net.add(to, name, from, graph);
    each?.(to);
  });
}

/**
 * Adds what was stated, in any record, to make nodes rest on others (`upstream`) or others on them.
 * @param each told of every node that one of them leads to
 */
export async function readEdges(ask: Asking, net: Net, nodes: readonly string[], way: OneWay, each?: (node: string) => void): Promise<void> {
  const arms = await armsOf(ask, way);
  if (arms.length === 0) return;
  for await (const tsv of ask.tables(nodes, (values) => edgesQuestion(`VALUES (?n) { ${values} }`, arms))) addEdges(net, tsv, arms, each);
}
