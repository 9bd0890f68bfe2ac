/** The tables that a schema file is about: those that it names, or the data that are given. */
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { fromCsvw } from "../../../src/tabular/interchange/csvw.js";
import {
  type ImportedTable,
  isJsonObject,
  type Json,
} from "../../../src/tabular/interchange/exchange.js";
import { fromFrictionless, noteMisplaced } from "../../../src/tabular/interchange/frictionless.js";
import { fromOdcs, isOdcs, parseOdcs } from "../../../src/tabular/interchange/odcs.js";
import { parseExactJson } from "../../../src/tabular/schema/exact-json.js";
import { readSchema, type TableSchema } from "../../../src/tabular/schema/table-schema.js";
import { readKeyValues } from "../../../src/tabular/validate.js";
import { Failure } from "../../terminal.js";
import { importedDocument } from "./exchange.js";
import {
  canReread,
  exists,
  inFile,
  loadSchema,
  readDocumentFile,
  refuseSharedInput,
} from "./inputs.js";
import { openTable, type TableOptions } from "./open-table.js";

/** A file and the schema for it. */
export interface Table {
  file: string;
  schema: TableSchema;
  encoding?: string | undefined;
}

/** One table of a package, as the package describes it. */
interface DescribedTable extends Table {
  /** As foreign keys name it. */
  name: string;
  /** By the name that foreign keys use, that of a property. */
  names: ReadonlyMap<string, string>;
}

/** What a schema file describes. */
export interface Described {
  tables: readonly Table[];
  /** The schema of all tables; none where a package describes each of them. */
  schema?: TableSchema;
  /** By foreign key, the values that it may have. */
  references: ReadonlyMap<object, ReadonlySet<string>>;
  findings: readonly { code: string; message: string }[];
}

type Finding = Described["findings"][number];

/**
 * The tables to check. A Data Package and CSVW metadata name their data; a schema does not.
 * @param files that are given: all of them, or those of the package that are checked
 * @throws Failure
 */
export async function describedTables(
  path: string,
  files: readonly string[],
  options: TableOptions,
): Promise<Described> {
  refuseSharedInput([path, ...files]);
  const findings: Finding[] = [];
  const all = await packageTables(
    path,
    (message) => void findings.push({ code: "NOT_CHECKED", message }),
  );
  if (!all) {
    const schema = await loadSchema(path);
    const tables = files.map((file) => ({ file, schema }));
    return {
      tables,
      schema,
      references: await ownReferences(path, tables, findings, options),
      findings,
    };
  }
  const byFile = new Set(all.map((table) => basename(table.file)));
  // By the name of its file, else by that of the table, with any ending.
  const isOf = (table: DescribedTable, file: string): boolean =>
    byFile.has(basename(file))
      ? basename(table.file) === basename(file)
      : table.name === basename(file).replace(/\..*$/, "");
  const tables =
    files.length === 0 ? all : all.filter((table) => files.some((file) => isOf(table, file)));
  const unknown = files.find((file) => !all.some((table) => isOf(table, file)));
  if (unknown !== undefined)
    throw new Failure(`${path}: it describes no table ${basename(unknown)}`);
  const chosen = tables.map((table) => ({
    ...table,
    file: files.find((file) => isOf(table, file)) ?? table.file,
  }));
  return {
    tables: chosen,
    references: await packageReferences(chosen, all, findings, options),
    findings,
  };
}

/** Whether a file describes tables and names their data. */
export const isPackage = async (path: string): Promise<boolean> =>
  (await packageDocument(path)) !== undefined;

async function packageDocument(path: string): Promise<Json | undefined> {
  if (!(await canReread(path))) return undefined;
  try {
    const text = (await readDocumentFile(path)).toString().replace(/^\uFEFF/, "");
    const document = /^kind\s*:/m.test(text) ? parseOdcs(text) : parseExactJson(text);
    if (isJsonObject(document) && isDataResource(document)) return { resources: [document] };
    return isJsonObject(document) &&
      (isDataPackage(document) || isCsvw(document) || isOdcs(document))
      ? document
      : undefined;
  } catch {
    // What is wrong with the file is said when it is read as a schema.
    return undefined;
  }
}

const isDataResource = ({ path, data, schema }: Json): boolean =>
  (path ?? data) !== undefined && isJsonObject(schema) && Array.isArray(schema["fields"]);
const isDataPackage = (document: Json): boolean => Array.isArray(document["resources"]);
const isCsvw = (document: Json): boolean =>
  Array.isArray(document["tables"]) || isJsonObject(document["tableSchema"]);

async function packageTables(
  path: string,
  note: (sentence: string) => void,
): Promise<DescribedTable[] | undefined> {
  const document = await packageDocument(path);
  if (!document) return undefined;
  return inFile(path, async () => {
    if (isOdcs(document)) return contractTables(path, document, note);
    if (!isDataPackage(document)) return csvwTables(path, document, note);
    noteMisplaced(document, note);
    return (document["resources"] as unknown[])
      .filter(isJsonObject)
      .flatMap((resource) => resourceTables(path, resource, note));
  });
}

