import type { OpenAnswer } from "../open-port.js";
import { rowScanner } from "./row-ends.js";

/** What closes an answer after its last row. */
const TAILS: Readonly<Record<string, string>> = { json: "]}}", xml: "</results></sparql>" };

/**
 * Reads an answer no further than its limits. The cut is between rows, so what is left is a whole document. Answers
 * of ASK, which have no rows, stay as they are.
 */
export async function cutAnswer(parts: AsyncIterable<Uint8Array>, format: "json" | "xml" | "csv" | "tsv" | "nt", maxRows: number, maxBytes: number): Promise<{ bytes: Uint8Array } & Pick<OpenAnswer, "truncated">> {
  const scanner = rowScanner(format);
  const tail = Buffer.from(TAILS[format] ?? "");
  const kept: Uint8Array[] = [];
  let before = 0;
  let rows = 0;
  /** Where the last row that may stay ends; the head of a document without one. */
  let end = 0;
  let truncated: OpenAnswer["truncated"] = null;
  for await (const part of parts) {
    scanner.scan(part, (at) => {
      if (++rows > maxRows) truncated = "SPARQL_MAX_ROWS";
      else if (before + at + tail.length > maxBytes) truncated = "SPARQL_MAX_BYTES";
      else end = before + at;
      return truncated === null;
    }, (at) => {
      // Nothing of the first row, should it be too long.
      if (rows === 0) end = before + at;
    });
    kept.push(part);
    before += part.length;
    if (!truncated && before > maxBytes) truncated = "SPARQL_MAX_BYTES";
    if (truncated) break;
  }
  const bytes = Buffer.concat(kept);
  return truncated ? { bytes: Buffer.concat([bytes.subarray(0, end), tail]), truncated } : { bytes, truncated };
}
