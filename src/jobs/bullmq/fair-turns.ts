import type { RedisLink } from "../../redis/link.js";

/** BullMQ's largest priority; past it turns are in the order of arrival. */
const LAST_TURN = 2 ** 21;
/** How long a round that nothing ends is remembered, ms. */
const MEMORY = 86_400_000;

/**
 * Start-time fair queueing: the turn of a new job is the one after its user's last, but no earlier than the one
 * that is next now. So everybody has one job in each turn, whoever came first with however many, and nobody can
 * save up turns by waiting. BullMQ keeps jobs by priority (first the lowest) in a sorted set whose score is
 * priority * 2^32 + a counter.
 */
const SCRIPT = `
local first = redis.call("ZRANGE", KEYS[1], 0, 0, "WITHSCORES")
local now = 1
if first[2] then now = math.floor(tonumber(first[2]) / 4294967296) else redis.call("DEL", KEYS[2]) end
local last = tonumber(redis.call("HGET", KEYS[2], ARGV[1]) or "0")
local turn = math.min(math.max(now, last + 1), tonumber(ARGV[2]))
redis.call("HSET", KEYS[2], ARGV[1], turn)
redis.call("PEXPIRE", KEYS[2], ARGV[3])
return turn`;

/** Gives each job of a user its turn among those of the others. */
export class FairTurns {
  /** @param waiting the key of BullMQ's sorted set of jobs with a priority */
  constructor(private readonly link: RedisLink, private readonly waiting: string) {
    link.commands.defineCommand("arkgraphTurn", { numberOfKeys: 2, lua: SCRIPT });
  }

  async next(user: string): Promise<number> {
    const { commands } = this.link as unknown as { commands: { arkgraphTurn(...input: (string | number)[]): Promise<number> } };
    return commands.arkgraphTurn(this.waiting, this.link.key("turns"), user, LAST_TURN, MEMORY);
  }
}