const contractTables = (
  path: string,
  document: Json,
  note: (sentence: string) => void,
): DescribedTable[] =>
  fromOdcs(document, note).map(({ name, file, table }) =>
    described(path, name, file ?? `${name}.csv`, table),
  );

function resourceTables(
  path: string,
  resource: Json,
  note: (sentence: string) => void,
): DescribedTable[] {
  const name = typeof resource["name"] === "string" ? resource["name"] : "a resource";
  if (!isJsonObject(resource["schema"])) {
    note(`${name} is not checked: it has no schema in this file`);
    return [];
  }
  const found = fromFrictionless(resource, (sentence) => note(`${name}: ${sentence}`));
  const { encoding } = resource;
  return [resource["path"]].flat().map((data) => ({
    ...described(path, name, data, found),
    encoding: typeof encoding === "string" ? encoding : undefined,
  }));
}

function csvwTables(
  path: string,
  document: Json,
  note: (sentence: string) => void,
): DescribedTable[] {
  const { tables = [document] } = document;
  return (tables as unknown[]).filter(isJsonObject).map((table) => {
    const url = table["url"];
    const name = typeof url === "string" ? url : "a table";
    const single = table === document ? document : { ...document, tables: [table] };
    return described(
      path,
      name,
      url,
      fromCsvw(single, (sentence) => note(`${name}: ${sentence}`)),
    );
  });
}

function described(
  path: string,
  name: string,
  data: unknown,
  found: ImportedTable,
): DescribedTable {
  const document = importedDocument(found, {}, name);
  return {
    name,
    file: dataFile(path, name, data),
    schema: readSchema(document),
    names: found.names ?? new Map(),
  };
}

/** A package names files beside it: those of others are not read for it, and nothing is fetched. */
function dataFile(path: string, name: string, data: unknown): string {
  if (typeof data !== "string") throw new Failure(`${path}: ${name} names no file with its data`);
  if (/^[a-z][a-z0-9+.-]+:/i.test(data))
    throw new Failure(
      `${path}: the data of ${name} are at ${data}: download them, and give --data`,
    );
  const local = normalize(data);
  if (isAbsolute(local) || local.split(/[/\\]/).includes(".."))
    throw new Failure(
      `${path}: the data of ${name}, ${data}, are not in the folder of the package`,
    );
  return join(dirname(path), local);
}

/** The values of the keys that the tables refer to. */
async function packageReferences(
  tables: readonly DescribedTable[],
  all: readonly DescribedTable[],
  findings: Finding[],
  options: TableOptions,
): Promise<Map<object, ReadonlySet<string>>> {
  const references = new Map<object, ReadonlySet<string>>();
  for (const table of tables)
    for (const key of table.schema.foreignKeys) {
      const { resource, fields } = key.reference;
      const target = resource === "" ? table : all.find(({ name }) => name === resource);
      const names =
        resource === "" ? fields : fields.map((field) => target?.names.get(field) ?? field);
      const values = target && (await valuesOf(target, names, options));
      if (values) references.set(key, values);
      else findings.push(unchecked(resource));
    }
  return references;
}

/** A schema by itself knows no other table than the one that is checked. */
async function ownReferences(
  path: string,
  tables: readonly Table[],
  findings: Finding[],
  options: TableOptions,
): Promise<Map<object, ReadonlySet<string>>> {
  const references = new Map<object, ReadonlySet<string>>();
  const [table, ...more] = tables;
  if (!table) return references;
  for (const key of table.schema.foreignKeys) {
    const { resource, fields } = key.reference;
    const isOwn = resource === "" && more.length === 0;
    const values = isOwn ? await inFile(path, () => valuesOf(table, fields, options)) : undefined;
    if (values) references.set(key, values);
    else findings.push(unchecked(resource));
  }
  return references;
}

const unchecked = (resource: string): Finding => ({
  code: "FOREIGN_KEY_UNCHECKED",
  message:
    `the foreign key to ${resource === "" ? "the table itself" : resource} is not checked: ` +
    "it needs a package that names a file for both tables, one file at a time",
});

/** The values of a key in a file; `undefined` for one that cannot be read twice. */
async function valuesOf(
  { file, schema, encoding }: Table,
  fields: readonly string[],
  options: TableOptions,
): Promise<ReadonlySet<string> | undefined> {
  if (file === "-" || !(await exists(file))) return undefined;
  const { cells, bytes, close } = await openTable(file, options);
  try {
    return await inFile(file, () =>
      readKeyValues(cells ?? bytes, schema, fields, encoding === undefined ? {} : { encoding }),
    );
  } finally {
    await close();
  }
}
