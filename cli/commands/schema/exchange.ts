import { basename } from "node:path";
import { parseArk } from "../../../src/identifiers/ark.js";
import type { ImportedTable } from "../../../src/tabular/interchange/exchange.js";
import { fromCsvw, toCsvw } from "../../../src/tabular/interchange/csvw.js";
import { fromFrictionless, toFrictionless } from "../../../src/tabular/interchange/frictionless.js";
import { fromOdcs, parseOdcs, toOdcs } from "../../../src/tabular/interchange/odcs.js";
import { yamlText } from "../../../src/services/formats/yaml.js";
import { separatedBy } from "../../../src/tabular/reader/dialect.js";
import { parseExactJson } from "../../../src/tabular/schema/exact-json.js";
import {
  newSchemaDocument,
  readSchema,
  type SchemaDocument,
  unescapeSeparator,
} from "../../../src/tabular/schema/table-schema.js";
import { arkPath, givenArk, openRegistry, Refusal, type ServerOption } from "../../registry.js";
import { Failure, visible } from "../../terminal.js";
import { whoIs } from "../registry/session.js";
import { newSchemaArk } from "./edit.js";
import {
  inFile,
  loadSchema,
  type ResultOptions,
  readDocumentFile,
  readSchemaFile,
  writeResult,
} from "./inputs.js";

type OtherFormat = "csvw" | "frictionless" | "odcs";

const WRITTEN: Record<OtherFormat, string> = {
  csvw: "CSVW metadata",
  frictionless: "Table Schema",
  odcs: "data contract",
};

/**
 * `schema export`: writes the schema in another format; properties without a counterpart there are
 * listed on standard error.
 * @throws Failure
 */
export async function exportSchema(
  path: string,
  options: ResultOptions & { to: OtherFormat; columns?: number; url?: string },
): Promise<void> {
  const schema = await loadSchema(path);
  const note = (sentence: string): boolean =>
    process.stderr.write(`arkgraph: ${path}: ${sentence}\n`);
  const document = await inFile(path, async () => {
    if (schema.dialect.separator === "" && options.to !== "odcs")
      throw new Failure(`${path}: the schema gives no separator, so it describes no table`);
    const url = options.url ?? "data.csv";
    if (options.to === "odcs") return toOdcs(schema, url, note);
    return options.to === "csvw"
      ? toCsvw(schema, options.columns, url, note)
      : toFrictionless(schema, options.columns, note);
  });
  // Contracts are YAML; JSON is YAML too.
  const isYaml = options.to === "odcs" && !(options.output ?? "").endsWith(".json");
  await writeResult(document, options, WRITTEN[options.to], isYaml ? yamlText : undefined);
}

/**
 * `schema import`: creates a schema from another format; properties without a counterpart here are
 * listed on standard error.
 * @throws Failure, with `--strict` also for such properties
 */
export async function importSchema(
  path: string,
  options: ResultOptions & {
    from: OtherFormat;
    strict?: true;
    name?: string;
    separator?: string;
    header?: boolean;
  },
): Promise<void> {
  let lost = 0;
  const note = (sentence: string): void => {
    lost++;
    process.stderr.write(`arkgraph: ${path}: ${visible(sentence)}\n`);
  };
  const document = await inFile(path, async () => {
    const text = (await readDocumentFile(path)).toString();
    const found = imported(path, text, options.from, note);
    if (options.strict === true && lost > 0)
      throw new Failure(
        `${path}: ${lost === 1 ? "1 thing has" : `${lost} things have`} no counterpart here ` +
          "and would be lost; leave --strict out to import the rest",
      );
    return importedDocument(found, options, basename(path).replace(/\.(json|ya?ml)$/, ""));
  });
  await writeResult(document, options, "Schema");
}

function imported(
  path: string,
  text: string,
  format: OtherFormat,
  note: (sentence: string) => void,
): ImportedTable {
  if (format === "csvw") return fromCsvw(parse(path, text), note);
  if (format === "frictionless") return fromFrictionless(parse(path, text), note);
  const [first, ...others] = fromOdcs(parseOdcs(text), note);
  if (!first) throw new Failure(`${path}: the contract has no table`);
  if (others.length > 0)
    note(
      `${others.length} more ${others.length === 1 ? "table" : "tables"}: a schema describes one`,
    );
  return first.table;
}

/**
 * The schema that another format describes.
 * @param given in place of what the format states
 * @throws TabularError `SCHEMA`
 */
export function importedDocument(
  found: ImportedTable,
  given: { name?: string; separator?: string; header?: boolean },
  otherName: string,
): SchemaDocument {
  const name = given.name ?? found.name ?? otherName;
  const separator = unescapeSeparator(given.separator ?? found.separator ?? ",");
  const id = found.id !== undefined && parseArk(found.id) ? found.id : newSchemaArk(name);
  const made = {
    ...newSchemaDocument({
      id,
      name,
      description: found.description ?? `Columns of ${name}`,
      dialect: { ...separatedBy(separator), ...found.dialect, separator },
      header: given.header ?? found.header ?? true,
    }),
    ...found.keys,
    ...(found.missingValues ? { missingValues: found.missingValues } : {}),
    properties: found.properties,
    required: Object.keys(found.properties),
  };
  readSchema(made);
  return made;
}

function parse(path: string, text: string): unknown {
  try {
    return parseExactJson(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new Failure(`${path}: it is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** `schema push`: registers a schema file as a record. @throws Failure */
export async function pushSchema(
  path: string,
  { update, ...options }: ServerOption & { update?: true },
): Promise<void> {
  const { document } = await readSchemaFile(path);
  const registry = await openRegistry(options, { token: true });
  let { owner } = document;
  if (typeof owner !== "string") owner = (await whoIs(registry)).me?.id;
  if (typeof owner !== "string")
    throw new Failure(`${registry.address} rejected the token: run arkgraph login`);
  try {
    const made = await registry.send<{ "@id": string }>(
      update === true ? "PUT" : "POST",
      "/schema",
      { ...document, owner },
    );
    process.stdout.write(`Pushed Schema: ${made["@id"]}\n`);
  } catch (error) {
    if (error instanceof Refusal && error.code === "DUPLICATE")
      throw new Failure(`${path}: ${error.message} Use --update to replace it.`, { cause: error });
    throw error instanceof Refusal && error.status === 422
      ? new Failure(`${path}: ${error.message}`, { cause: error })
      : error;
  }
}

/** `schema pull`: a registered schema as a file, or on standard output. @throws Failure */
export async function pullSchema(
  id: string,
  { output, force, ...options }: ServerOption & ResultOptions,
): Promise<void> {
  const ark = givenArk(id);
  const registry = await openRegistry(options);
  const document = await registry.json<object>(`/schema/${arkPath(ark)}`);
  // A document that is not a valid schema must not be written as a schema file.
  await inFile(ark, async () => readSchema(document));
  await writeResult(
    document,
    { ...(output === undefined ? {} : { output }), ...(force === undefined ? {} : { force }) },
    "Schema",
  );
}
