import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TableError } from "../../../../src/tabular/summary.js";

/** Characters kept in memory; what is more goes to a temporary file. */
const IN_MEMORY = 4 << 20;
const PIECE = 256 << 10;

/**
 * Keeps errors until they can be written: the contract lists all parsing errors before the first validation error,
 * in a table as wide as its widest message, and there may be more of them than memory.
 */
export class Spool {
  private lines: string[] = [];
  private size = 0;
  private file: { descriptor: number; folder: string } | undefined;

  add(error: TableError): void {
    const line = encode(error);
    this.lines.push(line);
    this.size += line.length;
    if (this.size > (this.file ? PIECE : IN_MEMORY)) this.spill();
  }

  private spill(): void {
    if (!this.file) {
      const folder = mkdtempSync(join(tmpdir(), "arkgraph-"));
      this.file = { descriptor: openSync(join(folder, "errors"), "wx+", 0o600), folder };
      // Without a name the file goes away with the process, however it ends.
      rmSync(folder, { recursive: true, force: true });
    }
    const bytes = Buffer.from(this.lines.join(""));
    for (let at = 0; at < bytes.length; ) at += writeSync(this.file.descriptor, bytes, at);
    this.lines = [];
    this.size = 0;
  }

  /** The errors in the order they were added; once. */
  *errors(): Generator<TableError> {
    if (this.file) {
      this.spill();
      let rest: Buffer = Buffer.alloc(0);
      const piece = Buffer.allocUnsafe(PIECE);
      for (let position = 0; ; ) {
        const count = readSync(this.file.descriptor, piece, 0, PIECE, position);
        if (count === 0) break;
        position += count;
        const bytes = Buffer.concat([rest, piece.subarray(0, count)]);
        const end = bytes.lastIndexOf(0x0a) + 1;
        for (const line of lines(bytes.toString("utf8", 0, end))) yield decode(line);
        rest = bytes.subarray(end);
      }
      return;
    }
    for (const line of this.lines) yield decode(line.slice(0, -1));
  }

  close(): void {
    if (!this.file) return;
    closeSync(this.file.descriptor);
    rmSync(this.file.folder, { recursive: true, force: true });
  }
}

function* lines(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    yield text.slice(from, end);
    from = end + 1;
  }
}

// One line for an error, its fields between tabs. Names may hold any character, so tabs, line breaks and the sign
// that marks them are written with the sign; an absent field is the sign alone.
const SIGN = "\ue000";
const SPECIAL = /[\ue000\t\n]/;
const CODES: Record<string, string> = { [SIGN]: "s", "\t": "t", "\n": "n" };
const SIGNS: Record<string, string> = { s: SIGN, t: "\t", n: "\n" };

const field = (text: string | null): string => (text === null ? SIGN : SPECIAL.test(text) ? text.replace(/[\ue000\t\n]/g, (character) => SIGN + CODES[character]!) : text);
const unfield = (text: string): string | null => (text === SIGN ? null : text.includes(SIGN) ? text.replace(/\ue000(.)/g, (_, code: string) => SIGNS[code]!) : text);

function encode({ row, line, type, keyword, property, column, message }: TableError): string {
  return `${row}\t${line}\t${type === "ParsingError" ? "P" : "V"}\t${field(keyword)}\t${field(property)}\t${column ?? ""}\t${field(message)}\n`;
}

function decode(text: string): TableError {
  const [row, line, type, keyword, property, column, message] = text.split("\t") as [string, string, string, string, string, string, string];
  return { row: Number(row), line: Number(line), type: type === "P" ? "ParsingError" : "ValidationError", keyword: unfield(keyword), property: unfield(property), column: column === "" ? null : Number(column), message: unfield(message)! };
}
