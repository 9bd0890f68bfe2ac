import type { TableError } from "../../../../src/tabular/summary.js";
import { OrderedReport } from "./report.js";

/** SARIF 2.1.0: one run, one result for each error. */
export class SarifReport extends OrderedReport {
  private count = 0;
  private failed = false;

  protected async write(): Promise<void> {
    for (const error of this.errors()) {
      const full = this.output.write(`${this.head()}${JSON.stringify(this.result(error))}`);
      if (full) await full;
    }
  }

  override async abandon(): Promise<void> {
    await super.abandon();
    this.failed = true;
  }

  override async finish(): Promise<void> {
    if (this.count === 0) await this.output.write(this.head().trimEnd());
    await this.output.write(`],"invocations":[{"executionSuccessful":${!this.failed}}]}]}\n`);
    await this.output.flush();
  }

  private head(): string {
    if (this.count++ > 0) return ",\n";
    const driver = { name: "arkgraph schema validate", rules: [{ id: "ParsingError", shortDescription: { text: "A row cannot be converted to the structure of the schema." } }] };
    return `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":${JSON.stringify(driver)}},"columnKind":"unicodeCodePoints","results":[\n`;
  }

  private result({ kind: { keyword, property }, row, line, column, message }: TableError): object {
    const uri = this.file === "standard input" ? "-" : this.file.split(/[\\/]/).map(encodeURIComponent).join("/");
    return {
      ruleId: keyword ?? "ParsingError",
      level: "error",
      message: { text: message },
      locations: [{ physicalLocation: { artifactLocation: { uri }, ...(line > 0 ? { region: { startLine: line } } : {}) } }],
      properties: { row, property, column: column < 0 ? null : column },
    };
  }
}
