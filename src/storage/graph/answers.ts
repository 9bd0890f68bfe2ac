/** Answers to queries of users: read row by row, cut within limits, or refused. */
import { ServiceError } from "../../errors.js";
import type { OpenAnswer, ResultFormat, Row } from "./port.js";

/**
 * Where rows begin and end in results that come in parts, byte by byte: marks are ASCII, which no
 * other character's bytes can be taken for.
 */
interface RowScanner {
  /**
   * @param onEnd offset after a row; false ends the scan
   * @param onBegin offset at which a row of JSON begins, and in the other forms the first one;
   * negative: in an earlier part
   */
  scan(part: Uint8Array, onEnd: (end: number) => boolean, onBegin?: (begin: number) => void): void;
}

const code = (character: string): number => character.charCodeAt(0);
const [OPEN, CLOSE, LIST, LIST_END, QUOTE, BACKSLASH, NEWLINE] = [
  "{",
  "}",
  "[",
  "]",
  '"',
  "\\",
  "\n",
].map(code) as [number, number, number, number, number, number, number];
/** Depth at which `results.bindings` is; a list of `head` at that depth holds no objects. */
const BINDINGS = 3;

class JsonScanner implements RowScanner {
  #depth = 0;
  #quoted = false;
  #escaped = false;

  scan(
    part: Uint8Array,
    onEnd: (end: number) => boolean,
    onBegin: (begin: number) => void = () => {},
  ): void {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at]!;
      if (this.#quoted) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#quoted = false;
      } else if (byte === QUOTE) {
        this.#quoted = true;
      } else if (byte === OPEN || byte === LIST) {
        if (++this.#depth === BINDINGS + 1 && byte === OPEN) onBegin(at);
      } else if (byte === CLOSE || byte === LIST_END) {
        if (this.#depth-- === BINDINGS + 1 && byte === CLOSE && !onEnd(at + 1)) return;
      }
    }
  }
}

const [BEGINNING, ENDING] = ["<result>", "</result>"].map((mark) =>
  new TextEncoder().encode(mark),
) as [Uint8Array, Uint8Array];

/** Within a value `<` is escaped. */
class XmlScanner implements RowScanner {
  #mark = BEGINNING;
  #matched = 0;

