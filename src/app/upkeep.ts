import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Embedder } from "../adapters/embeddings/port.js";
import { ServiceError } from "../errors.js";
import { sweepRuns } from "../services/computations/run.js";
import type { Deps } from "../services/deps.js";
import { followChanges } from "../services/doi/doi.js";
import { reportDamage } from "../log.js";
import { endEmbargoes } from "../services/publication/publish.js";
import { scrubObjects, sweepObjects } from "../services/objects/damage.js";
import { requestVectors, vectorsAreBehind } from "../services/vectors/handler.js";

/** Name of the lease: one node at a time sweeps, because one scan of all objects is enough. */
const SWEEP_LEASE = "sweep";

const DAY = 86_400_000;
/** Entries of the audit log that one transaction removes. */
const AUDIT_STEP = 10_000;

/**
 * Removes unreferenced objects, and entries of the audit log that are older than AUDIT_DAYS, every
 * SWEEP_INTERVAL, on one node at a time. It also removes, at the
 * start too, leftovers of computation runs on this node's container engine.
 */
export class Sweeper {
  readonly #node = randomUUID();
  readonly #stopping = new AbortController();
  readonly #began = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  readonly #deps: Pick<Deps, "config" | "records" | "objects" | "containers" | "log">;

  constructor(deps: Pick<Deps, "config" | "records" | "objects" | "containers" | "log">) {
    this.#deps = deps;
  }

