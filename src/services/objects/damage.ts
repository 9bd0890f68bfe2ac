import { setTimeout as pause, setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../errors.js";
import { contentDamaged } from "../../storage/objects/hashing.js";
import type { ObjectStore } from "../../storage/objects/port.js";
import type { ObjectBookkeeping, RecordStore } from "../../storage/records/port.js";
import { type Log, reportDamage } from "../log.js";

/** Where the nodes of a registry share what they found. */
const SETTING = "damaged-objects";
/** More than so many is a lost disk: a list of them helps nobody. */
const MOST = 1000;
/** In place of a version: nothing was stored under the key. */
const MISSING = "missing";

/**
 * Objects whose bytes were found to be others than their key says, by a download or by the scrub,
 * with the version of the bytes that were read: once they are written again, by whatever process,
 * they count as whole until they are read.
 */
export class KnownDamage {
  #versions = new Map<string, string>();
  /** What the scrub of this node has read since the start. */
  readonly scrubbed = { objects: 0, bytes: 0 };

  constructor(
    private readonly deps: {
      records: Pick<RecordStore, "referenced" | "setting" | "setSetting">;
      objects: Pick<ObjectStore, "version">;
      log: Log;
    },
  ) {}

  get count(): number {
    return this.#versions.size;
  }

  /**
   * Learns what other nodes found, and what was found before a restart; forgets what was written
   * again since, or is not needed any more.
   */
  async refresh(): Promise<void> {
    this.#versions = new Map(await this.#stored());
    for (const [sha256, version] of this.#versions) {
      if (
        !(await this.isDamaged(sha256)) ||
        (version === MISSING && !(await this.#isNeeded(sha256)))
      )
        await this.whole(sha256);
    }
  }

  async #isNeeded(sha256: string): Promise<boolean> {
    // The first hash behind the beginning of this one.
    const { items } = await this.deps.records.referenced({ after: sha256.slice(0, -1), limit: 1 });
    return items[0] === sha256;
  }

  /** Remembers and logs damage that reading an object met; any other error is left alone. */
  async found(sha256: string, error: unknown): Promise<void> {
    if (!(error instanceof ServiceError) || error.code !== "CONTENT_DAMAGED") return;
    reportDamage(this.deps.log, error);
    const version = (await this.deps.objects.version(sha256)) ?? MISSING;
    if (this.#versions.get(sha256) !== version)
      await this.#change((all) => all.set(sha256, version));
  }

  /** An object was read or written as a whole, and is what it should be. */
  async whole(sha256: string): Promise<void> {
    if (this.#versions.has(sha256)) await this.#change((all) => all.delete(sha256));
  }

  /**
   * Whether bytes that were found damaged are still those; costs nothing while nothing is known to
   * be damaged.
   */
  async isDamaged(sha256: string): Promise<boolean> {
    const known = this.#versions.get(sha256);
    return known !== undefined && ((await this.deps.objects.version(sha256)) ?? MISSING) === known;
  }

  /**
   * @throws ServiceError `CONTENT_DAMAGED` when the object was found damaged and was not written
   * again since
   */
  async assertIntact(sha256: string): Promise<void> {
    if (await this.isDamaged(sha256))
      throw contentDamaged(sha256, "its bytes have another hash or length");
  }

  async #change(change: (all: Map<string, string>) => unknown): Promise<void> {
    change(this.#versions);
    const all = new Map(await this.#stored());
    change(all);
    const text = JSON.stringify([...all].slice(0, MOST));
    await this.deps.records.setSetting(SETTING, text === "[]" ? null : text);
  }

  async #stored(): Promise<[string, string][]> {
    const text = await this.deps.records.setting(SETTING);
    return text === undefined ? [] : (JSON.parse(text) as [string, string][]);
  }
}

/** Hashes that are asked for at a time. */
const PAGE = 100;
/**
 * ms that reading may be ahead of its rate before it rests: a rest for every chunk would be a timer
 * for every chunk.
 */
const AHEAD = 50;

interface Scrub {
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
 * Reads every object that is needed and compares it with its hash, no faster than the rate, in
 * bounded memory.
 * @returns whether it came to the end
 */
export async function scrubObjects(scrub: Scrub): Promise<boolean> {
  const { records, signal } = scrub;
  const pace = new Pace(scrub.rate);
  for (let after = scrub.after; ;) {
    const page = await records.referenced({
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const sha256 of page.items) {
      if (signal.aborted) return false;
      await scrubOne(scrub, pace, sha256);
      if (signal.aborted || !(await scrub.done(sha256))) return false;
    }
    if (page.next === undefined) return true;
    after = page.next;
  }
}

async function scrubOne(
  { objects, damage, signal }: Scrub,
  pace: Pace,
  sha256: string,
): Promise<void> {
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
    // What is not there may have been removed meanwhile, or never have come; arkgraph check
    // --objects can tell.
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
    if (this.#free - now > AHEAD)
      await pause(this.#free - now, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Hashes asked about in one transaction: few enough not to hold up writers. */
const BATCH = 500;

interface Sweep {
  objects: Pick<ObjectStore, "list" | "remove" | "removeStale">;
  records: Pick<ObjectBookkeeping, "claimUnreferenced" | "removed">;
  /** Setting INTENT_LIFETIME in ms: announced bytes younger than this are waited for. */
  intentLifetime: number;
  now?: () => number;
  signal?: AbortSignal;
}

/**
 * Removes objects that nothing refers to, and temporary places that a dead process left. Bytes go
 * only while the truth holds them marked as being removed, so that an upload of the same bytes
 * waits.
 * @returns how many of each were removed
 */
export async function sweepObjects({
  objects,
  records,
  intentLifetime,
  now = Date.now,
  signal,
}: Sweep): Promise<{ removed: number; stale: number }> {
  let removed = 0;
  let batch: string[] = [];
  const sweepBatch = async () => {
    const claimed =
      batch.length === 0
        ? []
        : await records.claimUnreferenced(batch, { now: now(), intentLifetime });
    batch = [];
    try {
      for (const sha256 of claimed) {
        await objects.remove(sha256);
        removed++;
      }
    } finally {
      // Also after a failure: what could not be removed is an unreferenced object again, met by the
      // next sweep.
      if (claimed.length > 0) await records.removed(claimed);
    }
  };
  for await (const sha256 of objects.list()) {
    if (signal?.aborted) break;
    if (batch.push(sha256) >= BATCH) await sweepBatch();
  }
  if (!signal?.aborted) await sweepBatch();
  const stale = await objects.removeStale(intentLifetime);
  return { removed, stale };
}

/** A sweep removes bytes in milliseconds; past this it is not coming to an end. */
const PATIENCE = 10_000;
const PAUSE = 20;

/**
 * Records an intent for each object before it is put, and waits where a sweep is just removing the
 * same bytes.
 * @throws ServiceError `STORE_UNAVAILABLE` when a sweep does not end
 */
export async function announce(
  deps: { records: Pick<ObjectBookkeeping, "intend"> },
  holder: { kind: "submission" | "upload"; id: string; attempt: number },
  sha256s: readonly string[],
): Promise<void> {
  let waiting = sha256s;
  for (const begun = Date.now(); ; await sleep(PAUSE)) {
    ({ removing: waiting } = await deps.records.intend(holder, waiting, Date.now()));
    if (waiting.length === 0) return;
    if (Date.now() - begun > PATIENCE)
      throw new ServiceError(
        "STORE_UNAVAILABLE",
        "Stored content is being removed and does not come free: try again.",
      );
  }
}
