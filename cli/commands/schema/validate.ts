import { describedTables, type Table } from "./tables.js";
import type { TableLimits } from "../../../src/tabular/limits.js";
import type { TableFinding } from "../../../src/tabular/reader/row.js";
import type { TableSummary } from "../../../src/tabular/rules/check.js";
import type { TableSchema } from "../../../src/tabular/schema/table-schema.js";
import {
  type CheckOptions,
  type TableCheck,
  validateCells,
  validateTable,
} from "../../../src/tabular/validate.js";
import { Failure, failureLine, visible } from "../../terminal.js";
import { dialectOf, type DialectOptions } from "./edit.js";
import { type DataSource, namedFailure, schemaFindings } from "./inputs.js";
import { type OpenTable, openTable, type TableOptions } from "./open-table.js";
import {
  type Finding,
  GithubReport,
  JsonReport,
  NdjsonReport,
  Output,
  type Report,
  SarifReport,
  TableReport,
  writeSummary,
} from "./report.js";
import type { RowFileOptions, RowFiles } from "./row-files.js";
import type { Jobs } from "./jobs.js";
import { HtmlReport, JunitReport } from "./report-documents.js";

export interface ValidateOptions
  extends Partial<TableLimits>, DialectOptions, RowFileOptions, TableOptions {
  schema: string;
  format: "table" | "json" | "ndjson" | "sarif" | "github" | "junit" | "html";
  maxErrors?: number;
  summary?: true;
  strict?: true;
  strictColumns?: true;
  encoding?: string;
  quiet?: true;
  jobs?: number;
}

interface CheckedOptions extends ValidateOptions {
  references: ReadonlyMap<object, ReadonlySet<string>>;
  rows: RowFiles | undefined;
}

/** Files of at least this size get a progress bar on a terminal. */
const LONG_FILE = 20_000_000;

/**
 * `schema validate`: checks one file after another. Status 1 if a file does not conform or cannot
 * be read.
 * @throws Failure for a schema that cannot be used
 */
export async function validateCommand(
  files: readonly string[],
  options: ValidateOptions,
): Promise<void> {
  const {
    tables,
    schema: shared,
    references,
    findings,
  } = await describedTables(options.schema, files, options);
  const several = tables.length > 1;
  const rows = await openRows(options, tables);
  const jobs = await openJobs(options, tables, references);
  const report = await openReport(options, several);
  const inSchema = shared ? await schemaFindings(options.schema, shared) : [];
  for (const finding of [...findings, ...inSchema])
    await announce({ file: options.schema, ...finding }, options, report);
  for (const { file, schema: stated, encoding } of tables) {
    try {
      const summary = await (jobs
        ? jobs.next(report)
        : checkTable({ file, schema: stated, encoding }, { ...options, references, rows }, report));
      await rows?.commit();
      if (summary.errors > 0) process.exitCode = 1;
      if (summary.stopped) note(`${file}: stopped after ${summary.errors} errors (--max-errors)`);
      if (options.summary === true && options.quiet !== true)
        await writeSummary(file, summary, options.format, several);
    } catch (error) {
      await rows?.abandon();
      process.exitCode = 1;
      const failure = failureLine(error);
      await report.abandon(file === "-" ? "standard input" : file, failure);
      note(failure);
    }
  }
  await report.finish();
}

const checkTable = (
  { file, schema, encoding }: Table,
  options: CheckedOptions,
  report: Report,
): Promise<TableSummary> =>
  checkFile(
    file,
    { ...schema, dialect: dialectOf(options, schema.dialect) },
    { ...(encoding === undefined ? {} : { encoding }), ...options },
    report,
  );

/**
 * Nothing where one file after the other is checked: also where keys of one table are looked up in
 * another, which are read once for all.
 */
async function openJobs(
  options: ValidateOptions,
  tables: readonly Table[],
  references: ReadonlyMap<object, unknown>,
): Promise<Jobs | undefined> {
  const jobs = Math.min(options.jobs ?? 1, tables.length);
  const files = tables.map(({ file }) => file);
  if (jobs === 1 || references.size > 0 || files.includes("-")) return undefined;
  const { Jobs } = await import("./jobs.js");
  return new Jobs(files, options, jobs);
}

/** Checks one file for `--jobs`, in a process of its own. */
export async function checkPart(): Promise<void> {
  const { checkOneFile } = await import("./jobs.js");
  await checkOneFile<ValidateOptions>(async ({ file, options }, report) => {
    const { tables, references } = await describedTables(options.schema, [file], options);
    return checkTable(tables[0]!, { ...options, references, rows: undefined }, report);
  });
}

