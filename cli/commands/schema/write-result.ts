import { Failure } from "../../failure.js";
import { exists, writeDocument } from "./schema-file.js";

/** Where a made document goes: standard output, or a file that does not exist yet unless it may be overwritten. */
export interface ResultOptions {
  output?: string;
  force?: true;
}

/** Writes a document to standard output, or to a file and says so. @throws Failure */
export async function writeResult(document: unknown, { output, force }: ResultOptions, what: string): Promise<void> {
  if (output === undefined) {
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return;
  }
  if (force !== true && (await exists(output))) throw new Failure(`${output} exists already: give another name, or --force to overwrite it`);
  await writeDocument(output, document);
  process.stdout.write(`Wrote ${what}: ${output}\n`);
}
