import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHttpInterface } from "../../src/app/http-listener.js";
import { BullMqJobQueue } from "../../src/jobs/bullmq/job-queue.js";
import { RedisLink } from "../../src/storage/redis.js";
import { RedisMemory } from "../../src/storage/shared/redis.js";
import type { Deps } from "../../src/services/deps.js";
import { eventsOf } from "../support/graphql-streams.js";
import { largeCrate } from "../support/large-crate.js";
import { LiveRegistry } from "../support/live-registry.js";
import { RegistryClient, type User } from "../support/registry-client.js";
import { RedisServer, redisInstalled } from "../support/servers/redis.js";

/** A node that answers requests and does no work, over the truth of another that does. */
class ApiNode extends RegistryClient {
  readonly #server: Server;
  readonly #jobs: BullMqJobQueue;
  readonly #apiNodes: Awaited<ReturnType<typeof openHttpInterface>>;

  private constructor(
    url: string,
    server: Server,
    jobs: BullMqJobQueue,
    apiNodes: Awaited<ReturnType<typeof openHttpInterface>>,
  ) {
    super(url);
    this.#server = server;
    this.#jobs = jobs;
    this.#apiNodes = apiNodes;
  }

  static async start(deps: Deps, redis: RedisServer): Promise<ApiNode> {
    const link = new RedisLink({
      url: redis.url,
      prefix: "arkgraph",
      timeout: 1000,
      log: deps.log,
    });
    const jobs = new BullMqJobQueue({
      store: deps.records,
      link,
      maxAttempts: 3,
      concurrency: 1,
      backOff: () => 1000,
      stalledInterval: 200,
      reconcileInterval: 500,
      log: deps.log,
    });
    await link.reached();
    const apiNodes = await openHttpInterface({ ...deps, jobs, shared: new RedisMemory(link) });
    await new Promise<void>((resolve) => apiNodes.server.listen(0, "127.0.0.1", resolve));
    return new ApiNode(
      `http://127.0.0.1:${(apiNodes.server.address() as AddressInfo).port}`,
      apiNodes.server,
      jobs,
      apiNodes,
    );
  }

  async stop(): Promise<void> {
    await this.#apiNodes.endStreams();
    this.#server.closeAllConnections();
    await this.#apiNodes.stop();
    await this.#jobs.close(0);
  }
}

