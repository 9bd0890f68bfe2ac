import { Queue } from "bullmq";
import type { RedisLink } from "../../redis/link.js";
import { FairTurns } from "./fair-turns.js";
import { ignoreUnheard } from "./unheard.js";

/** What BullMQ keeps of a submission: nothing but which it is, and that it takes long. */
export interface TicketData { submission: string; slow?: true }

export const QUEUE = "submissions";
/** BullMQ's own counts never end a job: the truth counts attempts. */
export const NEVER = 1_000_000_000;

/** BullMQ allows no colon in an identifier of a job, and no number for one. */
const ticketOf = (submission: string): string => `s-${encodeURIComponent(submission)}`;
export const submissionOf = (ticket: string): string => decodeURIComponent(ticket.slice(2));

/** BullMQ's jobs: one for each submission that waits or is worked on, gone when the work is over. */
export class Tickets {
  readonly #queue: Queue<TicketData>;
  readonly #turns: FairTurns;

  constructor(private readonly link: RedisLink) {
    // No version check: it would be asked once, and the queue be of no use when that one question is lost.
    this.#queue = new Queue<TicketData>(QUEUE, { connection: link.commands, prefix: link.key(), skipVersionCheck: true, streams: { events: { maxLen: 1000 } } });
    this.#queue.on("error", (error) => link.failed(error));
    ignoreUnheard(this.#queue);
    this.#turns = new FairTurns(link, this.#queue.toKey("prioritized"));
  }

  /** Where Redis keeps the ticket of a submission. */
  key(submission: string): string {
    return this.#queue.toKey(ticketOf(submission));
  }

  /** Nothing happens when it has one. @throws when Redis is away */
  async add({ id, user }: { id: string; user: string }): Promise<void> {
    const priority = await this.#turns.next(user);
    await this.#queue.add("submission", { submission: id }, {
      jobId: ticketOf(id), priority, attempts: NEVER, backoff: { type: "custom" }, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0,
    });
  }

  /** Whether somebody waits for a place. @throws when Redis is away */
  async anyWaits(): Promise<boolean> {
    return (await this.#queue.getPrioritizedCount()) > 0;
  }

  /** False when there was none, when somebody holds it, and when Redis is away. */
  async remove(submission: string): Promise<boolean> {
    if (!this.link.ready) return false;
    return (await this.#queue.remove(ticketOf(submission))) === 1;
  }

  async close(): Promise<void> {
    await this.#queue.close().catch(() => {});
  }
}
