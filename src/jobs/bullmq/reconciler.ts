import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { RedisLink } from "../../storage/redis.js";
import type { Submission } from "../../storage/records/submissions-port.js";
import type { JobStore } from "../attempt.js";
import type { Progress } from "../port.js";

/** Submissions that are looked up in one exchange with Redis. */
const BATCH = 500;

interface ReconcilerOptions {
  store: Pick<JobStore, "unfinished">;
  link: RedisLink;
  heartbeats: Heartbeats;
  /** Where the job of a submission is. */
  place: (submission: string) => Promise<"none" | "nowhere" | "queued">;
  enqueue: (submission: string) => Promise<unknown>;
  /** Removes the job of a submission that is nowhere, and queues a new one. */
  replace: (submission: Submission) => Promise<unknown>;
  /** Setting RECONCILE_INTERVAL, ms. */
  interval: number;
  /** How long workers have to write their heartbeats into a Redis that was emptied, ms. */
  settling: number;
}

/**
 * Gives a job to every unfinished submission that has none: Redis lost it, or a process died
 * between the commit and the queue. BullMQ handles submissions that have a job: it finds jobs whose
 * worker is gone. But it does nothing for a job that is in none of its lists, and adding that job
 * does nothing either: one that was nowhere in two rounds is removed and added again.
 *
 * A `running` submission without a job has a live worker exactly when it has a heartbeat. When
 * Redis was found emptied, workers get the time to write theirs; should one be slower, its job is
 * done a second time, and the attempt in the record store lets only the later one store anything.
 */
export class Reconciler {
  #era: string | undefined;
  #emptiedAt = Number.NEGATIVE_INFINITY;
  /** Submissions whose job was nowhere in the last round. */
  #nowhere = new Set<string>();

  readonly #options: ReconcilerOptions;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /**
   * One round; on one node per interval unless `always`. Returns how many submissions got a job.
   * @throws when the record store or Redis is unavailable
   */
  async run({ always = false } = {}): Promise<number> {
    const { link, interval, store, place, enqueue, replace, heartbeats } = this.#options;
    const settling = await this.#emptiedWithin(this.#options.settling);
    if (
      !always &&
      (await link.commands.set(
        link.key("reconciling"),
        "1",
        "PX",
        Math.ceil(interval * 0.9),
        "NX",
      )) === null
    )
      return 0;
    const unfinished = await store.unfinished();
    const nowhere = new Set<string>();
    let count = 0;
    for (let from = 0; from < unfinished.length; from += BATCH) {
      const batch = unfinished.slice(from, from + BATCH);
      const places = await Promise.all(batch.map(({ id }) => place(id)));
      for (const [n, submission] of batch.entries()) {
        const { id, status } = submission;
        if (places[n] === "queued") continue;
        if (status === "running" && (settling || (await heartbeats.seen(id)))) continue;
        if (places[n] === "nowhere" && !this.#nowhere.has(id)) {
          nowhere.add(id);
          continue;
        }
        await (places[n] === "nowhere" ? replace(submission) : enqueue(id));
        count++;
      }
    }
    this.#nowhere = nowhere;
    return count;
  }

  /** Whether this process has seen Redis with its memory, and then without, so short a time ago. */
  async #emptiedWithin(ms: number): Promise<boolean> {
    const { commands } = this.#options.link;
    const key = this.#options.link.key("era");
    await commands.set(key, randomUUID(), "NX");
    const era = (await commands.get(key)) ?? undefined;
    if (this.#era !== undefined && era !== this.#era) this.#emptiedAt = Date.now();
    this.#era = era;
    return Date.now() - this.#emptiedAt < ms;
  }
}

/** Progress that changes faster than this is reported together, ms. */
const INTERVAL = 100;

interface SignOptions {
  /** How often signs are renewed, ms. */
  interval: number;
  /** How long a sign is believed, ms. */
  lifetime: number;
  /** Progress of a submission has been stored. */
  announced: (submission: string) => void;
}

interface Sign {
  progress: Progress | null;
  sentAt: number;
  timer?: NodeJS.Timeout;
  written?: true;
}

/**
 * Heartbeats: one key in Redis for each running submission, with its progress. The node renews the
 * key while the job runs; the key expires by itself when the process dies. Unlike BullMQ's lock it
 * comes back when Redis lost it.
 */
export class Heartbeats {
  readonly #mine = new Map<string, Sign>();
  readonly #beat: NodeJS.Timeout;

  readonly #link: RedisLink;
  readonly #options: SignOptions;

