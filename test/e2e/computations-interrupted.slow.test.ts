import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crate } from "../support/crates.js";
import { startKillable, type Killable } from "../support/killable.js";
import type { Json, RegistryClient, User } from "../support/registry-client.js";
import { isCluster, ROLES } from "../support/roles.js";
import { inContainer, RunWorld } from "../support/run-world.js";
import { PodmanServer, podmanInstalled, WAIT } from "../support/servers/podman.js";

/** Two runs at a time: one on each worker of the cluster, or both in the one process. */
const TURNS = isCluster ? 1 : 2;
const MAX_ATTEMPTS = 2;
/** That of the processes that work. */
const WORKER = ROLES.at(-1)!;
/**
 * ms: in a cluster another worker notices within five STALLED_INTERVAL; the rest is for a busy
 * machine.
 */
const PATIENCE = 30_000;

describe.skipIf(!podmanInstalled)("runs", () => {
  let podman: PodmanServer;
  let registry: Killable;
  let at: RegistryClient;
  let ada: User;
  let world: RunWorld;
  const whole = async () => (at = await registry.whole(at?.url));
  beforeAll(async () => {
    podman = await PodmanServer.start();
    registry = await startKillable({
      CONTAINER_HOST: podman.host,
      LOG_LEVEL: "info",
      JOB_BACKOFF: "50ms",
      JOB_BACKOFF_MAX: "200ms",
      MAX_ATTEMPTS: String(MAX_ATTEMPTS),
      SHUTDOWN_GRACE: "200ms",
      EXECUTION_CONCURRENCY: String(TURNS),
    });
    ada = await (await whole()).user();
    world = new RunWorld(at, ada);
  }, 600_000);
  afterAll(async () => {
    await registry?.remove();
    await podman?.stop();
  }, 60_000);

  /** Of the runs alone, for one submission. */
  const containers = (id: string): string[] =>
    podman
      .left()
      .filter(
        (name) =>
          name.startsWith(`arkgraph-${id}`) && !/-(loader|inputs|software|outputs)$/.test(name),
      );
  const logged = (log: string, line: string, id: string): number =>
    log.split("\n").filter((each) => each.includes(line) && each.includes(id)).length;
  const until = async (what: () => boolean): Promise<void> => {
    for (const begun = Date.now(); !what() && Date.now() - begun < PATIENCE;) await sleep(200);
  };
  const cancel = async (id: string) =>
    expect(
      (await at.ask(`/rocrate/upload/status/${id}`, { method: "DELETE", token: ada.token })).status,
    ).toBe(200);
  const settled = (id: string) => at.settled(id, ada.token, PATIENCE);
  /** Lets a run go on that waits, in whichever container it is by now. */
  const finished = async (id: string): Promise<Json> => {
    let over = false;
    const end = settled(id).finally(() => (over = true));
    end.catch(() => {});
    for (; !over; await sleep(200))
      for (const name of containers(id))
        try {
          podman.letGo(name);
        } catch {
          /* It is gone, or has not begun. */
        }
    const view = await end;
    expect(view, JSON.stringify(view["error"])).toMatchObject({ status: "finished" });
    return view;
  };

  it("start one on each worker, delay no crate, and can be cancelled", async () => {
    const running = [
      await world.asked("sleep 1000"),
      await world.asked(`${WAIT}; echo x > y`),
    ] as const;
    for (const id of running) await world.until(id, inContainer);
    const waiting = await world.asked("echo x > y");
    expect(
      running
        .map((id) => logged(registry.running(WORKER).log, "a job of a submission begins", id))
        .filter((count) => count === 1),
    ).toHaveLength(TURNS);
    expect(await at.take(await crate([]), ada.token)).toMatchObject({ status: "finished" });
    expect(
      (await at.ask(`/computation/execute/status/${waiting}`, { token: ada.token })).body,
    ).toMatchObject({ status: "queued" });

    const [id, other] = running;
    const follow = (signal?: AbortSignal) =>
      fetch(`${at.url}/rocrate/upload/status/${id}`, {
        headers: { Accept: "text/event-stream", Authorization: `Bearer ${ada.token}` },
        ...(signal && { signal }),
      });
    // One goes away early, one stays to the end.
    const gone = new AbortController();
    await follow(gone.signal).then(({ body }) => body!.getReader().read());
    gone.abort();
    const stream = follow().then((answer) => answer.text());
    const cancelled = await at.graphql(
      "mutation ($id: ID!) { cancelSubmission(input: { id: $id }) { submission { status } } }",
      { id },
      ada.token,
    );
    expect(cancelled.body["errors"]).toBeUndefined();
    expect(await settled(id)).toMatchObject({ status: "failed", error: [{ code: "CANCELLED" }] });
    expect(await stream).toMatch(/"stage":"running"[^]*id: completed\n/);
    // Its turn is the next one's.
    expect(await settled(waiting)).toMatchObject({ status: "finished", identifiersMinted: 2 });
    await finished(other);
    expect(podman.left()).toEqual([]);
  }, 60_000);

  it("wait for an unavailable engine, and can be cancelled meanwhile", async () => {
    const broken = await world.asked(`${WAIT}; echo x > y`);
    await world.until(broken, inContainer);
    await podman.pause();
    const unwanted = await world.asked("echo x > y");
    const tries = (id: string) => logged(registry.log, "an attempt at a submission failed", id);
    await until(() => tries(broken) > MAX_ATTEMPTS && tries(unwanted) > MAX_ATTEMPTS);
    for (const id of [broken, unwanted]) expect(tries(id)).toBeGreaterThan(MAX_ATTEMPTS);
    expect((await registry.running(WORKER).ask("/readyz")).body).toMatchObject({
      status: "ready",
      checks: { containers: "failed" },
    });
    expect(await registry.running(WORKER).ask("/healthz")).toMatchObject({
      status: 200,
      body: { status: "healthy" },
    });
    await cancel(unwanted);
    expect(await settled(unwanted)).toMatchObject({
      status: "failed",
      error: [{ code: "CANCELLED" }],
    });
    await podman.resume();
    expect(await finished(broken)).toMatchObject({ identifiersMinted: 2 });
    expect((await registry.running(WORKER).ask("/readyz")).body).toMatchObject({
      checks: { containers: "ok" },
    });
    expect(podman.left()).toEqual([]);
    expect(registry.log).not.toContain("echo x");
  }, 60_000);

  it(
    "start again after a crash and after a stop, which does not count as an attempt, and " +
      "clean up the engine",
    async () => {
      const data = await world.data({ "a.txt": "a" });
      const ark = await world.computation(`${WAIT}; cat /inputs/a.txt > b.txt`, {
        usedDataset: data,
      });
      const id = (await world.execute(ark)).body["submissionUUID"] as string;
      const other = await world.asked("sleep 1000");
      for (const one of [id, other]) await world.until(one, inContainer);
      expect(containers(id)).toEqual([`arkgraph-${id}-1`]);
      const before = await at.recordCount();
      // Where all die at once, nobody goes on with it: it ends as the process does.
      await cancel(other);
      await registry.kill(id);
      if (!registry.survivors) await whole();
      expect(await settled(other)).toMatchObject({
        status: "failed",
        error: [{ code: "CANCELLED" }],
      });
      await until(() => containers(id).join() === `arkgraph-${id}-2`);
      expect(containers(id)).toEqual([`arkgraph-${id}-2`]);
      await whole();
      expect(new Set(await registry.terminate())).toEqual(new Set([0]));
      expect(podman.left()).toEqual([]);

      registry.configure({ OUTAGE_PATIENCE: "0s" });
      await whole();
      expect(await finished(id)).toMatchObject({ identifiersMinted: 2 });
      expect((await at.ask(`/computation/${ark}/history`)).body["revisions"]).toMatchObject([
        { revision: 2, action: "update" },
        { revision: 1 },
      ]);
      expect(await at.recordCount()).toBe(before + 2);
      await until(() => podman.left().length === 0);
      expect(podman.left()).toEqual([]);
    },
    90_000,
  );

  it("fail with a clear error when the engine is unavailable for longer than the retry window", async () => {
    const ark = await world.computation("echo x > y");
    await podman.pause();
    const id = (await world.execute(ark)).body["submissionUUID"] as string;
    expect(await settled(id)).toMatchObject({
      status: "failed",
      error: [
        { code: "ENGINE_AWAY", message: expect.stringContaining("OUTAGE_PATIENCE") as string },
      ],
    });
    await podman.resume();
    expect(await world.run(ark)).toMatchObject({ status: "finished" });
  }, 60_000);

  it("fail with a clear error when the registry restarts without an engine", async () => {
    const left = [
      await world.asked("sleep 1000"),
      await world.asked("sleep 1000"),
      await world.asked("echo x > y"),
    ];
    for (const id of left.slice(0, 2)) await world.until(id, inContainer);
    expect(new Set(await registry.terminate())).toEqual(new Set([0]));
    registry.configure({ CONTAINER_HOST: "" });
    await whole();
    for (const id of left)
      expect(await settled(id)).toMatchObject({
        status: "failed",
        error: [{ code: "NO_CONTAINER_ENGINE" }],
      });
    expect(await world.execute(await world.computation("echo x > y"))).toMatchObject({
      status: 503,
      body: { code: "NO_CONTAINER_ENGINE" },
    });
    expect(podman.left()).toEqual([]);
  }, 90_000);
});
