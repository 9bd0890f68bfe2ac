import type { OpenAnswer } from "../../open-port.js";

/** What closes an answer after its last row. */
const TAILS: Readonly<Record<string, string>> = { json: "]}}", xml: "</results></sparql>" };
/** Characters that a row takes at the least, what parts it from the next included. */
const LEAST: Readonly<Record<string, number>> = { json: 3, xml: 17, csv: 1, tsv: 1, nt: 1 };

/**
 * An answer with no more rows, or bytes of UTF-8, than allowed. The cut is between rows, so what is left is a whole
 * document. Answers of ASK, which have no rows, stay as they are.
 */
export function cutRows(text: string, format: string, maxRows: number, maxBytes: number): { text: string } & Pick<OpenAnswer, "truncated"> {
  if (text.length <= maxRows * LEAST[format]! && text.length * 3 <= maxBytes) return { text, truncated: null };
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

/** Where the rows begin; -1 when there are none. Names of variables hold nothing that could be taken for it. */
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
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + mark.length)) yield at + mark.length;
}

function* jsonEnds(text: string, from: number): Generator<number> {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at]!;
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

/** A line break within quotes is part of a value (RFC 4180); a doubled quote opens again at once. */
function* csvEnds(text: string, from: number): Generator<number> {
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') quoted = !quoted;
    else if (character === "\n" && !quoted) yield at + 1;
  }
}
