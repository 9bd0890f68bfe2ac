import { DEFAULT_LIMITS, sizeText, type TableLimits, TabularError } from "./limits.js";
import { openSource, type TextOptions } from "./reader/open-source.js";
import {
  type Guard,
  Row,
  type RowFeed,
  RowGate,
  type TableFinding,
  unguarded,
} from "./reader/row.js";
import { textFeed } from "./reader/text-feed.js";
import {
  CONVERTED,
  ErrorKind,
  INDEX_ERROR,
  type PropertyCheck,
  type Report,
  type RuleEnvironment,
  TableError,
  type TableSummary,
} from "./rules/check.js";
import { compileProperty, datatypeText } from "./rules/compile.js";
import {
  type GuardedWork,
  loadEnvironment,
  type PatternEngine,
  runsPatterns,
  timeGuard,
} from "./rules/environment.js";
import { compileKeys, type KeyCheck, keyColumns, keyText, tooManyKeys } from "./rules/keys.js";
import { fieldText, quoted } from "./rules/notation.js";
import type { TableSchema } from "./schema/table-schema.js";
import { type CellTable, flatNames } from "./sources/cell-table.js";

/** Differences that are listed. */
const LISTED = 10;

/**
 * Compares a header with the names of a schema. Properties of arrays stand for several columns and
 * are left out, and so are empty names; a number behind a name distinguishes columns of one name.
 */
function headerFinding(
  { properties }: TableSchema,
  header: readonly string[],
): TableFinding | undefined {
  const differences = properties.flatMap(({ name, index }) => {
    const found = index.kind === "column" ? header[index.at]?.trim() : undefined;
    if (found === undefined || found === "" || found === name.trim() || isNumbered(name, found))
      return [];
    return [`column ${(index as { at: number }).at} is ${found}, the schema has ${name}`];
  });
  if (differences.length === 0) return undefined;
  const more = differences.length - LISTED;
  return {
    code: "HEADER_DIFFERS",
    message:
      `the header differs from the schema: ${differences.slice(0, LISTED).join("; ")}` +
      (more > 0 ? `; and ${more} more` : ""),
    line: 1,
  };
}

const isNumbered = (name: string, found: string): boolean =>
  name.startsWith(`${found}_`) && /^\d+$/.test(name.slice(found.length + 1));

/** Takes the rows of a text as they are, with their line breaks. The bytes are valid during a call. */
export interface RowSink {
  /** The header, and lines above it that the schema skips. */
  head(bytes: Buffer): void;
  row(bytes: Buffer, conforms: boolean): void;
  /** Called every few rows; the check waits for it. */
  flush(): Promise<void>;
}

/** How a table is checked; every key has a default. */
export interface CheckOptions extends TextOptions {
  /** Default `native`; a service must take `linear` for patterns it did not write. */
  patterns?: PatternEngine;
  /** A row with another number of columns than the first row is an error. */
  strictColumns?: boolean;
  /** Ends the check after so many errors; default none. */
  maxErrors?: number;
  limits?: Partial<TableLimits>;
  /** By foreign key of the schema, the values that it may have; others are not checked. */
  references?: ReadonlyMap<object, ReadonlySet<string>>;
  /** Takes the rows of separated text; comments and blank lines at the end are no rows. */
  rows?: RowSink;
  /** Called with what is no error of a row: another header, stray quotes. */
  onFinding?: (finding: TableFinding) => void;
  /** Called at intervals with the number of bytes of the source that were read. */
  onProgress?: (bytes: number) => void;
}

/**
 * A check that runs while its errors are read. It runs once: read the errors, then the summary, or
 * the summary only.
 */
export interface TableCheck extends AsyncIterable<TableError> {
  /**
   * The errors of a stretch of rows at a time, in the order of rows: the fast way for many errors.
   */
  batches(): AsyncGenerator<TableError[], void>;
  /** The result; reads the rest of the source. */
  summary(): Promise<TableSummary>;
}

/**
 * Checks separated text (UTF-8 where no encoding is named, gzip or not) against a schema, in memory
 * that does not grow with the table. A source may fill the buffer of a part anew once the next part
 * is asked for.
 * @throws TabularError, when read: `SCHEMA` before the first row, `DATA` or `LIMIT` at the row it
 * happens
 */
