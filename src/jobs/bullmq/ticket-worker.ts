import { setTimeout as pause } from "node:timers/promises";
import { DelayedError, Worker, type Job as Ticket } from "bullmq";
import type { RedisLink } from "../../redis/link.js";
import type { Outcome } from "../attempt.js";
import { NEVER, QUEUE, submissionOf, type TicketData } from "./tickets.js";
import { ignoreUnheard } from "./unheard.js";

/** A worker that did not renew its lock for so many intervals is gone, as far as BullMQ knows. */
export const LOCK = 5;
/** A sign of life is believed for so many: it has run out before anyone asks for that of a worker whose lock has. */
export const SIGN = 3;
/** Intervals in which a worker that lives, and lost its lock with Redis, gives its next sign. */
const NEXT_SIGN = 2;
/** Intervals after which the ticket of slow work is looked at again. */
const POLL = 3;
/** How long a stop waits for a Redis that answers, ms. */
const FAREWELL = 2000;

export interface TicketWorkerOptions {
  link: RedisLink;
  concurrency: number;
  stalledInterval: number;
  backOff: (attempt: number) => number;
  /** Makes an attempt, or joins the one that is being made here. Must not reject. */
  attempt: (submission: string, slow: boolean) => Promise<Outcome | { /** The work goes on without its ticket. */ end: "aside" }>;
  /** Whether work that takes long may begin here: there is a place for it, and it does not run here already. */
  mayBeginSlow: (submission: string) => boolean;
  /** Whether the truth calls it running, and it is not here that it runs. */
  claimedElsewhere: (submission: string) => Promise<boolean>;
  /** Whether somebody shows a sign of working on it. */
  seen: (submission: string) => Promise<boolean>;
  /** The lock of a ticket whose work goes on could not be renewed; told again and again. */
  unlocked: (submission: string) => void;
  fault: (error: unknown) => void;
}

/** Told to BullMQ only, which keeps its text: the fault itself may hold what must not lie there. */
class TryAgain extends Error {
  constructor(readonly attempt: number) {
    super("again");
  }
}

/** Takes tickets and hands them on to be worked on. */
export class TicketWorker {
  readonly #worker: Worker<TicketData>;

  constructor(private readonly options: TicketWorkerOptions) {
    const { link, concurrency, stalledInterval, backOff, unlocked, fault } = options;
    this.#worker = new Worker<TicketData>(QUEUE, (ticket, token) => this.#work(ticket, token!), {
      connection: link.patient(), prefix: link.key(), concurrency, stalledInterval, lockDuration: LOCK * stalledInterval,
      maxStalledCount: NEVER, runRetryDelay: 1000,
      settings: { backoffStrategy: (_made, _type, error) => backOff((error as Partial<TryAgain>).attempt ?? 1) },
    });
    ignoreUnheard(this.#worker);
    this.#worker.on("error", (error) => {
      // Comes with every try to renew, until the work is done.
      if (!error.message.startsWith("could not renew lock")) fault(error);
    });
    this.#worker.on("lockRenewalFailed", (tickets: string[]) => {
      for (const ticket of tickets) unlocked(submissionOf(ticket));
    });
  }

  /** Takes nothing new from now on. Resolves, with Redis or without, soon after `idle`: when the last ticket was given back. */
  async close(idle: Promise<unknown>): Promise<void> {
    const closed = this.#worker.close().catch((error: unknown) => this.options.link.failed(error));
    await idle;
    let clock: NodeJS.Timeout | undefined;
    await Promise.race([closed, new Promise((resolve) => (clock = setTimeout(resolve, this.options.link.ready ? FAREWELL : 0)))]);
    clearTimeout(clock);
  }

  async #work(ticket: Ticket<TicketData>, token: string): Promise<void> {
    const { attempt, stalledInterval } = this.options;
    const { submission: id, slow = false } = ticket.data;
    if (slow && (!this.options.mayBeginSlow(id) || (await this.#goesOnElsewhere(id)))) return this.#giveBack(ticket, token, POLL * stalledInterval);
    if (await this.#runsElsewhere(ticket)) return this.#giveBack(ticket, token, LOCK * stalledInterval);
    const outcome = await attempt(id, slow);
    if (outcome.end === "aside" || outcome.end === "deferred") {
      await ticket.updateData({ submission: id, slow: true }).catch((error: unknown) => this.options.fault(error));
      return this.#giveBack(ticket, token, POLL * stalledInterval);
    }
    if (outcome.end === "again") throw new TryAgain(outcome.attempt);
    if (outcome.end === "left") await this.#giveBack(ticket, token, 0);
  }

  /**
   * Whether a ticket that was taken from a worker without a lock has one that lives all the same: when Redis was
   * replaced, or did not answer for a while, all locks have run out, and the work goes on.
   */
  async #runsElsewhere({ data: { submission }, stalledCounter }: Ticket<TicketData>): Promise<boolean> {
    if (stalledCounter === 0 || !(await this.options.claimedElsewhere(submission))) return false;
    await pause(NEXT_SIGN * this.options.stalledInterval);
    return this.options.seen(submission);
  }

  /** A ticket of slow work lies aside while the work goes on: whether somebody shows signs of it. */
  async #goesOnElsewhere(submission: string): Promise<boolean> {
    return (await this.options.claimedElsewhere(submission)) && this.options.seen(submission);
  }

  /** For whoever is there after `delay` ms. Not with moveToWait: that wakes nobody. Without Redis the lock runs out, with the same effect. */
  async #giveBack(ticket: Ticket<TicketData>, token: string, delay: number): Promise<never> {
    await ticket.moveToDelayed(Date.now() + delay, token).catch((error: unknown) => this.options.fault(error));
    throw new DelayedError();
  }
}
