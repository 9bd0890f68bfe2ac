import { basename } from "node:path";
import { parseArk } from "../../../src/identifiers/ark.js";
import { inferTable } from "../../../src/tabular/infer.js";
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
import { validateTable } from "../../../src/tabular/validate.js";
import { Failure, visible } from "../../terminal.js";
import { type DialectOptions, dialectOf, newSchemaArk } from "./edit.js";
import {
  duplicateKeys,
  exists,
  inFile,
  loadSchema,
  openData,
  readDocumentFile,
  refuseSharedInput,
  type ResultOptions,
  writeResult,
} from "./inputs.js";
import { columnsOfParquet, isParquet, propertiesOfParquet } from "./parquet.js";

/**
 * `schema check`: checks the schema itself. Status 1 if it is invalid; warnings do not count.
 * @throws Failure
 */
export async function checkSchema(path: string, { data }: { data?: string }): Promise<void> {
  refuseSharedInput([path, data]);
  const document = await readDocument(path);
  const ofParquet = data !== undefined && (await isParquet(data));
  const columns =
    data === undefined
      ? undefined
      : ofParquet
        ? (await inFile(data, () => columnsOfParquet(data))).length
        : await columnsOf(data, document);
  const remarks = [
    // Parquet has no separator.
    ...inspectSchema(document, columns, new Set((await loadFormats()).keys())).filter(
      ({ code }) => !(ofParquet && code === "NO_SEPARATOR"),
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

/** Columns of the first row of a data file. */
async function columnsOf(data: string, document: unknown): Promise<number> {
  const source = await openData(data);
  return inFile(source.name, async () => {
    const shell = readSchema({
      ...(document as object),
      ...NO_KEYS,
      properties: { none: { type: "string", index: DEFAULT_LIMITS.maxColumns, description: "" } },
      required: [],
      header: false,
    });
    // No row has that column, so the check ends at the first row.
    return (await validateTable(source.bytes, shell, { maxErrors: 1 }).summary()).columns;
  });
}

export interface InferOptions extends ResultOptions, DialectOptions {
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
  if (await isParquet(data)) return inferFromParquet(data, options);
  const source = await openData(data);
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
  const name =
    options.name ??
    (data === "-" ? "table" : basename(data).replace(/(\.(csv|tsv|tab|txt|gz))+$/i, ""));
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
    ...(skipRows === 0 ? [] : [`${skipRows} ${skipRows === 1 ? "line" : "lines"} above the table`]),
    `${rows} ${rows === 1 ? "row" : "rows"}`,
  ].join(", ");
}

/** The schema that a Parquet file states for itself; it has no separator and no header. */
async function inferFromParquet(data: string, options: InferOptions): Promise<void> {
  const properties = await inFile(data, async () =>
    propertiesOfParquet(await columnsOfParquet(data)),
  );
  const name = options.name ?? basename(data).replace(/\.(parquet|pq)$/i, "");
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
  const required = Object.entries(properties)
    .filter(([, { type }]) => !Array.isArray(type))
    .map(([column]) => column);
  await writeResult({ ...document, properties, required }, options, "Schema");
}

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