/** @throws Failure for data whose rows cannot be written to files */
async function openRows(
  options: ValidateOptions,
  [table, ...more]: readonly Table[],
): Promise<RowFiles | undefined> {
  const { validOutput, invalidOutput, maxErrors, schema } = options;
  if ((validOutput ?? invalidOutput) === undefined) return undefined;
  const refuse = (reason: string): never => {
    throw new Failure(`--valid-output and --invalid-output ${reason}`);
  };
  if (!table || more.length > 0) return refuse("are for one data file");
  if (maxErrors !== undefined) return refuse("need every row: leave out --max-errors");
  if (table.file !== "-") {
    const { cells, close } = await openTable(table.file, options);
    await close();
    if (cells) return refuse(`are for text; this is ${cells.format}`);
  }
  const { RowFiles } = await import("./row-files.js");
  return RowFiles.open(options, [table.file, schema]);
}

/** Writes a finding on standard error and into the report; with `--strict` it decides the status. */
async function announce(
  finding: Omit<Finding, "level">,
  { strict, quiet }: ValidateOptions,
  report: Report,
): Promise<void> {
  const message = visible(finding.message);
  if (strict === true) process.exitCode = 1;
  if (quiet !== true) note(`${finding.file}: ${message} (${finding.code})`);
  await report.find({ ...finding, level: strict === true ? "error" : "warning", message });
}

const note = (line: string): boolean => process.stderr.write(`arkgraph: ${line}\n`);

async function checkFile(
  file: string,
  schema: TableSchema,
  options: CheckedOptions,
  report: Report,
): Promise<TableSummary> {
  const source = await openTable(file, options);
  const progress = await openFileProgress(source, options);
  await report.begin(source.name);
  const findings: TableFinding[] = [];
  const announceAll = async (): Promise<void> => {
    for (const finding of findings.splice(0))
      await announce({ file: source.name, ...finding }, options, report);
  };
  try {
    if (source.cells && options.rows)
      throw new Failure(
        `--valid-output and --invalid-output are for text; this is ${source.cells.format}`,
      );
    if (progress) source.onRead = progress.update;
    const check = startCheck(source, schema, {
      ...engineOptions(options),
      references: options.references,
      ...(options.rows ? { rows: options.rows } : {}),
      onFinding: (finding) => void findings.push(finding),
      ...(progress ? { onProgress: progress.update } : {}),
    });
    for await (const errors of check.batches()) await report.add(errors);
    progress?.stop();
    const summary = await check.summary();
    await announceAll();
    await report.end(summary);
    return summary;
  } catch (error) {
    progress?.stop();
    await announceAll();
    throw aboutData(file, source.name, error, options.schema);
  } finally {
    await source.close();
  }
}

const startCheck = (
  { cells, bytes }: OpenTable,
  schema: TableSchema,
  options: CheckOptions,
): TableCheck =>
  cells ? validateCells(cells, schema, options) : validateTable(bytes, schema, options);

function aboutData(file: string, name: string, error: unknown, schema: string): unknown {
  const aboutSchema = (error as { code?: string }).code === "SCHEMA";
  return namedFailure(aboutSchema ? schema : file === "-" ? name : file, error);
}

function engineOptions({
  encoding,
  strictColumns,
  maxErrors,
  maxCell,
  maxRow,
  maxColumns,
  patternSeconds,
  maxKeys,
  maxPart,
}: ValidateOptions): CheckOptions {
  const limits = Object.fromEntries(
    Object.entries({ maxCell, maxRow, maxColumns, patternSeconds, maxKeys, maxPart }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  return {
    limits,
    ...(encoding === undefined ? {} : { encoding }),
    strictColumns: strictColumns === true,
    ...(maxErrors === undefined ? {} : { maxErrors }),
  };
}

async function openReport(
  { format, quiet, schema }: ValidateOptions,
  several: boolean,
): Promise<Report> {
  if (quiet === true)
    return {
      find: async () => {},
      begin: async () => {},
      add: async () => {},
      end: async () => {},
      abandon: async () => {},
      finish: async () => {},
    };
  const output = new Output();
  switch (format) {
    case "table": {
      const coloured = output.isTerminal && (process.env["NO_COLOR"] ?? "") === "";
      return new TableReport(output, several, coloured, schema);
    }
    case "ndjson":
      return new NdjsonReport(output);
    case "json":
      return new JsonReport(output);
    case "sarif":
      return new SarifReport(output);
    case "github":
      return new GithubReport(output);
    case "junit":
      return new JunitReport(output);
    case "html":
      return new HtmlReport(output);
  }
}

async function openFileProgress(
  { name, size }: DataSource,
  { quiet }: ValidateOptions,
): Promise<{ update(bytes: number): void; stop(): void } | undefined> {
  if (size === undefined || size < LONG_FILE || quiet === true || !process.stderr.isTTY)
    return undefined;
  const [{ openProgress }, { humanSize }] = await Promise.all([
    import("../../terminal.js"),
    import("../../terminal.js"),
  ]);
  const line = await openProgress("checking", process.stderr);
  return {
    update: (bytes) =>
      line.update(bytes, size, `${humanSize(bytes)} of ${humanSize(size)} · ${name}`),
    stop: () => line.stop(),
  };
}
