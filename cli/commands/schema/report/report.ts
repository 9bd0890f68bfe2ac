import type { TableError, TableSummary } from "../../../../src/tabular/summary.js";
import type { Output } from "./output.js";
import { Spool } from "./spool.js";

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

/** A report of each file's errors in the contract's order: parsing errors by row, then validation errors by row. */
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

const spools = (): Record<"ParsingError" | "ValidationError", Spool> => ({ ParsingError: new Spool(), ValidationError: new Spool() });