describe.skipIf(!redisInstalled)("a registry of an API node and a worker", () => {
  let redis: RedisServer;
  let worker: LiveRegistry;
  let api: ApiNode;
  let ada: User;
  beforeAll(async () => {
    redis = await RedisServer.start();
    worker = await LiveRegistry.start({
      REDIS_URL: redis.url,
      REDIS_TIMEOUT: "1s",
      STALLED_INTERVAL: "200ms",
      RECONCILE_INTERVAL: "500ms",
      WRITE_RATE: "20",
    });
    api = await ApiNode.start(worker.deps, redis);
    ada = await api.user("Ada");
  });
  afterAll(async () => {
    await api?.stop();
    await worker?.stop();
    await redis?.stop();
  });

  /**
   * Uploads larger and larger crates until the job of one lasts long enough to be seen: how long a
   * job takes, and a client until it listens, depends on the machine.
   */
  async function untilSeen(
    name: string,
    follow: (submission: string) => Promise<boolean>,
  ): Promise<void> {
    for (const size of [600, 1200, 2400, 4800, 9600]) {
      const { body } = await api.upload(await largeCrate(`${name} ${size}`, size), ada.token);
      if (await follow(body["submissionUUID"] as string)) return;
    }
    expect.fail("no progress was sent");
  }

  it("sends the progress of the worker's job as server-sent events", async () => {
    await untilSeen("over rest", async (id) => {
      const events = await eventsOf(
        await fetch(`${api.url}/rocrate/upload/status/${id}`, {
          headers: { Accept: "text/event-stream", Authorization: `Bearer ${ada.token}` },
        }),
      );
      expect(events.at(-1)!.data).toMatchObject({ status: "finished", success: true });
      return (
        events.some(({ data }) => data.stage === "building records") &&
        events.some(({ data }) => data.progress !== null && data.progress.done >= 0)
      );
    });
  });

  it("sends it as a GraphQL subscription", async () => {
    const query =
      "subscription Follow($id: ID!) { submissionProgress(id: $id) { status stage progress " +
      "{ done } } }";
    await untilSeen("over graphql", async (id) => {
      const response = await fetch(`${api.url}/graphql/stream`, {
        method: "POST",
        headers: {
          Accept: "text/event-stream",
          "Content-Type": "application/json",
          Authorization: `Bearer ${ada.token}`,
        },
        body: JSON.stringify({ query, variables: { id } }),
      });
      const logged = (await eventsOf(response))
        .filter(({ event }) => event === "next")
        .map(({ data }) => data.data.submissionProgress);
      expect(logged.at(-1)).toMatchObject({ status: "FINISHED" });
      return logged.some(({ progress }) => progress !== null);
    });
  });

  it("cancels a job of the worker by a request to the API node", async () => {
    const { body } = await api.upload(await largeCrate("cancelled", 3000), ada.token);
    const id = body["submissionUUID"] as string;
    await expect
      .poll(
        async () =>
          (await api.ask(`/rocrate/upload/status/${id}`, { token: ada.token })).body["status"],
        { interval: 10, timeout: 10_000 },
      )
      .toBe("running");
    expect(
      (await api.ask(`/rocrate/upload/status/${id}`, { method: "DELETE", token: ada.token }))
        .status,
    ).toBe(200);
    expect(await api.settled(id, ada.token)).toMatchObject({
      status: "failed",
      error: [{ code: "CANCELLED" }],
    });
  });

  it(
    "computes a score on the worker that was requested on the API node, and returns it " +
      "on both",
    async () => {
      const uploaded = await api.upload(await largeCrate("scored", 20), ada.token);
      const crate = (await api.settled(uploaded.body["submissionUUID"] as string, ada.token))[
        "rocrateIdentifier"
      ] as string;
      const address = `/rocrate/ai-ready-score/${crate}`;
      const before = (await api.ask(address)).body;
      const asked = await api.ask(`${address}/rescore`, { method: "POST", token: ada.token });
      await expect
        .poll(
          async () =>
            (
              await api.ask(`/rocrate/ai-ready-score/status/${asked.body["submissionUUID"]}`, {
                token: ada.token,
              })
            ).body,
          { timeout: 10_000 },
        )
        .toMatchObject({ status: "finished", scoredCrateIdentifier: crate });
      const [here, there] = await Promise.all([api.ask(address), worker.ask(address)]);
      expect(here.body).toEqual(there.body);
      expect(Date.parse(here.body["computedAt"] as string)).toBeGreaterThan(
        Date.parse(before["computedAt"] as string),
      );
    },
  );

  it("applies a limit over both nodes", async () => {
    const eve = await api.user("Eve");
    const statuses: number[] = [];
    for (let n = 0; n < 24; n++)
      statuses.push(
        (
          await (n % 2 === 0 ? api : worker).ask("/dataset", {
            token: eve.token,
            body: {
              "@type": "evi:Dataset",
              name: `of Eve ${n}`,
              description: "One of many of hers.",
              owner: eve.ark,
            },
          })
        ).status,
      );
    expect(statuses).toEqual([...Array<number>(20).fill(200), ...Array<number>(4).fill(429)]);
  });

  it(
    "accepts an upload while Redis is unavailable, reports that it waits, and runs it " +
      "afterwards",
    async () => {
      await redis.kill();
      await expect
        .poll(async () => (await api.ask("/healthz")).status, { timeout: 5000 })
        .toBe(503);
      const { status, body } = await api.upload(await largeCrate("without redis", 50), ada.token);
      expect([status, body["status"], body["warnings"][0]?.code]).toEqual([
        200,
        "queued",
        "QUEUE_AWAY",
      ]);
      expect(
        (await api.ask(`/rocrate/upload/status/${body["submissionUUID"]}`, { token: ada.token }))
          .body,
      ).toMatchObject({ status: "queued" });
      await redis.restart();
      expect(await api.settled(body["submissionUUID"] as string, ada.token)).toMatchObject({
        status: "finished",
      });
      await expect
        .poll(async () => (await api.ask("/healthz")).status, { timeout: 5000 })
        .toBe(200);
    },
  );
});
