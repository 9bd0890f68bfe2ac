import { parseArk } from "../../identifiers/ark.js";
import {
  eachCell,
  iriTerm,
  type QueryEngine,
  type QueryOptions,
  rowsIn,
  textIn,
} from "../../storage/graph/port.js";
import type { RecordStore } from "../../storage/records/port.js";
import type { Edge, OneWay } from "./edges.js";
import { compactType, DESCRIPTION_LENGTH, type GroupMarks, IRIS } from "./types.js";

/** `types` and `records` hold each value once. */
export interface Description {
  types: string[];
  name?: string;
  description?: string;
  records: string[];
  /** Present if it stands for similar siblings. */ group?: GroupMarks;
}

/** Fragment of the identifiers of objects inside a record. */
const EMBEDDED = "#genid-";

/**
 * The record that a node is part of; `undefined` for a node that is a record, and for a node
 * outside all records.
 */
export function holderOf(node: string): string | undefined {
  const at = node.indexOf(EMBEDDED);
  return at > 0 ? node.slice(0, at) : undefined;
}

/** Determines the records whose descriptions of URLs count: `[url, record]`. */
interface Describers {
  describers(urls: readonly string[]): Promise<[string, string][]>;
}

/**
 * The records that state to stand for these URLs, whoever owns them: `[url, record]`. Anybody can
 * state it; see {@link Describers}.
 */
export async function recordsOfUrls(
  ask: GraphReader,
  urls: readonly string[],
): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (let start = 0; start < urls.length; start += CHUNK) {
    const some = urls.slice(start, start + CHUNK);
    const tsv = await ask.table(
      `SELECT ?n ?g { VALUES (?n) { ${valuesOf(some)} }
        GRAPH ?g { ?g ${iriTerm(IRIS.sameAs)} ?n } }`,
    );
    eachCell(tsv, 1, (node, _, __, graph) => found.push([textIn(node), textIn(graph)]));
  }
  return found;
}

const SHORT =
  `BIND(IF(STRLEN(STR(?long)) <= ${DESCRIPTION_LENGTH}, ?long, SUBSTR(STR(?long), 1, ` +
  `${DESCRIPTION_LENGTH + 1})) AS ?description)`;
const [TYPE, NAME, DESCRIPTION] = [
  `?n ${iriTerm(IRIS.type)} ?type`,
  `?n ${iriTerm(IRIS.name)} ?name`,
  `?n ${iriTerm(IRIS.description)} ?long`,
];

/**
 * A row for each statement. Three variables and only one BIND, which creates no new text where none
 * is needed: twice as fast as naming the property in the row. `graph` is the graph with each node's
 * own statements.
 */
const rowPerStatement = (bound: string, keys: "?n" | "?n ?g", graph: "?n" | "?g"): string =>
  `SELECT ${keys} ?type ?name ?description { ${bound} { { GRAPH ${graph} { ${TYPE} } }
    UNION { GRAPH ${graph} { ${NAME} } } UNION { GRAPH ${graph} { ${DESCRIPTION} } ${SHORT} } } }`;

/**
 * The statements of records about themselves, one row per record: half the time of one row per
 * statement. But a record with many types, names and descriptions has a row for each combination,
 * so the number of rows is limited. Every record has a type. Each OPTIONAL names the graph again:
 * inside one GRAPH the engine would read every graph, not only those of the nodes.
 */
const rowPerRecord = (bound: string, nodes: number): Question => ({
  query: `SELECT ?n ?type ?name ?description { ${bound} GRAPH ?n { ${TYPE} } OPTIONAL {
      GRAPH ?n { ${NAME} } } OPTIONAL { GRAPH ?n { ${DESCRIPTION} } } ${SHORT} }`,
  most: COMBINATIONS * nodes,
  otherwise: rowPerStatement(bound, "?n", "?n"),
});
const COMBINATIONS = 4;

