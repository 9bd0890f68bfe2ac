import type { TableError, TableSummary } from "../../../../src/tabular/summary.js";
import type { Output } from "./output.js";
import { Ordered, type Report } from "./report.js";

/** One JSON object a line for each error, in the order of rows and as soon as it is found. */
export class NdjsonReport implements Report {
  private file = "";
  constructor(private readonly output: Output) {}

  async begin(file: string): Promise<void> {
    this.file = file;
  }

  async add(errors: TableError[]): Promise<void> {
    for (const error of errors) {
      const full = this.output.write(`${JSON.stringify({ file: this.file, ...error.toJSON() })}\n`);
      if (full) await full;
    }
    await this.output.flush();
  }

  async end(): Promise<void> {}
  async abandon(): Promise<void> {}
  async finish(): Promise<void> {}
}

/** One document: `{"files":[{"file","errors":[…],"summary":{…}}],"valid":…}`, errors in the contract's order. */
export class JsonReport implements Report {
  private ordered = new Ordered();
  private file = "";
  private count = 0;
  private valid = true;

  constructor(private readonly output: Output) {}

  async begin(file: string): Promise<void> {
    this.file = file;
    this.ordered = new Ordered();
  }

  async add(errors: TableError[]): Promise<void> {
    for (const error of errors) this.ordered.add(error);
  }

  async end(summary: TableSummary): Promise<void> {
    const { output } = this;
    await output.write(`${this.count++ === 0 ? '{"files":[\n' : ",\n"}{"file":${JSON.stringify(this.file)},"errors":[`);
    let first = true;
    for (const error of this.ordered.errors()) {
      const full = output.write(`${first ? "\n" : ",\n"}${JSON.stringify(error)}`);
      if (full) await full;
      first = false;
    }
    await output.write(`${first ? "" : "\n"}],"summary":${JSON.stringify(summary)}}`);
    this.ordered.close();
    if (summary.errors > 0) this.valid = false;
  }

  async abandon(): Promise<void> {
    this.ordered.close();
    this.valid = false;
  }

  async finish(): Promise<void> {
    await this.output.write(`${this.count === 0 ? '{"files":[' : "\n"}],"valid":${this.valid}}\n`);
    await this.output.flush();
  }
}
