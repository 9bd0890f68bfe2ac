import type { Queue } from "bullmq";
import type { RedisLink } from "../../storage/redis.js";

/** BullMQ's largest priority; past it jobs run in the order of arrival. */
const LARGEST_PRIORITY = 2 ** 21;
/** How long the rounds of the users are stored after the last job was queued, ms. */
const ROUNDS_LIFETIME = 86_400_000;

/**
 * Start-time fair queueing by BullMQ's priorities, of which the lowest runs first: a new job joins
 * the round after its user's last job, but no earlier round than the one that is next now. So each
 * user has one job in each round, however many jobs the user sent and however early, and no user
 * can save up rounds by waiting.
 */
export class FairPriorities {
  readonly #link: RedisLink;
  readonly #queue: Queue;

  constructor(link: RedisLink, queue: Queue) {
    this.#link = link;
    this.#queue = queue;
  }

  /**
   * The priority of the next job of a user. Two calls at once may get the same round, which delays
   * another user's job by one. @throws when Redis is unavailable
   */
  async next(user: string): Promise<number> {
    const { commands } = this.#link;
    const rounds = this.#link.key("rounds");
    const [[first], last] = await Promise.all([
      this.#queue.getPrioritized(0, 0),
      commands.hget(rounds, user),
    ]);
    const round = first
      ? Math.min(Math.max(first.priority, Number(last ?? 0) + 1), LARGEST_PRIORITY)
      : 1;
    const write = commands.pipeline();
    // Nobody waits, so no user is ahead of another.
    if (!first) write.del(rounds);
    await write.hset(rounds, user, round).pexpire(rounds, ROUNDS_LIFETIME).exec();
    return round;
  }
}
