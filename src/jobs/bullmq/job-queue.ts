import { type LinkLog, LONGEST_PAUSE, RedisLink } from "../../storage/redis.js";
import type { Config } from "../../config/config.js";
import { ServiceError } from "../../errors.js";
import type { Submission } from "../../storage/records/submissions-port.js";
import { RedisMemory } from "../../storage/shared/redis.js";
import {
  type AttemptHost,
  attempt,
  cancelled,
  endFailed,
  hasEnded,
  type JobStore,
  type Outcome,
  Running,
  Watchers,
} from "../attempt.js";
import { SlowLane, type SlowOptions } from "../lanes.js";
import type { JobHandler, JobQueue, Progress } from "../port.js";
import { Heartbeats, Reconciler, type Signal, Signals } from "./reconciler.js";
import { LOCK, SIGN, Tickets, TicketWorker } from "./tickets.js";

export interface BullMqQueueOptions {
  store: JobStore;
  /** Closed with the queue. */
  link: RedisLink;
  /** Setting MAX_ATTEMPTS. */
  maxAttempts: number;
  /** Setting MAX_RESTARTS. */
  maxRestarts?: number;
  /** Setting OUTAGE_PATIENCE, ms; without it an outage counts as an attempt. */
  outagePatience?: number;
  /** Setting JOB_CONCURRENCY, of this node. */
  concurrency: number;
  /** Without it a job stays where it began, however long it takes. */
  slow?: SlowOptions;
  /** Milliseconds to wait before the attempt after this one. */
  backOff: (attempt: number) => number;
  /** Setting STALLED_INTERVAL, ms; the same on every node. */
  stalledInterval: number;
  /** Setting RECONCILE_INTERVAL, ms. */
  reconcileInterval: number;
  log: LinkLog;
  now?: () => number;
  /** Called with every fault that the submission did not cause; its text goes to the log only. */
  onFault?: AttemptHost["onFault"];
}

/**
 * Runs submissions on every node that calls {@link start}, through BullMQ. Redis holds hints only:
 * which submission is next, which node works on it, how far it is. All of it can be lost at any
 * time without loss of work. A node that does not start it is a client: it enqueues, cancels and
 * watches submissions that other nodes run.
 */
export class BullMqJobQueue implements JobQueue {
  readonly #link: RedisLink;
  readonly #tickets: Tickets;
  #worker: TicketWorker | undefined;
  #closing: Promise<void> | undefined;
  #looking: NodeJS.Timeout | undefined;
  readonly #running = new Running();
  readonly #slow: SlowLane | undefined;
  readonly #attempts = new Map<string, number>();
  readonly #withoutLock = new Set<string>();
  readonly #signals: Signals;
  readonly #heartbeats: Heartbeats;
  readonly #watchers: Watchers;
  readonly #reconciler: Reconciler;
  readonly #host: AttemptHost;

  readonly #options: BullMqQueueOptions;

