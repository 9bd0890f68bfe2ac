/** What `schema validate` found as a document for other tools and for people: JUnit and HTML. */
import { htmlText, XML_DECLARATION, xmlText, xmlValue } from "../../../src/model/markup.js";
import type { TableError, TableSummary } from "../../../src/tabular/rules/check.js";
import { visible } from "../../terminal.js";
import type { Finding, Output, Report } from "./report.js";

/** Errors of a file that are listed; the others are counted. Also: rules, findings. */
const LISTED = 1000;

type Rule = TableSummary["counts"][number];

const ruleName = ({ property, keyword }: Pick<Rule, "property" | "keyword">): string =>
  `${property ?? "(row)"}: ${keyword ?? "datatype"}`;

const mostFirst = ({ counts }: TableSummary): Rule[] =>
  counts.toSorted((a, b) => b.count - a.count).slice(0, LISTED);

/** A document with a section for each file. */
abstract class DocumentReport implements Report {
  #begun = false;
  #file = "";
  #errors: TableError[] = [];
  readonly #findings: Finding[] = [];

  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  async find(finding: Finding): Promise<void> {
    if (this.#findings.length < LISTED) this.#findings.push(finding);
  }

  async begin(file: string): Promise<void> {
    this.#file = file;
    this.#errors = [];
  }

  async add(errors: TableError[]): Promise<void> {
    if (this.#errors.length < LISTED) this.#errors = this.#errors.concat(errors).slice(0, LISTED);
  }

  async end(summary: TableSummary): Promise<void> {
    await this.#write(this.checked(this.#file, this.#errors, summary));
  }

  async abandon(file: string, failure: string): Promise<void> {
    await this.#write(this.unreadable(file, failure));
  }

  async finish(): Promise<void> {
    await this.#write((this.#findings.length > 0 ? this.found(this.#findings) : "") + this.tail);
    await this.#output.flush();
  }

  async #write(text: string): Promise<void> {
    await this.#output.write((this.#begun ? "" : this.head) + text);
    this.#begun = true;
  }

  protected abstract readonly head: string;
  protected abstract readonly tail: string;
  /** A file that was read; `errors` are the first ones. */
  protected abstract checked(
    file: string,
    errors: readonly TableError[],
    summary: TableSummary,
  ): string;
  protected abstract unreadable(file: string, failure: string): string;
  protected abstract found(findings: readonly Finding[]): string;
}

/**
 * JUnit, as servers of continuous integration read it: a suite for each file, a failed case for
 * each property and keyword with errors.
 */
export class JunitReport extends DocumentReport {
  protected readonly head = `${XML_DECLARATION}<testsuites name="arkgraph schema validate">\n`;
  protected readonly tail = "</testsuites>\n";

  protected checked(file: string, errors: readonly TableError[], summary: TableSummary): string {
    const lines = new Map<string, string[]>();
    for (const { kind, row, line, message } of errors) {
      const place = `row ${row}${line > 0 ? ` (line ${line})` : ""}`;
      const name = ruleName(kind);
      const listed = lines.get(name) ?? [];
      if (listed.length === 0) lines.set(name, listed);
      listed.push(`${place}: ${visible(message)}`);
    }
    const failures = mostFirst(summary).map((rule) => {
      const name = ruleName(rule);
      const type = rule.keyword === null ? "ParsingError" : "ValidationError";
      const text = xmlText((lines.get(name) ?? []).join("\n"));
      const message = `${rule.count} ${rule.count === 1 ? "error" : "errors"}`;
      return testCase(
        file,
        name,
        `<failure type="${type}" message="${xmlValue(message)}">${text}</failure>`,
      );
    });
    if (failures.length > 0) return suite(file, failures, { failures: failures.length });
    return suite(file, [testCase(file, "the rows conform", "")], {});
  }

  protected unreadable(file: string, failure: string): string {
    const error = `<error message="${xmlValue(visible(failure))}"/>`;
    return suite(file, [testCase(file, "the file can be read", error)], { errors: 1 });
  }

