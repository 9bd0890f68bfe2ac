import { setTimeout as pause, setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../errors.js";
import { contentDamaged, type ObjectStore } from "../../storage/objects/port.js";
import type { ObjectBookkeeping, RecordStore } from "../../storage/records/port.js";
import { type Log, reportDamage } from "../../log.js";

/** Where the nodes of a registry share their findings. */
const SETTING = "damaged-objects";
/** More than so many is a lost disk: a list of them helps nobody. */
const MAX_LISTED = 1000;
/** In place of a version: no object was stored under the key. */
const MISSING = "missing";

/**
 * Objects whose bytes did not match their key when a download or the scrub read them, with the
 * version of the bytes: after any process has written them again, they count as intact until the
 * next read.
 */
export class KnownDamage {
  #versions = new Map<string, string>();
  /** Objects and bytes that the scrub of this node has read since the start. */
  readonly scrubbed = { objects: 0, bytes: 0 };

  readonly #deps: {
    records: Pick<RecordStore, "referenced" | "setting" | "setSetting">;
    objects: Pick<ObjectStore, "version">;
    log: Log;
  };

  constructor(deps: {
    records: Pick<RecordStore, "referenced" | "setting" | "setSetting">;
    objects: Pick<ObjectStore, "version">;
    log: Log;
  }) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#versions.size;
  }

  /**
   * Loads the damage that other nodes found, or that was found before a restart; removes objects
   * that were written again since, or are not needed any more.
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
    // The first needed hash after a prefix of this one is this one, if it is needed.
    const { items } = await this.#deps.records.referenced({ after: sha256.slice(0, -1), limit: 1 });
    return items[0] === sha256;
  }

  /** Stores and logs damage that reading an object met; any other error is ignored. */
  async found(sha256: string, error: unknown): Promise<void> {
    if (!(error instanceof ServiceError) || error.code !== "CONTENT_DAMAGED") return;
    reportDamage(this.#deps.log, error);
    const version = (await this.#deps.objects.version(sha256)) ?? MISSING;
    if (this.#versions.get(sha256) !== version)
      await this.#change((all) => all.set(sha256, version));
  }

  /** An object was read or written as a whole, and matches its hash. */
  async whole(sha256: string): Promise<void> {
    if (this.#versions.has(sha256)) await this.#change((all) => all.delete(sha256));
  }

  /** Whether damaged bytes are still the stored ones; costs nothing while no damage is known. */
  async isDamaged(sha256: string): Promise<boolean> {
    const known = this.#versions.get(sha256);
    return known !== undefined && ((await this.#deps.objects.version(sha256)) ?? MISSING) === known;
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
    const text = JSON.stringify([...all].slice(0, MAX_LISTED));
    await this.#deps.records.setSetting(SETTING, text === "[]" ? null : text);
  }

  async #stored(): Promise<[string, string][]> {
    const text = await this.#deps.records.setting(SETTING);
    return text === undefined ? [] : (JSON.parse(text) as [string, string][]);
  }
}

/** Hashes in one query. */
const PAGE = 100;
/**
 * ms that reading may be ahead of its rate before it pauses: a pause for every chunk would be a
 * timer for every chunk.
 */
const AHEAD = 50;

interface Scrub {
  objects: Pick<ObjectStore, "open">;
  records: Pick<ObjectBookkeeping, "referenced">;
  damage: Pick<KnownDamage, "found" | "whole" | "scrubbed">;
  /** Bytes per second. */
  rate: number;
  /** The hash after which to continue. */
  after?: string | undefined;
  signal: AbortSignal;
  /** Called after each object with its hash; false ends the scrub. */
  done(sha256: string): Promise<boolean> | boolean;
}

/**
 * Reads every needed object and compares it with its hash, at most at the given rate, in bounded
 * memory.
 * @returns whether it reached the end
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
    // A missing object may have been removed meanwhile, or never have been stored; arkgraph check
    // --objects reports which.
    if (error instanceof ServiceError && error.code === "NOT_FOUND") return;
    if (!(error instanceof ServiceError) || error.code !== "CONTENT_DAMAGED") throw error;
    damage.scrubbed.objects++;
    await damage.found(sha256, error);
  }
}

/** Pauses whenever more was read than the rate allows. */
class Pace {
  #free = performance.now();

  readonly #rate: number;

  constructor(rate: number) {
    this.#rate = rate;
  }

  async spend(bytes: number, signal: AbortSignal): Promise<void> {
    const now = performance.now();
    // Idle time is not made up for.
    this.#free = Math.max(this.#free, now) + (bytes / this.#rate) * 1000;
    if (this.#free - now > AHEAD)
      await pause(this.#free - now, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Hashes in one transaction: few enough not to delay writers. */
const BATCH = 500;

interface Sweep {
  objects: Pick<ObjectStore, "list" | "remove" | "removeStale" | "abortUploads">;
  records: Pick<ObjectBookkeeping, "claimUnreferenced" | "removed">;
  /** Setting INTENT_LIFETIME in ms: younger announced bytes are preserved. */
  intentLifetime: number;
  now?: () => number;
  signal?: AbortSignal;
}

/**
 * Removes unreferenced objects, and temporary places of a dead process. Bytes are removed only
 * while the record store marks them as being removed, so that an upload of the same bytes waits.
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
      // Also after a failure: an object that could not be removed is unreferenced again, and the
      // next sweep finds it.
      if (claimed.length > 0) await records.removed(claimed);
    }
  };
  for await (const sha256 of objects.list()) {
    if (signal?.aborted) break;
    if (batch.push(sha256) >= BATCH) await sweepBatch();
  }
  if (!signal?.aborted) await sweepBatch();
  const aborted = (await objects.abortUploads?.(intentLifetime)) ?? 0;
  const stale = aborted + (await objects.removeStale(intentLifetime));
  return { removed, stale };
}

/** A sweep removes bytes in milliseconds; a sweep beyond this time limit is stuck. */
const PATIENCE = 10_000;
const PAUSE = 20;

/**
 * Records an intent for each object before it is put, and waits while a sweep is removing the same
 * bytes.
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
        "The same content is being removed at the moment: try again.",
      );
  }
}
