import type { Row } from "./reader/row.js";
import {
  CONVERTED,
  INDEX_ERROR,
  type PropertyCheck,
  type Report,
  type RuleEnvironment,
} from "./rules/check.js";
import { compileProperty } from "./rules/compile.js";
import { quoted } from "./rules/python-text.js";
import type { TableSchema } from "./schema/table-schema.js";
import { ErrorKind, TableError, type TableSummary } from "./summary.js";

/** By code points, as the order of validation errors is. */
const byCodePoints = (a: { name: string }, b: { name: string }): number =>
  Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));

interface Converter {
  check: PropertyCheck;
  valueError: ErrorKind;
  indexError: ErrorKind;
}

/** Checks one row after another and collects the errors. */
export class RowChecker implements Report {
  readonly #kinds: ErrorKind[] = [];
  /** In the order of the schema: the order of parsing errors. */
  readonly #converters: Converter[];
  /**
   * Those with rules, and the names that `required` asks for in vain, in the order of validation
   * errors.
   */
  readonly #requirements: { name: string; check?: PropertyCheck; missing?: ErrorKind }[];
  readonly #raggedKind: ErrorKind;
  #row: Row | undefined;
  #found: TableError[] = [];
  #errors = 0;
  #rows = 0;
  #rowsWithErrors = 0;
  /** True when no more errors are wanted. */
  full = false;

  readonly #options: { strictColumns: boolean; maxErrors: number };

  constructor(
    schema: TableSchema,
    environment: Omit<RuleEnvironment, "kind">,
    options: { strictColumns: boolean; maxErrors: number },
  ) {
    this.#options = options;

    const kind = (
      keyword: string | null,
      property: string | null,
      before: string,
      after: string,
    ): ErrorKind => {
      const made = new ErrorKind(this.#kinds.length, keyword, property, before, after);
      this.#kinds.push(made);
      return made;
    };
    const checks = schema.properties
      .map((property) => compileProperty(property, { ...environment, kind }))
      .filter((check) => check !== undefined);
    this.#converters = checks.map((check) => {
      const [valueError, indexError] = ["ValueError", "IndexError"].map((error) =>
        kind(null, check.name, `${error}: Failed to Parse Attribute ${check.name} for Row `, ""),
      ) as [ErrorKind, ErrorKind];
      return { check, valueError, indexError };
    });
    this.#raggedKind = kind(null, null, "ValueError: Row ", "");
    const known = new Set(schema.properties.map(({ name }) => name));
    const missing = [...new Set(schema.required)].filter((name) => !known.has(name));
    this.#requirements = [
      ...checks
        .filter(({ checks: hasRules }) => hasRules)
        .map((check) => ({ name: check.name, check })),
      ...missing.map((name) => ({
        name,
        missing: kind("required", name, `${quoted(name)} is a required property`, ""),
      })),
    ].sort(byCodePoints);
  }

  /** @param firstCount columns of the file's first row */
  check(row: Row, firstCount: number): void {
    if (this.full) return;
    this.#rows++;
    this.#row = row;
    const before = this.#errors;
    if (this.#options.strictColumns && row.count !== firstCount) {
      this.violation(
        this.#raggedKind,
        `${row.number} has ${row.count} columns, the first row has ${firstCount}`,
        -1,
      );
    } else if (this.#convert(row)) this.#checkValues(row);
    if (this.#errors > before) this.#rowsWithErrors++;
  }

  #convert(row: Row): boolean {
    let converted = true;
    const converters = this.#converters;
    for (let index = 0; index < converters.length; index++) {
      const converter = converters[index]!;
      const conversion = converter.check.convert(row);
      if (conversion === CONVERTED) continue;
      converted = false;
      if (conversion === INDEX_ERROR) this.violation(converter.indexError, String(row.number), -1);
      else this.violation(converter.valueError, String(row.number), converter.check.column);
    }
    return converted;
  }

  #checkValues(row: Row): void {
    const requirements = this.#requirements;
    for (let index = 0; index < requirements.length; index++) {
      const { check, missing } = requirements[index]!;
      if (check) check.check(row, this);
      else this.violation(missing!, "", -1);
    }
  }

  violation(kind: ErrorKind, detail: string, column: number): void {
    if (this.full) return;
    kind.count++;
    this.#found.push(new TableError(kind, this.#row!.number, this.#row!.line, column, detail));
    if (++this.#errors >= this.#options.maxErrors) this.full = true;
  }

  /** The errors found since the last call. */
  take(): TableError[] {
    const found = this.#found;
    if (found.length > 0) this.#found = [];
    return found;
  }

  /** @param columns of the first row */
  summary(columns: number): TableSummary {
    const { full } = this;
    const rows = this.#rows;
    const errors = this.#errors;
    const rowsWithErrors = this.#rowsWithErrors;
    const counts = new Map<string, TableSummary["counts"][number]>();
    for (const { property, keyword, count } of this.#kinds) {
      if (count === 0) continue;
      const key = JSON.stringify([property, keyword]);
      const entry = counts.get(key) ?? { property, keyword, count: 0 };
      entry.count += count;
      counts.set(key, entry);
    }
    const parsingErrors = this.#kinds.reduce(
      (sum, { keyword, count }) => (keyword === null ? sum + count : sum),
      0,
    );
    return {
      rows,
      columns,
      errors,
      parsingErrors,
      validationErrors: errors - parsingErrors,
      rowsWithErrors,
      counts: [...counts.values()],
      stopped: full,
    };
  }
}
