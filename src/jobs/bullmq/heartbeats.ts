import { MAX_PAUSE_MS, type RedisLink } from "../../storage/redis.js";

/** A worker renews the lock of its job; after so many STALLED_INTERVAL without, it is gone. */
export const LOCK_INTERVALS = 5;
/** A heartbeat is valid for so many STALLED_INTERVAL: it expires before the lock of the job. */
const HEARTBEAT_INTERVALS = 3;

/**
 * One key in Redis for each running submission, which shows the other nodes that it runs. BullMQ's
 * lock cannot show it: a worker that lost the lock with Redis does not get it back, and its job
 * goes on.
 */
export class Heartbeats {
  readonly #link: RedisLink;
  readonly #interval: number;
  readonly #running: { has(id: string): boolean; ids(): string[] };
  readonly #timer: NodeJS.Timeout;
  #returnedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param interval setting STALLED_INTERVAL, ms
   * @param running the submissions that this node runs
   */
  constructor(
    link: RedisLink,
    interval: number,
    running: { has(id: string): boolean; ids(): string[] },
  ) {
    this.#link = link;
    this.#interval = interval;
    this.#running = running;
    link.onReturn(() => (this.#returnedAt = Date.now()));
    this.#timer = setInterval(() => this.#beat(), interval).unref();
  }

  /**
   * Whether a running submission has a live worker. After an outage of Redis every one counts as
   * alive until workers have had the time for their next heartbeat. @throws when Redis is
   * unavailable
   */
  async isAlive(id: string): Promise<boolean> {
    const settling = LOCK_INTERVALS * this.#interval + 2 * MAX_PAUSE_MS;
    if (this.#running.has(id) || !this.#link.ready) return true;
    if (Date.now() - this.#returnedAt < settling) return true;
    return (await this.#link.commands.exists(this.#key(id))) === 1;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    if (!this.#link.ready) return;
    for (const id of this.#running.ids())
      this.#link.commands
        .set(this.#key(id), "1", "PX", HEARTBEAT_INTERVALS * this.#interval)
        .catch((error: unknown) => this.#link.failed(error));
  }

  #key(id: string): string {
    return this.#link.key("alive", id);
  }
}
