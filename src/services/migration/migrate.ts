import { createHash, type Hash } from "node:crypto";
import { eventLoop } from "../../event-loop-budget.js";
import { ServiceError } from "../../errors.js";
import type { GraphDigest, RecordsDigester } from "../../storage/graph/port.js";
import type { ObjectStore } from "../../storage/objects/port.js";
import {
  type NeededObject,
  TRANSFER,
  TRANSFER_TABLES,
  type TransferChunk,
  TransferRefused,
  type TransferRow,
  type TransferTable,
  type RecordsTransfer,
} from "../../storage/records/transfer-port.js";
import { eachNeeded } from "../objects/needed.js";

/**
 * Contents of a record store when it was read: for each table the number of rows, and the SHA-256
 * of their data.
 */
interface RecordsFigures {
  sequence: number;
  tables: Record<TransferTable, { rows: number; sha256: string }>;
  /** Live records by kind. */
  kinds: Record<string, number>;
}

const place = (column: string): number => Object.keys(TRANSFER.record.columns).indexOf(column);
const [KIND, DELETED_AT] = [place("kind"), place("deleted_at")];

/** Counts and hashes an export while it is streamed. */
class RecordsDigest {
  #sequence = 0;
  /** Rows so far, for progress. */
  rows = 0;
  readonly #hashes = Object.fromEntries(
    TRANSFER_TABLES.map((table) => [table, { rows: 0, hash: createHash("sha256") }]),
  ) as Record<TransferTable, { rows: number; hash: Hash }>;
  readonly #kinds = new Map<string, number>();

  add(chunk: TransferChunk): void {
    if ("begin" in chunk) this.#sequence = chunk.begin.sequence;
    else if ("table" in chunk) this.#addRows(chunk.table, chunk.rows);
  }

  /** Passes the same chunks on, after hashing them. */
  async *over(
    chunks: AsyncIterable<TransferChunk>,
    progress: (rows: number) => void = () => {},
  ): AsyncGenerator<TransferChunk, void, undefined> {
    for await (const chunk of chunks) {
      this.add(chunk);
      progress(this.rows);
      // A nearby store never waits: this lets other code, and Ctrl+C, run.
      await eventLoop.nextTurn();
      yield chunk;
    }
  }

  /** Call once, at the end. */
  figures(): RecordsFigures {
    const tables = Object.fromEntries(
      TRANSFER_TABLES.map((table) => [
        table,
        { rows: this.#hashes[table].rows, sha256: this.#hashes[table].hash.digest("hex") },
      ]),
    ) as RecordsFigures["tables"];
    return {
      sequence: this.#sequence,
      tables,
      kinds: Object.fromEntries([...this.#kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    };
  }

  #addRows(table: TransferTable, rows: readonly TransferRow[]): void {
    const of = this.#hashes[table];
    of.rows += rows.length;
    this.rows += rows.length;
    for (const row of rows) {
      // The line includes lengths, so that no two rows have the same bytes.
      of.hash.update(
        `${JSON.stringify(row.map((value) => (value instanceof Uint8Array ? { bytes: value.byteLength } : value)))}\n`,
      );
      for (const value of row) if (value instanceof Uint8Array) of.hash.update(value);
      if (table === "record" && row[DELETED_AT] === null)
        this.#kinds.set(row[KIND] as string, (this.#kinds.get(row[KIND] as string) ?? 0) + 1);
    }
  }
}

/** Reads a whole record store. */
async function figuresOf(
  transfer: { export(): AsyncIterable<TransferChunk> },
  progress?: (rows: number) => void,
): Promise<RecordsFigures> {
  const digest = new RecordsDigest();
  for await (const chunk of digest.over(transfer.export(), progress)) void chunk;
  return digest.figures();
}

/**
 * Tables whose contents differ between the two. Leases are left out: their fences may have advanced
 * where nodes run, or ran.
 */
const differing = (a: RecordsFigures, b: RecordsFigures): TransferTable[] =>
  TRANSFER_TABLES.filter(
    (table) =>
      table !== "lease" &&
      (a.tables[table].rows !== b.tables[table].rows ||
        a.tables[table].sha256 !== b.tables[table].sha256),
  );

/** Result for the objects that a record store needs. */
export interface ObjectFigures {
  needed: number;
  /** Bytes of all existing objects. */
  bytes: number;
  copied: number;
  /**
   * Objects that are missing or wrong in the target, with the reason; no more than
   * {@link MAX_NAMED} of them are named.
   */
  wrong: number;
  named: { sha256: string; reason: string }[];
}

const MAX_NAMED = 20;
/** Concurrency where neither store states a number; disks are fast with a few. */
const CONCURRENT_OBJECTS = 4;

interface ObjectsTask {
  transfer: Pick<RecordsTransfer, "neededObjects">;
  from: ObjectStore;
  to: ObjectStore;
  signal?: AbortSignal;
  progress?(done: number, bytes: number): void;
}

/**
 * Copies the objects that a record store needs and the target lacks, as streams; each is hashed
 * while it is copied, so that damaged bytes never get their name. An existing object is not copied
 * again: after an interruption the copy resumes.
 */
export const copyObjects = (task: ObjectsTask): Promise<ObjectFigures> => eachObject(task, true);

/**
 * Checks whether every object that a record store needs is in the target, with the size it has in
 * the source. Copies nothing.
 */
const verifyObjects = (task: ObjectsTask): Promise<ObjectFigures> => eachObject(task, false);

async function eachObject(task: ObjectsTask, copies: boolean): Promise<ObjectFigures> {
  const { transfer, from, to, signal, progress } = task;
  const figures: ObjectFigures = { needed: 0, bytes: 0, copied: 0, wrong: 0, named: [] };
  const one = async (object: NeededObject): Promise<void> => {
    signal?.throwIfAborted();
    const result = await bringOne(object, from, to, copies, signal);
    figures.needed++;
    if ("reason" in result) {
      figures.wrong++;
      if (figures.named.length < MAX_NAMED)
        figures.named.push({ sha256: object.sha256, reason: result.reason });
    } else {
      figures.bytes += result.size;
      if (result.copied) figures.copied++;
    }
    progress?.(figures.needed, figures.bytes);
  };
  await eachNeeded(
    transfer,
    Math.max(CONCURRENT_OBJECTS, from.parallel ?? 0, to.parallel ?? 0),
    one,
  );
  return figures;
}

async function bringOne(
  { sha256, size }: NeededObject,
  from: ObjectStore,
  to: ObjectStore,
  copies: boolean,
  signal?: AbortSignal,
): Promise<{ size: number; copied: boolean } | { reason: string }> {
  const [source, target] = await Promise.all([from.size(sha256), to.size(sha256)]);
  const wanted = size ?? source ?? target;
  if (target !== undefined) {
    if (target === wanted && (source ?? target) === target) return { size: target, copied: false };
    // The source's bytes do not have the size for their hash: whatever they are, they are not
    // copied over the target's.
    if (!copies || source !== wanted)
      return {
        reason:
          `the target has ${target} bytes, the source ${source ?? "none"}, the records say ` +
          `${size ?? "nothing"}`,
      };
    await to.remove(sha256);
  }
  // An unfinished upload names bytes that may never have been stored.
  if (source === undefined)
    return size === null ? { size: 0, copied: false } : { reason: "it is missing in the source" };
  if (!copies) return { reason: "it is missing in the target" };
  if (size !== null && source !== size)
    return { reason: `the source has ${source} bytes, the records say ${size}` };
  const staged = await to
    .stage(await from.open(sha256), signal ? { signal } : {})
    .catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === "CONTENT_DAMAGED") return undefined;
      throw error;
    });
  if (!staged) return { reason: "its bytes in the source are damaged" };
  if (staged.sha256 !== sha256) {
    await staged.discard();
    return { reason: "its bytes in the source are damaged: they have another hash" };
  }
  await staged.publish();
  return { size: staged.size, copied: true };
}

