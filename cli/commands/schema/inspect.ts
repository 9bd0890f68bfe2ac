import { basename } from "node:path";
import { parseArk } from "../../../src/identifiers/ark.js";
import { inferCells, inferTable } from "../../../src/tabular/infer.js";
import { DEFAULT_LIMITS } from "../../../src/tabular/limits.js";
import { type Dialect, separatedBy } from "../../../src/tabular/reader/dialect.js";
import { loadFormats } from "../../../src/tabular/rules/environment.js";
import { parseExactJson } from "../../../src/tabular/schema/exact-json.js";
import { diffSchemas } from "../../../src/tabular/schema/diff.js";
import { findPackagedSchema, PACKAGED_SCHEMAS } from "../../../src/tabular/schema/packaged.js";
import {
  inspectSchema,
  newSchemaDocument,
  NO_KEYS,
  readSchema,
  statedDialect,
} from "../../../src/tabular/schema/table-schema.js";
import {
  type CellTable,
  propertiesOf,
  type TableColumn,
} from "../../../src/tabular/sources/cell-table.js";
import { validateCells, validateTable } from "../../../src/tabular/validate.js";
import { Failure, visible } from "../../terminal.js";
import { type DialectOptions, dialectOf, newSchemaArk } from "./edit.js";
import {
  duplicateKeys,
  exists,
  inFile,
  loadSchema,
  readDocumentFile,
  refuseSharedInput,
  type ResultOptions,
  writeResult,
} from "./inputs.js";
import { openTable, type TableOptions } from "./open-table.js";

/**
 * `schema check`: checks the schema itself. Status 1 if it is invalid; warnings do not count.
 * @throws Failure
 */
export async function checkSchema(
  path: string,
  { data, ...options }: { data?: string } & TableOptions,
): Promise<void> {
  refuseSharedInput([path, data]);
  const document = await readDocument(path);
  const { columns, isText } =
    data === undefined
      ? { columns: undefined, isText: true }
      : await columnsOf(data, document, options);
  const remarks = [
    // Only text has a separator.
    ...inspectSchema(document, columns, new Set((await loadFormats()).keys())).filter(
      ({ code }) => isText || code !== "NO_SEPARATOR",
    ),
    ...(await duplicateKeys(path)),
  ];
  for (const { level, message } of remarks) process.stdout.write(`${level}: ${message}\n`);
  if (remarks.some(({ level }) => level === "error")) process.exitCode = 1;
  else process.stdout.write("Schema is valid\n");
}

