import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Certificate, opensslInstalled } from "../support/certificate.js";
import { crate } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import { RegistryProcess } from "../support/registry-process.js";
import { freePort, startProgram, untilReady } from "../support/servers/program.js";
import { RedisServer, redisInstalled } from "../support/servers/redis.js";

/** The registry with any settings: here records and files of its own, and Redis for its queue. */
const PROGRAM = "dist/bench/support/mixed-registry.js";
const PASSWORD = "a password: of/this test";

const ends: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

describe.skipIf(!redisInstalled || !opensslInstalled)(
  "a Redis behind TLS that asks for a password",
  { timeout: 90_000 },
  () => {
    async function registryWith(
      settings: (redis: RedisServer, certificate: Certificate) => Record<string, string>,
    ): Promise<RegistryProcess> {
      const certificate = new Certificate();
      ends.push(() => certificate.remove());
      const redis = await RedisServer.start({ tls: certificate, password: PASSWORD });
      ends.push(() => redis.stop());
      const registry = await RegistryProcess.start({
        program: PROGRAM,
        env: {
          REDIS_URL: redis.url,
          LOG_LEVEL: "debug",
          RECONCILE_INTERVAL: "500ms",
          ...settings(redis, certificate),
        },
      });
      ends.push(() => registry.stop());
      return registry;
    }

    it("is used by rediss://, with a certificate that NODE_EXTRA_CA_CERTS trusts", async () => {
      const registry = await registryWith((_, { file }) => ({ NODE_EXTRA_CA_CERTS: file }));
      expect((await registry.ask("/healthz")).body).toMatchObject({ status: "healthy" });
      const ada = await registry.user("Ada");
      expect(await registry.take(await crate([]), ada.token, 60_000)).toMatchObject({
        status: "finished",
      });
      expect(registry.log).not.toContain(PASSWORD);
      expect(registry.log).not.toMatch(/cannot be reached/);
    });

    it.each<
      [string, (redis: RedisServer, certificate: Certificate) => Record<string, string>, RegExp]
    >([
      ["where nobody vouches for its certificate", () => ({}), /self-signed certificate/],
      [
        "with a wrong password",
        ({ port }, { file }) => ({
          NODE_EXTRA_CA_CERTS: file,
          REDIS_URL: `rediss://:not-the-password@127.0.0.1:${port}`,
        }),
        /WRONGPASS/,
      ],
    ])(
      "is away for a registry %s, which says why and tells no password",
      async (_, settings, reason) => {
        const registry = await registryWith(settings);
        expect((await registry.ask("/healthz")).body).toMatchObject({
          status: "unhealthy",
          checks: { jobs: "failed", records: "ok" },
        });
        expect(registry.log).toMatch(reason);
        for (const password of [PASSWORD, encodeURIComponent(PASSWORD), "not-the-password"])
          expect(registry.log).not.toContain(password);
      },
    );
  },
);

describe.skipIf(!redisInstalled)("Redis Sentinels", { timeout: 90_000 }, () => {
  it("report the current master, also after a failover", async () => {
    const master = await RedisServer.start();
    ends.push(() => master.stop());
    const replica = await RedisServer.start({ replicaOf: master });
    ends.push(() => replica.stop());
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-sentinel-"));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const port = await freePort();
    await writeFile(
      join(folder, "sentinel.conf"),
      `port ${port}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor the-master 127.0.0.1 ` +
        `${master.port} 1\nsentinel down-after-milliseconds the-master 500\nsentinel ` +
        `failover-timeout the-master 2000\n`,
    );
    const sentinel = startProgram("redis-server", [join(folder, "sentinel.conf"), "--sentinel"], {
      cwd: folder,
    });
    ends.push(() => sentinel.stop());
    // It hears of the replica from the master.
    await untilReady([sentinel], async () =>
      sentinel.output().includes(`+slave slave 127.0.0.1:${replica.port}`),
    );

    const registry = await LiveRegistry.start({
      REDIS_URL: "redis://the-master",
      REDIS_SENTINELS: `127.0.0.1:${await freePort()},127.0.0.1:${port}`,
      STALLED_INTERVAL: "300ms",
      RECONCILE_INTERVAL: "500ms",
    });
    ends.push(() => registry.stop());
    const ada = await registry.user("Ada");
    const jobs = async () =>
      ((await registry.ask("/healthz")).body["checks"] as { jobs: string }).jobs;
    expect(await jobs()).toBe("ok");
    expect(await registry.take(await crate([], {}, { name: "Before" }), ada.token)).toMatchObject({
      status: "finished",
    });
    await master.kill();
    await expect.poll(jobs).toBe("failed");
    const { body } = await registry.upload(
      await crate([], {}, { name: "While there is none" }),
      ada.token,
    );
    await expect
      .poll(() => sentinel.output(), { timeout: 30_000 })
      .toContain(`+switch-master the-master 127.0.0.1 ${master.port} 127.0.0.1 ${replica.port}`);
    await expect.poll(jobs, { timeout: 20_000 }).toBe("ok");
    expect(
      await registry.settled(body["submissionUUID"] as string, ada.token, 60_000),
    ).toMatchObject({ status: "finished" });
  });
});
