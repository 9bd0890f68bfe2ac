import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Job } from "../../src/jobs/port.js";
import { JobNodes, never, untilAborted } from "../support/job-nodes.js";
import { RedisServer, redisInstalled } from "../support/servers/redis.js";

describe.skipIf(!redisInstalled)("several nodes on one queue", () => {
  let redis: RedisServer;
  let nodes: JobNodes;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis?.stop());
  beforeEach(() => {
    nodes = new JobNodes(redis);
  });
  afterEach(() => nodes.close());

  it(
    "one user's five hundred jobs do not delay another user's single one, nor many " +
      "users' jobs the five hundred",
    async () => {
      const client = nodes.node();
      for (let n = 0; n < 500; n++)
        await client.enqueue(await nodes.submit(`many ${n}`, "ark:99999/many"));
      const order: string[] = [];
      const worker = nodes.node();
      await worker.start(async (job) => {
        order.push(job.submission.id);
        // A second user, who sends the next one whenever the last is done.
        if (order.length === 10) await client.enqueue(await nodes.submit("few 0", "ark:99999/few"));
        if (job.submission.id.startsWith("few") && order.length < 200)
          await client.enqueue(await nodes.submit(`few ${order.length}`, "ark:99999/few"));
        await nodes.finish(job);
      });
      await nodes.ended("many 499");
      const first = order.indexOf("few 0");
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThan(14);
      // From then on they take turns.
      const shared = order.slice(first, first + 100).filter((id) => id.startsWith("many")).length;
      expect(shared).toBeGreaterThanOrEqual(30);
      expect(shared).toBeLessThanOrEqual(70);
    },
  );

  it("each node sees the progress of jobs on other nodes, also one that subscribes late", async () => {
    let go = () => {};
    const gone = new Promise<void>((resolve) => (go = resolve));
    const worker = nodes.node();
    const [early, late] = [nodes.node(), nodes.node()];
    await worker.start(async (job) => {
      for (let done = 0; done < 1000; done++)
        job.report({ stage: "one", done, total: 1000, unit: "bytes" });
      job.report({ stage: "two", done: 7, total: null, unit: "records" });
      await gone;
      await nodes.finish(job);
    });
    await early.enqueue(await nodes.submit("a"));
    const seen: string[] = [];
    const watched = (async () => {
      for await (const _ of early.watch("a")) seen.push(JSON.stringify(await early.progress("a")));
    })();
    await nodes.until("a", ({ stage }) => stage === "two");
    await pause(300);
    expect(seen.at(-1)).toBe(
      JSON.stringify({ stage: "two", done: 7, total: null, unit: "records" }),
    );
    // A thousand reports in one go are told as a few.
    expect(seen.length).toBeLessThan(12);
    expect(await late.progress("a")).toEqual({
      stage: "two",
      done: 7,
      total: null,
      unit: "records",
    });
    const lateEnd = (async () => {
      let count = 0;
      for await (const _ of late.watch("a")) count++;
      return count;
    })();
    await pause(50);
    go();
    await watched;
    expect(await lateEnd).toBeGreaterThan(0);
    expect(await late.progress("a")).toBeNull();
  });

  it("each submission is run once, whichever nodes there are", async () => {
    const runs = new Map<string, number>();
    const work = async (job: Job) => {
      runs.set(job.submission.id, (runs.get(job.submission.id) ?? 0) + 1);
      await pause(Math.random() * 5);
      await nodes.finish(job);
    };
    const workers = [nodes.node({ concurrency: 3 }), nodes.node({ concurrency: 3 })];
    await Promise.all(workers.map((worker) => worker.start(work)));
    const client = nodes.node();
    const ids = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        nodes.submit(`ark:/99999/of-a-user ${n}`, `ark:99999/u${n % 7}`),
      ),
    );
    await Promise.all(ids.flatMap((id) => [client.enqueue(id), workers[0]!.enqueue(id)]));
    for (const id of ids)
      expect(await nodes.ended(id)).toMatchObject({ status: "finished", attempt: 1 });
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    // Nothing stays in Redis but a handful of keys of the queue itself: heartbeats expire.
    const link = nodes.link();
    await link.reached();
    await expect
      .poll(async () => (await link.commands.keys(link.key("*"))).length, { timeout: 10_000 })
      .toBeLessThan(12);
    link.close();
  });

  it("a cancellation reaches the worker from another node", async () => {
    const worker = await nodes.worker(never);
    const client = nodes.node();
    await client.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ stage }) => stage === "working");
    await client.cancel("a");
    expect(await nodes.ended("a")).toMatchObject({
      status: "failed",
      error: [{ code: "CANCELLED" }],
    });
    expect(worker.exitCode).toBeNull();
  });

  it("a cancellation without a notification is found in the record store", async () => {
    const worker = nodes.node();
    await worker.start(untilAborted);
    await worker.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ status }) => status === "running");
    await nodes.store.cancelSubmission("a", 1);
    expect(await nodes.ended("a")).toMatchObject({
      status: "failed",
      error: [{ code: "CANCELLED" }],
    });
  });

  it("a worker that stops hands over its unfinished jobs at once", async () => {
    const worker = await nodes.worker(never);
    const other = nodes.node();
    await other.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ stage }) => stage === "working");
    await other.start(nodes.finish);
    const from = Date.now();
    worker.send({ close: 100 });
    expect(await nodes.ended("a")).toMatchObject({
      status: "finished",
      attempt: 2,
      interrupted: 1,
    });
    expect(Date.now() - from).toBeLessThan(10_000);
    if (worker.exitCode === null) await once(worker, "exit");
    expect(worker.exitCode).toBe(0);
  });
});