/**
 * The statements of records about their own nodes: a record about itself and the objects inside it,
 * a crate's entity about the URL it stands for. Statements of other records about a node are
 * ignored: names cannot be forged. Read from the graph, so that the answer is the public view, as
 * of the same commit as the edges. A node that no record describes is missing from the answer.
 * @param texts the statements about themselves of all records among the nodes, and perhaps of
 * others, if they were requested already
 */
export async function describe(
  ask: GraphReader,
  nodes: readonly string[],
  assertions: Describers,
  texts?: Promise<string>,
): Promise<Map<string, Description>> {
  const found = new Map<string, Description>();
  let latest = "";
  let node = "";
  let known: Description = { types: [], records: [] };
  const receive = (key: string, second: string, place: number, cell: string): void => {
    if (key !== latest) {
      latest = key;
      node = textIn(key);
      known = found.get(node) ?? { types: [], records: [] };
      found.set(node, known);
    }
    if (second !== "" && !node.includes(EMBEDDED)) addTo(known.records, textIn(second));
    // Of several names the first in sort order, so that it is always the same.
    if (place === 0) addTo(known.types, compactType(textIn(cell)));
    else if (place === 1) known.name = least(known.name, ask.hidden.shown(textIn(cell)));
    else known.description = least(known.description, shorten(ask.hidden.shown(textIn(cell))));
  };
  if (texts) eachCell(await texts, 1, receive);
  const selves: string[] = [];
  const homes: [string, string][] = [];
  const urls: string[] = [];
  for (const node of nodes) {
    if (found.has(node)) continue;
    const holder = holderOf(node);
    if (holder !== undefined) {
      homes.push([node, holder]);
      // Only a statement of its record can have led here.
      found.set(node, { types: [], records: [] });
    } else if (parseArk(node)?.stored !== node) {
      urls.push(node);
    } else if (!texts) {
      selves.push(node);
    }
  }
  for (const named of await assertions.describers(urls)) homes.push(named);
  for await (const tsv of ask.tables(selves, (values, count) =>
    rowPerRecord(`VALUES (?n) { ${values} }`, count),
  ))
    eachCell(tsv, 1, receive);
  for await (const tsv of ask.tables(homes, (values) =>
    rowPerStatement(`VALUES (?n ?g) { ${values} }`, "?n ?g", "?g"),
  ))
    eachCell(tsv, 2, receive);
  for (const [node, description] of await ask.hidden.describe(nodes)) found.set(node, description);
  return found;
}

/**
 * The same for one record, from the record store: a quarter of the time of a query. Its statements
 * are one per line, and terms are written as in TSV.
 */
export async function describeRecord(
  ask: GraphReader,
  ark: string,
  records: Pick<RecordStore, "quads" | "sequence">,
): Promise<Map<string, Description>> {
  ask.note(await records.sequence());
  const quads = await records.quads(ark);
  const description = quads === undefined ? undefined : descriptionIn(quads, ark, ark);
  return new Map(description ? [[ark, description]] : []);
}

/** What a record's quads state about one of its nodes. */
export function descriptionIn(quads: string, node: string, ark: string): Description | undefined {
  const description: Description = { types: [], records: [] };
  const subject = `${iriTerm(node)} <`;
  const graph = ` ${iriTerm(ark)} .`;
  for (const line of quads.split("\n")) {
    if (!line.startsWith(subject) || !line.endsWith(graph)) continue;
    const end = line.indexOf("> ", subject.length);
    const property = line.slice(subject.length, end);
    const text = (): string => textIn(line.slice(end + 2, -graph.length));
    if (property === IRIS.type) addTo(description.types, compactType(text()));
    else if (property === IRIS.name) description.name = least(description.name, text());
    else if (property === IRIS.description)
      description.description = least(description.description, shorten(text()));
  }
  return description.types.length > 0 ? description : undefined;
}

/**
 * Reads the statements about themselves of the records among some nodes; for {@link describe}.
 * @param pattern binds `?n` to them
 * @param most at most so many
 */
export const textsOf = (ask: GraphReader, pattern: string, most: number): Promise<string> =>
  ask.table(rowPerRecord(pattern, most));

