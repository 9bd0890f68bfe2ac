import {
  closeSync,
  fdatasync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { openIfThere, unfinished } from "../../evidence/snapshot.js";
import type { Engine } from "../memory.js";

/**
 * A snapshot of a thread that answers SPARQL: a line of JSON, the memory of its engine as it is, the
 * identifiers of its records, and a checksum of it all. The engine has no form of its own to store a
 * graph, and reading all statements again takes half a minute where reading its memory takes a
 * second or two. It can be deleted at any time.
 */

/** Changes with the form of the file. */
const FORMAT = 2;
/** The line of JSON is filled with blanks up to so many bytes. */
const HEAD = 64 * 1024;
/** Bytes in one write or read. */
const CHUNK = 2 ** 20;
const ZEROS = Buffer.alloc(CHUNK);
/**
 * Chunks that may be in memory of the system alone: a sync of the record store would wait until all of
 * the file is on the disk.
 */
const UNSYNCED = 32;
const synced = promisify(fdatasync);

/** Of a thread, besides the memory of its engine. */
export interface OpenState {
  /** Where the store is in the memory. */
  place: number;
  /** Identifiers of its records. */
  arks: readonly string[];
  /** The commit that it is as of. */
  sequence: number;
  rewrites: number;
  /** Bytes that the graphs take. */
  held: number;
}

interface Head extends Omit<OpenState, "arks"> {
  format: number;
  /** SHA-256 of the engine's code: another one has another memory. */
  module: string;
  /** Names this file in the record store that it was made from. */
  token: string;
  /** Bytes of the memory and of the identifiers. */
  memory: number;
  arks: number;
  /** Chunks of the memory that are not in the file: the engine reserves more than it uses. */
  empty: number[];
  /** Values of JavaScript that the engine holds, by their place in its table. */
  externals: { length: number; values: [place: number, value: string][] };
}

/** Begins the message of a thread that ended because its snapshot was damaged. */
export const DAMAGED = "the snapshot of the graph is damaged";

/**
 * Writes what a thread holds. It must be at rest, and nothing may change meanwhile: the caller ends
 * the writing if something has to. The file is complete, or the one before it stays.
 * @param isEnded asked between writes
 * @returns false when it was ended
 * @throws Error when it cannot be written, or the engine holds more than its memory
 */
export async function writeSnapshot(
  file: string,
  engine: Engine,
  { arks, ...state }: OpenState,
  token: string,
  isEnded: () => boolean,
): Promise<boolean> {
  const { memory, table, module } = engine;
  const written = unfinished(file);
  const names = Buffer.from(arks.join("\n"));
  const chunks = chunksOf(new Uint8Array(memory.buffer));
  const empty = chunks.flatMap((chunk, index) => (isEmpty(chunk) ? [index] : []));
  const head: Head = {
    ...state,
    format: FORMAT,
    module,
    token,
    memory: memory.buffer.byteLength,
    arks: names.length,
    empty,
    externals: externalsOf(table),
  };
  const line = Buffer.alloc(HEAD, " ");
  if (line.write(`${JSON.stringify(head)}\n`) === HEAD)
    throw new Error("the engine holds too many texts for a snapshot");
  assertSpace(dirname(file), memory.buffer.byteLength - empty.length * CHUNK);
  const descriptor = openSync(written, "w", 0o600);
  let done = false;
  try {
    let sum = 0;
    let unsynced = 0;
    for (const chunk of [line, ...without(chunks, empty), ...chunksOf(names)]) {
      // Not beside this thread: what is written must not move.
      writeSync(descriptor, chunk);
      sum = crc32(chunk, sum);
      if (++unsynced % UNSYNCED === 0) await synced(descriptor);
      else await nextTurn();
      if (isEnded()) return false;
    }
    const end = Buffer.alloc(4);
    end.writeUInt32LE(sum);
    writeSync(descriptor, end);
    // Questions are answered meanwhile: all is written.
    await synced(descriptor);
    done = true;
  } finally {
    closeSync(descriptor);
    if (!done) rmSync(written, { force: true });
  }
  renameSync(written, file);
  return true;
}

/**
 * Records are worth more than a fast start: the disk must have as much space again afterwards.
 * @throws Error where it has not
 */
export function assertSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= 2 * bytes) return;
  const mib = (value: number): string => `${Math.ceil(value / 2 ** 20)} MiB`;
  throw new Error(`it takes ${mib(bytes)}, and the disk has ${mib(free)}, less than twice as much`);
}

