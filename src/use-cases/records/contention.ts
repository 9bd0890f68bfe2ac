import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../errors.js";
import { arkKey, lookupArk } from "../../identifiers/ark.js";

/** Races with writes of other nodes, of a crate's commit and of clients that name a revision; after so many the contention itself is the answer. */
const RACES = 20;
/** Longest pause after a lost race, in milliseconds; drawn anew each time, so that two nodes do not keep meeting. */
const PAUSE = 10;
/** How long a write stands in line, in milliseconds; then it takes its chance, lest a store that is away make each wait for all before it. */
const PATIENCE = 1000;

/** The last of those that wait, by key of the identifier. */
const lines = new Map<string, Promise<void>>();

/**
 * Makes a write that is decided on what was read, and makes it again when another write came between. A client
 * that named the revision it knows is told instead. Writes to one record take turns in this process: however many
 * come at once, none of them loses.
 * @param id the record, in any spelling
 * @param attempt reads, decides and commits
 * @throws what `attempt` throws
 */
export async function unlessChanged<T>(id: string, expectedRevision: number | undefined, attempt: () => Promise<T>): Promise<T> {
  if (expectedRevision !== undefined) return attempt().catch((error: unknown) => (isDeletedMeanwhile(error) ? attempt() : Promise.reject(error)));
  return inLine(arkKey(lookupArk(id) ?? id), async () => {
    for (let race = 1; ; race++) {
      try {
        return await attempt();
      } catch (error) {
        if (race === RACES || !(error instanceof ServiceError) || !(error.code === "REVISION_MISMATCH" || isDeletedMeanwhile(error))) throw error;
        await pause(Math.random() * PAUSE);
      }
    }
  });
}

/** The store refused to change a deleted record: whoever reads it again says when and by whom it was deleted. */
const isDeletedMeanwhile = (error: unknown): boolean => error instanceof ServiceError && error.code === "GONE" && !("deletedAt" in error.extra);

async function atMost(milliseconds: number, ended: Promise<void>): Promise<void> {
  const clock = new AbortController();
  await Promise.race([ended, pause(milliseconds, undefined, { signal: clock.signal }).catch(() => undefined)]).finally(() => clock.abort());
}

async function inLine<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = lines.get(key);
  let leave!: () => void;
  const mine = new Promise<void>((resolve) => (leave = resolve));
  lines.set(key, mine);
  try {
    if (before) await atMost(PATIENCE, before);
    return await work();
  } finally {
    if (lines.get(key) === mine) lines.delete(key);
    leave();
  }
}
