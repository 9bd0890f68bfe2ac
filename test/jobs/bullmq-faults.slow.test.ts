import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { JobNodes, never } from "../support/job-nodes.js";
import { RedisServer, redisInstalled } from "../support/servers/redis.js";

interface Keys {
  link: ReturnType<JobNodes["link"]>;
  /** A key of BullMQ's. */
  key(name: string): string;
}

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

  it("another worker takes over from a killed one in under 5 s with the default settings", async () => {
    const { STALLED_INTERVAL: stalledInterval } = readConfig({});
    const worker = await nodes.worker(never, stalledInterval);
    const other = nodes.node({ stalledInterval });
    await other.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ status }) => status === "running");
    await other.start(nodes.finish);
    worker.kill("SIGKILL");
    const killedAt = Date.now();
    await nodes.ended("a");
    expect(Date.now() - killedAt).toBeLessThan(5000);
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

  it.each<[string, (keys: Keys) => Promise<unknown>]>([
    ["the set of waiting jobs", ({ link, key }) => link.commands.del(key("prioritized"))],
    [
      "every list, the marker and the rounds",
      ({ link, key }) =>
        link.commands.del(...["prioritized", "marker", "wait", "pc"].map((name) => key(name))),
    ],
    [
      "a job of an earlier run that is left over among the failed ones",
      async ({ link, key }) => {
        await link.commands.del(key("prioritized"));
        await link.commands.zadd(key("failed"), 1, "s-a");
      },
    ],
    [
      "all but the key of the job, whose content is another",
      async ({ link, key }) => {
        await link.commands.del(key("prioritized"), key("s-a"));
        await link.commands.hset(key("s-a"), "name", "left over");
      },
    ],
  ])("a submission is done although Redis lost %s", async (_what, lose) => {
    const client = nodes.node();
    for (const id of ["a", "b"]) expect(await client.enqueue(await nodes.submit(id))).toBe(true);
    const link = nodes.link();
    await link.reached();
    await lose({ link, key: (name) => link.key("submissions", name) });
    // Adding it once more changes nothing in Redis.
    expect(await client.enqueue("a")).toBe(true);
    link.close();
    const worker = nodes.node();
    await worker.start(nodes.finish);
    expect(await nodes.ended("a")).toMatchObject({ status: "finished", attempt: 1 });
    expect(await nodes.ended("b")).toMatchObject({ status: "finished", attempt: 1 });
    await pause(1500);
    expect([...nodes.ends.values()]).toEqual([1, 1]);
  });

  it("a job that runs is not queued a second time although Redis lost all of its lists", async () => {
    let go = () => {};
    const worker = nodes.node();
    await worker.start(async (job) => {
      await new Promise<void>((resolve) => (go = resolve));
      await nodes.finish(job);
    });
    const client = nodes.node();
    await client.enqueue(await nodes.submit("a"));
    await nodes.until("a", ({ status }) => status === "running");
    const link = nodes.link();
    await link.reached();
    await link.commands.del(link.key("submissions", "active"));
    link.close();
    await pause(2500);
    expect(await nodes.store.submission("a")).toMatchObject({ status: "running", attempt: 1 });
    go();
    expect(await nodes.ended("a")).toMatchObject({ status: "finished", attempt: 1 });
  });
});
