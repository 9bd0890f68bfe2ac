import type { OpenAnswer, Row } from "../port.js";

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

const code = (character: string): number => character.codePointAt(0)!;
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

function rowScanner(format: "json" | "xml" | "csv" | "tsv" | "nt"): RowScanner {
  if (format === "json") return new JsonScanner();
  if (format === "xml") return new XmlScanner();
  return new LineScanner(format === "nt" ? 0 : 1, format === "csv");
}

/** The text that closes an answer after its last row. */
const TAILS: Readonly<Record<string, string>> = { json: "]}}", xml: "</results></sparql>" };

/**
 * Reads an answer up to its limits. It is cut between rows, so the rest is a complete document.
 * Answers of ASK have no rows and stay unchanged.
 */
export async function cutAnswer(
  parts: AsyncIterable<Uint8Array>,
  format: "json" | "xml" | "csv" | "tsv" | "nt",
  maxRows: number,
  maxBytes: number,
): Promise<{ bytes: Uint8Array } & Pick<OpenAnswer, "truncated">> {
  const scanner = rowScanner(format);
  const tail = Buffer.from(TAILS[format] ?? "");
  const kept: Uint8Array[] = [];
  let before = 0;
  let rows = 0;
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
        // Nothing of the first row, should it be too long.
        if (rows === 0) end = before + at;
      },
    );
    kept.push(part);
    before += part.length;
    if (!truncated && before > maxBytes) truncated = "SPARQL_MAX_BYTES";
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
export async function* jsonRows(
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<Row[], void, undefined> {
  const scanner = rowScanner("json");
  let open: Uint8Array[] | undefined;
  for await (const part of parts) {
    const rows: Row[] = [];
    let begun = 0;
    scanner.scan(
      part,
      (end) => {
        rows.push(
          JSON.parse(
            Buffer.concat([...(open ?? []), part.subarray(begun, end)]).toString("utf8"),
          ) as Row,
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
