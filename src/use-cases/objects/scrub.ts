import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../errors.js";
import type { ObjectStore } from "../../stores/objects/port.js";
import type { ObjectBookkeeping } from "../../stores/records/objects-port.js";
import type { KnownDamage } from "./known-damage.js";

/** Hashes that are asked for at a time. */
const PAGE = 100;
/** ms that reading may be ahead of its rate before it rests: a rest for every chunk would be a timer for every chunk. */
const AHEAD = 50;

export interface Scrub {
  objects: Pick<ObjectStore, "open">;
  records: Pick<ObjectBookkeeping, "referenced">;
  damage: Pick<KnownDamage, "found" | "whole" | "scrubbed">;
  /** Bytes per second. */
  rate: number;
  /** The hash to go on after. */
  after?: string | undefined;
  signal: AbortSignal;
  /** Called after each object with its hash; false ends the scrub. */
  done(sha256: string): Promise<boolean> | boolean;
}

/**
 * Reads every object that is needed and compares it with its hash, no faster than the rate, in bounded memory.
 * @returns whether it came to the end
 */
export async function scrubObjects(scrub: Scrub): Promise<boolean> {
  const { records, signal } = scrub;
  const pace = new Pace(scrub.rate);
  for (let after = scrub.after; ;) {
    const page = await records.referenced({ limit: PAGE, ...(after === undefined ? {} : { after }) });
    for (const sha256 of page.items) {
      if (signal.aborted) return false;
      await scrubOne(scrub, pace, sha256);
      if (signal.aborted || !(await scrub.done(sha256))) return false;
    }
    if (page.next === undefined) return true;
    after = page.next;
  }
}

async function scrubOne({ objects, damage, signal }: Scrub, pace: Pace, sha256: string): Promise<void> {
  try {
    const stream = await objects.open(sha256);
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        damage.scrubbed.bytes += chunk.byteLength;
        await pace.spend(chunk.byteLength, signal);
        if (signal.aborted) return;
      }
    } finally {
      stream.destroy();
    }
    damage.scrubbed.objects++;
    await damage.whole(sha256);
  } catch (error) {
    if (signal.aborted) return;
    // What is not there may have been removed meanwhile, or never have come; arkgraph check --objects can tell.
    if (error instanceof ServiceError && error.code === "NOT_FOUND") return;
    if (!(error instanceof ServiceError) || error.code !== "CONTENT_DAMAGED") throw error;
    damage.scrubbed.objects++;
    await damage.found(sha256, error);
  }
}

/** Rests whenever more was read than the rate allows. */
class Pace {
  #free = performance.now();

  constructor(private readonly rate: number) {}

  async spend(bytes: number, signal: AbortSignal): Promise<void> {
    const now = performance.now();
    // Time in which nothing was read is not made up for.
    this.#free = Math.max(this.#free, now) + (bytes / this.rate) * 1000;
    if (this.#free - now > AHEAD) await pause(this.#free - now, undefined, { signal, ref: false }).catch(() => {});
  }
}
