/**
 * What `schema validate` found, in the order and the forms of the contract: table, JSON, NDJSON,
 * SARIF and GitHub.
 */
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ErrorKind, TableError, type TableSummary } from "../../../src/tabular/rules/check.js";
import { centred, displayWidth, TextTable, textTable, visible } from "../../terminal.js";

/** The number of characters kept in memory; further text goes to a temporary file. */
const IN_MEMORY = 1 << 20;
const CHUNK = 64 << 10;

/**
 * Stores errors until they can be written: the contract lists all parsing errors before the first
 * validation error, in a table as wide as its widest message, and the errors may not fit into
 * memory. Each error is one line: row, line of the file, kind, column, value as JSON, detail. A
 * detail is printable, and JSON escapes: neither holds a tab or line break.
 */
class Spool {
  readonly #kinds: ErrorKind[] = [];
  #pending = "";
  #file: { descriptor: number; folder: string } | undefined;

  add({ kind, row, line, column, detail, value }: TableError): void {
    this.#kinds[kind.id] = kind;
    this.#pending += `${row}\t${line}\t${kind.id}\t${column}\t${JSON.stringify(value)}\t${detail}\n`;
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
        const valueEnd = text.indexOf("\t", columnEnd + 1);
        const end = text.indexOf("\n", valueEnd + 1);
        const kind = this.#kinds[+text.slice(lineEnd + 1, kindEnd)]!;
        yield new TableError(
          kind,
          +text.slice(at, rowEnd),
          +text.slice(rowEnd + 1, lineEnd),
          +text.slice(kindEnd + 1, columnEnd),
          text.slice(valueEnd + 1, end),
          JSON.parse(text.slice(columnEnd + 1, valueEnd)) as string | null,
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

/** Something about the schema or a data file that is no error of a row. */
export interface Finding {
  /** The schema or the data file. */
  file: string;
  /** Stable, for programs. */
  code: string;
  /** An error with `--strict`. */
  level: "warning" | "error";
  message: string;
  line?: number;
}

/** Writes the errors found, file by file. */
export interface Report {
  /** A finding about the schema, before the first file, or about the file that was begun. */
  find(finding: Finding): Promise<void>;
  /** Before a file. */
  begin(file: string): Promise<void>;
  /** Errors in the order of rows. */
  add(errors: TableError[]): Promise<void>;
  /** After a file that could be read to its end. */
  end(summary: TableSummary): Promise<void>;
  /** After a file that could not; also instead of {@link begin}, for one that could not be opened. */
  abandon(file: string, failure: string): Promise<void>;
  /** After the last file. */
  finish(): Promise<void>;
}

/**
 * A report of each file's errors in the contract's order: parsing errors by row, then validation
 * errors by row.
 */
abstract class OrderedReport implements Report {
  protected file = "";
  /** All findings, for forms that list them at the end. */
  protected readonly findings: Finding[] = [];
  #spools = spools();

  constructor(protected readonly output: Output) {}

  async begin(file: string): Promise<void> {
    this.file = file;
    this.#spools = spools();
  }

  async find(finding: Finding): Promise<void> {
    this.findings.push(finding);
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

  async abandon(_file: string, _failure: string): Promise<void> {
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

/** Writes to a stream in large chunks, and waits when it is full. */
export class Output {
  #pending = "";

  readonly #stream: NodeJS.WriteStream;

  constructor(stream: NodeJS.WriteStream = process.stdout) {
    this.#stream = stream;
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

const HEAD = ["row", "error_type", "failed_keyword", "message"];
const RED = "\u001b[31m";
const YELLOW = "\u001b[33m";
const GREEN = "\u001b[32m";
const PLAIN = "\u001b[39m";

/** The common parts of the errors of one kind in the table. */
interface KindCells {
  before: string;
  after: string;
  /** Columns that `before` and `after` take. */
  width: number;
}

/** The contract's table; `Validation Success` if there are no errors. */
export class TableReport extends OrderedReport {
  #table = new TextTable(HEAD);
  #kinds: (KindCells | undefined)[] = [];
  #last = 0;

  readonly #several: boolean;
  readonly #coloured: boolean;
  readonly #schema: string;

  /**
   * @param several true when more than one file is checked: then the report names each file
   * @param schema the name of the schema: findings about it concern every file
   */
  constructor(output: Output, several: boolean, coloured: boolean, schema: string) {
    super(output);
    this.#schema = schema;
    this.#several = several;
    this.#coloured = coloured;
  }

  override async begin(file: string): Promise<void> {
    await super.begin(file);
    this.#table = new TextTable(HEAD);
    this.#kinds = [];
    this.#last = 0;
  }

  override async add(errors: TableError[]): Promise<void> {
    for (const { kind, row, detail } of errors) {
      const cells = this.#cellsOf(kind);
      if (row > this.#last) this.#last = row;
      this.#table.widen(3, cells.width + displayWidth(detail));
    }
    await super.add(errors);
  }

  #cellsOf(kind: ErrorKind): KindCells {
    return (this.#kinds[kind.id] ??= this.#learn(kind));
  }

  #learn(kind: ErrorKind): KindCells {
    const [before, after] = [visible(kind.before), visible(kind.after)];
    this.#table.widen(1, kind.type.length);
    this.#table.widen(2, (kind.keyword ?? "None").length);
    return { before, after, width: displayWidth(before) + displayWidth(after) };
  }

  protected async write(summary: TableSummary): Promise<void> {
    const { output } = this;
    const isRefused = this.findings.some(
      ({ level, file }) => level === "error" && (file === this.file || file === this.#schema),
    );
    if (summary.errors === 0 && !isRefused)
      await output.write(
        `${this.#several ? `${this.file}: ` : ""}${this.#paint(GREEN, "Validation Success")}\n`,
      );
    else if (summary.errors > 0) await this.#writeTable();
    await output.flush();
  }

  async #writeTable(): Promise<void> {
    const { output } = this;
    const table = this.#table;
    table.widen(0, String(this.#last).length);
    await output.write((this.#several ? `${this.file}:\n` : "") + table.top());
    const [rowWidth, typeWidth, keywordWidth, messageWidth] = table.widths as [
      number,
      number,
      number,
      number,
    ];
    const middles = new Map<ErrorKind, string>();
    for (const { kind, row, detail } of this.errors()) {
      let middle = middles.get(kind);
      if (middle === undefined) {
        middle =
          " | " +
          `${this.#paint(kind.keyword === null ? RED : YELLOW, centred(kind.type, typeWidth))} ` +
          `| ${centred(kind.keyword ?? "None", keywordWidth)} | `;
        middles.set(kind, middle);
      }
      const { before, after, width } = this.#cellsOf(kind);
      const text = before + detail + after;
      const message = centred(text, messageWidth, width + displayWidth(detail));
      const full = output.write(`| ${centred(String(row), rowWidth)}${middle}${message} |\n`);
      if (full) await full;
    }
    await output.write(table.bottom());
  }

  #paint(colour: string, text: string): string {
    return this.#coloured ? `${colour}${text}${PLAIN}` : text;
  }
}

/** Counts by property and keyword; on standard error if standard output is for programs. */
export async function writeSummary(
  file: string,
  summary: TableSummary,
  format: string,
  several: boolean,
): Promise<void> {
  const stream = format === "table" ? process.stdout : process.stderr;
  const { rows, errors, rowsWithErrors } = summary;
  const sorted = summary.counts.toSorted((a, b) => b.count - a.count);
  const plural = (count: number, word: string): string =>
    `${count} ${word}${count === 1 ? "" : "s"}`;
  const counted =
    `${several ? `${file}: ` : ""}${plural(rows, "row")}, ${plural(errors, "error")} in ` +
    `${plural(rowsWithErrors, "row")}\n`;
  stream.write(
    counted +
      (errors === 0
        ? ""
        : textTable(
            ["property", "keyword", "errors"],
            sorted.map(({ property, keyword, count }) => [
              property ?? "(row)",
              keyword ?? "None",
              String(count),
            ]),
          )),
  );
}

/**
 * One JSON object per line for each error, in the order of rows, written as soon as the error is
 * found; `{"file","failure"}` for a file that cannot be read, `{"file","code","level","message"}`
 * for a finding.
 */
export class NdjsonReport implements Report {
  #file = "";
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  async find(finding: Finding): Promise<void> {
    await this.#output.write(`${JSON.stringify(finding)}\n`);
    await this.#output.flush();
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

  async abandon(file: string, failure: string): Promise<void> {
    await this.#output.write(`${JSON.stringify({ file, failure })}\n`);
    await this.#output.flush();
  }

  async finish(): Promise<void> {}
}

/**
 * One document: `{"files":[{"file","errors":[…],"summary":{…}}],"valid":…}`, errors in the
 * contract's order; `{"file","failure"}` for a file that cannot be read. `findings` before `valid`
 * where there are any.
 */
export class JsonReport extends OrderedReport {
  #count = 0;
  #valid = true;

  protected async write(summary: TableSummary): Promise<void> {
    const { output } = this;
    await output.write(`${this.#head()}{"file":${JSON.stringify(this.file)},"errors":[`);
    let first = true;
    for (const error of this.errors()) {
      const full = output.write(`${first ? "\n" : ",\n"}${JSON.stringify(error)}`);
      if (full) await full;
      first = false;
    }
    await output.write(`${first ? "" : "\n"}],"summary":${JSON.stringify(summary)}}`);
    if (summary.errors > 0) this.#valid = false;
  }

  override async abandon(file: string, failure: string): Promise<void> {
    await super.abandon(file, failure);
    await this.output.write(this.#head() + JSON.stringify({ file, failure }));
    this.#valid = false;
  }

  #head(): string {
    return this.#count++ === 0 ? '{"files":[\n' : ",\n";
  }

  override async finish(): Promise<void> {
    const { findings } = this;
    const valid = this.#valid && !findings.some(({ level }) => level === "error");
    await this.output.write(
      `${this.#count === 0 ? '{"files":[' : "\n"}],` +
        `${findings.length > 0 ? `"findings":${JSON.stringify(findings)},` : ""}"valid":${valid}}\n`,
    );
    await this.output.flush();
  }
}

const uriOf = (file: string): string =>
  file === "standard input" ? "-" : file.split(/[\\/]/).map(encodeURIComponent).join("/");

/** @param line 0 where there is none */
const sarifPlace = (file: string, line: number): object => ({
  physicalLocation: {
    artifactLocation: { uri: uriOf(file) },
    ...(line > 0 ? { region: { startLine: line } } : {}),
  },
});

/** SARIF 2.1.0: one run, one result for each error. */
export class SarifReport extends OrderedReport {
  #count = 0;
  readonly #failures: object[] = [];

  protected async write(): Promise<void> {
    for (const error of this.errors()) {
      const full = this.output.write(`${this.#head()}${JSON.stringify(this.#result(error))}`);
      if (full) await full;
    }
  }

  override async abandon(file: string, failure: string): Promise<void> {
    await super.abandon(file, failure);
    this.#failures.push({
      level: "error",
      message: { text: failure },
      locations: [sarifPlace(file, 0)],
    });
  }

  override async finish(): Promise<void> {
    for (const { file, code, level, message, line } of this.findings)
      await this.output.write(
        this.#head() +
          JSON.stringify({
            ruleId: code,
            level,
            message: { text: message },
            locations: [sarifPlace(file, line ?? 0)],
          }),
      );
    if (this.#count === 0) await this.output.write(this.#head().trimEnd());
    const failures = this.#failures;
    const invocation = {
      executionSuccessful: failures.length === 0,
      ...(failures.length > 0 ? { toolExecutionNotifications: failures } : {}),
    };
    await this.output.write(`],"invocations":[${JSON.stringify(invocation)}]}]}\n`);
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

  #result({ kind, row, line, column, message, value }: TableError): object {
    const { keyword, property, expected } = kind;
    return {
      ruleId: keyword ?? "ParsingError",
      level: "error",
      message: { text: message },
      locations: [sarifPlace(this.file, line)],
      properties: { row, property, column: column < 0 ? null : column, value, expected },
    };
  }
}

const data = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** Workflow commands of GitHub Actions: one annotation for each error. */
export class GithubReport extends OrderedReport {
  override async find({ file, code, level, message, line }: Finding): Promise<void> {
    const place = line === undefined ? "" : `,line=${line}`;
    await this.output.write(
      `::${level} file=${property(file)}${place},title=${code}::${data(message)}\n`,
    );
    await this.output.flush();
  }

  override async abandon(file: string, failure: string): Promise<void> {
    await super.abandon(file, failure);
    await this.output.write(`::error file=${property(file)}::${data(failure)}\n`);
    await this.output.flush();
  }

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
