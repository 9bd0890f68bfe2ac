import type { TableError, TableSummary } from "../../../../src/tabular/summary.js";
import { OrderedReport, type Output, type Report } from "./report.js";

/**
 * One JSON object per line for each error, in the order of rows, written as soon as the error is
 * found.
 */
export class NdjsonReport implements Report {
  #file = "";
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  async begin(file: string): Promise<void> {
    this.#file = file;
  }

  async add(errors: TableError[]): Promise<void> {
    for (const error of errors) {
      const full = this.#output.write(
        `${JSON.stringify({ file: this.#file, ...error.toJSON() })}\n`,
      );
      if (full) await full;
    }
    await this.#output.flush();
  }

  async end(): Promise<void> {}
  async abandon(): Promise<void> {}
  async finish(): Promise<void> {}
}

/**
 * One document: `{"files":[{"file","errors":[…],"summary":{…}}],"valid":…}`, errors in the
 * contract's order.
 */
export class JsonReport extends OrderedReport {
  #count = 0;
  #valid = true;

  protected async write(summary: TableSummary): Promise<void> {
    const { output } = this;
    await output.write(
      `${this.#count++ === 0 ? '{"files":[\n' : ",\n"}{"file":${JSON.stringify(this.file)},"errors":[`,
    );
    let first = true;
    for (const error of this.errors()) {
      const full = output.write(`${first ? "\n" : ",\n"}${JSON.stringify(error)}`);
      if (full) await full;
      first = false;
    }
    await output.write(`${first ? "" : "\n"}],"summary":${JSON.stringify(summary)}}`);
    if (summary.errors > 0) this.#valid = false;
  }

  override async abandon(): Promise<void> {
    await super.abandon();
    this.#valid = false;
  }

  override async finish(): Promise<void> {
    await this.output.write(
      `${this.#count === 0 ? '{"files":[' : "\n"}],"valid":${this.#valid}}\n`,
    );
    await this.output.flush();
  }
}

/** SARIF 2.1.0: one run, one result for each error. */
export class SarifReport extends OrderedReport {
  #count = 0;
  #failed = false;

  protected async write(): Promise<void> {
    for (const error of this.errors()) {
      const full = this.output.write(`${this.#head()}${JSON.stringify(this.#result(error))}`);
      if (full) await full;
    }
  }

  override async abandon(): Promise<void> {
    await super.abandon();
    this.#failed = true;
  }

  override async finish(): Promise<void> {
    if (this.#count === 0) await this.output.write(this.#head().trimEnd());
    await this.output.write(`],"invocations":[{"executionSuccessful":${!this.#failed}}]}]}\n`);
    await this.output.flush();
  }

  #head(): string {
    if (this.#count++ > 0) return ",\n";
    const driver = {
      name: "arkgraph schema validate",
      rules: [
        {
          id: "ParsingError",
          shortDescription: { text: "A row cannot be converted to the structure of the schema." },
        },
      ],
    };
    return (
      '{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0",' +
      `"runs":[{"tool":{"driver":${JSON.stringify(driver)}},` +
      `"columnKind":"unicodeCodePoints","results":[\n`
    );
  }

  #result({ kind: { keyword, property }, row, line, column, message }: TableError): object {
    const uri =
      this.file === "standard input"
        ? "-"
        : this.file.split(/[\\/]/).map(encodeURIComponent).join("/");
    return {
      ruleId: keyword ?? "ParsingError",
      level: "error",
      message: { text: message },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri },
            ...(line > 0 ? { region: { startLine: line } } : {}),
          },
        },
      ],
      properties: { row, property, column: column < 0 ? null : column },
    };
  }
}

const data = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** Workflow commands of GitHub Actions: one annotation for each error. */
export class GithubReport extends OrderedReport {
  protected async write(): Promise<void> {
    for (const {
      kind: { type, keyword },
      line,
      row,
      message,
    } of this.errors()) {
      const title = keyword === null ? type : `${type} ${keyword}`;
      const place = line > 0 ? `,line=${line}` : "";
      const full = this.output.write(
        `::error file=${property(this.file)}${place},title=${property(title)}::` +
          `${data(`row ${row}: ${message}`)}\n`,
      );
      if (full) await full;
    }
    await this.output.flush();
  }
}
