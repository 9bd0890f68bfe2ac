import type { TableError } from "../../../../src/tabular/summary.js";
import type { Output } from "./output.js";
import { Ordered, type Report } from "./report.js";

const data = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** Workflow commands of GitHub Actions: one annotation for each error. */
export class GithubReport implements Report {
  private ordered = new Ordered();
  private file = "";
  constructor(private readonly output: Output) {}

  async begin(file: string): Promise<void> {
    this.file = file;
    this.ordered = new Ordered();
  }

  async add(errors: TableError[]): Promise<void> {
    for (const error of errors) this.ordered.add(error);
  }

  async end(): Promise<void> {
    for (const { kind: { type, keyword }, line, row, message } of this.ordered.errors()) {
      const title = keyword === null ? type : `${type} ${keyword}`;
      const full = this.output.write(`::error file=${property(this.file)}${line > 0 ? `,line=${line}` : ""},title=${property(title)}::${data(`row ${row}: ${message}`)}\n`);
      if (full) await full;
    }
    this.ordered.close();
    await this.output.flush();
  }

  async abandon(): Promise<void> {
    this.ordered.close();
  }

  async finish(): Promise<void> {}
}