  protected found(findings: readonly Finding[]): string {
    const cases = findings.map(({ file, code, level, message }) =>
      testCase(
        file,
        code,
        level === "error"
          ? `<failure type="${xmlValue(code)}" message="${xmlValue(message)}"/>`
          : `<system-out>${xmlText(message)}</system-out>`,
      ),
    );
    const failures = findings.filter(({ level }) => level === "error").length;
    return suite("findings", cases, { failures });
  }
}

const testCase = (file: string, name: string, inner: string): string =>
  `<testcase classname="${xmlValue(visible(file))}" name="${xmlValue(visible(name))}">${inner}</testcase>\n`;

const suite = (
  name: string,
  cases: readonly string[],
  { failures = 0, errors = 0 }: { failures?: number; errors?: number },
): string =>
  `<testsuite name="${xmlValue(visible(name))}" tests="${cases.length}" failures="${failures}" ` +
  `errors="${errors}">\n${cases.join("")}</testsuite>\n`;

/** A page of its own: nothing is loaded, and nothing in it can run. */
export class HtmlReport extends DocumentReport {
  protected readonly head = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Check of tables</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem; color: #1b1b1b; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: start; font-weight: bold; }
th, td { border: 1px solid #767676; padding: 0.25rem 0.5rem; text-align: start; }
td { overflow-wrap: anywhere; white-space: pre-wrap; }
</style>
<h1>Check of tables</h1>
`;
  protected readonly tail = "</html>\n";

  protected checked(file: string, errors: readonly TableError[], summary: TableSummary): string {
    const counted = `${summary.rows} rows, ${summary.errors} errors in ${summary.rowsWithErrors} rows`;
    if (summary.errors === 0) return section(file, `<p>The rows conform: ${counted}.</p>\n`);
    const unlisted = summary.errors - errors.length;
    return section(
      file,
      `<p>The rows do not conform: ${counted}${summary.stopped ? "; the check was ended early" : ""}.</p>\n` +
        htmlTable(
          "Errors by property and keyword",
          ["property", "keyword", "errors"],
          mostFirst(summary).map(({ property, keyword, count }) => [
            property ?? "(row)",
            keyword ?? "datatype",
            String(count),
          ]),
        ) +
        htmlTable(
          "Errors",
          ["row", "line", "property", "keyword", "value", "expected", "message"],
          errors.map(({ kind, row, line, value, message }) => [
            String(row),
            line > 0 ? String(line) : "",
            kind.property ?? "(row)",
            kind.keyword ?? "datatype",
            value ?? "",
            kind.expected,
            message,
          ]),
        ) +
        (unlisted > 0 ? `<p>${unlisted} more errors are not listed.</p>\n` : ""),
    );
  }

  protected unreadable(file: string, failure: string): string {
    return section(file, `<p>The file cannot be read: ${htmlText(visible(failure))}</p>\n`);
  }

  protected found(findings: readonly Finding[]): string {
    return htmlTable(
      "Findings",
      ["file", "line", "level", "code", "message"],
      findings.map(({ file, line, level, code, message }) => [
        file,
        line === undefined ? "" : String(line),
        level,
        code,
        message,
      ]),
    );
  }
}

const section = (file: string, inner: string): string =>
  `<section>\n<h2>${htmlText(visible(file))}</h2>\n${inner}</section>\n`;

const htmlTable = (
  caption: string,
  names: readonly string[],
  rows: readonly (readonly string[])[],
): string => {
  const head = names.map((name) => `<th scope="col">${name}</th>`).join("");
  const body = rows.map(
    (row) => `<tr>${row.map((text) => `<td>${htmlText(visible(text))}</td>`).join("")}</tr>\n`,
  );
  return (
    `<table>\n<caption>${caption}</caption>\n<thead><tr>${head}</tr></thead>\n` +
    `<tbody>\n${body.join("")}</tbody>\n</table>\n`
  );
};
