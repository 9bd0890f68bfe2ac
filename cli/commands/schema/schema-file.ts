import { randomBytes } from "node:crypto";
import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { TabularError } from "../../../src/tabular/limits.js";
import { parseSchemaText, type TableSchema } from "../../../src/tabular/schema/table-schema.js";
import { Failure, writeFailure } from "../../failure.js";

const ARK = /(?:^|\/)ark:?\/?\d{5}/i;

/** Reads a schema from a file, or a packaged one by its ARK. @throws Failure */
export async function loadSchema(given: string): Promise<TableSchema> {
  if (ARK.test(given) && !(await exists(given))) {
    const { findPackagedSchema } = await import("../../../src/tabular/schema/packaged.js");
    const packaged = findPackagedSchema(given);
    if (!packaged)
      throw new Failure(
        `${given}: no packaged schema has this identifier; arkgraph schema list shows ` +
          "all packaged schemas",
      );
    return parseSchemaText(JSON.stringify(packaged));
  }
  return readSchemaFile(given);
}

/** Reads a schema file. @throws Failure that names the file and the place in it */
export async function readSchemaFile(path: string): Promise<TableSchema> {
  return inFile(path, async () => parseSchemaText(await readFile(path, "utf8")));
}

/** Runs an operation on a file; its errors name the file. @throws Failure */
export async function inFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw namedFailure(path, error);
  }
}

/** Converts an error to a failure that names the file. */
export function namedFailure(path: string, error: unknown): unknown {
  if (error instanceof TabularError)
    return new Failure(`${path}: ${error.message}`, { cause: error });
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EISDIR")
    return new Failure(`${path}: it is a folder, not a file`, { cause: error });
  if (code === "ENOENT" || code === "ENOTDIR")
    return new Failure(`${path}: there is no such file or folder`, { cause: error });
  if (code === "EACCES" || code === "EPERM")
    return new Failure(`${path}: permission denied`, { cause: error });
  return error;
}

export const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Writes a JSON document so that a reader sees the old file or the new one, never a part: to a
 * temporary name in the same folder, then renamed.
 * @throws Failure
 */
export async function writeDocument(path: string, document: unknown): Promise<void> {
  await inFile(path, async () => {
    // Follow a symbolic link to its target: renaming would replace the link.
    const target = await realpath(path).catch(() => path);
    const before = await stat(target).catch(() => undefined);
    if (before && !before.isFile()) throw new Failure(`${path}: it is not a file`);
    const temporary = join(
      dirname(target),
      `.${basename(target)}.${randomBytes(6).toString("hex")}`,
    );
    const file = await open(temporary, "wx", before?.mode ?? 0o666).catch(
      async (error: unknown) => {
        throw await writeFailure(target, error);
      },
    );
    try {
      try {
        await file.writeFile(`${JSON.stringify(document, null, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  });
}

/**
 * The destination of a generated document: standard output, or a file that must not exist yet
 * unless it may be overwritten.
 */
export interface ResultOptions {
  output?: string;
  force?: true;
}

/** Writes a document to standard output, or to a file whose name it then prints. @throws Failure */
export async function writeResult(
  document: unknown,
  { output, force }: ResultOptions,
  what: string,
): Promise<void> {
  if (output === undefined) {
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return;
  }
  if (force !== true && (await exists(output)))
    throw new Failure(
      `${output} exists already: choose another name, or add --force to overwrite it`,
    );
  await writeDocument(output, document);
  process.stdout.write(`Wrote ${what}: ${output}\n`);
}