  start(): void {
    this.#begin(async () => {
      await this.#sweepRuns();
      await this.#removeLeft();
    });
    this.#timer = setInterval(
      () => this.#begin(() => this.#sweep()),
      this.#deps.config.SWEEP_INTERVAL,
    ).unref();
  }

  /** Starts no further sweep, and ends the running one between two objects. */
  async close(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  #begin(work: () => Promise<void>): void {
    this.#running ??= work()
      .catch((err: unknown) =>
        this.#deps.log.error({ err }, "the removal of unreferenced objects failed"),
      )
      .finally(() => (this.#running = undefined));
  }

  /** Removes what an earlier process was receiving when it was killed: the folder is ours alone. */
  async #removeLeft(): Promise<void> {
    const { objects, log } = this.#deps;
    const left = await objects.removeStale(Date.now() - this.#began);
    if (left > 0) log.info({ left }, "removed files of uploads that an earlier process began");
  }

  /** No lease: each node may have its own engine. */
  async #sweepRuns(): Promise<void> {
    const { containers } = this.#deps;
    if (containers)
      await sweepRuns(this.#deps, containers).catch((err: unknown) =>
        this.#deps.log.warn({ err }, "containers of earlier runs could not be removed"),
      );
  }

  async #forgetAudit(): Promise<void> {
    const { config, records } = this.#deps;
    const before = Date.now() - config.AUDIT_DAYS * DAY;
    while (!this.#stopping.signal.aborted)
      if ((await records.removeAudit(before, AUDIT_STEP)) < AUDIT_STEP) return;
  }

  async #sweep(): Promise<void> {
    await this.#sweepRuns();
    const { config, records, objects, log } = this.#deps;
    if (!(await records.lease(SWEEP_LEASE, this.#node, config.SWEEP_INTERVAL))) return;
    await this.#forgetAudit();
    const { removed, stale } = await sweepObjects({
      objects,
      records,
      intentLifetime: config.INTENT_LIFETIME,
      signal: this.#stopping.signal,
    });
    if (removed + stale > 0) log.info({ removed, stale }, "removed unreferenced objects");
  }
}

/** Name of the lease: one node scrubs at a time, since all see the same objects. */
const SCRUB_LEASE = "scrub";
/**
 * ms that the lease is held for. It is renewed at each object, and at least every third of this
 * time.
 */
const LEASE_MS = 60_000;
/** ms between two checks for pending scrubs. */
const LOOK = 60_000;
/** ms between two stored positions: after a restart the scrub continues from the last one. */
const NOTED = 30_000;
const SETTING = "scrub-position";

/**
 * The position of the scrub: behind `after` in the round that began at `began`. Without `after` the
 * round is done.
 */
interface Position {
  began: number;
  after?: string;
}

/**
 * Reads all objects in the background, SCRUB_RATE bytes a second, one round every SCRUB_INTERVAL,
 * to find those that are damaged.
 */
export class Scrubber {
  readonly #node = randomUUID();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  readonly #deps: Pick<Deps, "config" | "records" | "objects" | "damage" | "log">;

  constructor(deps: Pick<Deps, "config" | "records" | "objects" | "damage" | "log">) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), LOOK).unref();
  }

  /**
   * Reads the findings of other nodes, and continues the round if this node holds the lease. Never
   * rejects.
   */
  look(): Promise<void> {
    return (this.#running ??= this.#look()
      .catch((err: unknown) => this.#failed(err))
      .finally(() => (this.#running = undefined)));
  }

  #failed(err: unknown): void {
    reportDamage(this.#deps.log, err);
    if (err instanceof ServiceError && err.code === "STORE_DAMAGED") return;
    this.#deps.log.error({ err }, "the scrub of the objects failed");
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  async #look(): Promise<void> {
    const { config, records, damage } = this.#deps;
    await damage.refresh();
    if (config.SCRUB_RATE === 0 || config.ROLE === "api") return;
    const last = parsed(await records.setting(SETTING));
    const goesOn = last?.after !== undefined;
    if (last && !goesOn && Date.now() - last.began < config.SCRUB_INTERVAL) return;
    if (!(await this.#leased())) return;
    const renewal = setInterval(() => void this.#leased().catch(() => {}), LEASE_MS / 3).unref();
    try {
      await this.#round(goesOn ? last : { began: Date.now() });
    } finally {
      clearInterval(renewal);
      await records.releaseLease(SCRUB_LEASE, this.#node);
    }
  }

  async #round(from: Position): Promise<void> {
    const { config, records, objects, damage } = this.#deps;
    let position = from;
    let noted = Date.now();
    const note = () => records.setSetting(SETTING, JSON.stringify(position));
    const ended = await scrubObjects({
      objects,
      records,
      damage,
      rate: config.SCRUB_RATE,
      after: from.after,
      signal: this.#stopping.signal,
      done: async (sha256) => {
        position = { ...position, after: sha256 };
        if (Date.now() - noted < NOTED) return true;
        noted = Date.now();
        await note();
        // Another node may have taken over while this one was held up.
        return this.#leased();
      },
    });
    if (ended) position = { began: position.began };
    await note();
  }

  async #leased(): Promise<boolean> {
    return (await this.#deps.records.lease(SCRUB_LEASE, this.#node, LEASE_MS)) !== undefined;
  }
}

function parsed(text: string | undefined): Position | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Position);
}

/**
 * The number of polls to skip after a failed submission: a server usually refuses the same texts
 * again.
 */
const LEFT_OUT = 30;

/**
 * Polls every VECTORS_INTERVAL for records without vectors, and queues a job: one submission for
 * all changes since the last one, instead of one for each commit. Every worker polls; the store
 * creates only one submission.
 */
export class VectorsKeeper {
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #asked: string | undefined;
  #leftOut = 0;
  #failing = false;

  readonly #deps: Pick<Deps, "config" | "records" | "jobs" | "log">;
  readonly #embedder: Embedder;

  constructor(deps: Pick<Deps, "config" | "records" | "jobs" | "log">, embedder: Embedder) {
    this.#deps = deps;
    this.#embedder = embedder;
  }

  start(): void {
    const look = () => {
      this.#looking ??= this.#look()
        .then(
          () => {
            this.#failing = false;
          },
          (err: unknown) => {
            if (!this.#failing)
              this.#deps.log.error({ err }, "the check for records without vectors failed");
            this.#failing = true;
          },
        )
        .finally(() => (this.#looking = undefined));
    };
    look();
    this.#timer = setInterval(look, this.#deps.config.VECTORS_INTERVAL).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    if (this.#leftOut > 0) {
      this.#leftOut--;
      return;
    }
    const last =
      this.#asked === undefined ? undefined : await this.#deps.records.submission(this.#asked);
    if (last?.status === "queued" || last?.status === "running") return;
    this.#asked = undefined;
    if (last?.status === "failed") this.#leftOut = LEFT_OUT;
    else if (await vectorsAreBehind(this.#deps, this.#embedder))
      this.#asked = (await requestVectors(this.#deps, this.#embedder)).id;
  }
}

/** Name of the lease: one node at a time follows the changes of records with a DOI. */
const DOI_LEASE = "dois";
/** Intervals that the lease is held for, so that another node takes over from one that is gone. */
const DOI_HELD = 10;

/**
 * Checks every DOI_INTERVAL which records with a DOI have changed, and queues their registration,
 * on one node at a time.
 */
export class DoiKeeper {
  readonly #node = randomUUID();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #failing = false;

  readonly #deps: Pick<Deps, "config" | "records" | "jobs" | "log">;

  constructor(deps: Pick<Deps, "config" | "records" | "jobs" | "log">) {
    this.#deps = deps;
  }

  start(): void {
    const look = () => {
      this.#looking ??= this.#look()
        .then(
          () => {
            this.#failing = false;
          },
          (err: unknown) => {
            if (!this.#failing && !this.#stopping.signal.aborted)
              this.#deps.log.error({ err }, "the check for changed records with a DOI failed");
            this.#failing = true;
          },
        )
        .finally(() => (this.#looking = undefined));
    };
    look();
    this.#timer = setInterval(look, this.#deps.config.DOI_INTERVAL).unref();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { config, records } = this.#deps;
    const { signal } = this.#stopping;
    do {
      if (!(await records.lease(DOI_LEASE, this.#node, DOI_HELD * config.DOI_INTERVAL))) return;
    } while ((await followChanges(this.#deps, signal)) && !signal.aborted);
  }
}

/** Name of the lease: one node at a time ends embargoes. */
const EMBARGO_LEASE = "embargoes";
/** ms between two checks; an embargo that ends sooner is ended at its time. */
const EMBARGO_LOOK = 10_000;

/** Publishes records when their embargo has ended, on one node at a time. */
export class EmbargoKeeper {
  readonly #node = randomUUID();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  readonly #deps: Pick<Deps, "records" | "log">;

  constructor(deps: Pick<Deps, "records" | "log">) {
    this.#deps = deps;
  }

  start(): void {
    this.#looking = this.#look()
      .catch((err: unknown) => {
        this.#deps.log.error({ err }, "ended embargoes could not be stored; the next try follows");
        return undefined;
      })
      .then((next = Number.POSITIVE_INFINITY) => {
        if (this.#stopping.signal.aborted) return;
        const wait = Math.min(EMBARGO_LOOK, Math.max(0, next - Date.now()));
        this.#timer = setTimeout(() => this.start(), wait).unref();
      });
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<number | undefined> {
    const { records } = this.#deps;
    if (!(await records.lease(EMBARGO_LEASE, this.#node, 3 * EMBARGO_LOOK))) return undefined;
    return endEmbargoes({ records }, this.#stopping.signal);
  }
}

/** Name of the lease: one node at a time rewrites, because all have the same records. */
const QUADS_LEASE = "quads";
/** Setting that holds the last state that was examined, or {@link DONE}. */
const QUADS_SETTING = "quads-rewritten";
const DONE = "done";
/** States of one transaction. */
const STATES_PER_STEP = 200;
/** ms between two steps, in which others write. */
const STEP_PAUSE = 20;

/**
 * Rewrites the quads that an earlier version stored in a coding of its own as N-Quads, in the
 * background, once. Both codings can be read meanwhile, and a restart continues where it ended.
 */
export class QuadsRewriter {
  readonly #node = randomUUID();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  readonly #deps: Pick<Deps, "records" | "log">;

  constructor(deps: Pick<Deps, "records" | "log">) {
    this.#deps = deps;
  }

  start(): void {
    this.#running ??= this.#run().catch((err: unknown) => {
      if (!this.#stopping.signal.aborted)
        this.#deps.log.error({ err }, "quads of an earlier version could not be rewritten");
    });
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { records, log } = this.#deps;
    const { signal } = this.#stopping;
    const noted = await records.setting(QUADS_SETTING);
    if (noted === DONE) return;
    let last = Number(noted ?? 0);
    let notedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      if (Date.now() - notedAt > NOTED) {
        if (!(await records.lease(QUADS_LEASE, this.#node, 3 * NOTED))) return;
        if (last > 0) log.info({ states: last }, "quads are being rewritten as N-Quads");
        await records.setSetting(QUADS_SETTING, String(last));
        notedAt = Date.now();
      }
      const next = await records.rewriteQuads(last, STATES_PER_STEP);
      if (next === undefined) break;
      last = next;
      await sleep(STEP_PAUSE);
    }
    await records.setSetting(QUADS_SETTING, signal.aborted ? String(last) : DONE);
    await records.releaseLease(QUADS_LEASE, this.#node);
  }
}
