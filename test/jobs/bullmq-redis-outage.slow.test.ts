import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Job } from "../../src/jobs/port.js";
import { JobNodes, STALLED_INTERVAL, never, untilAborted } from "../support/job-nodes.js";
import { RedisServer, redisInstalled } from "../support/servers/redis.js";

describe.skipIf(!redisInstalled)("when Redis fails", () => {
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

  it("no submission is lost with Redis's data, and running jobs are not repeated", async () => {
    let go = () => {};
    const gone = new Promise<void>((resolve) => (go = resolve));
    const worker = nodes.node();
    await worker.start(async (job) => {
      if (job.submission.id === "runs") await gone;
      await nodes.finish(job);
    });
    const other = nodes.node();
    await other.enqueue(await nodes.submit("runs"));
    await nodes.until("runs", ({ status }) => status === "running");
    // Not before: it would end at once what is to run.
    await other.start(nodes.finish);
    await redis.kill();
    for (let n = 0; n < 20; n++)
      expect(await other.enqueue(await nodes.submit(`waits ${n}`))).toBe(false);
    await redis.restart();
    for (let n = 0; n < 20; n++)
      expect(await nodes.ended(`waits ${n}`)).toMatchObject({ status: "finished", attempt: 1 });
    await pause(1500);
    go();
    expect(await nodes.ended("runs")).toMatchObject({ status: "finished", attempt: 1 });
    for (const [id, count] of nodes.ends) expect(count, id).toBe(1);
    // Told once by each node and connection kind, not with every try.
    expect(nodes.warnings.length, nodes.warnings.join("\n")).toBeLessThan(12);
  });

  it("a report of progress for a job that Redis has lost is no outage of Redis", async () => {
    let job!: Job;
    let go = () => {};
    const gone = new Promise<void>((resolve) => (go = resolve));
    const worker = nodes.node();
    await worker.start(async (begun) => {
      job = begun;
      await gone;
      await nodes.finish(begun);
    });
    await worker.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ status }) => status === "running");
    const link = nodes.link();
    await link.reached();
    await link.commands.del(link.key("submissions", "s-a"));
    link.close();
    job.report({ stage: "late", done: 1, total: 2, unit: "files" });
    await pause(500);
    expect(await worker.enqueue(await nodes.submit("b"))).toBe(true);
    expect(nodes.warnings).toEqual([]);
    go();
    expect(await nodes.ended("a")).toMatchObject({ status: "finished", attempt: 1 });
  });

  it("a running job continues when Redis does not answer for longer than any lock", async () => {
    let go = () => {};
    await nodes.worker(() => new Promise<void>((resolve) => (go = resolve)));
    const other = nodes.node();
    await other.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ stage }) => stage === "working");
    await other.start(nodes.finish);
    redis.pause();
    await pause(8 * STALLED_INTERVAL);
    redis.resume();
    await pause(12 * STALLED_INTERVAL);
    go();
    expect(await nodes.ended("a")).toMatchObject({ status: "finished", attempt: 1 });
    expect(nodes.ends.get("a")).toBe(1);
    // The ticket that was put off finds nothing left to do.
    await pause(6 * STALLED_INTERVAL);
    expect(await nodes.store.submission("a")).toMatchObject({ attempt: 1 });
  });

  it("a running job is started again when Redis and its worker are lost together", async () => {
    const worker = await nodes.worker(never);
    const other = nodes.node();
    await other.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ status }) => status === "running");
    // This one has seen Redis as it was.
    await other.start(nodes.finish);
    await redis.kill();
    worker.kill("SIGKILL");
    await redis.restart();
    expect(await nodes.ended("a")).toMatchObject({ status: "finished", attempt: 2 });
  });

  it("a submission is accepted while Redis is unavailable, and started when it is back", async () => {
    await redis.kill();
    const worker = nodes.node();
    await worker.start(nodes.finish);
    expect(await worker.enqueue(await nodes.submit("a"))).toBe(false);
    await expect(worker.health()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await worker.progress("a")).toBeNull();
    await redis.restart();
    expect(await nodes.ended("a")).toMatchObject({ status: "finished" });
    await worker.health();
  });

  it("no request waits long for a Redis that does not answer", async () => {
    const client = nodes.node();
    await client.enqueue(await nodes.submit("a"));
    redis.pause();
    expect(await client.enqueue(await nodes.submit("b"))).toBe(false);
    await expect(client.health()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    redis.resume();
    const worker = nodes.node();
    await worker.start(nodes.finish);
    await nodes.ended("a");
    await nodes.ended("b");
  });

  it("a stop is in time while Redis is unavailable", async () => {
    const worker = nodes.node();
    await worker.start(untilAborted);
    await worker.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ status }) => status === "running");
    await redis.kill();
    await worker.close(100);
    expect(await nodes.store.submission("a")).toMatchObject({ status: "queued", interrupted: 1 });
    await redis.restart();
  });
});
