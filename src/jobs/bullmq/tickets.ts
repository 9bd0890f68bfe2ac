import type { EventEmitter } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { DelayedError, Queue, type Job as Ticket, Worker } from "bullmq";
import type { RedisLink } from "../../storage/redis.js";
import type { Outcome } from "../attempt.js";

/** BullMQ's largest priority; past it jobs run in the order of arrival. */
const LAST_TURN = 2 ** 21;
/** How long a round that nothing ends is remembered, ms. */
const MEMORY = 86_400_000;

/**
 * Start-time fair queueing: a new job joins the round after its user's last job, but no earlier
 * round than the one that is next now. So each user has one job in each round, however many jobs
 * the user sent and however early, and no user can save up rounds by waiting. BullMQ stores jobs by
 * priority (first the lowest) in a sorted set whose score is priority * 2^32 + a counter.
 */
const SCRIPT =
  `
local first = redis.call("ZRANGE", KEYS[1], 0, 0, "WITHSCORES")
local now = 1
if first[2] then now = math.floor(tonumber(first[2]) / 4294967296) else redis.call("DEL", ` +
  `KEYS[2]) end
local last = tonumber(redis.call("HGET", KEYS[2], ARGV[1]) or "0")
local turn = math.min(math.max(now, last + 1), tonumber(ARGV[2]))
redis.call("HSET", KEYS[2], ARGV[1], turn)
redis.call("PEXPIRE", KEYS[2], ARGV[3])
return turn`;

/** Gives each job of a user its round among the jobs of the others. */
class FairPriorities {
  readonly #link: RedisLink;
  readonly #waiting: string;

  /** @param waiting the key of BullMQ's sorted set of jobs with a priority */
  constructor(link: RedisLink, waiting: string) {
    this.#link = link;
    this.#waiting = waiting;

    link.commands.defineCommand("arkgraphPriority", { numberOfKeys: 2, lua: SCRIPT });
  }

  async next(user: string): Promise<number> {
    const { commands } = this.#link as unknown as {
      commands: { arkgraphPriority(...input: (string | number)[]): Promise<number> };
    };
    return commands.arkgraphPriority(
      this.#waiting,
      this.#link.key("turns"),
      user,
      LAST_TURN,
      MEMORY,
    );
  }
}

/**
 * Prevents an error of BullMQ's own connections from ending the process when it has no listener any
 * more: a connection that Redis never accepted (a wrong password) fails for good when it is closed,
 * after BullMQ has removed its listeners. Node would then print the password.
 */
function ignoreUnheard(of: Queue | Worker): void {
  const { connection, blockingConnection } = of as unknown as {
    connection: EventEmitter;
    blockingConnection?: EventEmitter;
  };
  for (const each of [connection, blockingConnection]) {
    if (!each) continue;
    const emit = each.emit.bind(each);
    each.emit = (event: string | symbol, ...args: unknown[]) =>
      event === "error" && each.listenerCount("error") === 0 ? false : emit(event, ...args);
  }
}

/** The data of a submission that BullMQ stores: only its identifier, and that it takes long. */
interface TicketData {
  submission: string;
  slow?: true;
}

const QUEUE = "submissions";
/** BullMQ's own counts never end a job: the record store counts attempts. */
const NEVER = 1_000_000_000;

/** BullMQ allows no colon in an identifier of a job, and no number for one. */
const ticketOf = (submission: string): string => `s-${encodeURIComponent(submission)}`;
const submissionOf = (ticket: string): string => decodeURIComponent(ticket.slice(2));

/**
 * BullMQ's jobs: one for each waiting or running submission, removed when the submission has ended.
 */
export class Tickets {
  readonly #queue: Queue<TicketData>;
  readonly #priorities: FairPriorities;

  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;

