/** Writes that lose against others, and are tried again. */
import { setTimeout as pause } from "node:timers/promises";
import { type ErrorCode, ServiceError } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";

/**
 * Most attempts after conflicts with writes of other nodes, of a crate's commit and of clients that
 * name a revision; then the answer is the conflict itself.
 */
const MAX_ATTEMPTS = 20;
/**
 * Longest pause after a conflict, in milliseconds; drawn at random each time, so that two nodes do
 * not collide repeatedly.
 */
const MAX_PAUSE_MS = 10;
/**
 * How long a write waits in the queue, in milliseconds; then it runs without its turn, because
 * otherwise an unavailable store would make each write wait for all before it.
 */
const MAX_WAIT_MS = 1000;

/** The last waiting write, by key of the identifier. */
const queues = new Map<string, Promise<void>>();

/**
 * Runs a write whose decision depends on what it read, and runs it again when another write came
 * between. A client that named the revision it knows gets an error instead. Writes to one record
 * are queued in this process: no number of simultaneous writes can make one of them fail.
 * @param write reads, decides and commits
 * @throws what `write` throws
 */
export function queuedWrite<T>(
  ark: Ark,
  expectedRevision: number | undefined,
  write: () => Promise<T>,
): Promise<T> {
  if (expectedRevision !== undefined)
    return write().catch((error: unknown) =>
      isDeletedMeanwhile(error) ? write() : Promise.reject(error),
    );
  return inQueue(ark.key, () => retried(["REVISION_MISMATCH"], write));
}

/**
 * Runs a write again, after a short pause, when it ends with one of these codes, or finds the record
 * deleted.
 * @param write gets the number of the attempt, from 1
 * @throws what the last attempt throws
 */
export async function retried<T>(
  conflicts: readonly ErrorCode[],
  write: (attempt: number) => Promise<T>,
  maxAttempts = MAX_ATTEMPTS,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(attempt);
    } catch (error) {
      const isConflict =
        isDeletedMeanwhile(error) ||
        (error instanceof ServiceError && conflicts.includes(error.code));
      if (!isConflict || attempt === maxAttempts) throw error;
      await pause(Math.random() * MAX_PAUSE_MS);
    }
  }
}

/**
 * The store refused to change a deleted record: the next read reports when and by whom it was
 * deleted.
 */
const isDeletedMeanwhile = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === "GONE" && !("deletedAt" in error.extra);

async function atMost(milliseconds: number, ended: Promise<void>): Promise<void> {
  const clock = new AbortController();
  await Promise.race([
    ended,
    pause(milliseconds, undefined, { signal: clock.signal }).catch(() => undefined),
  ]).finally(() => clock.abort());
}

async function inQueue<T>(key: string, write: () => Promise<T>): Promise<T> {
  const before = queues.get(key);
  let leave!: () => void;
  const mine = new Promise<void>((resolve) => (leave = resolve));
  queues.set(key, mine);
  try {
    if (before) await atMost(MAX_WAIT_MS, before);
    return await write();
  } finally {
    if (queues.get(key) === mine) queues.delete(key);
    leave();
  }
}