  scan(
    part: Uint8Array,
    onEnd: (end: number) => boolean,
    onBegin: (begin: number) => void = () => {},
  ): void {
    for (let at = 0; at < part.length; at++) {
      this.#matched =
        part[at] === this.#mark[this.#matched]
          ? this.#matched + 1
          : part[at] === this.#mark[0]
            ? 1
            : 0;
      if (this.#matched < this.#mark.length) continue;
      this.#matched = 0;
      if (this.#mark === BEGINNING) onBegin(at + 1 - BEGINNING.length);
      else if (!onEnd(at + 1)) return;
      this.#mark = ENDING;
    }
  }
}

/** A line each; in CSV a line break within quotes is part of a value (RFC 4180). */
class LineScanner implements RowScanner {
  #quoted = false;

  #heads: number;
  readonly #quotes: boolean;

  /** @param heads lines before the first row */
  constructor(heads: number, quotes: boolean) {
    this.#heads = heads;
    this.#quotes = quotes;
  }

  scan(
    part: Uint8Array,
    onEnd: (end: number) => boolean,
    onBegin: (begin: number) => void = () => {},
  ): void {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at];
      if (this.#quotes && byte === QUOTE) this.#quoted = !this.#quoted;
      if (byte !== NEWLINE || this.#quoted) continue;
      if (this.#heads > 0) {
        if (--this.#heads === 0) onBegin(at + 1);
        continue;
      }
      if (!onEnd(at + 1)) return;
    }
  }
}

function rowScanner(format: ResultFormat | "nt"): RowScanner {
  if (format === "json") return new JsonScanner();
  if (format === "xml") return new XmlScanner();
  return new LineScanner(format === "nt" ? 0 : 1, format === "csv");
}

/** The text that closes an answer after its last row. */
const TAILS: Readonly<Record<string, string>> = { json: "]}}", xml: "</results></sparql>" };
/** Bytes of an answer without rows, as that of ASK is; it is not cut. */
const WITHOUT_ROWS = 1000;

/**
 * Reads an answer up to its limits. It is cut between rows, so the rest is a complete document.
 * Answers of ASK have no rows and stay unchanged.
 */
export async function cutAnswer(
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  format: ResultFormat | "nt",
  maxRows: number,
  maxBytes: number,
): Promise<Pick<OpenAnswer, "bytes" | "truncated">> {
  const scanner = rowScanner(format);
  const tail = Buffer.from(TAILS[format] ?? "");
  const kept: Uint8Array[] = [];
  let before = 0;
  let rows = 0;
  let hasBegun = format === "nt";
  /** Where the last row that may stay ends; the head of a document without one. */
  let end = 0;
  let truncated: OpenAnswer["truncated"] = null;
  for await (const part of parts) {
    scanner.scan(
      part,
      (at) => {
        if (++rows > maxRows) truncated = "SPARQL_MAX_ROWS";
        else if (before + at + tail.length > maxBytes) truncated = "SPARQL_MAX_BYTES";
        else end = before + at;
        return truncated === null;
      },
      (at) => {
        hasBegun = true;
        // Nothing of the first row, should it be too long.
        if (rows === 0) end = before + at;
      },
    );
    kept.push(part);
    before += part.length;
    const most = hasBegun ? maxBytes : Math.max(maxBytes, WITHOUT_ROWS);
    if (!truncated && before > most) truncated = "SPARQL_MAX_BYTES";
    if (truncated) break;
  }
  const bytes = Buffer.concat(kept);
  return truncated
    ? { bytes: Buffer.concat([bytes.subarray(0, end), tail]), truncated }
    : { bytes, truncated };
}

/**
 * Streams the rows of SPARQL 1.1 JSON results in batches: only a part of the answer is in memory at
 * any time.
 */
export async function* jsonRows<R extends Row = Row>(
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<R[], void, undefined> {
  const scanner = rowScanner("json");
  let open: Uint8Array[] | undefined;
  for await (const part of parts) {
    const rows: R[] = [];
    let begun = 0;
    scanner.scan(
      part,
      (end) => {
        rows.push(
          JSON.parse(
            Buffer.concat([...(open ?? []), part.subarray(begun, end)]).toString("utf8"),
          ) as R,
        );
        open = undefined;
        begun = -1;
        return true;
      },
      (begin) => {
        open = [];
        begun = begin;
      },
    );
    open?.push(part.subarray(Math.max(begun, 0)));
    if (rows.length > 0) yield rows;
  }
}

/** An engine may fetch a graph that it has not: none is named to it that is not there. */
export const graphIsMissing = (iri: string): ServiceError =>
  new ServiceError(
    "QUERY_REFUSED",
    `The dataset names ${iri.slice(0, 300)}, which is not a graph of this registry, and remote ` +
      "graphs are not fetched; the graph of a record is its ARK.",
  );

/**
 * A graph in a form that cannot be cut.
 * @throws ServiceError `QUERY_REFUSED` where it is longer than an answer may be
 */
export function wholeGraph(text: string, maxBytes: number): Uint8Array {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return bytes;
  throw new ServiceError(
    "QUERY_REFUSED",
    `The graph is longer than ${maxBytes} bytes (SPARQL_MAX_BYTES); ask for less, or for ` +
      "application/n-triples, which can be cut.",
  );
}

/** The words of Oxigraph and of Jena for a place. */
const PLACE = /error at (\d+):(\d+): |(?:at )?line (\d+), column (\d+)[.:]?\s*/;
/** Characters of an engine's own words that are passed on. */
const MAX_WORDS = 500;

/**
 * An engine's message about a query, for the sender of the query.
 * @param before lines that were sent before the query
 */
export function refusalOf(message: string, before = 0): ServiceError {
  const [found, ...numbers] = PLACE.exec(message) ?? [];
  const [line = 0, column = 0] = numbers.filter((number) => number !== undefined).map(Number);
  if (found === undefined || line <= before)
    return new ServiceError(
      "QUERY_REFUSED",
      `The query was refused: ${message.slice(0, MAX_WORDS)}`,
    );
  const place = { line: line - before, column };
  const words = message.replace(found, "").trim().slice(0, MAX_WORDS);
  return new ServiceError(
    "QUERY_SYNTAX",
    `The query is malformed at line ${place.line}, column ${place.column}: ${words}.`,
    place,
  );
}