  constructor(link: RedisLink, options: SignOptions) {
    this.#link = link;
    this.#options = options;

    this.#beat = setInterval(() => {
      for (const id of this.#mine.keys()) this.#write(id);
    }, options.interval).unref();
  }

  /** Written with the first progress, or the first beat: a shorter job needs none. */
  begin(submission: string): void {
    this.#mine.set(submission, { progress: null, sentAt: 0 });
  }

  /** A change of stage is reported at once. */
  progressed(submission: string, progress: Progress): void {
    const sign = this.#mine.get(submission);
    if (!sign) return;
    const newStage = sign.progress?.stage !== progress.stage;
    sign.progress = progress;
    if (newStage || Date.now() - sign.sentAt >= INTERVAL) this.#send(submission, sign);
    else sign.timer ??= setTimeout(() => this.#send(submission, sign), INTERVAL);
  }

  end(submission: string): void {
    const sign = this.#mine.get(submission);
    clearTimeout(sign?.timer);
    this.#mine.delete(submission);
    if (sign?.written && this.#link.ready)
      this.#link.commands
        .del(this.#key(submission))
        .catch((error: unknown) => this.#link.failed(error));
  }

  /** How far a submission is, on whichever node; null when that is not known. */
  async progress(submission: string): Promise<Progress | null> {
    const mine = this.#mine.get(submission);
    if (mine) return mine.progress;
    if (!this.#link.ready) return null;
    try {
      const sign = await this.#link.commands.get(this.#key(submission));
      return sign === null ? null : (JSON.parse(sign) as Progress | null);
    } catch (error) {
      this.#link.failed(error);
      return null;
    }
  }

  /** Whether a worker runs it. @throws when Redis is unavailable */
  async seen(submission: string): Promise<boolean> {
    return (
      this.#mine.has(submission) || (await this.#link.commands.exists(this.#key(submission))) === 1
    );
  }

  close(): void {
    clearInterval(this.#beat);
    for (const { timer } of this.#mine.values()) clearTimeout(timer);
    this.#mine.clear();
  }

  #send(submission: string, sign: Sign): void {
    clearTimeout(sign.timer);
    delete sign.timer;
    sign.sentAt = Date.now();
    this.#write(submission);
    this.#options.announced(submission);
  }

  #write(submission: string): void {
    const sign = this.#mine.get(submission);
    if (!sign || !this.#link.ready) return;
    sign.written = true;
    this.#link.commands
      .set(this.#key(submission), JSON.stringify(sign.progress), "PX", this.#options.lifetime)
      .catch((error: unknown) => this.#link.failed(error));
  }

  #key(submission: string): string {
    return this.#link.key("alive", submission);
  }
}

/**
 * `changed`: its state or progress; `ended`: no more signals will come; `cancel`: the node that
 * runs it is to stop.
 */
export type Signal = "changed" | "ended" | "cancel";

/** How long a watcher waits for its subscription before it relies on looking now and then, ms. */
const PATIENCE = 1000;

/**
 * Messages between nodes about submissions. Redis hands a message on to the nodes that listen at
 * that time and forgets it: nothing may depend on its arrival, and each receiver reads the record
 * store at intervals as well.
 */
export class Signals {
  #subscriber: Redis | undefined;
  readonly #joined = new Map<string, Promise<unknown>>();

  readonly #link: RedisLink;
  readonly #received: (submission: string, signal: Signal) => void;

  constructor(link: RedisLink, received: (submission: string, signal: Signal) => void) {
    this.#link = link;
    this.#received = received;
  }

  /** To the watchers of a submission; `cancel` goes to every worker. */
  send(submission: string, signal: Signal): void {
    if (!this.#link.ready) return;
    const [channel, message] =
      signal === "cancel" ? [this.#orders(), submission] : [this.#news(submission), signal];
    this.#link.commands
      .publish(channel, message)
      .catch((error: unknown) => this.#link.failed(error));
  }

  /** Subscribes to orders to stop submissions. */
  async receiveOrders(): Promise<void> {
    await this.#subscribe(this.#orders());
  }

  /** Subscribes to the signals of a submission. */
  async join(submission: string): Promise<void> {
    const channel = this.#news(submission);
    let joined = this.#joined.get(submission);
    if (!joined) this.#joined.set(submission, (joined = this.#subscribe(channel)));
    await joined;
  }

  leave(submission: string): void {
    this.#joined.delete(submission);
    this.#subscriber?.unsubscribe(this.#news(submission)).catch(() => {});
  }

  async #subscribe(channel: string): Promise<void> {
    let clock: NodeJS.Timeout | undefined;
    // Sent again by the connection itself when it was lost or is not there yet.
    const done = this.#listener()
      .subscribe(channel)
      .catch(() => {});
    await Promise.race([done, new Promise((resolve) => (clock = setTimeout(resolve, PATIENCE)))]);
    clearTimeout(clock);
  }

  #listener(): Redis {
    if (this.#subscriber) return this.#subscriber;
    const news = this.#news("");
    const orders = this.#orders();
    this.#subscriber = this.#link.retrying();
    this.#subscriber.on("message", (channel: string, message: string) => {
      if (channel === orders) this.#received(message, "cancel");
      else if (message === "changed" || message === "ended")
        this.#received(channel.slice(news.length), message);
    });
    return this.#subscriber;
  }

  #news(submission: string): string {
    return this.#link.key("news", submission);
  }

  #orders(): string {
    return this.#link.key("orders");
  }
}
