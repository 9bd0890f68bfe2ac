import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ErrorKind, TableError, type TableSummary } from "../../../../src/tabular/summary.js";

/** Characters kept in memory; what is more goes to a temporary file. */
const IN_MEMORY = 1 << 20;
const PIECE = 64 << 10;

/**
 * Keeps errors until they can be written: the contract lists all parsing errors before the first
 * validation error, in a table as wide as its widest message, and there may be more of them than
 * memory. Each is a line of its own: row, line of the file, kind, column, detail. A detail is
 * printable, so it holds neither tab nor line break.
 */
class Spool {
  private readonly kinds: ErrorKind[] = [];
  private pending = "";
  private file: { descriptor: number; folder: string } | undefined;

  add({ kind, row, line, column, detail }: TableError): void {
    this.kinds[kind.id] = kind;
    this.pending += `${row}\t${line}\t${kind.id}\t${column}\t${detail}\n`;
    if (this.pending.length > (this.file ? PIECE : IN_MEMORY)) this.spill();
  }

  private spill(): void {
    if (!this.file) {
      const folder = mkdtempSync(join(tmpdir(), "arkgraph-"));
      this.file = { descriptor: openSync(join(folder, "errors"), "wx+", 0o600), folder };
      // Without a name the file goes away with the process, however it ends.
      if (process.platform !== "win32") rmSync(folder, { recursive: true, force: true });
    }
    const bytes = Buffer.from(this.pending);
    for (let at = 0; at < bytes.length;) at += writeSync(this.file.descriptor, bytes, at);
    this.pending = "";
  }

  /** The errors in the order they were added; once. */
  *errors(): Generator<TableError> {
    for (const text of this.pieces()) {
      for (let at = 0; at < text.length;) {
        const rowEnd = text.indexOf("\t", at);
        const lineEnd = text.indexOf("\t", rowEnd + 1);
        const kindEnd = text.indexOf("\t", lineEnd + 1);
        const columnEnd = text.indexOf("\t", kindEnd + 1);
        const end = text.indexOf("\n", columnEnd + 1);
        const kind = this.kinds[+text.slice(lineEnd + 1, kindEnd)]!;
        yield new TableError(
          kind,
          +text.slice(at, rowEnd),
          +text.slice(rowEnd + 1, lineEnd),
          +text.slice(kindEnd + 1, columnEnd),
          text.slice(columnEnd + 1, end),
        );
        at = end + 1;
      }
    }
  }

  /** Text of whole lines. */
  private *pieces(): Generator<string> {
    if (!this.file) {
      yield this.pending;
      return;
    }
    this.spill();
    const piece = Buffer.allocUnsafe(PIECE);
    let rest: Buffer = Buffer.alloc(0);
    for (
      let position = 0, count = 0;
      (count = readSync(this.file.descriptor, piece, 0, PIECE, position)) > 0;
      position += count
    ) {
      const bytes = Buffer.concat([rest, piece.subarray(0, count)]);
      const end = bytes.lastIndexOf(0x0a) + 1;
      yield bytes.toString("utf8", 0, end);
      rest = bytes.subarray(end);
    }
  }

  close(): void {
    if (!this.file) return;
    closeSync(this.file.descriptor);
    rmSync(this.file.folder, { recursive: true, force: true });
    this.file = undefined;
  }
}

/** Writes what was found, file by file. */
export interface Report {
  /** Before a file. */
  begin(file: string): Promise<void>;
  /** Errors in the order of rows. */
  add(errors: TableError[]): Promise<void>;
  /** After a file that could be read to its end. */
  end(summary: TableSummary): Promise<void>;
  /** After a file that could not. */
  abandon(): Promise<void>;
  /** After the last file. */
  finish(): Promise<void>;
}

/**
 * A report of each file's errors in the contract's order: parsing errors by row, then validation
 * errors by row.
 */
export abstract class OrderedReport implements Report {
  protected file = "";
  #spools = spools();

  constructor(protected readonly output: Output) {}

  async begin(file: string): Promise<void> {
    this.file = file;
    this.#spools = spools();
  }

  async add(errors: TableError[]): Promise<void> {
    for (const error of errors) this.#spools[error.kind.type].add(error);
  }

  async end(summary: TableSummary): Promise<void> {
    await this.write(summary);
    this.#close();
  }

  /** Writes what there is to say of a file, whose {@link errors} are all there. */
  protected abstract write(summary: TableSummary): Promise<void>;

  protected *errors(): Generator<TableError> {
    yield* this.#spools.ParsingError.errors();
    yield* this.#spools.ValidationError.errors();
  }

  async abandon(): Promise<void> {
    this.#close();
  }

  async finish(): Promise<void> {}

  #close(): void {
    this.#spools.ParsingError.close();
    this.#spools.ValidationError.close();
  }
}

const spools = (): Record<"ParsingError" | "ValidationError", Spool> => ({
  ParsingError: new Spool(),
  ValidationError: new Spool(),
});

/** Characters collected before they are written. */
const BATCH = 64 << 10;

/**
 * Writes to a stream in large pieces, and waits when it is full. A reader that went away (`| head`)
 * ends the process quietly.
 */
export class Output {
  private pending = "";

  constructor(private readonly stream: NodeJS.WriteStream = process.stdout) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit(process.exitCode ?? 1);
    });
  }

  get isTerminal(): boolean {
    return this.stream.isTTY === true;
  }

  /** @returns a promise to wait for when there is something to wait for */
  write(text: string): Promise<void> | undefined {
    this.pending += text;
    return this.pending.length >= BATCH ? this.flush() : undefined;
  }

  async flush(): Promise<void> {
    const text = this.pending;
    this.pending = "";
    if (text !== "" && !this.stream.write(text)) await once(this.stream, "drain");
  }
}
