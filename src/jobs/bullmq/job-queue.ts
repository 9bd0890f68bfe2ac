import {
  DelayedError,
  type Job,
  Queue,
  QueueEvents,
  type QueueEventsListener,
  QueueEventsProducer,
  Worker,
} from "bullmq";
import type { Config } from "../../config/config.js";
import { ServiceError } from "../../errors.js";
import { type LinkLog, RedisLink } from "../../storage/redis.js";
import type { Submission } from "../../storage/records/port/submissions.js";
import { RedisMemory } from "../../storage/shared/redis.js";
import {
  type AttemptHost,
  type AttemptOptions,
  attempt,
  hasEnded,
  type Outcome,
  timeOf,
} from "../attempt.js";
import { SlowLane, type SlowOptions } from "../lanes.js";
import type { JobHandler, JobQueue, Progress } from "../port.js";
import { Running, within } from "../running.js";
import { Watchers } from "../watchers.js";
import { FairPriorities } from "./fair-priorities.js";
import { Heartbeats, LOCK_INTERVALS } from "./heartbeats.js";
import { Sweep } from "./sweep.js";
import { ignoreUnheardErrors } from "./unheard-errors.js";

export interface BullMqQueueOptions extends AttemptOptions {
  /** Closed with the queue. */
  link: RedisLink;
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
}

/** What BullMQ stores of a submission: its identifier, and whether it belongs in the slow lane. */
interface JobData {
  submission: string;
  slow?: true;
}

interface NodeEvents extends QueueEventsListener {
  /** A submission was cancelled: the node that runs it stops it. */
  cancel: (event: { jobId: string }) => void;
}

/** A job that this node runs now. */
interface LocalJob {
  job: Job<JobData>;
  /** The attempt in the record store; 0 before it has begun. */
  attempt: number;
  progress: Progress | null;
  /** Reports the progress to the other nodes when it fires. */
  report?: NodeJS.Timeout;
}

const QUEUE = "submissions";
/** After so many STALLED_INTERVAL a job that waits for a place in the slow lane asks again. */
const SLOW_LANE_INTERVALS = 3;
/** Shortest time between two reports of progress to other nodes, ms. */
const PROGRESS_INTERVAL = 100;
/** How long a stop waits for workers to give their jobs back to Redis, ms. */
const CLOSE_TIMEOUT = 2000;

/** BullMQ allows no colon in the identifier of a job, and no number as one. */
const jobIdOf = (submission: string): string => `s-${encodeURIComponent(submission)}`;
const submissionOf = (jobId: string): string => decodeURIComponent(jobId.slice(2));

/**
 * Runs submissions on every node that calls {@link start}, through BullMQ. A job in Redis holds the
 * identifier of a submission only. The submissions in the record store are the source of truth: the
 * attempt counted there is the one that may store a result, and {@link Sweep} queues again what
 * Redis lost. A node that does not call it is a client: it enqueues, cancels and watches
 * submissions that other nodes run.
 */
