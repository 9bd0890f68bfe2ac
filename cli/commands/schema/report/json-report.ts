import type { TableError, TableSummary } from "../../../../src/tabular/summary.js";
import type { Output } from "./output.js";
import { OrderedReport, type Report } from "./report.js";

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
export class JsonReport extends OrderedReport {
  private count = 0;
  private valid = true;

  protected async write(summary: TableSummary): Promise<void> {
    const { output } = this;
    await output.write(`${this.count++ === 0 ? '{"files":[\n' : ",\n"}{"file":${JSON.stringify(this.file)},"errors":[`);
    let first = true;
    for (const error of this.errors()) {
      const full = output.write(`${first ? "\n" : ",\n"}${JSON.stringify(error)}`);
      if (full) await full;
      first = false;
    }
    await output.write(`${first ? "" : "\n"}],"summary":${JSON.stringify(summary)}}`);
    if (summary.errors > 0) this.valid = false;
  }

  override async abandon(): Promise<void> {
    await super.abandon();
    this.valid = false;
  }

  override async finish(): Promise<void> {
    await this.output.write(`${this.count === 0 ? '{"files":[' : "\n"}],"valid":${this.valid}}\n`);
    await this.output.flush();
  }
}
