import { DelayedError, Queue, Worker, type Job as Ticket } from "bullmq";
import { ServiceError } from "../../errors.js";
import type { LinkLog, RedisLink } from "../../redis/link.js";
import type { Submission } from "../../stores/records/submissions-port.js";
import { attempt, endFailed, type AttemptHost, type JobStore, type Outcome } from "../attempt.js";
import { cancelled, hasEnded } from "../endings.js";
import type { JobHandler, JobQueue, Progress } from "../port.js";
import { Running } from "../running.js";
import { Watchers } from "../watchers.js";
import { FairTurns } from "./fair-turns.js";
import { Reconciler } from "./reconciler.js";
import { Signals, type Signal } from "./signals.js";
import { SignsOfLife } from "./signs-of-life.js";

export interface BullMqQueueOptions {
  store: JobStore;
  /** Closed with the queue. */
  link: RedisLink;
  /** Setting MAX_ATTEMPTS. */
  maxAttempts: number;
  /** Setting JOB_CONCURRENCY, of this node. */
  concurrency: number;
  /** Milliseconds to wait before the attempt after this one. */
  backOff: (attempt: number) => number;
  /** Setting STALLED_INTERVAL, ms; the same on every node. */
  stalledInterval: number;
  /** Setting RECONCILE_INTERVAL, ms. */
  reconcileInterval: number;
  log: LinkLog;
  now?: () => number;
  /** Told of every fault that is not the submission's own; its text goes to the log only. */
  onFault?: AttemptHost["onFault"];
}

/** What BullMQ keeps of a submission: nothing but which it is. */
interface TicketData { submission: string }

const QUEUE = "submissions";
/** A worker that gave no sign for so many intervals is gone. */
const BELIEF = 5;
/** BullMQ's own counts never end a job: the truth counts attempts. */
const NEVER = 1_000_000_000;
/** How long a stop waits for Redis, ms. */
const FAREWELL = 2000;

/** Told to BullMQ only, which keeps its text: the fault itself may hold what must not lie there. */
class TryAgain extends Error {
  constructor(readonly attempt: number) {
    super("again");
  }
}

/**
 * Runs submissions on every node that calls {@link start}, through BullMQ. Redis holds hints only: which submission
 * is next, who works on it, how far they are. All of it can be lost at any moment without loss of work.
 * A node that does not start it is a client: it enqueues, cancels and watches what others run.
 */
export class BullMqJobQueue implements JobQueue {
  private readonly link: RedisLink;
  private readonly queue: Queue<TicketData>;
  private worker: Worker<TicketData> | undefined;
  private closing: Promise<void> | undefined;
  private looking: NodeJS.Timeout | undefined;
  private readonly running = new Running();
  private readonly attempts = new Map<string, number>();
  private readonly turns: FairTurns;
  private readonly signals: Signals;
  private readonly signs: SignsOfLife;
  private readonly watchers: Watchers;
  private readonly reconciler: Reconciler;
  private readonly host: AttemptHost;

  constructor(private readonly options: BullMqQueueOptions) {
    const { store, maxAttempts, now = Date.now, onFault, link, stalledInterval } = options;
    this.link = link;
    // No version check: it would be asked once, and the queue be of no use when that one question is lost.
    this.queue = new Queue<TicketData>(QUEUE, { connection: link.commands, prefix: link.key(), skipVersionCheck: true, streams: { events: { maxLen: 1000 } } });
    this.queue.on("error", (error) => link.failed(error));
    this.turns = new FairTurns(link, this.queue.toKey("prioritized"));
    this.signals = new Signals(link, (id, signal) => this.heard(id, signal));
    this.signs = new SignsOfLife(link, { interval: stalledInterval, lifetime: BELIEF * stalledInterval, told: (id) => this.signals.tell(id, "changed") });
    this.watchers = new Watchers(this.signals);
    this.reconciler = new Reconciler({
      store, link, signs: this.signs, interval: options.reconcileInterval, lifetime: BELIEF * stalledInterval,
      jobKey: (id) => this.queue.toKey(ticketOf(id)), enqueue: (id) => this.put(id),
    });
    this.host = {
      store, maxAttempts, now, ...(onFault && { onFault }),
      begun: ({ id, attempt }) => {
        this.attempts.set(id, attempt);
        this.signs.begin(id);
      },
      progressed: (id, progress) => {
        this.signs.progressed(id, progress);
        this.watchers.notify(id);
      },
      changed: (id, submission) => this.changed(id, submission),
    };
    this.looking = setInterval(() => void this.look(), options.reconcileInterval).unref();
  }

  async start(handler: JobHandler): Promise<void> {
    if (await this.link.reached()) await this.reconcile({ always: true });
    else this.link.failed(new Error("no connection"));
    // What was lost with Redis is not left waiting until the next round.
    this.link.onReturn(() => void this.reconcile({ always: true }));
    await this.signals.hearOrders();
    const { concurrency, stalledInterval, backOff } = this.options;
    const worker = new Worker<TicketData>(QUEUE, (ticket, token) => this.work(ticket, token!, handler), {
      connection: this.link.patient(), prefix: this.link.key(), concurrency, stalledInterval, lockDuration: BELIEF * stalledInterval,
      maxStalledCount: NEVER, runRetryDelay: 1000,
      settings: { backoffStrategy: (_made, _type, error) => backOff((error as Partial<TryAgain>).attempt ?? 1) },
    });
    worker.on("error", (error) => this.fault(error));
    worker.on("lockRenewalFailed", (tickets: string[]) => {
      for (const ticket of tickets) void this.verify(submissionOf(ticket));
    });
    this.worker = worker;
  }

