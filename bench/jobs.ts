import { randomUUID } from "node:crypto";
import { Queue, Worker } from "bullmq";
import type { JobStore } from "../src/jobs/attempt.js";
import { BullMqJobQueue } from "../src/jobs/bullmq/job-queue.js";
import { RedisLink } from "../src/adapters/redis.js";
import type { Submission } from "../src/storage/records/submissions-port.js";
import { RedisServer, redisInstalled } from "../test/support/servers/redis.js";
import type { Bench } from "./bench.js";
import { alternating } from "./support/measure.js";

const AT_A_TIME = 4;
const USERS = 10;

/**
 * The cost of the adapter's fairness, heartbeats and messages: jobs that take no time, over a
 * record store in memory.
 */
export const jobs: Bench = async ({ sizes: { rounds, jobs: count }, say }) => {
  if (!redisInstalled) {
    say("jobs: skipped, there is no redis-server here");
    return [];
  }
  const redis = await RedisServer.start();
  const { url } = redis;
  try {
    const { through, bare } = await alternating(rounds, {
      through: () => throughAdapter(url, count),
      bare: () => bareBullMq(url, count),
    });
    return [
      {
        name: `submissions through BullMQ, ${AT_A_TIME} at a time`,
        value: through,
        unit: "/s",
        baseline: { name: "jobs of bare BullMQ", value: bare },
      },
    ];
  } finally {
    await redis.stop();
  }
};

/** Jobs per second, queueing included. */
async function throughAdapter(url: string, count: number): Promise<number> {
  const rows = new Map<string, Submission>();
  let left = count;
  let done = (): void => {};
  const all = new Promise<void>((resolve) => (done = resolve));
  const store = storeOf(rows);
  const log = { info() {}, warn() {} };
  const link = new RedisLink({ url, prefix: randomUUID(), timeout: 2000, log });
  const queue = new BullMqJobQueue({
    store,
    link,
    maxAttempts: 3,
    concurrency: AT_A_TIME,
    backOff: () => 1000,
    stalledInterval: 1000,
    reconcileInterval: 60_000,
    log,
  });
  await queue.start(async ({ submission: { id, attempt } }) => {
    await store.closeSubmission({ id, attempt, status: "finished" }, 1);
    if (--left === 0) done();
  });
  const began = performance.now();
  for (let n = 0; n < count; n++) {
    const id = randomUUID();
    rows.set(id, {
      id,
      user: `ark:99999/u${n % USERS}`,
      type: "crate",
      status: "queued",
      stage: null,
      attempt: 0,
      interrupted: 0,
      timeCreated: 1,
      timeStarted: null,
      timeFinished: null,
      error: null,
      warnings: [],
      identifiersMinted: 0,
      rocrateIdentifier: null,
      sha256: null,
      input: {},
      cancelled: false,
    });
    await queue.enqueue(id);
  }
  await all;
  const seconds = (performance.now() - began) / 1000;
  await queue.close(1000);
  return count / seconds;
}

async function bareBullMq(url: string, count: number): Promise<number> {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port) };
  const name = randomUUID();
  let left = count;
  let done = (): void => {};
  const all = new Promise<void>((resolve) => (done = resolve));
  const queue = new Queue(name, { connection });
  const worker = new Worker(name, async () => void (--left === 0 && done()), {
    connection,
    concurrency: AT_A_TIME,
  });
  await worker.waitUntilReady();
  const began = performance.now();
  for (let n = 0; n < count; n++)
    await queue.add("job", { n }, { jobId: `j-${n}`, removeOnComplete: true });
  await all;
  const seconds = (performance.now() - began) / 1000;
  await worker.close();
  await queue.close();
  return count / seconds;
}

/** The part of the record store that a queue asks for. */
function storeOf(rows: Map<string, Submission>): JobStore {
  const mine = (id: string, attempt: number) => {
    const row = rows.get(id);
    return row?.status === "running" && row.attempt === attempt ? row : undefined;
  };
  return {
    submission: async (id) => rows.get(id),
    unfinished: async () => [],
    beginAttempt: async (id) => {
      const row = rows.get(id)!;
      return Object.assign(row, { status: "running", attempt: row.attempt + 1 });
    },
    yieldAttempt: async () => true,
    setStage: async () => true,
    closeSubmission: async ({ id, attempt, status }) => {
      const row = mine(id, attempt);
      if (row) row.status = status;
      return row !== undefined;
    },
    cancelSubmission: async (id) => rows.get(id),
  };
}
