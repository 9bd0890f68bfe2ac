import { readFile } from "node:fs/promises";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { DEFAULT_LIMITS } from "../../../src/tabular/limits.js";
import { inspectSchema } from "../../../src/tabular/schema/inspect-schema.js";
import { readSchema } from "../../../src/tabular/schema/table-schema.js";
import { validateTable } from "../../../src/tabular/validate.js";
import { Failure } from "../../failure.js";
import { openData } from "./data-source.js";
import { exists, inFile, loadSchema } from "./schema-file.js";

/** `schema check`: is the schema itself sound? Status 1 when it is not; warnings do not count. @throws Failure */
export async function checkSchema(path: string, { data }: { data?: string }): Promise<void> {
  const document = await readDocument(path);
  const columns = data === undefined ? undefined : await columnsOf(data, document);
  const remarks = inspectSchema(document, columns, new Set(Object.keys(fullFormats)));
  for (const { level, message } of remarks) process.stdout.write(`${level}: ${message}\n`);
  if (remarks.some(({ level }) => level === "error")) process.exitCode = 1;
  else process.stdout.write("Schema is sound\n");
}

async function readDocument(path: string): Promise<unknown> {
  if (/^ark(?::|\d)/i.test(path) && !(await exists(path))) return (await loadSchema(path)).document;
  const text = await inFile(path, () => readFile(path, "utf8"));
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new Failure(`${path}: the schema is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Columns of the first row of a data file. */
async function columnsOf(data: string, document: unknown): Promise<number> {
  const source = await openData(data);
  return inFile(source.name, async () => {
    const shell = readSchema({ ...(document as object), properties: { none: { type: "string", index: DEFAULT_LIMITS.maxColumns, description: "" } }, required: [], header: false });
    // No row has that column, so the check ends at the first row.
    return (await validateTable(source.bytes, shell, { maxErrors: 1 }).summary()).columns;
  });
}
