import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { HeldNodes } from "../support/held-nodes.js";
import { largeCrate } from "../support/large-crate.js";
import { RegistryClient, type User } from "../support/registry-client.js";
import { clusterInstalled, Topology } from "../support/topology.js";

const run = promisify(execFile);
const ENTITIES = 120;
const FILES = ENTITIES / 20;
/** ms: another worker notices within five STALLED_INTERVAL; the rest is for a busy machine. */
const PATIENCE = 90_000;
/** Settings with which a node notices soon what became of others. */
const NODE = { STALLED_INTERVAL: "300ms", RECONCILE_INTERVAL: "500ms", JOB_BACKOFF: "50ms" };

describe.skipIf(!clusterInstalled)("a cluster", { timeout: 180_000 }, () => {
  let cluster: Topology;
  let ada: User;
  let folder: string;
  let held: HeldNodes | undefined;
  let crates = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-cluster-"));
    cluster = await Topology.start({
      workers: 0,
      env: { ...NODE, DATABASE_CONNECT_TIMEOUT: "20s" },
    });
    ada = await cluster.user("Ada");
  }, 600_000);
  afterAll(async () => {
    await held?.stop();
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  /** What every dataset of hers says. */
  const OWN = () => ({ "@type": "evi:Dataset", owner: ada.ark });

  /** A worker that is killed when it gets to a moment of a submission. */
  async function doomed(death: { event: string; done?: number }) {
    const file = join(folder, `kill-at-${death.event.replaceAll(" ", "-")}.json`);
    await writeFile(file, JSON.stringify(death));
    return cluster.addWorker({
      NODE_OPTIONS: `--import ${pathToFileURL(join(packageRoot, "test/support/kill-at-event.mjs"))}`,
      KILL_AT: file,
      STALLED_INTERVAL: "300ms",
      JOB_BACKOFF: "50ms",
    });
  }
  const worker = () => cluster.addWorker(NODE);
  const accepted = async (name: string): Promise<string> => {
    const { status, body, text } = await cluster.upload(
      await largeCrate(name, ENTITIES),
      ada.token,
    );
    expect(status, text).toBe(200);
    crates++;
    return body["submissionUUID"] as string;
  };
  /** Every crate is there with all of its records, once. */
  async function allThereOnce(): Promise<void> {
    const { body } = await cluster.graphql(
      "{ roCrates { totalCount } dataDownloads { totalCount } datasets { totalCount } }",
    );
    expect(body["data"]).toEqual({
      roCrates: { totalCount: crates },
      dataDownloads: { totalCount: crates * FILES },
      datasets: { totalCount: crates * (ENTITIES - FILES) },
    });
  }

  // First: the minute that they stand still goes by while the others are tested.
  test("goes on without a suspended worker and API node, and finishes the crate of the worker", async () => {
    held = await HeldNodes.hold(cluster, ada, ENTITIES, NODE);
    expect(held.open.length).toBeGreaterThan(0);
    // The crate of the worker, and one that the api node waits for.
    crates += 2;
    const next = await worker();
    expect(await cluster.settled(held.submission, ada.token, PATIENCE)).toMatchObject({
      status: "finished",
    });
    expect((await held.create(cluster, "ark:99999/beside")).status).toBe(200);
    await expect
      .poll(async () => (await cluster.graphql("{ roCrates { totalCount } }")).body["data"], {
        timeout: PATIENCE,
      })
      .toEqual({ roCrates: { totalCount: crates } });
    await allThereOnce();
    expect((await next.terminate()).status).toBe(0);
  });

  test.each(["storing files", "building records", "committing"])(
    "finishes a crate exactly once when its worker is killed while %s",
    async (event) => {
      const dying = await doomed({ event });
      const submission = await accepted(`killed while ${event}`);
      await dying.ended();
      const next = await worker();
      expect(await cluster.settled(submission, ada.token, PATIENCE)).toMatchObject({
        status: "finished",
      });
      await allThereOnce();
      expect((await next.terminate()).status).toBe(0);
    },
  );

  test("loses no submission when Redis is killed and restarts empty", async () => {
    const submissions = [await accepted("before Redis went")];
    await cluster.servers.redis.kill();
    submissions.push(await accepted("while Redis is away"));
    await cluster.servers.redis.restart();
    const next = await worker();
    for (const submission of submissions)
      expect(await cluster.settled(submission, ada.token, PATIENCE)).toMatchObject({
        status: "finished",
      });
    await allThereOnce();
    expect((await next.terminate()).status).toBe(0);
  });

  test(
    "serves records while the SPARQL server is unavailable, and fills it again when it " +
      "restarts empty",
    async () => {
      const created = async (name: string) =>
        (
          await cluster.ask("/dataset", {
            token: ada.token,
            body: { name, description: "While the index is away.", ...OWN() },
          })
        ).body["@id"] as string;
      await cluster.servers.sparql.kill();
      const ark = await created("Written without an index");
      expect((await cluster.ask(`/${ark}`)).status).toBe(200);
      expect((await cluster.ask(`/evidencegraph/query/${ark}`)).status).toBe(503);
      await cluster.servers.sparql.lose();
      await cluster.servers.sparql.start();
      let status = 0;
      for (const end = Date.now() + PATIENCE; status !== 200 && Date.now() < end; await sleep(200))
        ({ status } = await cluster.ask(`/evidencegraph/query/${ark}`));
      expect(status).toBe(200);
      const { stdout } = await run(
        process.execPath,
        [join(packageRoot, "bin/arkgraph.js"), "check"],
        { env: { PATH: process.env["PATH"], ...cluster.servers.env } },
      );
      expect(stdout).toContain("the index agrees with the records");
    },
  );

  test(
    "answers 503 while PostgreSQL is unavailable, preserves every answered write, and " +
      "recovers by itself",
    async () => {
      const answered: string[] = [];
      const refused = new Set<number>();
      let over = false;
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (let at = 0; !over; at++) {
          const { status, body } = await cluster.ask("/dataset", {
            token: ada.token,
            body: {
              name: `Of ${writer}, ${at}`,
              description: "Written while the database goes.",
              ...OWN(),
            },
          });
          if (status === 200) answered.push(body["@id"] as string);
          else {
            refused.add(status);
            await sleep(50);
          }
        }
      });
      await sleep(500);
      await cluster.servers.postgres.kill();
      await sleep(500);
      expect((await cluster.ask("/readyz")).status).toBe(503);
      await cluster.servers.postgres.up();
      const before = answered.length;
      for (const end = Date.now() + PATIENCE; answered.length < before + 8 && Date.now() < end;)
        await sleep(50);
      over = true;
      await Promise.all(writers);
      expect(answered.length).toBeGreaterThanOrEqual(before + 8);
      expect([...refused]).toEqual([503]);
      for (const ark of answered) expect((await cluster.ask(`/${ark}`)).status, ark).toBe(200);
    },
  );

  describe("of two nodes that do the same at once", () => {
    const both = <T>(ask: (node: RegistryClient) => Promise<T>): Promise<T[]> =>
      Promise.all(cluster.apis.map((api) => ask(api)));

    test("lets one change a revision", async () => {
      const { body } = await cluster.ask("/dataset", {
        token: ada.token,
        body: { name: "Wanted by two", description: "One of them gets it.", ...OWN() },
      });
      const ark = body["@id"] as string;
      for (let round = 0; round < 5; round++) {
        const etag = (await cluster.ask(`/${ark}`)).headers.get("etag")!;
        const answers = await both((node) =>
          node.ask(`/${ark}`, {
            method: "PUT",
            token: ada.token,
            headers: { "If-Match": etag },
            body: {
              name: `By ${node.url}, ${round}`,
              description: "One of them got it.",
              ...OWN(),
            },
          }),
        );
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
      }
    });
    test("assigns an e-mail address to one", async () => {
      const answers = await both((node) =>
        node.ask("/user", {
          body: {
            name: "Twin",
            email: "twin@example.org",
            password: "correct horse battery staple",
          },
        }),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    });
    test("assigns an identifier to one", async () => {
      const answers = await both((node) =>
        node.ask("/dataset", {
          token: ada.token,
          body: {
            "@id": "ark:99999/wanted-by-two",
            name: "Mine",
            description: "Minted at the same time.",
            ...OWN(),
          },
        }),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    });
  });

  // Last: see the first. Meanwhile Redis, the SPARQL server and PostgreSQL were away, and came
  // back.
  test("loses and duplicates nothing when both resume after a minute", async () => {
    const { upload } = await held!.letGo();
    expect(
      JSON.parse(
        await held!.progress.then((text) =>
          text
            .trim()
            .split("\n")
            .findLast((line) => line.startsWith("data:"))!
            .slice("data:".length),
        ),
      ),
    ).toMatchObject({ status: "finished" });
    expect(await held!.synchronous).toMatchObject({
      status: 200,
      body: { submission: { status: "finished" } },
    });
    // What it was sent to the end only now is taken in by the worker that stood still: there is no
    // other.
    expect(upload.status, upload.text).toBe(200);
    expect(
      await cluster.settled(
        (JSON.parse(upload.text) as { submissionUUID: string }).submissionUUID,
        ada.token,
        PATIENCE,
      ),
    ).toMatchObject({ status: "finished" });
    crates++;
    const stored = async (ark: string) => (await cluster.ask(`/${ark}`)).status === 200;
    for (const [ark, status] of held!.outcomes) {
      // 408 where the node stood still before the whole body had come.
      expect([200, 408, 503, 0], ark).toContain(status);
      const isStored = await stored(ark);
      if (status !== 0) expect(isStored, ark).toBe(status === 200);
      expect((await held!.create(held!.api, ark)).status, ark).toBe(isStored ? 409 : 200);
    }
    const { body } = await cluster.graphql(
      "{ roCrates { totalCount } dataDownloads { totalCount } softwares { totalCount } }",
    );
    expect(body["data"]).toEqual({
      roCrates: { totalCount: crates },
      dataDownloads: { totalCount: crates * FILES },
      softwares: { totalCount: held!.outcomes.size + 1 },
    });
    expect((await held!.worker.terminate()).status).toBe(0);
    const { stdout } = await run(
      process.execPath,
      [join(packageRoot, "bin/arkgraph.js"), "check"],
      { env: { PATH: process.env["PATH"], ...cluster.servers.env } },
    );
    expect(stdout).toContain("the index agrees with the records");
  });
});