/**
 * Fills the memory of an engine that holds nothing yet.
 * @returns what is not in the memory; `undefined` for no snapshot, or one that is older than the
 * records say, of another registry, of another version, or too large
 * @throws Error that begins with {@link DAMAGED}: the engine cannot be used then; another one where
 * the file cannot be opened
 */
export function readSnapshot(file: string, engine: Engine, token: string): OpenState | undefined {
  const descriptor = openIfThere(file);
  if (descriptor === undefined) return undefined;
  try {
    const line = Buffer.alloc(HEAD);
    const { size } = fstatSync(descriptor);
    const head = readSync(descriptor, line, 0, HEAD, 0) === HEAD ? headOf(line) : undefined;
    if (
      head?.format !== FORMAT ||
      head.module !== engine.module ||
      head.token !== token ||
      head.memory > engine.most
    )
      return undefined;
    // Before anything of the size that the head says is made.
    if (sizeOf(head) !== size) throw new Error(`it has ${size} bytes instead of ${sizeOf(head)}`);
    const { memory, table } = engine;
    const had = memory.buffer.byteLength;
    memory.grow((head.memory - had) / PAGE);
    const names = Buffer.alloc(head.arks);
    let sum = crc32(line);
    let at = HEAD;
    const chunks = chunksOf(new Uint8Array(memory.buffer));
    // What has grown is empty, and takes no memory as long as nobody touches it.
    for (const index of head.empty) if (index * CHUNK < had) chunks[index]!.fill(0);
    for (const chunk of [...without(chunks, head.empty), ...chunksOf(names)]) {
      if (readSync(descriptor, chunk, 0, chunk.length, at) !== chunk.length)
        throw new Error("it ends too early");
      sum = crc32(chunk, sum);
      at += chunk.length;
    }
    const end = Buffer.alloc(4);
    readSync(descriptor, end, 0, end.length, at);
    if (end.readUInt32LE() !== sum) throw new Error("its checksum is wrong");
    table.grow(Math.max(0, head.externals.length - table.length));
    for (const [place, value] of head.externals.values) table.set(place, value);
    const { place, sequence, rewrites, held } = head;
    const arks = names.length === 0 ? [] : names.toString().split("\n");
    return { place, sequence, rewrites, held, arks };
  } catch (error) {
    throw new Error(`${DAMAGED}: ${(error as Error).message}`, { cause: error });
  } finally {
    closeSync(descriptor);
  }
}

const PAGE = 65_536;

const chunksOf = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, index) =>
    bytes.subarray(index * CHUNK, (index + 1) * CHUNK),
  );

const isEmpty = (chunk: Uint8Array): boolean =>
  ZEROS.compare(chunk, 0, chunk.length, 0, chunk.length) === 0;

function without(chunks: readonly Uint8Array[], indexes: readonly number[]): Uint8Array[] {
  const left = new Set(indexes);
  return chunks.filter((_, index) => !left.has(index));
}

/** Bytes of a file with this head. */
function sizeOf({ memory, arks, empty }: Head): number {
  const written = empty.reduce(
    (left, index) => left - Math.min(CHUNK, memory - index * CHUNK),
    memory,
  );
  return HEAD + written + arks + 4;
}

function headOf(line: Buffer): Head | undefined {
  try {
    return JSON.parse(line.toString()) as Head;
  } catch {
    return undefined;
  }
}

/**
 * Names of members that the engine reads of terms. What every instance has from its start on, null
 * and booleans, is left out.
 * @throws Error for an object: it belongs to this thread
 */
function externalsOf(table: Engine["table"]): Head["externals"] {
  const values: [number, string][] = [];
  for (let place = 0; place < table.length; place++) {
    const value = table.get(place);
    if (typeof value === "string") values.push([place, value]);
    else if (value !== null && value !== undefined && typeof value !== "boolean")
      throw new Error(`the engine holds a value of type ${typeof value}`);
  }
  return { length: table.length, values };
}