export function validateTable(
  source: AsyncIterable<Uint8Array>,
  schema: TableSchema,
  options: CheckOptions = {},
): TableCheck {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const state: GuardedWork = { property: "", bytes: 0 };
  return runCheck(schema, options, limits, state, async () => {
    if (schema.dialect.separator === "")
      throw new TabularError(
        "SCHEMA",
        "the schema gives no separator, so no table can be checked against it",
      );
    const text = openSource(counted(source, state, options.onProgress), options);
    return textFeed(
      limits.maxText === Infinity ? text : bounded(text, limits),
      schema.dialect,
      limits,
      (line) => options.rows?.head(line),
    );
  });
}

/** Checks a table of a format that has cells; see {@link validateTable}. */
export function validateCells(
  table: Pick<CellTable, "mayHaveHeader" | "columns" | "feed" | "findings">,
  schema: TableSchema,
  options: CheckOptions = {},
): TableCheck {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const state: GuardedWork = { property: "", bytes: 0 };
  const feed = table.feed(limits, { schema });
  const counted: RowFeed = async function* (row, each, guard) {
    const count = (): void => {
      state.bytes += row.blockEnd;
      each();
    };
    yield* feed(row, count, guard);
    for (const finding of table.findings?.(schema) ?? []) options.onFinding?.(finding);
  };
  return runCheck(schemaFor(table, schema), options, limits, state, async () => {
    const columns = await table.columns?.();
    const finding = columns && headerFinding(schema, flatNames(columns));
    if (finding) options.onFinding?.(finding);
    return counted;
  });
}

/** Only a sheet has a header as text has one. */
const schemaFor = (
  { mayHaveHeader }: Pick<CellTable, "mayHaveHeader">,
  schema: TableSchema,
): TableSchema => ({ ...schema, header: mayHaveHeader && schema.header });

/**
 * The values of some columns of a table, for foreign keys to it.
 * @throws TabularError `LIMIT` for more than `maxKeys`
 */
export async function readKeyValues(
  source: AsyncIterable<Uint8Array> | CellTable,
  stated: TableSchema,
  fields: readonly string[],
  options: Pick<CheckOptions, "encoding" | "limits"> = {},
): Promise<ReadonlySet<string>> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const schema = "feed" in source ? schemaFor(source, stated) : stated;
  const columns = keyColumns(schema, fields);
  if (columns.length < fields.length)
    throw new TabularError(
      "SCHEMA",
      `it has no properties ${fields.join(", ")}, which a key names`,
    );
  const values = new Set<string>();
  const row = new Row();
  const gate = new RowGate(schema.header, row, {
    onRow: () => {
      const text = keyText(row, columns);
      if (text === undefined) return;
      if (values.size >= limits.maxKeys) throw tooManyKeys(limits);
      values.add(text);
    },
    encoding: options.encoding,
    limits,
  });
  const feed =
    "feed" in source
      ? source.feed(limits, { schema })
      : textFeed(openSource(source, options), schema.dialect, limits);
  for await (const _ of feed(row, () => gate.pass(), unguarded));
  return values;
}

function runCheck(
  schema: TableSchema,
  options: CheckOptions,
  limits: TableLimits,
  state: GuardedWork,
  open: () => Promise<RowFeed>,
): TableCheck {
  const { patterns = "native", strictColumns = false, maxErrors = Infinity } = options;
  let result: TableSummary | undefined;
  const batches = async function* (): AsyncGenerator<TableError[], void> {
    const feed = await open();
    const checker = new RowChecker(schema, await loadEnvironment(schema, patterns, state), {
      strictColumns,
      maxErrors,
      references: options.references ?? new Map(),
      limits,
    });
    const row = new Row();
    let needsHeader = schema.header;
    const gate: RowGate = new RowGate(schema.header, row, {
      onRow: () => {
        const conforms = checker.check(row, gate.firstCount);
        options.rows?.row(row.raw, conforms);
      },
      onHeader: (names) => {
        needsHeader = false;
        options.rows?.head(row.raw);
        const finding = headerFinding(schema, names);
        if (finding) options.onFinding?.(finding);
      },
      onFinding: options.onFinding,
      nameOf: (column) =>
        schema.properties.find(({ index }) =>
          index.kind === "column"
            ? index.at === column
            : index.from <= column && column < (index.to ?? Infinity),
        )?.name,
      encoding: options.encoding,
      limits,
    });
    for await (const _ of feed(row, () => gate.pass(), guardFor(schema, patterns, state, limits))) {
      await options.rows?.flush();
      const found = checker.take();
      if (found.length > 0) yield found;
      if (checker.full) break;
    }
    if (needsHeader)
      options.onFinding?.({
        code: "HEADER_MISSING",
        message: "it is empty: the header that the schema states is missing",
        line: 1,
      });
    result = checker.summary(Math.max(0, gate.firstCount));
  };
  const run = batches();
  return {
    batches: () => run,
    async *[Symbol.asyncIterator]() {
      for await (const found of run) yield* found;
    },
    async summary() {
      for await (const _ of run);
      if (!result) throw new Error("the check was abandoned before its end");
      return result;
    },
  };
}

