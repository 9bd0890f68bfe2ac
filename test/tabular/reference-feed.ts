import { isUtf8 } from "node:buffer";
import { parse } from "csv-parse";
import { type TableLimits, TabularError } from "../../src/tabular/limits.js";
import {
  completeEnd,
  type Row,
  type RowFeed,
  rowTooLong,
  setCells,
  soundLength,
} from "../../src/tabular/reader/row.js";

interface Read {
  cells: string[];
  /** True when the row has quotes. */
  quotes: boolean;
  /** Bytes of the text up to the end of the row. */
  end: number;
}

/** What the parser makes of bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

/** Finds the first byte of a text that is not UTF-8: the parser only gives text. */
class Utf8Watch {
  /** Bytes before those in `#carried`. */
  #seen = 0;
  #carried: Buffer = Buffer.alloc(0);
  found: { offset: number; byte: number } | undefined;

  /** @param isLast nothing follows, so that a character must not go on */
  see(part: Uint8Array, isLast = false): void {
    if (this.found) return;
    const bytes = Buffer.concat([this.#carried, part]);
    const end = isLast ? bytes.length : completeEnd(bytes, bytes.length);
    if (isUtf8(bytes.subarray(0, end))) {
      this.#carried = bytes.subarray(end);
      this.#seen += end;
    } else {
      const at = soundLength(bytes);
      this.found = { offset: this.#seen + at, byte: bytes[at]! };
    }
  }
}

/** Rows of separated text as csv-parse reads them: the reference for the scanner. */
export function referenceFeed(
  source: AsyncIterable<Uint8Array>,
  separator: string,
  limits: TableLimits,
): RowFeed {
  return async function* (row, each, guard) {
    let batch: Read[] = [];
    const parser = parse({
      delimiter: separator,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: limits.maxRow,
      // Says whether a single empty cell had quotes around it, at a tenth of the time of `cast`.
      raw: true,
      // Taken here and not from the stream, which would drop rows it still holds when a later one
      // fails.
      on_record: (read: unknown, { bytes }) => {
        // The types of the package know records without `raw` only.
        const { record, raw } = read as { record: string[]; raw: string };
        batch.push({ cells: record, quotes: raw.includes('"'), end: bytes });
        return null;
      },
    });
    // Passed to the callbacks below; without a listener it would end the process.
    parser.on("error", () => {});
    const watch = new Utf8Watch();
    const step = (): void => {
      for (const { cells, quotes, end } of batch) {
        setCells(row, cells, quotes, limits);
        const { found } = watch;
        const column = cells.findIndex((cell) => cell.includes(REPLACEMENT));
        row.foreign =
          found && found.offset < end
            ? { column: Math.max(0, column), byte: found.byte }
            : undefined;
        each();
        row.line +=
          1 + cells.reduce((lines, cell) => lines + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
      }
      batch = [];
    };
    const feed = async (work: (done: (error?: Error | null) => void) => void): Promise<void> => {
      const error = await new Promise<Error | null | undefined>((resolve) => work(resolve));
      guard(step);
      if (error) throw translated(error, row, limits);
    };
    try {
      for await (const chunk of source) {
        if (chunk.indexOf(0) >= 0)
          throw new TabularError(
            "DATA",
            `it holds a NUL byte after row ${row.number}: it is not a text table`,
          );
        watch.see(chunk);
        // A copy: the parser holds the bytes that it has not finished, and a source may reuse its
        // buffer.
        await feed((done) => parser.write(Buffer.from(chunk), done));
        yield;
      }
      watch.see(new Uint8Array(), true);
      await feed((done) => parser.end(done));
      yield;
    } finally {
      parser.destroy();
    }
  };
}

function translated(error: unknown, row: Row, limits: TableLimits): unknown {
  const { code } = error as { code?: string };
  if (code === "CSV_QUOTE_NOT_CLOSED")
    return new TabularError(
      "DATA",
      `a quoted cell in row ${row.number} (line ${row.line}) is never closed`,
    );
  if (code === "CSV_MAX_RECORD_SIZE") return rowTooLong(row, false, limits);
  return error;
}