/** At most {@link DESCRIPTION_LENGTH} characters. */
function shorten(text: string): string {
  if (text.length <= DESCRIPTION_LENGTH) return text;
  const characters = [...text];
  return characters.length > DESCRIPTION_LENGTH
    ? `${characters.slice(0, DESCRIPTION_LENGTH - 1).join("")}…`
    : text;
}

const addTo = (list: string[], text: string): void => {
  if (!list.includes(text)) list.push(text);
};
const least = (a: string | undefined, b: string): string => (a === undefined || b < a ? b : a);

/** IRIs in one query: large enough to be fast, small enough for any parser. */
const CHUNK = 5_000;
/**
 * The same where each IRI has several rows. With small batches nearly all memory is garbage before
 * it has to be moved: with larger ones the heap grows.
 */
const BATCH = 100;

/** Graphs of records that the engine does not have. */
interface PrivateGraphs {
  /** Whether the viewer sees any. */
  any(): Promise<boolean>;
  /** Whether a relation that the engine has is hidden from the viewer. */
  hides(relation: string): boolean;
  /** A text that the engine has, as the viewer may read it. */
  shown(text: string): string;
  /** Edges by which nodes depend on others (`upstream`), or others on them. */
  edges(nodes: readonly string[], way: OneWay): Promise<Edge[]>;
  describe(nodes: readonly string[]): Promise<ReadonlyMap<string, Description>>;
}

/** Queries the engine and records the commits of the answers. */
export class GraphReader {
  oldest = Number.POSITIVE_INFINITY;
  newest = 0;

  readonly #options: QueryOptions;

  /** @param hidden graphs of private records, which the engine does not have */
  constructor(
    readonly engine: QueryEngine,
    options: QueryOptions,
    readonly hidden: PrivateGraphs,
  ) {
    this.#options = options;
  }

  /** True when all answers were as of one commit. */
  get consistent(): boolean {
    return this.newest <= this.oldest;
  }

  /** The answer as TSV. */
  async table(question: string | Question): Promise<string> {
    return (await this.answer(question)).tsv;
  }

  /** The same, with the commit that it is as of. */
  async answer(question: string | Question): Promise<{ tsv: string; sequence: number }> {
    const {
      query,
      most = Number.POSITIVE_INFINITY,
      otherwise = "",
    } = typeof question === "string" ? { query: question } : question;
    const { tsv, sequence } = await this.engine.table(
      most < Number.POSITIVE_INFINITY ? `${query} LIMIT ${most + 1}` : query,
      this.#options,
    );
    this.note(sequence);
    return tsv.length > most && rowsIn(tsv) > most ? this.answer(otherwise) : { tsv, sequence };
  }

  /** Records that some data is as of a commit. */
  note(sequence: number): void {
    this.oldest = Math.min(this.oldest, sequence);
    this.newest = Math.max(this.newest, sequence);
  }

  /**
   * One question for many nodes, in as many parts as needed, one after the other: the engine
   * computes the next one while one is read.
   * @param sparql builds the query from the rows of a VALUES block
   */
  async *tables(
    bindings: readonly Binding[],
    sparql: (values: string, count: number) => string | Question,
  ): AsyncGenerator<string, void, undefined> {
    const ask = (start: number): Promise<string> | undefined => {
      if (start >= bindings.length) return undefined;
      const batch = bindings.slice(start, start + BATCH);
      const answer = this.table(sparql(valuesOf(batch), batch.length));
      // A caller that stops reading leaves the next one unread.
      answer.catch(() => {});
      return answer;
    };
    let next = ask(0);
    for (let start = BATCH; next; start += BATCH) {
      const answer: Promise<string> = next;
      next = ask(start);
      yield answer;
    }
  }
}

/** A query that may return many more rows than nodes; past `most` rows another query is used. */
interface Question {
  query: string;
  most: number;
  otherwise: string;
}

/** One IRI, or one for each variable. */
type Binding = string | readonly [string, string];

const valuesOf = (bindings: readonly Binding[]): string =>
  bindings
    .map((each) => `(${typeof each === "string" ? iriTerm(each) : each.map(iriTerm).join(" ")})`)
    .join(" ");
