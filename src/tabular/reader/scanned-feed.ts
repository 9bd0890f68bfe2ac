import { TabularError } from "../errors.js";
import type { TableLimits } from "../limits.js";
import type { RowFeed } from "./feed.js";
import { INCOMPLETE, rowTooLong, RowScanner } from "./scanner.js";

/** Bytes looked at in one step. */
const BLOCK = 64 << 10;

/** Rows of separated text, found by our own scanner: several times faster than the reference reader. */
export function scannedFeed(source: AsyncIterable<Uint8Array>, separator: string, limits: TableLimits): RowFeed {
  return async function* (row, each, guard) {
    const scanner = new RowScanner(separator.charCodeAt(0), limits);
    let buffer = Buffer.allocUnsafe(BLOCK * 2);
    let used = 0;
    // A row longer than the buffer is scanned anew only when twice as much has come: otherwise it would be quadratic.
    let enough = 0;
    const step = (final: boolean): void => {
      row.setBlock(buffer, used);
      let from = 0;
      while (from < used) {
        const next = scanner.scan(row, from, used, final);
        if (next === INCOMPLETE) break;
        each();
        row.line += 1 + scanner.innerLines;
        from = next;
      }
      if (used - from > limits.maxRow) throw rowTooLong(row, scanner.quoteOpen, limits);
      enough = from === 0 ? used * 2 : 0;
      buffer.copyWithin(0, from, used);
      used -= from;
    };
    for await (const chunk of source) {
      for (let offset = 0; offset < chunk.length; offset += BLOCK) {
        const part = chunk.subarray(offset, offset + BLOCK);
        if (part.indexOf(0) >= 0) throw new TabularError("DATA", `it holds a NUL byte after row ${row.number}: it is not a text table`);
        if (used + part.length > buffer.length) buffer = larger(buffer, used, used + part.length);
        buffer.set(part, used);
        used += part.length;
        if (used < Math.min(enough, limits.maxRow + 1)) continue;
        guard(() => step(false));
        yield;
      }
    }
    guard(() => step(true));
    yield;
  };
}

function larger(buffer: Buffer, used: number, needed: number): Buffer<ArrayBuffer> {
  const grown = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2));
  buffer.copy(grown, 0, 0, used);
  return grown;
}
