import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";
import { RunWorld } from "../support/run-world.js";
import { PodmanServer, podmanInstalled } from "../support/servers/podman.js";

describe.skipIf(!podmanInstalled)("runs that are broken off", () => {
  let podman: PodmanServer;
  let dataDir: string;
  let registry: RegistryProcess;
  let ada: User;
  const start = async (): Promise<RunWorld> => {
    registry = await RegistryProcess.start({ dataDir, env: { CONTAINER_HOST: podman.host, LOG_LEVEL: "info", JOB_BACKOFF: "100ms", MAX_ATTEMPTS: "2", SHUTDOWN_GRACE: "1s", EXECUTION_CONCURRENCY: "2" } });
    ada ??= await registry.user();
    return new RunWorld(registry, ada);
  };
  beforeAll(async () => {
    podman = await PodmanServer.start();
    dataDir = await mkdtemp(join(tmpdir(), "arkgraph-e2e-"));
  });
  afterAll(async () => {
    await registry?.kill().catch(() => {});
    await podman?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Of runs only, for their submission. */
  const containers = (id: string): string[] => podman.left().filter((name) => name.startsWith(`arkgraph-${id}`) && !/-(loader|inputs|software|outputs)$/.test(name));

  it("begin again after a death, and leave nothing on the engine, whether somebody goes on with them or not", async () => {
    let world = await start();
    const data = await world.data({ "a.txt": "a" });
    const ark = await world.computation("cat /inputs/a.txt > b.txt; sleep 3", { usedDataset: data });
    const id = (await world.execute(ark)).body["submissionUUID"] as string;
    const other = (await world.execute(await world.computation("sleep 100"))).body["submissionUUID"] as string;
    for (const one of [id, other]) await world.until(one, ({ stage }) => stage === "running");
    expect(containers(id)).toEqual([`arkgraph-${id}-1`]);
    // Nobody goes on with the other: it ends as the process does.
    await registry.ask(`/rocrate/upload/status/${other}`, { method: "DELETE", token: ada.token });
    await registry.kill();
    world = await start();
    expect(await registry.settled(other, ada.token)).toMatchObject({ status: "failed", error: [{ code: "CANCELLED" }] });
    await world.until(id, ({ stage, progress }) => stage === "running" && progress !== null && progress["unit"] === "seconds");
    expect(containers(id)).toEqual([`arkgraph-${id}-2`]);
    expect(await registry.settled(id, ada.token)).toMatchObject({ status: "finished", identifiersMinted: 2 });
    for (const begun = Date.now(); podman.left().length > 0 && Date.now() - begun < 10_000; ) await sleep(100);
    expect(podman.left()).toEqual([]);

    // A stop takes the container along, and does not count as an attempt.
    const second = (await world.execute(ark)).body["submissionUUID"] as string;
    await world.until(second, ({ stage }) => stage === "running");
    expect((await registry.terminate()).status).toBe(0);
    expect(podman.left()).toEqual([]);
    world = await start();
    expect(await registry.settled(second, ada.token)).toMatchObject({ status: "finished" });
  }, 60_000);

  it("are tried again while the engine is away, and fail clearly when it stays away", async () => {
    const world = new RunWorld(registry, ada);
    const ark = await world.computation("echo x > y");
    await podman.pause();
    const away = (await world.execute(ark)).body["submissionUUID"] as string;
    expect(await registry.settled(away, ada.token)).toMatchObject({ status: "failed", error: [{ code: "ENGINE_AWAY" }] });
    expect((await registry.ask("/readyz")).body).toMatchObject({ status: "ready", checks: { containers: "failed" } });
    expect(await registry.ask("/healthz")).toMatchObject({ status: 200, body: { status: "healthy" } });
    await podman.resume();
    expect(await world.run(ark)).toMatchObject({ status: "finished" });
    expect((await registry.ask("/readyz")).body).toMatchObject({ checks: { containers: "ok" } });
    expect(registry.log).not.toContain("echo x");
  }, 60_000);
});
