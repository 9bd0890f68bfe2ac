import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ErrorKind, TableError, type TableSummary } from "../../../../src/tabular/summary.js";

/** The number of characters kept in memory; further text goes to a temporary file. */
const IN_MEMORY = 1 << 20;
const CHUNK = 64 << 10;

/**
 * Stores errors until they can be written: the contract lists all parsing errors before the first
 * validation error, in a table as wide as its widest message, and the errors may not fit into
 * memory. Each error is one line: row, line of the file, kind, column, detail. A detail is
 * printable, so it holds neither tab nor line break.
 */
class Spool {
  readonly #kinds: ErrorKind[] = [];
  #pending = "";
  #file: { descriptor: number; folder: string } | undefined;

  add({ kind, row, line, column, detail }: TableError): void {
    this.#kinds[kind.id] = kind;
    this.#pending += `${row}\t${line}\t${kind.id}\t${column}\t${detail}\n`;
    if (this.#pending.length > (this.#file ? CHUNK : IN_MEMORY)) this.#spill();
  }

  #spill(): void {
    if (!this.#file) {
      const folder = mkdtempSync(join(tmpdir(), "arkgraph-"));
      this.#file = { descriptor: openSync(join(folder, "errors"), "wx+", 0o600), folder };
      // Remove the name, so that the file disappears when the process ends, for whatever reason.
      if (process.platform !== "win32") rmSync(folder, { recursive: true, force: true });
    }
    const bytes = Buffer.from(this.#pending);
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file.descriptor, bytes, at);
    this.#pending = "";
  }

  /** The errors in the order in which they were added; can be read only once. */
  *errors(): Generator<TableError> {
    for (const text of this.#chunks()) {
      for (let at = 0; at < text.length;) {
        const rowEnd = text.indexOf("\t", at);
        const lineEnd = text.indexOf("\t", rowEnd + 1);
        const kindEnd = text.indexOf("\t", lineEnd + 1);
        const columnEnd = text.indexOf("\t", kindEnd + 1);
        const end = text.indexOf("\n", columnEnd + 1);
        const kind = this.#kinds[+text.slice(lineEnd + 1, kindEnd)]!;
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
  *#chunks(): Generator<string> {
    if (!this.#file) {
      yield this.#pending;
      return;
    }
    this.#spill();
    const chunk = Buffer.allocUnsafe(CHUNK);
    let rest: Buffer = Buffer.alloc(0);
    for (
      let position = 0, count = 0;
      (count = readSync(this.#file.descriptor, chunk, 0, CHUNK, position)) > 0;
      position += count
    ) {
      const bytes = Buffer.concat([rest, chunk.subarray(0, count)]);
      const end = bytes.lastIndexOf(0x0a) + 1;
      yield bytes.toString("utf8", 0, end);
      rest = bytes.subarray(end);
    }
  }

  close(): void {
    if (!this.#file) return;
    closeSync(this.#file.descriptor);
    rmSync(this.#file.folder, { recursive: true, force: true });
    this.#file = undefined;
  }
}

/** Writes the errors found, file by file. */
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

  /** Writes the report of a file when all its {@link errors} are known. */
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
 * Writes to a stream in large chunks, and waits when it is full. If the reader closes the pipe (`|
 * head`), the process ends without an error.
 */
export class Output {
  #pending = "";

  readonly #stream: NodeJS.WriteStream;

  constructor(stream: NodeJS.WriteStream = process.stdout) {
    this.#stream = stream;

    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit(process.exitCode ?? 1);
    });
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY;
  }

  /** @returns a promise if the caller must wait */
  write(text: string): Promise<void> | undefined {
    this.#pending += text;
    return this.#pending.length >= BATCH ? this.flush() : undefined;
  }

  async flush(): Promise<void> {
    const text = this.#pending;
    this.#pending = "";
    if (text !== "" && !this.#stream.write(text)) await once(this.#stream, "drain");
  }
}