  constructor(options: BullMqQueueOptions) {
    this.#options = options;

    const {
      store,
      maxAttempts,
      maxRestarts = 0,
      outagePatience = 0,
      now = Date.now,
      onFault,
      stalledInterval,
    } = options;
    const { link } = options;
    this.#link = link;
    this.#slow = options.slow && new SlowLane(options.slow);
    this.#tickets = new Tickets(link);
    this.#signals = new Signals(link, (id, signal) => this.#received(id, signal));
    this.#heartbeats = new Heartbeats(link, {
      interval: stalledInterval,
      lifetime: SIGN * stalledInterval,
      announced: (id) => this.#signals.send(id, "changed"),
    });
    this.#watchers = new Watchers(this.#signals);
    this.#reconciler = new Reconciler({
      store,
      link,
      heartbeats: this.#heartbeats,
      interval: options.reconcileInterval,
      settling: LOCK * stalledInterval + 2 * LONGEST_PAUSE,
      place: (id) => this.#tickets.place(id),
      enqueue: (id) => this.#put(id),
      replace: (submission) => this.#tickets.replace(submission),
    });
    this.#host = {
      store,
      maxAttempts,
      maxRestarts,
      outagePatience,
      now,
      ...(onFault && { onFault }),
      begun: ({ id, attempt }) => {
        this.#attempts.set(id, attempt);
        this.#heartbeats.begin(id);
      },
      progressed: (id, progress) => {
        this.#heartbeats.progressed(id, progress);
        this.#watchers.notify(id);
      },
      changed: (id, submission) => this.#changed(id, submission),
    };
    this.#looking = setInterval(() => void this.#look(), options.reconcileInterval).unref();
  }

  async start(handler: JobHandler): Promise<void> {
    if (await this.#link.reached()) await this.#reconcile({ always: true });
    else this.#link.failed(new Error("no connection"));
    // Submissions that were lost with Redis do not wait until the next round.
    this.#link.onReturn(() => void this.#reconcile({ always: true }));
    await this.#signals.receiveOrders();
    const { concurrency, stalledInterval, backOff } = this.#options;
    this.#worker = new TicketWorker({
      link: this.#link,
      concurrency,
      stalledInterval,
      backOff,
      // It runs here already when this process was blocked for so long that its ticket was given
      // away, to itself again.
      attempt: async (id, slow) =>
        this.#closing
          ? { end: "left" }
          : (this.#running.done<Outcome>(id) ?? this.#begin(id, slow, handler)),
      mayBeginSlow: (id) => !this.#running.has(id) && !(this.#slow?.isFull ?? false),
      claimedElsewhere: async (id) =>
        !this.#closing &&
        !this.#running.has(id) &&
        (await this.#options.store.submission(id))?.status === "running",
      seen: (id) => this.#heartbeats.seen(id),
      unlocked: (id) => void this.#unlocked(id),
      fault: (error) => this.#fault(error),
    });
  }

  async enqueue(id: string): Promise<boolean> {
    try {
      await this.#put(id);
      return true;
    } catch (error) {
      this.#link.failed(error);
      return false;
    }
  }

  async cancel(id: string): Promise<void> {
    const submission = await this.#options.store.cancelSubmission(id, this.#host.now());
    const here = this.#running.abort(id, "cancelled");
    this.#signals.send(id, "cancel");
    try {
      // A job that a worker holds is not removed; the worker got the signal, or finds the mark in
      // the record store.
      const removed = await this.#tickets.remove(id);
      if (
        removed &&
        !here &&
        submission?.status === "running" &&
        !(await this.#heartbeats.seen(id))
      )
        await endFailed(this.#host, submission, cancelled);
    } catch (error) {
      this.#link.failed(error);
    }
    this.#changed(id, submission);
  }

  progress(id: string): Promise<Progress | null> {
    return this.#heartbeats.progress(id);
  }

  watch(id: string): AsyncIterable<void> {
    return this.#watchers.watch(id, async () => hasEnded(await this.#options.store.submission(id)));
  }

  close(grace: number): Promise<void> {
    return (this.#closing ??= this.#stop(grace));
  }

  async health(): Promise<void> {
    if (this.#closing)
      throw new ServiceError("SHUTTING_DOWN", "The job queue accepts no jobs: it is stopping.");
    await this.#link.health();
  }

  /**
   * Resolves when the ticket is no longer needed: with the job, or when the job goes on in the slow
   * lane.
   */
  #begin(id: string, isSlow: boolean, handler: JobHandler): Promise<Outcome | { end: "aside" }> {
    const work = this.#running.track(id, (abort) => this.#attempt(id, handler, abort));
    const slow = this.#slow;
    if (!slow) return work;
    return new Promise((resolve) => {
      const goOnAside = () => {
        if (!slow.enter(id)) return false;
        resolve({ end: "aside" });
        return true;
      };
      const look = async () => {
        if (goOnAside()) return;
        // No other job waits: it may stay where it is.
        if (await this.#tickets.anyWaits().catch(() => false)) this.#running.abort(id, "deferred");
        else clock = setTimeout(() => void look(), slow.options.after).unref();
      };
      let clock =
        isSlow && goOnAside()
          ? undefined
          : setTimeout(() => void look(), slow.options.after).unref();
      void work.then(async (outcome) => {
        clearTimeout(clock);
        const aside = slow.has(id);
        slow.leave(id);
        resolve(outcome);
        // Its ticket was set aside; a job that is to be tried again still has its ticket there.
        if (aside && outcome.end === "over")
          await this.#tickets.remove(id).catch((error: unknown) => this.#link.failed(error));
      });
    });
  }

  async #attempt(id: string, handler: JobHandler, abort: AbortController): Promise<Outcome> {
    const outcome = await attempt(this.#host, id, handler, abort);
    this.#attempts.delete(id);
    this.#withoutLock.delete(id);
    this.#heartbeats.end(id);
    return outcome;
  }

  async #put(id: string): Promise<void> {
    if (!(await this.#link.reached())) throw new Error("no connection");
    const submission = await this.#options.store.submission(id);
    if (!submission || hasEnded(submission)) return;
    await this.#tickets.add(submission);
  }

  /**
   * Messages between nodes may be lost: so this checks at intervals everything that depends on
   * them.
   */
  async #look(): Promise<void> {
    for (const id of this.#running.ids()) void this.#verify(id);
    for (const id of this.#watchers.ids()) void this.#refresh(id);
    if (this.#worker) await this.#reconcile();
  }

  async #reconcile(options?: { always: boolean }): Promise<void> {
    if (this.#closing || !this.#link.ready) return;
    try {
      const count = await this.#reconciler.run(options);
      if (count > 0) this.#options.log.info({ count }, "submissions without a job were queued");
    } catch (error) {
      this.#fault(error);
    }
  }

  async #unlocked(id: string): Promise<void> {
    if (!this.#withoutLock.has(id))
      this.#options.log.warn(
        { submission: id },
        "a job continues without its lock in Redis; the attempt number in the record " +
          "store decides which node may end it",
      );
    this.#withoutLock.add(id);
    await this.#verify(id);
  }

  /** Stops a submission that runs here when the record store says that it should not. */
  async #verify(id: string): Promise<void> {
    const mine = this.#attempts.get(id);
    const submission = await this.#options.store.submission(id).catch(() => "away" as const);
    if (mine === undefined || mine !== this.#attempts.get(id) || submission === "away") return;
    if (submission?.attempt !== mine) this.#running.abort(id, "superseded");
    else if (submission.cancelled && submission.status === "running")
      this.#running.abort(id, "cancelled");
  }

  async #refresh(id: string): Promise<void> {
    const submission = await this.#options.store.submission(id).catch(() => "away" as const);
    if (submission === "away") return;
    this.#watchers.notify(id);
    if (hasEnded(submission)) this.#watchers.end(id);
  }

  #received(id: string, signal: Signal): void {
    if (signal === "cancel") return void this.#running.abort(id, "cancelled");
    this.#watchers.notify(id);
    if (signal === "ended") this.#watchers.end(id);
  }

  #changed(id: string, submission: Submission | undefined): void {
    const signal = hasEnded(submission) ? "ended" : "changed";
    this.#received(id, signal);
    this.#signals.send(id, signal);
  }

  #fault(error: unknown): void {
    // A full Redis refuses the worker's request for a job ten times a second, until there is space.
    if (!this.#link.ready || (error as Error).name === "ReplyError") this.#link.failed(error);
    else if (!this.#closing)
      this.#options.log.warn(
        { reason: (error as Error).message },
        "the job queue continues after an error",
      );
  }

  async #stop(grace: number): Promise<void> {
    clearInterval(this.#looking);
    const idle = this.#running.end(grace);
    await (this.#worker?.close(idle) ?? idle);
    this.#heartbeats.close();
    this.#watchers.endAll();
    await this.#tickets.close();
    this.#link.close();
  }
}

/**
 * The state that a node shares with others through one Redis; the link is closed with the queue.
 */
export async function openOnRedis(
  config: Pick<
    Config,
    "REDIS_SENTINELS" | "REDIS_PREFIX" | "REDIS_TIMEOUT" | "STALLED_INTERVAL" | "RECONCILE_INTERVAL"
  >,
  url: string,
  options: Omit<BullMqQueueOptions, "link" | "stalledInterval" | "reconcileInterval" | "log">,
  log: LinkLog,
): Promise<{ jobs: BullMqJobQueue; shared: RedisMemory }> {
  const link = new RedisLink({
    url,
    sentinels: config.REDIS_SENTINELS,
    prefix: config.REDIS_PREFIX,
    timeout: config.REDIS_TIMEOUT,
    log,
  });
  await link.reached();
  return {
    jobs: new BullMqJobQueue({
      ...options,
      link,
      log,
      stalledInterval: config.STALLED_INTERVAL,
      reconcileInterval: config.RECONCILE_INTERVAL,
    }),
    shared: new RedisMemory(link),
  };
}
