import { basename } from "node:path";
import { parseArk } from "../../../src/identifiers/ark.js";
import { inferTable } from "../../../src/tabular/infer/infer-table.js";
import { newSchemaDocument, unescapeSeparator } from "../../../src/tabular/schema/document.js";
import { Failure } from "../../failure.js";
import { newSchemaArk } from "./create-tabular.js";
import { openData, textOptions } from "./data-source.js";
import { inFile } from "./schema-file.js";
import { writeResult, type ResultOptions } from "./write-result.js";

export interface InferOptions extends ResultOptions {
  name?: string;
  description?: string;
  guid?: string;
  separator?: string;
  header?: boolean;
  encoding?: string;
}

/** `schema infer`: writes a schema that the data conform to; what the types hide is said on standard error. @throws Failure */
export async function inferSchema(data: string, options: InferOptions): Promise<void> {
  if (options.separator === "") throw new Failure("--separator is empty: give one or more characters, \\t for a tab");
  if (options.guid !== undefined && !parseArk(options.guid)) throw new Failure(`--guid ${options.guid} is not an ARK: write ark:<NAAN>/<name>, e.g. ark:59853/schema-example`);
  const source = await openData(data);
  const remark = (sentence: string): boolean => process.stderr.write(`arkgraph: ${source.name}: ${sentence}\n`);
  const found = await inFile(source.name, () => inferTable(source.bytes, {
    ...textOptions(options.encoding, remark),
    ...(options.separator === undefined ? {} : { separator: unescapeSeparator(options.separator) }),
    ...(options.header === undefined ? {} : { header: options.header }),
  }));
  const name = options.name ?? (data === "-" ? "table" : basename(data).replace(/(\.(csv|tsv|tab|txt|gz))+$/i, ""));
  const document = newSchemaDocument({ id: options.guid ?? newSchemaArk(name), name, description: options.description ?? `Columns of ${name}`, separator: found.separator, header: found.header });
  for (const note of found.notes) remark(note);
  await writeResult({ ...document, properties: found.properties, required: Object.keys(found.properties) }, options, "Schema");
}
