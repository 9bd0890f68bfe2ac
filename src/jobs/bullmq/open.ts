import type { Config } from "../../config.js";
import { RedisLink, type LinkLog } from "../../redis/link.js";
import { RedisMemory } from "../../stores/shared/redis.js";
import { BullMqJobQueue, type BullMqQueueOptions } from "./job-queue.js";

/** What a node shares with others through one Redis; the link is closed with the queue. */
export async function openOnRedis(
  config: Pick<Config, "REDIS_SENTINELS" | "REDIS_PREFIX" | "REDIS_TIMEOUT" | "STALLED_INTERVAL" | "RECONCILE_INTERVAL">, url: string,
  options: Omit<BullMqQueueOptions, "link" | "stalledInterval" | "reconcileInterval" | "log">, log: LinkLog,
): Promise<{ jobs: BullMqJobQueue; shared: RedisMemory }> {
  const link = new RedisLink({ url, sentinels: config.REDIS_SENTINELS, prefix: config.REDIS_PREFIX, timeout: config.REDIS_TIMEOUT, log });
  await link.reached();
  return {
    jobs: new BullMqJobQueue({ ...options, link, log, stalledInterval: config.STALLED_INTERVAL, reconcileInterval: config.RECONCILE_INTERVAL }),
    shared: new RedisMemory(link),
  };
}