function guardFor(
  schema: TableSchema,
  patterns: PatternEngine,
  state: GuardedWork,
  limits: TableLimits,
): Guard {
  if (patterns === "linear" || !runsPatterns(schema)) return unguarded;
  return timeGuard(state, limits);
}

/** Little can be compressed to anything: the text itself is bounded too. */
async function* bounded(
  text: AsyncIterable<Uint8Array>,
  { maxText, names }: TableLimits,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const part of text) {
    size += part.length;
    if (size > maxText)
      throw new TabularError(
        "LIMIT",
        `its text is longer than ${sizeText(maxText)} (${names.maxText}): check it in parts`,
      );
    yield part;
  }
}

async function* counted(
  source: AsyncIterable<Uint8Array>,
  state: GuardedWork,
  onProgress: CheckOptions["onProgress"],
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    state.bytes += chunk.length;
    onProgress?.(state.bytes);
    yield chunk;
  }
}

/** By code points, as the order of validation errors is. */
const byCodePoints = (a: { name: string }, b: { name: string }): number =>
  Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));

interface Converter {
  check: PropertyCheck;
  valueError: ErrorKind;
  indexError: ErrorKind;
}

interface RowOptions {
  strictColumns: boolean;
  maxErrors: number;
  references: ReadonlyMap<object, ReadonlySet<string>>;
  limits: TableLimits;
}

/** Checks one row after another and collects the errors. */
class RowChecker implements Report {
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

  readonly #options: RowOptions;
  readonly #keys: readonly KeyCheck[];

  constructor(
    schema: TableSchema,
    environment: Omit<RuleEnvironment, "kind">,
    options: RowOptions,
  ) {
    this.#options = options;

    const kind = (
      keyword: string | null,
      property: string | null,
      before: string,
      after: string,
      expected: string,
    ): ErrorKind => {
      const made = new ErrorKind(this.#kinds.length, keyword, property, before, after, expected);
      this.#kinds.push(made);
      return made;
    };
    const checks = schema.properties
      .map((property) => compileProperty(property, schema, { ...environment, kind }))
      .filter((check) => check !== undefined);
    const datatypes = new Map(
      schema.properties.map((property) => [property.name, datatypeText(property)]),
    );
    this.#converters = checks.map((check) => {
      const { name } = check;
      const [valueError, indexError] = ["ValueError", "IndexError"].map((error) =>
        kind(
          null,
          name,
          `${error}: Failed to Parse Attribute ${name} for Row `,
          "",
          datatypes.get(name)!,
        ),
      ) as [ErrorKind, ErrorKind];
      return { check, valueError, indexError };
    });
    this.#raggedKind = kind(
      null,
      null,
      "ValueError: Row ",
      "",
      "the number of columns of the first row",
    );
    const known = new Set(schema.properties.map(({ name }) => name));
    const missing = [...new Set(schema.required)].filter((name) => !known.has(name));
    this.#requirements = [
      ...checks
        .filter(({ checks: hasRules }) => hasRules)
        .map((check) => ({ name: check.name, check })),
      ...missing.map((name) => ({
        name,
        missing: kind(
          "required",
          name,
          `${quoted(name)} is a required property`,
          "",
          "a property of the schema",
        ),
      })),
    ].sort(byCodePoints);
    this.#keys = compileKeys(schema, options.references, kind, options.limits);
  }

  /**
   * @param firstCount columns of the file's first row
   * @returns whether the row conforms
   */
  check(row: Row, firstCount: number): boolean {
    if (this.full) return false;
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
    if (this.#errors === before) return true;
    this.#rowsWithErrors++;
    return false;
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
      else {
        const { column, failedColumn = column } = converter.check;
        const value = row.ownText(failedColumn);
        this.violation(converter.valueError, String(row.number), column, value);
      }
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
    for (const key of this.#keys) key(row, this);
  }

  violation(kind: ErrorKind, detail: string, column: number, value?: string): void {
    if (this.full) return;
    kind.count++;
    const row = this.#row!;
    const cell = value ?? (column < 0 ? undefined : row.ownText(column));
    const field = cell === undefined ? null : fieldText(cell);
    this.#found.push(new TableError(kind, row.number, row.line, column, detail, field));
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
