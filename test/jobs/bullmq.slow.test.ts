import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import { BullMqJobQueue } from "../../src/jobs/bullmq/job-queue.js";
import { RedisLink } from "../../src/storage/redis.js";
import type { SubmissionStore } from "../../src/storage/records/port/submissions.js";
import { jobQueueConformance } from "../conformance/job-queue.js";
import { RedisServer, redisInstalled } from "../support/servers/redis.js";

describe.skipIf(!redisInstalled)("on a Redis of its own", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis?.stop());

  // A store stands for an installation: queues over the same one share what lies in Redis.
  const prefixes = new WeakMap<SubmissionStore, string>();
  jobQueueConformance("BullMQ", (store, options) => {
    const prefix = prefixes.get(store) ?? randomUUID();
    prefixes.set(store, prefix);
    const log = {
      info() {},
      warn: (fields: object, message: string) =>
        process.stderr.write(`${message} ${String((fields as { reason?: unknown }).reason)}\n`),
    };
    const link = new RedisLink({ url: redis.url, prefix, timeout: 2000, log });
    return new BullMqJobQueue({
      ...options,
      store,
      link,
      stalledInterval: 200,
      reconcileInterval: 1000,
      log,
    });
  });
});