export class BullMqJobQueue implements JobQueue {
  readonly #options: BullMqQueueOptions;
  readonly #link: RedisLink;
  /** Of the workers and the events, which duplicate it to wait for Redis. */
  readonly #blocking: ReturnType<RedisLink["retrying"]>;
  readonly #host: AttemptHost;
  readonly #queue: Queue<JobData>;
  readonly #priorities: FairPriorities;
  readonly #events: QueueEvents;
  readonly #producer: QueueEventsProducer;
  readonly #heartbeats: Heartbeats;
  readonly #sweep: Sweep;
  readonly #polling: NodeJS.Timeout;
  readonly #watchers = new Watchers();
  readonly #running = new Running<Outcome>();
  readonly #local = new Map<string, LocalJob>();
  readonly #slow: SlowLane | undefined;
  /** One for each job in the slow lane, so that others find the same number of places as before. */
  readonly #slowWorkers: Worker<JobData>[] = [];
  #worker: Worker<JobData> | undefined;
  #handler: JobHandler | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: BullMqQueueOptions) {
    const { link, stalledInterval, reconcileInterval } = options;
    this.#options = options;
    this.#link = link;
    this.#slow = options.slow && new SlowLane(options.slow);
    this.#host = {
      ...options,
      begun: ({ id, attempt }) => {
        this.#local.get(id)!.attempt = attempt;
      },
      progressed: (id, progress) => {
        const local = this.#local.get(id);
        // A handler may report once more after its attempt is over.
        if (!local) return;
        local.progress = progress;
        this.#watchers.notify(id);
        this.#report(id);
      },
      changed: (id, submission) => this.#changed(id, submission),
    };
    this.#blocking = link.retrying();
    // The version is not checked: the question is asked once, and an outage then would make the
    // queue useless.
    const base = { prefix: link.key(), skipVersionCheck: true };
    const shared = { ...base, connection: link.commands };
    this.#queue = new Queue<JobData>(QUEUE, { ...shared, streams: { events: { maxLen: 1000 } } });
    this.#producer = new QueueEventsProducer(QUEUE, shared);
    this.#events = new QueueEvents(QUEUE, { ...base, connection: this.#blocking });
    const onError = (error: Error) => this.#fault(error);
    this.#queue.on("error", onError);
    this.#producer.on("error", onError);
    this.#events.on("error", onError);
    for (const each of [this.#queue, this.#producer, this.#events]) ignoreUnheardErrors(each);
    this.#receiveEvents();
    this.#priorities = new FairPriorities(link, this.#queue);
    this.#heartbeats = new Heartbeats(link, stalledInterval, this.#running);
    this.#sweep = new Sweep({
      link,
      store: options.store,
      interval: reconcileInterval,
      state: (id) => this.#queue.getJobState(jobIdOf(id)),
      isAlive: (id) => this.#heartbeats.isAlive(id),
      add: (submission) => this.#add(submission),
      remove: (id) => this.#queue.remove(jobIdOf(id)),
    });
    link.onReturn(() => void this.#runSweep({ always: true }));
    this.#polling = setInterval(() => void this.#poll(), reconcileInterval).unref();
  }

  async start(handler: JobHandler): Promise<void> {
    this.#handler = handler;
    const { concurrency, slow } = this.#options;
    this.#worker = this.#newWorker(concurrency);
    for (let n = 0; n < (slow?.concurrency ?? 0); n++) this.#slowWorkers.push(this.#newWorker(1));
    if (await this.#link.reached()) await this.#runSweep({ always: true });
    else this.#link.failed(new Error("no connection"));
    this.#worker.resume();
  }

  async enqueue(id: string): Promise<boolean> {
    try {
      if (!(await this.#link.reached())) throw new Error("no connection");
      const submission = await this.#options.store.submission(id);
      if (submission && !hasEnded(submission)) await this.#add(submission);
      return true;
    } catch (error) {
      this.#link.failed(error);
      return false;
    }
  }

  async cancel(id: string): Promise<void> {
    const submission = await this.#options.store.cancelSubmission(id, timeOf(this.#options));
    this.#running.abort(id, "cancelled");
    this.#changed(id, submission);
    // When this event is lost, the node that runs the job finds the mark in the record store.
    if (this.#link.ready)
      this.#producer
        .publishEvent({ eventName: "cancel", jobId: jobIdOf(id) })
        .catch((error: unknown) => this.#link.failed(error));
  }

  async progress(id: string): Promise<Progress | null> {
    const local = this.#local.get(id);
    if (local) return local.progress;
    if (!this.#link.ready) return null;
    try {
      const progress = (await this.#queue.getJob(jobIdOf(id)))?.progress;
      return typeof progress === "object" ? (progress as Progress) : null;
    } catch (error) {
      this.#link.failed(error);
      return null;
    }
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

  /** Does nothing when the submission has a job. @throws when Redis is unavailable */
  async #add({ id, user }: { id: string; user: string }): Promise<void> {
    await this.#queue.add(
      "submission",
      { submission: id },
      {
        jobId: jobIdOf(id),
        priority: await this.#priorities.next(user),
        attempts: this.#options.maxAttempts,
        backoff: { type: "custom" },
        removeOnComplete: true,
        removeOnFail: true,
        stackTraceLimit: 0,
      },
    );
  }

  /** It takes no job until it is resumed. */
  #newWorker(concurrency: number): Worker<JobData> {
    const { stalledInterval, maxAttempts, maxRestarts = 0, backOff, log } = this.#options;
    const worker = new Worker<JobData>(QUEUE, (job, token) => this.#process(job, token!), {
      connection: this.#blocking,
      prefix: this.#link.key(),
      autorun: false,
      concurrency,
      stalledInterval,
      lockDuration: LOCK_INTERVALS * stalledInterval,
      maxStalledCount: maxAttempts + maxRestarts,
      runRetryDelay: 1000,
      settings: { backoffStrategy: backOff },
    });
    ignoreUnheardErrors(worker);
    worker.on("error", (error) => this.#fault(error));
    worker.on("stalled", (jobId) =>
      log.warn(
        { submission: submissionOf(jobId) },
        "a worker did not renew the lock of its job; the job is queued again",
      ),
    );
    return worker;
  }

  async #process(job: Job<JobData>, token: string): Promise<void> {
    const { submission: id, slow: isSlow } = job.data;
    const { backOff, stalledInterval } = this.#options;
    // Without Redis the lock of the job expires, with the same effect.
    const putOff = async (ms: number): Promise<never> => {
      await job.moveToDelayed(Date.now() + ms, token).catch((error: unknown) => this.#fault(error));
      throw new DelayedError();
    };
    if (this.#closing) return putOff(0);
    if (!this.#running.has(id)) {
      if (isSlow && this.#slow?.isFull) return putOff(SLOW_LANE_INTERVALS * stalledInterval);
      if (await this.#runsElsewhere(id)) return putOff(LOCK_INTERVALS * stalledInterval);
    }
    // It may run here already: this process was blocked, and its job given away, to itself.
    const outcome = await (this.#running.done(id) ?? this.#run(job));
    switch (outcome.end) {
      case "over":
        return;
      case "left":
        return putOff(0);
      case "deferred":
        await job
          .updateData({ submission: id, slow: true })
          .catch((error: unknown) => this.#fault(error));
        return putOff(SLOW_LANE_INTERVALS * stalledInterval);
      case "again":
        if (!outcome.counts) return putOff(backOff(outcome.attempt));
        // BullMQ stores this text: the fault itself may hold text that must not be stored there.
        throw new Error("the attempt failed");
    }
  }

  /**
   * Whether another node still runs the submission of a job that was handed to this one: when Redis
   * did not answer for a while, all locks have expired, and the jobs go on.
   */
  async #runsElsewhere(id: string): Promise<boolean> {
    const submission = await this.#options.store.submission(id).catch(() => undefined);
    return submission?.status === "running" && this.#heartbeats.isAlive(id);
  }

  async #run(job: Job<JobData>): Promise<Outcome> {
    const { submission: id, slow: isSlow } = job.data;
    const local: LocalJob = { job, attempt: 0, progress: null };
    this.#local.set(id, local);
    const done = this.#running.track(id, (abort) => attempt(this.#host, id, this.#handler!, abort));
    const slow = this.#slow;
    let clock: NodeJS.Timeout | undefined;
    const becomesSlow = async () => {
      if (this.#enterSlowLane(id)) return;
      const othersWait = await this.#queue.getPrioritizedCount().catch(() => 0);
      if (this.#local.get(id) !== local) return;
      if (othersWait > 0) this.#running.abort(id, "deferred");
      else wait();
    };
    const wait = () => {
      clock = setTimeout(() => void becomesSlow(), slow!.options.after).unref();
    };
    if (slow && !(isSlow && this.#enterSlowLane(id))) wait();
    const outcome = await done;
    clearTimeout(clock);
    this.#leaveSlowLane(id);
    clearTimeout(local.report);
    this.#local.delete(id);
    return outcome;
  }

  /** Gives another job the place of one that takes long; false when the slow lane is full. */
  #enterSlowLane(id: string): boolean {
    const slow = this.#slow!;
    if (!this.#running.has(id) || !slow.enter(id)) return false;
    this.#slowWorkers[slow.size - 1]!.resume();
    return true;
  }

  #leaveSlowLane(id: string): void {
    if (!this.#slow?.has(id)) return;
    this.#slow.leave(id);
    // It finishes the job that it has.
    void this.#slowWorkers[this.#slow.size]!.pause(true);
  }

  #changed(id: string, submission: Submission | undefined): void {
    this.#watchers.notify(id);
    if (hasEnded(submission)) this.#watchers.end(id);
    else this.#report(id);
  }

  /** Reports the progress of a job that runs here to the other nodes, together with the next. */
  #report(id: string): void {
    const local = this.#local.get(id);
    if (!local || local.attempt === 0) return;
    local.report ??= setTimeout(() => {
      delete local.report;
      // Refused when Redis has lost the job, which goes on: others then see what is stored of it.
      if (this.#link.ready) local.job.updateProgress(local.progress ?? 0).catch(() => {});
    }, PROGRESS_INTERVAL);
  }

  #receiveEvents(): void {
    const changed = ({ jobId }: { jobId: string }) => this.#watchers.notify(submissionOf(jobId));
    const mayHaveEnded = ({ jobId }: { jobId: string }) => void this.#refresh(submissionOf(jobId));
    this.#events
      .on("progress", changed)
      .on("delayed", changed)
      .on("completed", mayHaveEnded)
      .on("failed", mayHaveEnded)
      .on<NodeEvents, "cancel">("cancel", (event) => {
        this.#running.abort(submissionOf(event.jobId), "cancelled");
        mayHaveEnded(event);
      });
  }

  /** Events between nodes may be lost: this checks at intervals what depends on them. */
  async #poll(): Promise<void> {
    for (const id of this.#running.ids()) void this.#verify(id);
    for (const id of this.#watchers.ids()) void this.#refresh(id);
    await this.#runSweep();
  }

  async #runSweep(options?: { always: boolean }): Promise<void> {
    if (!this.#worker || this.#closing || !this.#link.ready) return;
    try {
      const count = await this.#sweep.run(options);
      if (count > 0) this.#options.log.info({ count }, "submissions without a job were queued");
    } catch (error) {
      this.#fault(error);
    }
  }

  /** Stops a submission that runs here when the record store says that it should not. */
  async #verify(id: string): Promise<void> {
    const local = this.#local.get(id);
    // An unavailable store says nothing.
    const submission = await this.#options.store.submission(id).catch(() => null);
    if (submission === null || !local?.attempt || local !== this.#local.get(id)) return;
    if (submission?.attempt !== local.attempt) this.#running.abort(id, "superseded");
    else if (submission.cancelled && submission.status === "running")
      this.#running.abort(id, "cancelled");
  }

  async #refresh(id: string): Promise<void> {
    if (!this.#watchers.has(id)) return;
    const submission = await this.#options.store.submission(id).catch(() => null);
    if (submission === null) return;
    this.#watchers.notify(id);
    if (hasEnded(submission)) this.#watchers.end(id);
  }

  #fault(error: unknown): void {
    const { name, message } = error as Error;
    // Repeated until the job is done. The record store tells whether another node has taken it.
    if (message.startsWith("could not renew lock")) return;
    // A full Redis refuses the worker's request for a job ten times a second, until there is space.
    if (!this.#link.ready || name === "ReplyError") this.#link.failed(error);
    else if (!this.#closing)
      this.#options.log.warn({ reason: message }, "the job queue continues after an error");
  }

  async #stop(grace: number): Promise<void> {
    clearInterval(this.#polling);
    const workers = this.#worker ? [this.#worker, ...this.#slowWorkers] : [];
    const closed = Promise.all(workers.map((worker) => worker.close())).catch((error: unknown) =>
      this.#link.failed(error),
    );
    await this.#running.end(grace);
    await within(this.#link.ready ? CLOSE_TIMEOUT : 0, closed);
    this.#heartbeats.close();
    this.#watchers.endAll();
    this.#events.close().catch(() => {});
    await Promise.allSettled([this.#queue.close(), this.#producer.close()]);
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