    // No version check: it would be asked once, and the queue be of no use when that one question
    // is lost.
    this.#queue = new Queue<TicketData>(QUEUE, {
      connection: link.commands,
      prefix: link.key(),
      skipVersionCheck: true,
      streams: { events: { maxLen: 1000 } },
    });
    this.#queue.on("error", (error) => link.failed(error));
    ignoreUnheard(this.#queue);
    this.#priorities = new FairPriorities(link, this.#queue.toKey("prioritized"));
  }

  /**
   * Where a submission's ticket is: `none` without one, `nowhere` when Redis lost the list that it
   * was in, so that no worker comes upon it. @throws when Redis is unavailable
   */
  async place(submission: string): Promise<"none" | "nowhere" | "queued"> {
    const [known, state] = await Promise.all([
      this.#link.commands.exists(this.#key(submission)),
      this.#queue.getJobState(ticketOf(submission)),
    ]);
    if (known === 0) return "none";
    // A ticket is removed when its submission has ended: one that is left over counts as lost.
    return ["unknown", "completed", "failed"].includes(state) ? "nowhere" : "queued";
  }

  /** A new ticket for a submission whose ticket is nowhere. @throws when Redis is unavailable */
  async replace(submission: { id: string; user: string }): Promise<void> {
    const key = this.#key(submission.id);
    // A worker that renews the lock of its ticket still has the job.
    if ((await this.#link.commands.exists(`${key}:lock`)) === 1) return;
    await this.#queue.remove(ticketOf(submission.id)).catch(() => 0);
    await this.#link.commands.del(key);
    await this.add(submission);
  }

  /** Does nothing when it has one. @throws when Redis is unavailable */
  async add({ id, user }: { id: string; user: string }): Promise<void> {
    const priority = await this.#priorities.next(user);
    await this.#queue.add(
      "submission",
      { submission: id },
      {
        jobId: ticketOf(id),
        priority,
        attempts: NEVER,
        backoff: { type: "custom" },
        removeOnComplete: true,
        removeOnFail: true,
        stackTraceLimit: 0,
      },
    );
  }

  /** Whether a job waits for a place. @throws when Redis is unavailable */
  async anyWaits(): Promise<boolean> {
    return (await this.#queue.getPrioritizedCount()) > 0;
  }

  /** The key in Redis of a submission's ticket. */
  #key(submission: string): string {
    return this.#queue.toKey(ticketOf(submission));
  }

  /** False when there was none, when a worker holds it, and when Redis is unavailable. */
  async remove(submission: string): Promise<boolean> {
    if (!this.#link.ready) return false;
    return (await this.#queue.remove(ticketOf(submission))) === 1;
  }

  async close(): Promise<void> {
    await this.#queue.close().catch(() => {});
  }
}

/** A worker that did not renew its lock for so many intervals is gone, as far as BullMQ knows. */
export const LOCK = 5;
/**
 * A heartbeat is valid for so many intervals: it has expired before any node asks for the heartbeat
 * of a worker whose lock has expired.
 */
export const SIGN = 3;
/** Intervals in which a live worker that lost its lock with Redis sends its next heartbeat. */
const NEXT_SIGN = 2;
/** Intervals after which the ticket of a slow job is checked again. */
const POLL = 3;
/** How long a stop waits for a Redis that answers, ms. */
const FAREWELL = 2000;

interface TicketWorkerOptions {
  link: RedisLink;
  concurrency: number;
  stalledInterval: number;
  backOff: (attempt: number) => number;
  /** Makes an attempt, or joins the one that is being made here. Must not reject. */
  attempt: (
    submission: string,
    slow: boolean,
  ) => Promise<Outcome | { /** The work goes on without its ticket. */ end: "aside" }>;
  /**
   * Whether a slow job may begin here: there is a place for it, and it does not run here already.
   */
  mayBeginSlow: (submission: string) => boolean;
  /** Whether the record store calls it running, and it does not run here. */
  claimedElsewhere: (submission: string) => Promise<boolean>;
  /** Whether a worker has a heartbeat for it. */
  seen: (submission: string) => Promise<boolean>;
  /** The lock of a ticket whose job goes on could not be renewed; called again and again. */
  unlocked: (submission: string) => void;
  fault: (error: unknown) => void;
}

/**
 * Passed to BullMQ only, which stores its text: the fault itself may hold text that must not be
 * stored there.
 */
class TryAgain extends Error {
  constructor(readonly attempt: number) {
    super("again");
  }
}

/** Takes tickets and hands them on to be worked on. */
export class TicketWorker {
  readonly #worker: Worker<TicketData>;

  readonly #options: TicketWorkerOptions;

  constructor(options: TicketWorkerOptions) {
    this.#options = options;

    const { link, concurrency, stalledInterval, backOff, unlocked, fault } = options;
    this.#worker = new Worker<TicketData>(QUEUE, (ticket, token) => this.#work(ticket, token!), {
      connection: link.retrying(),
      prefix: link.key(),
      concurrency,
      stalledInterval,
      lockDuration: LOCK * stalledInterval,
      maxStalledCount: NEVER,
      runRetryDelay: 1000,
      settings: {
        backoffStrategy: (_made, _type, error) =>
          backOff((error as Partial<TryAgain>).attempt ?? 1),
      },
    });
    ignoreUnheard(this.#worker);
    this.#worker.on("error", (error) => {
      // Reported with every attempt to renew, until the job is done.
      if (!error.message.startsWith("could not renew lock")) fault(error);
    });
    this.#worker.on("lockRenewalFailed", (tickets: string[]) => {
      for (const ticket of tickets) unlocked(submissionOf(ticket));
    });
  }

  /**
   * Accepts no new ticket from now on. Resolves, with Redis or without, soon after `idle`: when the
   * last ticket was given back.
   */
  async close(idle: Promise<unknown>): Promise<void> {
    const closed = this.#worker.close().catch((error: unknown) => this.#options.link.failed(error));
    await idle;
    let clock: NodeJS.Timeout | undefined;
    await Promise.race([
      closed,
      new Promise(
        (resolve) => (clock = setTimeout(resolve, this.#options.link.ready ? FAREWELL : 0)),
      ),
    ]);
    clearTimeout(clock);
  }

  async #work(ticket: Ticket<TicketData>, token: string): Promise<void> {
    const { attempt, stalledInterval } = this.#options;
    const { submission: id, slow = false } = ticket.data;
    if (slow && (!this.#options.mayBeginSlow(id) || (await this.#goesOnElsewhere(id))))
      return this.#giveBack(ticket, token, POLL * stalledInterval);
    if (await this.#runsElsewhere(ticket))
      return this.#giveBack(ticket, token, LOCK * stalledInterval);
    const outcome = await attempt(id, slow);
    if (outcome.end === "aside" || outcome.end === "deferred") {
      await ticket
        .updateData({ submission: id, slow: true })
        .catch((error: unknown) => this.#options.fault(error));
      return this.#giveBack(ticket, token, POLL * stalledInterval);
    }
    if (outcome.end === "again") throw new TryAgain(outcome.attempt);
    if (outcome.end === "left") await this.#giveBack(ticket, token, 0);
  }

  /**
   * Whether a ticket that was taken from a worker without a lock still has a live worker: when
   * Redis was replaced, or did not answer for a while, all locks have run out, and the job goes on.
   */
  async #runsElsewhere({
    data: { submission },
    stalledCounter,
  }: Ticket<TicketData>): Promise<boolean> {
    if (stalledCounter === 0 || !(await this.#options.claimedElsewhere(submission))) return false;
    await pause(NEXT_SIGN * this.#options.stalledInterval);
    return this.#options.seen(submission);
  }

  /**
   * The ticket of a slow job is set aside while the job goes on: whether a worker has a heartbeat
   * for it.
   */
  async #goesOnElsewhere(submission: string): Promise<boolean> {
    return (await this.#options.claimedElsewhere(submission)) && this.#options.seen(submission);
  }

  /**
   * For any worker that is there after `delay` ms. Not with moveToWait: that wakes no worker.
   * Without Redis the lock runs out, with the same effect.
   */
  async #giveBack(ticket: Ticket<TicketData>, token: string, delay: number): Promise<never> {
    await ticket
      .moveToDelayed(Date.now() + delay, token)
      .catch((error: unknown) => this.#options.fault(error));
    throw new DelayedError();
  }
}