/** One registry: its record store and its objects. */
export interface Side {
  transfer: RecordsTransfer;
  objects: ObjectStore;
  openDigester(): RecordsDigester;
}

interface Move {
  from: Side;
  to: Side;
  /** Copies nothing, and compares the existing data. */
  verifyOnly: boolean;
  signal?: AbortSignal;
  progress?(stage: string, done: number, total: number | null): void;
}

export interface Moved {
  from: RecordsFigures;
  to: RecordsFigures;
  graphs: { from: GraphDigest; to: GraphDigest };
  objects: ObjectFigures;
  /** Tables that differ between source and target. */
  differing: TransferTable[];
  /** The source was changed meanwhile: the late changes are not in the target. */
  changed: boolean;
  agree: boolean;
}

/**
 * Moves a registry: first its objects, then its record store in one step, then the objects that
 * were added meanwhile; then both are compared as a whole. The source is only read. After an
 * interruption it can be called again: existing objects stay, and the record store is either
 * complete or empty.
 *
 * @throws TransferRefused when the target is not empty, ServiceError `STORE_UNAVAILABLE` when a
 * store is unavailable
 */
export async function moveRegistry({
  from,
  to,
  verifyOnly,
  signal,
  progress = () => {},
}: Move): Promise<Moved> {
  if (!verifyOnly && !(await to.transfer.isEmpty())) {
    throw new TransferRefused(
      "The target holds records, accounts or submissions already: a registry can be " +
        "moved only to an empty target (--verify compares the two)",
    );
  }
  const total = verifyOnly ? null : await countNeeded(from.transfer);
  const task = { from: from.objects, to: to.objects, ...(signal && { signal }) };
  let copied = 0;
  if (!verifyOnly)
    copied = (
      await copyObjects({
        ...task,
        transfer: from.transfer,
        progress: (done) => progress("objects", done, total),
      })
    ).copied;
  const source = verifyOnly
    ? await figuresOf(from.transfer, (rows) => progress("reading the source", rows, null))
    : await copyRecords(from.transfer, to.transfer, signal, (rows) =>
        progress("records", rows, null),
      );
  const rows = Object.values(source.tables).reduce((sum, table) => sum + table.rows, 0);
  const objects = await (verifyOnly ? verifyObjects : copyObjects)({
    ...task,
    transfer: to.transfer,
    progress: (done) => progress("comparing objects", done, total),
  });
  signal?.throwIfAborted();
  const target = await figuresOf(to.transfer, (done) => progress("comparing records", done, rows));
  progress("comparing graphs", 0, null);
  const graphs = { from: await graphOf(from), to: await graphOf(to) };
  // Where other processes may write to the source, it is read once more: not every change is a
  // commit.
  const after = from.transfer.exclusive
    ? source
    : await figuresOf(from.transfer, (done) => progress("reading the source again", done, rows));
  const changed = after.sequence !== source.sequence || differing(after, source).length > 0;
  const differ = differing(source, target);
  const sameGraphs =
    graphs.from.digest === graphs.to.digest && graphs.from.quads === graphs.to.quads;
  return {
    from: source,
    to: target,
    graphs,
    objects: { ...objects, copied: copied + objects.copied },
    differing: differ,
    changed,
    agree:
      !changed &&
      differ.length === 0 &&
      sameGraphs &&
      objects.wrong === 0 &&
      source.sequence === target.sequence,
  };
}

async function copyRecords(
  from: RecordsTransfer,
  to: RecordsTransfer,
  signal: AbortSignal | undefined,
  progress: (rows: number) => void,
): Promise<RecordsFigures> {
  const digest = new RecordsDigest();
  await to.import(
    digest.over(from.export(), (rows) => {
      signal?.throwIfAborted();
      progress(rows);
    }),
  );
  return digest.figures();
}

async function countNeeded(transfer: RecordsTransfer): Promise<number> {
  let count = 0;
  for (let after: string | undefined; ;) {
    const page: { items: unknown[]; next?: string } = await transfer.neededObjects({
      limit: 10_000,
      ...(after !== undefined && { after }),
    });
    count += page.items.length;
    if (page.next === undefined) return count;
    after = page.next;
  }
}

async function graphOf({ transfer, openDigester }: Side): Promise<GraphDigest> {
  const digester = openDigester();
  try {
    return await digester.digest(await transfer.sequence());
  } finally {
    await digester.close();
  }
}