  async enqueue(id: string): Promise<boolean> {
    try {
      await this.put(id);
      return true;
    } catch (error) {
      this.link.failed(error);
      return false;
    }
  }

  async cancel(id: string): Promise<void> {
    const submission = await this.options.store.cancelSubmission(id, this.host.now());
    const here = this.running.abort(id, "cancelled");
    this.signals.tell(id, "cancel");
    try {
      // A job that somebody holds is not removed; they heard of it, or find the mark in the truth.
      const removed = this.link.ready && (await this.queue.remove(ticketOf(id))) === 1;
      if (removed && !here && submission?.status === "running" && !(await this.signs.seen(id))) await endFailed(this.host, submission, cancelled);
    } catch (error) {
      this.link.failed(error);
    }
    this.changed(id, submission);
  }

  progress(id: string): Promise<Progress | null> {
    return this.signs.progress(id);
  }

  watch(id: string): AsyncIterable<void> {
    return this.watchers.watch(id, async () => hasEnded(await this.options.store.submission(id)));
  }

  close(grace: number): Promise<void> {
    return (this.closing ??= this.stop(grace));
  }

  async health(): Promise<void> {
    if (this.closing) throw new ServiceError("SHUTTING_DOWN", "The job queue takes no work: it is stopping.");
    await this.link.health();
  }

  /** One attempt at what BullMQ found to be next. */
  private async work(ticket: Ticket<TicketData>, token: string, handler: JobHandler): Promise<void> {
    const id = ticket.data.submission;
    // It runs here already when this process was held up for so long that its job was given away, to itself again.
    const outcome: Outcome = this.closing ? { end: "left" } : await (this.running.done<Outcome>(id) ?? this.running.track(id, (abort) => this.attempt(id, handler, abort)));
    if (outcome.end === "again") throw new TryAgain(outcome.attempt);
    if (outcome.end === "over") return;
    // Given back at once, to whoever is there; without Redis its lock runs out, with the same effect.
    await ticket.moveToDelayed(Date.now(), token).catch((error: unknown) => this.fault(error));
    throw new DelayedError();
  }

  private async attempt(id: string, handler: JobHandler, abort: AbortController): Promise<Outcome> {
    const outcome = await attempt(this.host, id, handler, abort);
    this.attempts.delete(id);
    this.signs.end(id);
    return outcome;
  }

  private async put(id: string): Promise<void> {
    if (!(await this.link.reached())) throw new Error("no connection");
    const submission = await this.options.store.submission(id);
    if (!submission || hasEnded(submission)) return;
    const priority = await this.turns.next(submission.user);
    await this.queue.add("submission", { submission: id }, {
      jobId: ticketOf(id), priority, attempts: NEVER, backoff: { type: "custom" }, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0,
    });
  }

  /** What is told between nodes may be lost: so now and then everything is looked at that depends on it. */
  private async look(): Promise<void> {
    for (const id of this.running.ids()) void this.verify(id);
    for (const id of this.watchers.ids()) void this.refresh(id);
    if (this.worker) await this.reconcile();
  }

  private async reconcile(options?: { always: boolean }): Promise<void> {
    if (this.closing || !this.link.ready) return;
    try {
      const count = await this.reconciler.run(options);
      if (count > 0) this.options.log.info({ count }, "submissions without a job were queued");
    } catch (error) {
      this.fault(error);
    }
  }

  /** Stops what runs here when the truth says that it should not. */
  private async verify(id: string): Promise<void> {
    const mine = this.attempts.get(id);
    const submission = await this.options.store.submission(id).catch(() => "away" as const);
    if (mine === undefined || mine !== this.attempts.get(id) || submission === "away") return;
    if (submission?.attempt !== mine) this.running.abort(id, "superseded");
    else if (submission.cancelled && submission.status === "running") this.running.abort(id, "cancelled");
  }

  private async refresh(id: string): Promise<void> {
    const submission = await this.options.store.submission(id).catch(() => "away" as const);
    if (submission === "away") return;
    this.watchers.notify(id);
    if (hasEnded(submission)) this.watchers.end(id);
  }

  private heard(id: string, signal: Signal): void {
    if (signal === "cancel") return void this.running.abort(id, "cancelled");
    this.watchers.notify(id);
    if (signal === "ended") this.watchers.end(id);
  }

  private changed(id: string, submission: Submission | undefined): void {
    const signal = hasEnded(submission) ? "ended" : "changed";
    this.heard(id, signal);
    this.signals.tell(id, signal);
  }

  private fault(error: unknown): void {
    if (!this.link.ready) this.link.failed(error);
    else if (!this.closing) this.options.log.warn({ reason: (error as Error).message }, "the job queue ran into a fault and goes on");
  }

  private async stop(grace: number): Promise<void> {
    clearInterval(this.looking);
    // Takes nothing new from now on, and is closed when the last job has been given back.
    const closed = this.worker?.close().catch((error: unknown) => this.link.failed(error));
    await this.running.end(grace);
    let clock: NodeJS.Timeout | undefined;
    await Promise.race([closed, new Promise((resolve) => (clock = setTimeout(resolve, FAREWELL)))]);
    clearTimeout(clock);
    this.signs.close();
    this.watchers.endAll();
    await this.queue.close().catch(() => {});
    this.link.close();
  }
}

/** BullMQ allows no colon in an identifier of a job, and no number for one. */
const ticketOf = (submission: string): string => `s-${encodeURIComponent(submission)}`;
const submissionOf = (ticket: string): string => decodeURIComponent(ticket.slice(2));

