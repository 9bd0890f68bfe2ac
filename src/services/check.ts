import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../errors.js";
import type { GraphDigest, QueryEngine, RecordsDigester } from "../storage/graph/port.js";
import type { ObjectStore } from "../storage/objects/port.js";
import type { NeededObject, RecordsTransfer } from "../storage/records/transfer-port.js";
import { eachNeeded } from "./objects/needed.js";

/** Attempts to bring both sides to the same commit while other processes write. */
const MEETINGS = 8;
/** ms between two polls of a loading index, and ms for it to reach a commit. */
const LOOK = 100;
const REACH = 60_000;

export interface CheckedIndex {
  /**
   * null: the two could not be compared at one commit, because writes did not pause long enough;
   * check again.
   */
  agree: boolean | null;
  /**
   * `leftOut`: lines of records that the index cannot hold; the records still hold them, but no
   * query finds them.
   */
  records: GraphDigest & { leftOut: number };
  index: GraphDigest;
}

/**
 * Compares the index with the record store, quad by quad through digests, as of one commit.
 * Implements `arkgraph check`. Waits for a loading index.
 *
 * @throws {import("../errors.js").ServiceError} `STORE_UNAVAILABLE`, `INDEX_BEHIND`,
 * `SHUTTING_DOWN`
 */
export async function checkIndex(deps: {
  openDigester: () => RecordsDigester;
  queries: QueryEngine;
}): Promise<CheckedIndex> {
  const { queries } = deps;
  const digester = deps.openDigester();
  try {
    while (queries.state().state === "loading") {
      // An index that is unavailable, or that refuses its data, would never catch up.
      await queries.health();
      await pause(LOOK);
    }
    for (let meeting = 1, seen = 0; ; meeting++) {
      const records = await digester.digest(seen);
      await queries.reach(records.sequence, REACH);
      const index = await queries.digest();
      const same = records.digest === index.digest && records.quads === index.quads;
      if (same || records.sequence === index.sequence) return { agree: same, records, index };
      if (meeting === MEETINGS) return { agree: null, records, index };
      seen = index.sequence;
    }
  } finally {
    await digester.close();
  }
}

/** Objects read at a time where the store states no number; disks are fast with a few. */
const CONCURRENT_OBJECTS = 2;
/** Records that are named for one object. */
const NAMED = 10;

interface ObjectsCheck {
  transfer: Pick<RecordsTransfer, "neededObjects" | "needing">;
  objects: ObjectStore;
  signal?: AbortSignal;
  progress?(objects: number, bytes: number): void;
  /** Called for each object that is damaged or missing, with the records that need it. */
  wrong(object: { sha256: string; what: string; neededBy: string[] }): void;
}

/**
 * Reads and hashes every object that records, archives and unfinished submissions need, in bounded
 * memory.
 * @throws ServiceError `STORE_UNAVAILABLE` when a store does not answer
 */
export async function checkObjects(
  check: ObjectsCheck,
): Promise<{ objects: number; bytes: number; wrong: number }> {
  const { transfer, objects, signal, progress } = check;
  const figures = { objects: 0, bytes: 0, wrong: 0 };
  const one = async (needed: NeededObject): Promise<void> => {
    signal?.throwIfAborted();
    const what = await read(objects, needed, signal, (bytes) => {
      figures.bytes += bytes;
      progress?.(figures.objects, figures.bytes);
    });
    figures.objects++;
    progress?.(figures.objects, figures.bytes);
    if (what === undefined) return;
    figures.wrong++;
    check.wrong({
      sha256: needed.sha256,
      what,
      neededBy: await transfer.needing(needed.sha256, NAMED),
    });
  };
  await eachNeeded(transfer, Math.max(CONCURRENT_OBJECTS, objects.parallel ?? 0), one);
  return figures;
}

/** The fault of an object; `undefined` for an intact one. */
async function read(
  objects: ObjectStore,
  { sha256, size }: NeededObject,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number) => void,
): Promise<string | undefined> {
  try {
    const stream = await objects.open(sha256, undefined, size === null ? {} : { size });
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        signal?.throwIfAborted();
        onBytes(chunk.byteLength);
      }
    } finally {
      stream.destroy();
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // The bytes of an unfinished upload may never have been stored.
    if (error.code === "NOT_FOUND") return size === null ? undefined : "it is missing";
    if (error.code === "CONTENT_DAMAGED")
      return /is damaged: ([^.]*)\./.exec(error.message)?.[1] ?? error.message;
    throw error;
  }
}
