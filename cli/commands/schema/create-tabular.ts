import { parseArk } from "../../../src/identifiers/ark.js";
import { mintArk } from "../../../src/identifiers/mint.js";
import { newSchemaDocument, unescapeSeparator } from "../../../src/tabular/schema/document.js";
import { Failure } from "../../failure.js";
import { exists, writeDocument } from "./schema-file.js";

export interface CreateOptions {
  name: string;
  description: string;
  guid?: string;
  separator: string;
  header?: boolean;
  force?: true;
}

/** `schema create-tabular`: writes a schema without properties. @throws Failure */
export async function createTabular(path: string, { name, description, guid, separator, header = false, force }: CreateOptions): Promise<void> {
  const columns = unescapeSeparator(separator);
  if (columns === "") throw new Failure("--separator is empty: give one or more characters, \\t for a tab");
  if (/["\r\n\0]/.test(columns)) throw new Failure("--separator holds a quote, a line break or a NUL, which cannot separate columns");
  if (name.trim() === "") throw new Failure("--name is empty: give the schema a name");
  if (guid !== undefined && !parseArk(guid)) throw new Failure(`--guid ${guid} is not an ARK: write ark:<NAAN>/<name>, e.g. ark:59853/schema-example`);
  if (force !== true && (await exists(path))) throw new Failure(`${path} exists already: give another name, or --force to overwrite it`);
  await writeDocument(path, newSchemaDocument({ id: guid ?? newSchemaArk(name), name, description, separator: columns, header }));
  process.stdout.write(`Wrote Schema: ${path}\n`);
}

/** A new identifier; its authority is the setting ARK_NAAN, as in the registry. @throws Failure */
export function newSchemaArk(name: string): string {
  const naan = process.env["ARK_NAAN"] ?? "99999";
  if (!/^[0-9]{5,16}$/.test(naan)) throw new Failure(`ARK_NAAN is ${naan}: it must be five digits or more`);
  return mintArk(naan, "schema", name);
}
