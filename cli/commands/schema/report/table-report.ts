import type { ErrorKind, TableError, TableSummary } from "../../../../src/tabular/summary.js";
import { centred, displayWidth, TextTable, textTable } from "../../../render/table.js";
import { OrderedReport, type Output } from "./report.js";

const HEAD = ["row", "error_type", "failed_keyword", "message"];
const RED = "\u001b[31m";
const YELLOW = "\u001b[33m";
const GREEN = "\u001b[32m";
const PLAIN = "\u001b[39m";

/**
 * Names come from the schema and may hold control characters, which would move the cursor or break
 * the table.
 */
const visible = (text: string): string =>
  text.replace(
    /\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );

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

  /** @param several true when more than one file is checked: then the report names each file */
  constructor(output: Output, several: boolean, coloured: boolean) {
    super(output);
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
      const cells = (this.#kinds[kind.id] ??= this.#learn(kind));
      if (row > this.#last) this.#last = row;
      this.#table.widen(3, cells.width + displayWidth(detail));
    }
    await super.add(errors);
  }

  #learn(kind: ErrorKind): KindCells {
    const [before, after] = [visible(kind.before), visible(kind.after)];
    this.#table.widen(1, kind.type.length);
    this.#table.widen(2, (kind.keyword ?? "None").length);
    return { before, after, width: displayWidth(before) + displayWidth(after) };
  }

  protected async write(summary: TableSummary): Promise<void> {
    const { output } = this;
    if (summary.errors === 0)
      await output.write(
        `${this.#several ? `${this.file}: ` : ""}${this.#paint(GREEN, "Validation Success")}\n`,
      );
    else await this.#writeTable();
    await output.flush();
  }

  async #writeTable(): Promise<void> {
    const { output } = this;
    const table = this.#table;
    const kinds = this.#kinds;
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
      const { before, after, width } = kinds[kind.id]!;
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
