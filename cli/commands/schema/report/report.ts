import type { TableError, TableSummary } from "../../../../src/tabular/summary.js";
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

/** Errors of one file brought into the contract's order: parsing errors by row, then validation errors by row. */
export class Ordered {
  private readonly spools = { ParsingError: new Spool(), ValidationError: new Spool() };

  add(error: TableError): void {
    this.spools[error.kind.type].add(error);
  }

  *errors(): Generator<TableError> {
    yield* this.spools.ParsingError.errors();
    yield* this.spools.ValidationError.errors();
  }

  close(): void {
    this.spools.ParsingError.close();
    this.spools.ValidationError.close();
  }
}
