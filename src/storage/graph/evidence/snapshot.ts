import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { endianness } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { EngineLog } from "../port.js";
import { EvidenceStore, type StoreView } from "./store.js";

/**
 * A snapshot of the store of evidence on disk: a line of JSON, the columns, the texts and the IRIs
 * as they are in memory, and a checksum of it all. It can be deleted at any time.
 */

/** Changes with the form of the file, and with what the store reads from the records. */
const FORMAT = 3;
/** The line of JSON is filled with blanks up to so many bytes. */
const HEAD = 64 * 1024;
/** Bytes in one write or read. */
const CHUNK = 2 ** 22;
/** IRIs in one chunk. */
const IRIS = 20_000;

interface Head {
  format: number;
  order: string;
  /** What the store reads of the records: {@link EvidenceStore.reads}. */
  reads: string;
  /** Names this file in the record store that it was made from. */
  token: string;
  /** The commit that it is as of. */
  sequence: number;
  /** Bytes of the IRIs. */
  bytes: number;
  counts: StoreView["counts"];
}

/** Where a snapshot is until it is complete. */
export const unfinished = (file: string): string => `${file}.new`;

/**
 * Removes what was not written to its end, because the process or the thread ended meanwhile; it would
 * take its place on the disk for ever. Where it cannot be removed, the log says so.
 */
export function removeUnfinished(file: string, log: EngineLog): void {
  try {
    rmSync(unfinished(file), { force: true });
  } catch (error) {
    const reason = (error as Error).message;
    log.warn({ reason }, "an unfinished snapshot of the graph index could not be removed");
  }
}

/** @throws Error where there is a file that cannot be opened */
export function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Writes what the store holds now, beside what it reads and answers meanwhile. The file is complete,
 * or the one before it stays.
 */
export async function writeSnapshot(
  file: string,
  store: EvidenceStore,
  sequence: number,
  token: string,
): Promise<void> {
  const { counts, columns, blocks, iris } = store.view();
  const written = unfinished(file);
  const handle = await open(written, "w", 0o600);
  try {
    let sum = 0;
    let at = HEAD;
    const put = async (bytes: Uint8Array): Promise<void> => {
      for (let start = 0; start < bytes.length; start += CHUNK) {
        const part = bytes.subarray(start, start + CHUNK);
        sum = crc32(part, sum);
        await handle.write(part, 0, part.length, at);
        at += part.length;
      }
    };
    for (const column of columns) await put(bytesOf(column));
    for (const block of blocks) await put(block);
    const lengths = new Int32Array(counts.terms);
    const first = at;
    for (let start = 0; start < counts.terms; start += IRIS) {
      const some = iris
        .slice(start, Math.min(start + IRIS, counts.terms))
        .map((iri) => Buffer.from(iri));
      for (const [index, { length }] of some.entries()) lengths[start + index] = length;
      await put(Buffer.concat(some));
      await nextTurn();
    }
    const bytes = at - first;
    await put(bytesOf(lengths));
    const { reads } = EvidenceStore;
    const head = { format: FORMAT, order: endianness(), reads, token, sequence, bytes, counts };
    const line = Buffer.alloc(HEAD, " ");
    const length = line.write(`${JSON.stringify(head satisfies Head)}\n`);
    if (length === HEAD) throw new Error("the store has too many texts for a snapshot");
    await handle.write(line, 0, HEAD, 0);
    const end = Buffer.alloc(4);
    end.writeUInt32LE(crc32(line, sum));
    await handle.write(end, 0, end.length, at);
    await handle.sync();
  } catch (error) {
    await handle.close();
    await rm(written, { force: true });
    throw error;
  }
  await handle.close();
  await rename(written, file);
}

/**
 * Fills an empty store.
 * @returns the commit that it is as of; `undefined` for no snapshot, or one that is older than the records say, of
 * another registry or of another version
 * @throws Error when it cannot be read or is damaged: the store may then be half filled
 */
export function readSnapshot(
  file: string,
  store: EvidenceStore,
  token: string,
): number | undefined {
  const descriptor = openIfThere(file);
  if (descriptor === undefined) return undefined;
  try {
    const { size } = fstatSync(descriptor);
    let sum = 0;
    let at = HEAD;
    const fill = (bytes: Uint8Array): void => {
      for (let start = 0; start < bytes.length; start += CHUNK) {
        const part = bytes.subarray(start, start + CHUNK);
        if (readSync(descriptor, part, 0, part.length, at) !== part.length)
          throw new Error("it ends too early");
        sum = crc32(part, sum);
        at += part.length;
      }
    };
    const line = Buffer.alloc(HEAD);
    if (readSync(descriptor, line, 0, HEAD, 0) !== HEAD) throw new Error("it has no head");
    const head = JSON.parse(line.toString()) as Head;
    if (
      head.format !== FORMAT ||
      head.order !== endianness() ||
      head.reads !== EvidenceStore.reads ||
      head.token !== token
    )
      return undefined;
    if (sizeOf(head) !== size) throw new Error(`it has ${size} bytes instead of ${sizeOf(head)}`);
    const { columns, blocks, add } = store.refill(head.counts);
    for (const column of columns) fill(bytesOf(column));
    for (const block of blocks) fill(block);
    const iris = Buffer.alloc(head.bytes);
    fill(iris);
    const lengths = new Int32Array(head.counts.terms);
    fill(bytesOf(lengths));
    const end = Buffer.alloc(4);
    readSync(descriptor, end, 0, end.length, at);
    if (end.readUInt32LE() !== crc32(line, sum)) throw new Error("its checksum is wrong");
    let start = 0;
    for (const length of lengths) add(iris.toString("utf8", start, (start += length)));
    return head.sequence;
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes of a file with this head. */
function sizeOf({ bytes, counts: { terms, texts, rows, blocks } }: Head): number {
  // Four columns of terms and their lengths; of rows the code, of one byte, and six of four; three
  // of texts.
  const numbers = terms * 5 * 4 + rows * (1 + 6 * 4) + texts * 3 * 4;
  return HEAD + numbers + blocks.reduce((sum, length) => sum + length, 0) + bytes + 4;
}

const bytesOf = (column: Int32Array | Uint8Array): Uint8Array =>
  new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
