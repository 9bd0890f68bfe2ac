/** `--valid-output` and `--invalid-output`: the rows of a table, as they are, in two files. */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { RowSink } from "../../../src/tabular/validate.js";
import { Failure, INTERRUPTED } from "../../terminal.js";
import { inFile, type PendingFile, pendingFile, refuseExisting } from "./inputs.js";

export interface RowFileOptions {
  validOutput?: string;
  invalidOutput?: string;
  force?: true;
}

/** Rows on their way to a file; gzip if its name says so. */
class RowFile {
  #pending: Buffer[] = [];
  readonly #input = new PassThrough();
  readonly #written: Promise<void>;
  readonly #path: string;
  readonly #file: PendingFile;

  constructor(path: string, file: PendingFile) {
    this.#path = path;
    this.#file = file;
    const write = (bytes: AsyncIterable<Buffer>): Promise<void> => file.file.writeFile(bytes);
    this.#written = path.toLowerCase().endsWith(".gz")
      ? pipeline(this.#input, createGzip(), write)
      : pipeline(this.#input, write);
    // A failure is reported by the next flush, or at the end.
    this.#written.catch(() => undefined);
    // The process may end before the check does: when nobody reads its output, for example.
    process.once("exit", this.#remove);
  }

  readonly #remove = (): void => rmSync(this.#file.temporary, { force: true });

  /** Copies the bytes: the reader uses its block again. */
  add(bytes: Buffer): void {
    this.#pending.push(Buffer.from(bytes));
  }

  async flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    if (this.#input.write(bytes)) return;
    await inFile(this.#path, () => Promise.race([once(this.#input, "drain"), this.#written]));
  }

  async commit(): Promise<void> {
    await this.flush();
    this.#input.end();
    await inFile(this.#path, async () => {
      await this.#written;
      await this.#file.commit();
    });
    process.off("exit", this.#remove);
  }

  async abandon(): Promise<void> {
    this.#input.destroy();
    await this.#written.catch(() => undefined);
    await this.#file.abandon();
    process.off("exit", this.#remove);
  }
}

const interrupt = (): never => process.exit(INTERRUPTED);

/** The files that rows are written to; they have their names once {@link commit} was called. */
export class RowFiles implements RowSink {
  readonly #valid: RowFile | undefined;
  readonly #invalid: RowFile | undefined;

  private constructor(valid: RowFile | undefined, invalid: RowFile | undefined) {
    this.#valid = valid;
    this.#invalid = invalid;
    process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  }

  /**
   * @param read files that must not be written over, even with `--force`
   * @throws Failure
   */
  static async open(
    { validOutput, invalidOutput, force }: RowFileOptions,
    read: readonly string[],
  ): Promise<RowFiles> {
    const taken = new Set(await Promise.all(read.map(resolved)));
    const opened: (RowFile | undefined)[] = [];
    try {
      for (const path of [validOutput, invalidOutput]) {
        if (path === undefined) {
          opened.push(undefined);
          continue;
        }
        const target = await resolved(path);
        if (taken.has(target))
          throw new Failure(`${path}: the rows need a file of their own: choose another name`);
        taken.add(target);
        await refuseExisting(path, force);
        opened.push(new RowFile(path, await pendingFile(path)));
      }
    } catch (error) {
      for (const file of opened) await file?.abandon();
      throw error;
    }
    return new RowFiles(opened[0], opened[1]);
  }

  head(bytes: Buffer): void {
    this.#valid?.add(bytes);
    this.#invalid?.add(bytes);
  }

  row(bytes: Buffer, conforms: boolean): void {
    (conforms ? this.#valid : this.#invalid)?.add(bytes);
  }

  async flush(): Promise<void> {
    await this.#valid?.flush();
    await this.#invalid?.flush();
  }

  async commit(): Promise<void> {
    await this.#valid?.commit();
    await this.#invalid?.commit();
    this.#end();
  }

  async abandon(): Promise<void> {
    await this.#valid?.abandon();
    await this.#invalid?.abandon();
    this.#end();
  }

  #end(): void {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

/** A path without symbolic links, also of a file that does not exist yet. */
const resolved = async (path: string): Promise<string> =>
  realpath(path).catch(async () =>
    join(await realpath(dirname(path)).catch(() => resolve(dirname(path))), basename(path)),
  );