async function readDocument(path: string): Promise<unknown> {
  if (/^ark(?::|\d)/i.test(path) && !(await exists(path))) return (await loadSchema(path)).document;
  const text = (await inFile(path, () => readDocumentFile(path))).toString();
  try {
    return parseExactJson(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new Failure(`${path}: the schema is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Columns of a data file: those of its first row. */
async function columnsOf(
  data: string,
  document: unknown,
  options: TableOptions,
): Promise<{ columns: number; isText: boolean }> {
  const { name, cells, bytes, close } = await openTable(data, options);
  return inFile(name, async () => {
    const stated = await cells?.columns?.();
    if (stated) return { columns: stated.length, isText: false };
    const shell = readSchema({
      ...(document as object),
      ...NO_KEYS,
      properties: { none: { type: "string", index: DEFAULT_LIMITS.maxColumns, description: "" } },
      required: [],
      header: false,
    });
    // No row has that column, so the check ends at the first row.
    const check = cells
      ? validateCells(cells, shell, { maxErrors: 1 })
      : validateTable(bytes, shell, { maxErrors: 1 });
    return { columns: (await check.summary()).columns, isText: cells === undefined };
  }).finally(close);
}

export interface InferOptions extends ResultOptions, DialectOptions, TableOptions {
  name?: string;
  description?: string;
  guid?: string;
  separator?: string;
  header?: boolean;
  encoding?: string;
}

/**
 * `schema infer`: writes a schema that the data conform to; details that the types hide are
 * reported on standard error.
 * @throws Failure
 */
export async function inferSchema(
  data: string,
  schema: string | undefined,
  stated: InferOptions,
): Promise<void> {
  if (schema !== undefined && stated.output !== undefined)
    throw new Failure(`${schema} and --output both name the schema's file: give one of them`);
  const options = { ...stated, ...(schema === undefined ? {} : { output: schema }) };
  if (options.separator === "")
    throw new Failure("--separator is empty: give one or more characters, \\t for a tab");
  if (options.guid !== undefined && !parseArk(options.guid))
    throw new Failure(
      `--guid ${options.guid} is not an ARK: write ark:<NAAN>/<name>, e.g. ` +
        "ark:59853/schema-example",
    );
  dialectOf(options);
  const source = await openTable(data, options);
  const { cells } = source;
  // A separator that is named says that it is text.
  if (cells && (cells.format !== "JSON Lines" || options.separator === undefined))
    return inferFromCells(data, source.name, cells, options).finally(source.close);
  const remark = (sentence: string): boolean =>
    process.stderr.write(`arkgraph: ${source.name}: ${sentence}\n`);
  const found = await inFile(source.name, () =>
    inferTable(source.bytes, {
      ...(options.encoding === undefined ? {} : { encoding: options.encoding }),
      table: {
        ...statedDialect(options),
        ...(options.header === undefined ? {} : { header: options.header }),
      },
    }),
  );
  const name = options.name ?? nameOf(data);
  const document = newSchemaDocument({
    id: options.guid ?? newSchemaArk(name),
    name,
    description: options.description ?? `Columns of ${name}`,
    dialect: found.dialect,
    header: found.header,
  });
  remark(`detected: ${detectedText(found)}`);
  for (const note of found.notes) remark(note);
  await writeResult(
    {
      ...document,
      properties: found.properties,
      required: found.required,
      ...(found.missingValues.length > 0 ? { missingValues: found.missingValues } : {}),
    },
    options,
    "Schema",
  );
}

/** How a table is written, in one line. */
function detectedText({
  dialect,
  header,
  rows,
}: {
  dialect: Dialect;
  header: boolean;
  rows: number;
}): string {
  const { separator, comment, skipRows } = dialect;
  return [
    `separator ${JSON.stringify(separator)}`,
    header ? "a header" : "no header",
    ...(comment === null ? [] : [`comment lines that begin with ${comment}`]),
    ...(skipRows === 0 ? [] : [`${counted(skipRows, "line")} above the table`]),
    counted(rows, "row"),
  ].join(", ");
}

const ENDINGS =
  /(\.(csv|tsv|tab|txt|parquet|pq|xlsx|xlsm|ods|jsonl|ndjson|arrow|feather|gz|zst|bz2|xz|zip))+$/i;

const nameOf = (data: string): string =>
  data === "-" ? "table" : basename(data).replace(ENDINGS, "");

/** The schema of a table that is no text: it has no separator, and a header only where it is a sheet. */
async function inferFromCells(
  data: string,
  file: string,
  cells: CellTable,
  options: InferOptions,
): Promise<void> {
  const remark = (sentence: string): boolean =>
    process.stderr.write(`arkgraph: ${file}: ${sentence}\n`);
  const name = options.name ?? nameOf(data);
  const {
    separator: _,
    seperator: __,
    header: ___,
    ...document
  } = newSchemaDocument({
    id: options.guid ?? newSchemaArk(name),
    name,
    description: options.description ?? `Columns of ${name}`,
    dialect: separatedBy(""),
    header: false,
  });
  const described = await inFile(file, async () => {
    const columns = await cells.columns?.();
    if (columns) return statedProperties(columns);
    const found = await inferCells(cells, options);
    const { header, skipRows, properties, required, missingValues } = found;
    remark(`detected: ${cells.format}, ${cellsText(cells, found)}`);
    for (const note of found.notes) remark(note);
    return {
      ...(cells.mayHaveHeader ? { header } : {}),
      ...(skipRows === 0 ? {} : { skipRows }),
      properties,
      required,
      ...(missingValues.length > 0 ? { missingValues } : {}),
    };
  });
  await writeResult({ ...document, ...described }, options, "Schema");
}

function statedProperties(columns: readonly TableColumn[]): object {
  const properties = propertiesOf(columns);
  const required = Object.entries(properties)
    .filter(([, { type }]) => !Array.isArray(type))
    .map(([column]) => column);
  return { properties, required };
}

const cellsText = (
  { mayHaveHeader }: CellTable,
  { header, skipRows, rows }: { header: boolean; skipRows: number; rows: number },
): string =>
  [
    ...(mayHaveHeader ? [header ? "a header" : "no header"] : []),
    ...(skipRows === 0 ? [] : [`${counted(skipRows, "row")} above the table`]),
    counted(rows, "row"),
  ].join(", ");

const counted = (count: number, what: string): string =>
  `${count} ${count === 1 ? what : `${what}s`}`;

/**
 * `schema diff`: what differs between two versions of a schema. Status 1 if data that conform to the
 * old one may not conform to the new one.
 * @throws Failure
 */
export async function diffCommand(
  before: string,
  after: string,
  { format }: { format: "text" | "json" },
): Promise<void> {
  refuseSharedInput([before, after]);
  const changes = diffSchemas(await loadSchema(before), await loadSchema(after));
  const breaks = changes.some((change) => change.breaks);
  if (breaks) process.exitCode = 1;
  if (format === "json") {
    process.stdout.write(`${JSON.stringify({ changes, breaks })}\n`);
    return;
  }
  for (const change of changes)
    process.stdout.write(
      `${change.breaks ? "breaks" : "compatible"}: ${visible(change.message)}\n`,
    );
  if (changes.length === 0) process.stdout.write("No difference\n");
}

/** `schema list`: lists the packaged schemas, one per line. */
export function listSchemas(): void {
  // oxlint-disable-next-line arkgraph/spread-into-call -- schemas of the package
  const width = Math.max(...PACKAGED_SCHEMAS.map((schema) => schema["@id"].length));
  process.stdout.write(
    PACKAGED_SCHEMAS.map((schema) => `${schema["@id"].padEnd(width)}  ${schema.name}\n`).join(""),
  );
}

/** `schema show <ARK>`: a packaged schema as JSON. @throws Failure */
export function showSchema(ark: string): void {
  const schema = findPackagedSchema(ark);
  if (!schema)
    throw new Failure(
      `${ark}: no packaged schema has this identifier; arkgraph schema list shows all ` +
        "packaged schemas",
    );
  process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
}
