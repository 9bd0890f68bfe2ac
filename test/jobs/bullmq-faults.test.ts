import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { JobNodes, never } from "../support/job-nodes.js";
import { RedisServer, redisInstalled } from "../support/servers/redis.js";

describe.skipIf(!redisInstalled)("when a node fails", () => {
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

  it("another worker finishes a job of a killed worker, once and within seconds", async () => {
    const worker = await nodes.worker(never);
    const other = nodes.node();
    await other.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ status }) => status === "running");
    await other.start(nodes.finish);
    worker.kill("SIGKILL");
    const killedAt = Date.now();
    expect(await nodes.ended("a")).toMatchObject({ status: "finished", attempt: 2 });
    expect(Date.now() - killedAt).toBeLessThan(10_000);
    expect(nodes.ends.get("a")).toBe(1);
  });

  it("a worker that was suspended for longer than its lock duplicates nothing", async () => {
    let go = () => {};
    const worker = await nodes.worker(() => new Promise<void>((resolve) => (go = resolve)));
    const other = nodes.node();
    await other.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ stage }) => stage === "working");
    worker.kill("SIGSTOP");
    await other.start(nodes.finish);
    expect(await nodes.ended("a")).toMatchObject({ status: "finished", attempt: 2 });
    go();
    worker.kill("SIGCONT");
    await pause(1500);
    expect(nodes.ends.get("a")).toBe(1);
    // It is of use again.
    await other.close(0);
    const client = nodes.node();
    await client.enqueue(await nodes.submit("b"));
    await nodes.until("b", ({ stage }) => stage === "working");
    go();
    expect(await nodes.ended("b")).toMatchObject({ status: "finished", attempt: 1 });
  });
});
