import { Parser, Writer } from "n3";
import { defaultGraph, Store } from "oxigraph";
import type { ErrorCode } from "../../../../errors.js";
import { PREFIXES } from "../../../../model/field.js";
import { cleanXml } from "../../../../model/markup.js";
import type { GraphFormat, OpenAnswer } from "../../port.js";
import type { GraphStore } from "../graph-store.js";
import type { AskRequest } from "../thread-handle.js";

/** The text that closes an answer after its last row. */
const TAILS: Readonly<Record<string, string>> = { json: "]}}", xml: "</results></sparql>" };
/** Least characters of a row, including the separator from the next. */
const LEAST: Readonly<Record<string, number>> = { json: 3, xml: 17, csv: 1, tsv: 1, nt: 1 };

/**
 * An answer with at most the allowed rows, or bytes of UTF-8. It is cut between rows, so the rest
 * is a complete document. Answers of ASK have no rows and stay unchanged.
 */
export function cutRows(
  text: string,
  format: string,
  maxRows: number,
  maxBytes: number,
): { text: string } & Pick<OpenAnswer, "truncated"> {
  if (text.length <= maxRows * LEAST[format]! && text.length * 3 <= maxBytes)
    return { text, truncated: null };
  const tail = TAILS[format] ?? "";
  let end = firstRow(text, format);
  if (end < 0) return { text, truncated: null };
  let bytes = Buffer.byteLength(text.slice(0, end)) + tail.length;
  let rows = 0;
  for (const next of rowEnds(text, format, end)) {
    bytes += Buffer.byteLength(text.slice(end, next));
    if (++rows > maxRows) return { text: text.slice(0, end) + tail, truncated: "SPARQL_MAX_ROWS" };
    if (bytes > maxBytes) return { text: text.slice(0, end) + tail, truncated: "SPARQL_MAX_BYTES" };
    end = next;
  }
  return { text, truncated: null };
}

/** Where the rows begin; -1 when there are none. Names of variables cannot contain the marker. */
function firstRow(text: string, format: string): number {
  const after = (mark: string) => {
    const at = text.indexOf(mark);
    return at < 0 ? -1 : at + mark.length;
  };
  if (format === "json") return after('"bindings":[');
  if (format === "xml") return after("<results>");
  return format === "nt" ? 0 : after("\n");
}

/** The end of each row. */
function* rowEnds(text: string, format: string, from: number): Generator<number> {
  if (format === "json") return yield* jsonEnds(text, from);
  if (format === "csv") return yield* csvEnds(text, from);
  // Within a value both are escaped.
  const mark = format === "xml" ? "</result>" : "\n";
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + mark.length))
    yield at + mark.length;
}

function* jsonEnds(text: string, from: number): Generator<number> {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      for (at++; text[at] !== '"'; at++) if (text[at] === "\\") at++;
    } else if (character === "{") {
      depth++;
    } else if (character === "}" && --depth === 0) {
      yield at + 1;
    } else if (character === "]" && depth === 0) {
      return;
    }
  }
}

/**
 * A line break within quotes is part of a value (RFC 4180); a doubled quote opens again at once.
 */
function* csvEnds(text: string, from: number): Generator<number> {
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (character === "\n" && !quoted) yield at + 1;
  }
}

/** A graph in another form than N-Triples. */
export function spelled(ntriples: string, format: GraphFormat): string {
  if (format === "ttl") {
    const writer = new Writer({
      prefixes: Object.fromEntries(
        Object.entries(PREFIXES).filter(([, namespace]) => ntriples.includes(`<${namespace}`)),
      ),
    });
    let turtle = "";
    writer.addQuads(new Parser({ format: "N-Triples" }).parse(ntriples));
    writer.end((error, result: string) => {
      if (error) throw error;
      turtle = result;
    });
    return turtle;
  }
  const scratch = new Store();
  const graph = defaultGraph();
  try {
    scratch.load(ntriples, { format: "application/n-triples", no_transaction: true });
    if (format === "jsonld")
      return scratch.dump({ format: "application/ld+json", from_graph_name: graph });
    return cleanXml(scratch.dump({ format: "application/rdf+xml", from_graph_name: graph }));
  } finally {
    (graph as unknown as { free(): void }).free();
    (scratch as unknown as { free(): void }).free();
  }
}

/** Why a query is not answered, in words for its sender. */
class Refused extends Error {}

/**
 * Answers a user's query within its limits.
 * @throws Error to be put into words by {@link refusal}; an error that is fatal to the engine as it
 * comes
 */
export function answer(
  store: GraphStore,
  { question, maxRows, maxBytes }: AskRequest,
): Pick<OpenAnswer, "truncated"> & { bytes: Uint8Array<ArrayBuffer> } {
  const { query, format, graph, base, dataset } = question;
  for (const iri of dataset ? [...dataset.default, ...dataset.named] : []) {
    if (!iri.startsWith("ark:") && !store.holds(iri))
      throw new Refused(
        `The dataset names ${iri.slice(0, 300)}, which is not a graph of this registry, ` +
          "and remote graphs are not fetched; the graph of a record is its ARK.",
      );
  }
  const found = store.ask(query, graph ? "nt" : format, base, dataset);
  const { text, truncated } = cutRows(
    !graph && format === "xml" ? cleanXml(found) : found,
    graph ? "nt" : format,
    maxRows,
    maxBytes,
  );
  const bytes = new TextEncoder().encode(
    graph && format !== "nt" ? spelled(text, format as GraphFormat) : text,
  );
  if (bytes.length > maxBytes)
    throw new Refused(
      `The graph is longer than ${maxBytes} bytes (SPARQL_MAX_BYTES); ask for less, or for ` +
        "application/n-triples, which can be cut.",
    );
  return { bytes, truncated };
}

/** The engine's message about a query, for the sender of the query. */
export function refusal(error: Error): {
  message: string;
  code: ErrorCode;
  extra?: Record<string, unknown>;
} {
  if (error instanceof Refused) return { code: "QUERY_REFUSED", message: error.message };
  const [, row, offset, words] = /^error at (\d+):(\d+): (.*)$/s.exec(error.message) ?? [];
  if (words === undefined)
    return {
      code: "QUERY_REFUSED",
      message: `The query was refused: ${error.message.slice(0, 500)}`,
    };
  const [line, column] = [Number(row), Number(offset)];
  return {
    code: "QUERY_SYNTAX",
    message: `The query is malformed at line ${line}, column ${column}: ${words.slice(0, 500)}.`,
    extra: { line, column },
  };
}
