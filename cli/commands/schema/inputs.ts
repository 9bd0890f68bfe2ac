/** What the commands around schemas read: schemas, and the data that is checked with them. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { TabularError } from "../../../src/tabular/limits.js";
import { loadFormats } from "../../../src/tabular/rules/environment.js";
import { exactJsonText } from "../../../src/tabular/schema/exact-json.js";
import {
  inspectSchema,
  parseSchemaText,
  type SchemaRemark,
  type TableSchema,
} from "../../../src/tabular/schema/table-schema.js";
import { Failure, writeFailure } from "../../terminal.js";

const ARK = /(?:^|\/)ark:?\/?\d{5}/i;

/** The path that stands for standard input. */
export const STDIN = "-";

let fromStdin: Promise<Buffer> | undefined;

/** The bytes of a schema file; those of standard input are the same each time. */
export async function readDocumentFile(path: string): Promise<Buffer> {
  if (path !== STDIN) return readFile(path);
  return (fromStdin ??= buffer(process.stdin));
}

/** Whether a path can be read as often as needed: not an ARK, and not a pipe. */
export const canReread = async (path: string): Promise<boolean> =>
  path === STDIN || ((await exists(path)) && (await stat(path)).isFile());

/** @throws Failure where standard input is asked for more than once */
export function refuseSharedInput(paths: readonly (string | undefined)[]): void {
  if (paths.filter((path) => path === STDIN).length > 1)
    throw new Failure("standard input can be only one of the files: give the others by name");
}

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
  return inFile(path, async () => {
    const schema = parseSchemaText((await readDocumentFile(path)).toString());
    const { properties, fields } = schema.document;
    if (properties === undefined && Array.isArray(fields))
      throw new Failure(
        `${path}: it is a Table Schema: convert it with arkgraph schema import --from frictionless`,
      );
    return schema;
  });
}

/**
 * Remarks of `schema check` that say nothing about data, or that every row says again. An array
 * beside properties of its columns is checked as it is written.
 */
const SILENT = new Set(["ARRAY_OVERLAPS", "DESCRIPTION_EMPTY", "NO_SEPARATOR", "REQUIRED_UNKNOWN"]);

/** What a schema file says that a check of data ignores; nothing of a packaged schema. */
export async function schemaFindings(
  path: string,
  { document }: TableSchema,
): Promise<{ code: string; message: string }[]> {
  if (path !== STDIN && !(await exists(path))) return [];
  return [
    ...inspectSchema(document, undefined, new Set((await loadFormats()).keys())),
    ...(await duplicateKeys(path)),
  ].filter(({ code }) => !SILENT.has(code));
}

/** Most objects and arrays inside each other that are looked through. */
const MAX_DEPTH = 200;

/** Keys that occur twice in one object of a schema file: the first of two values is lost. */
export async function duplicateKeys(path: string): Promise<SchemaRemark[]> {
  if (!(await canReread(path))) return [];
  const { parseStrictJson } = await import("../../../src/model/json/read.js");
  return parseStrictJson(await readDocumentFile(path), { maxDepth: MAX_DEPTH })
    .problems.filter(({ code }) => code === "duplicate_key")
    .map(({ pointer, line }) => ({
      code: "KEY_DUPLICATE",
      level: "error",
      message: `the key ${pointer} occurs twice (line ${line}): only the last one counts`,
    }));
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

/** A file that is written under another name. */
export interface PendingFile {
  file: FileHandle;
  temporary: string;
  /** Closes it and gives it its name. */
  commit(): Promise<void>;
  /** Closes and removes it. */
  abandon(): Promise<void>;
}

/**
 * Opens a file for writing so that a reader sees the old file or the new one, never a part: under a
 * temporary name in the same folder, then renamed.
 * @throws Failure
 */
export async function pendingFile(path: string): Promise<PendingFile> {
  return inFile(path, async () => {
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
    return {
      file,
      temporary,
      async commit() {
        await file.sync();
        await file.close();
        await rename(temporary, target);
      },
      async abandon() {
        await file.close().catch(() => undefined);
        await rm(temporary, { force: true });
      },
    };
  });
}

const jsonText = (document: object): string => `${exactJsonText(document, 2)}\n`;

/** Writes a document as a whole or not at all. @throws Failure */
export async function writeDocument(
  path: string,
  document: object,
  text: (document: object) => string = jsonText,
): Promise<void> {
  const pending = await pendingFile(path);
  await inFile(path, async () => {
    try {
      await pending.file.writeFile(text(document));
      await pending.commit();
    } catch (error) {
      await pending.abandon();
      throw error;
    }
  });
}

/** Milliseconds to wait for another command that changes the same file. */
const LOCK_WAIT = 10_000;

/**
 * Changes a file while no other command does: what is read stays what is stored until the change is
 * written. A file beside it, made by one command at a time, is the lock.
 * @throws Failure
 */
export async function whileLocked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const target = await inFile(path, () => realpath(path));
  const lock = join(dirname(target), `.${basename(target)}.lock`);
  const until = Date.now() + LOCK_WAIT;
  for (;;) {
    try {
      await (await open(lock, "wx")).close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw namedFailure(path, error);
      if (Date.now() > until)
        throw new Failure(
          `${path}: another command is changing it; if none is running, delete ${lock}`,
          { cause: error },
        );
      await setTimeout(20 + Math.random() * 30);
    }
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/**
 * The destination of a generated document: standard output, or a file that must not exist yet
 * unless it may be overwritten.
 */
export interface ResultOptions {
  output?: string;
  force?: true;
}

/** @throws Failure for a file that exists and may not be overwritten */
export async function refuseExisting(output: string, force: true | undefined): Promise<void> {
  if (force !== true && (await exists(output)))
    throw new Failure(
      `${output} exists already: choose another name, or add --force to overwrite it`,
    );
}

/** Writes a document to standard output, or to a file whose name it then prints. @throws Failure */
export async function writeResult(
  document: object,
  { output, force }: ResultOptions,
  what: string,
  text = jsonText,
): Promise<void> {
  if (output === undefined) {
    process.stdout.write(text(document));
    return;
  }
  await refuseExisting(output, force);
  await writeDocument(output, document, text);
  process.stdout.write(`Wrote ${what}: ${output}\n`);
}

/** The number of bytes of one read. */
const PART = 256 << 10;

/** Data to check: a name for messages, its bytes, and its size where it is known. */
export interface DataSource {
  name: string;
  size: number | undefined;
  bytes: AsyncIterable<Uint8Array>;
}

/** Opens a data file; `-` is standard input. @throws Failure, at once when there is no such file */
export async function openData(path: string): Promise<DataSource> {
  if (path === STDIN) return { name: "standard input", size: undefined, bytes: process.stdin };
  const about = await inFile(path, () => stat(path));
  if (about.isDirectory()) throw new Failure(`${path}: it is a folder, not a file`);
  return { name: path, size: about.isFile() ? about.size : undefined, bytes: fileParts(path) };
}

/** The chunks of a file. The next chunk is read while one is processed. */
async function* fileParts(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  const read = () => file.read(Buffer.allocUnsafeSlow(PART), 0, PART, null);
  try {
    let next = read();
    for (;;) {
      const { bytesRead, buffer } = await next;
      if (bytesRead === 0) return;
      next = read();
      // A failure is reported when the read is awaited; if the reader stops early, the read is
      // never awaited.
      next.catch(() => undefined);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
