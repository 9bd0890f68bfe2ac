import type { Row } from "../port.js";
import { rowScanner } from "./row-ends.js";

/** Rows of SPARQL 1.1 JSON results as they come, in lots: never more of an answer in memory than a part of it. */
export async function* jsonRows(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Row[], void, undefined> {
  const scanner = rowScanner("json");
  let open: Uint8Array[] | undefined;
  for await (const part of parts) {
    const rows: Row[] = [];
    let begun = 0;
    scanner.scan(part, (end) => {
      rows.push(JSON.parse(Buffer.concat([...(open ?? []), part.subarray(begun, end)]).toString("utf8")) as Row);
      open = undefined;
      begun = -1;
      return true;
    }, (begin) => {
      open = [];
      begun = begin;
    });
    open?.push(part.subarray(Math.max(begun, 0)));
    if (rows.length > 0) yield rows;
  }
}
