import type { Row } from "./reader/row.js";
import { CONVERTED, INDEX_ERROR, type PropertyCheck, type Report } from "./rules/check.js";
import { compileProperty } from "./rules/compile.js";
import { quoted } from "./rules/python-text.js";
import type { RuleEnvironment } from "./rules/rule.js";
import type { TableSchema } from "./schema/table-schema.js";
import { Tally, type TableError } from "./summary.js";

/** By code points, as the order of validation errors is. */
const byCodePoints = (a: { name: string }, b: { name: string }): number => {
  const [left, right] = [[...a.name], [...b.name]];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = left[index]!.codePointAt(0)! - right[index]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
};

/** Checks one row after another and collects what is wrong. */
export class RowChecker implements Report {
  /** In the order of the schema: the order of parsing errors. */
  private readonly properties: PropertyCheck[];
  /** Those with rules, and the names that `required` asks for in vain, in the order of validation errors. */
  private readonly judges: { name: string; check: PropertyCheck | undefined }[];
  private row: Row | undefined;
  /** What was found since it was last taken. */
  found: TableError[] = [];
  readonly tally = new Tally();
  rows = 0;
  /** True when no more errors are wanted. */
  full = false;

  constructor(schema: TableSchema, environment: RuleEnvironment, private readonly options: { strictColumns: boolean; maxErrors: number }) {
    this.properties = schema.properties.map((property) => compileProperty(property, environment)).filter((check) => check !== undefined);
    const known = new Set(schema.properties.map(({ name }) => name));
    const missing = [...new Set(schema.required)].filter((name) => !known.has(name));
    this.judges = [...this.properties.filter(({ judges }) => judges).map((check) => ({ name: check.name, check })), ...missing.map((name) => ({ name, check: undefined }))].sort(byCodePoints);
  }

  /** @param firstCount columns of the file's first row */
  check(row: Row, firstCount: number): void {
    if (this.full) return;
    this.rows++;
    this.row = row;
    if (this.options.strictColumns && row.count !== firstCount) {
      this.add("ParsingError", null, null, null, `ValueError: Row ${row.number} has ${row.count} columns, the first row has ${firstCount}`);
      return;
    }
    let converted = true;
    const { properties, judges } = this;
    for (let index = 0; index < properties.length; index++) {
      const property = properties[index]!;
      const conversion = property.convert(row);
      if (conversion === CONVERTED) continue;
      converted = false;
      const missing = conversion === INDEX_ERROR;
      this.add("ParsingError", null, property.name, missing ? null : property.column, `${missing ? "IndexError" : "ValueError"}: Failed to Parse Attribute ${property.name} for Row ${row.number}`);
    }
    if (!converted) return;
    for (let index = 0; index < judges.length; index++) {
      const { name, check } = judges[index]!;
      if (check) check.judge(row, this);
      else this.add("ValidationError", "required", name, null, `${quoted(name)} is a required property`);
    }
  }

  violation(property: string, keyword: string, message: string, column: number): void {
    this.add("ValidationError", keyword, property, column, message);
  }

  private add(type: TableError["type"], keyword: string | null, property: string | null, column: number | null, message: string): void {
    if (this.full) return;
    const error: TableError = { row: this.row!.number, line: this.row!.line, type, keyword, property, column, message };
    this.found.push(error);
    this.tally.add(error);
    if (this.tally.errors >= this.options.maxErrors) this.full = true;
  }

  /** What was found since the last time. */
  take(): TableError[] {
    const { found } = this;
    if (found.length > 0) this.found = [];
    return found;
  }
}
