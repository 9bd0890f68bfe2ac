import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { unnamed } from "../support/bodies.js";
import {
  type ChangeFeed,
  changesOverEvents,
  changesOverWebSocket,
} from "../support/graphql-streams.js";
import type { RegistryClient, User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";
import { isCluster } from "../support/roles.js";
import { clusterInstalled, Topology } from "../support/topology.js";

describe.skipIf(isCluster && !clusterInstalled)("changes of records", { timeout: 40_000 }, () => {
  let stop: () => Promise<unknown>;
  /** In a cluster two nodes over one PostgreSQL, else the same process twice. */
  let writing: RegistryClient;
  let reading: RegistryClient & { kill(): Promise<void> };
  let ada: User;
  beforeAll(async () => {
    if (isCluster) {
      const cluster = await Topology.start({ workers: 0 });
      [writing, reading] = [cluster.apis[0]!, cluster.apis[1]!];
      stop = () => cluster.stop();
    } else {
      const registry = await RegistryProcess.start();
      writing = reading = registry;
      stop = () => registry.stop();
    }
    ada = await writing.user("Ada");
  }, 600_000);
  afterAll(() => stop?.(), 60_000);
  const feeds: ChangeFeed[] = [];
  afterEach(async () => {
    for (const feed of feeds.splice(0)) await feed.leave();
  });

  const opened = (feed: ChangeFeed): ChangeFeed => {
    feeds.push(feed);
    return feed;
  };
  async function create(name: string, at = writing): Promise<string> {
    const body = unnamed("dataset", ada.ark, { name });
    const created = await at.ask("/dataset", { token: ada.token, body });
    expect(created.status, created.text).toBe(200);
    return created.body["@id"] as string;
  }

  test.each([
    ["a WebSocket", changesOverWebSocket],
    ["server-sent events", changesOverEvents],
  ] as const)(
    "made through one node arrive at a subscriber of another, over %s, also after it was away",
    async (_name, subscribe) => {
      const feed = opened(subscribe(reading.url, {}, ada.token));
      let { sequence } = await feed.next();
      const id = await create("seen at once");
      for (const name of ["second", "third"]) {
        const body = { name };
        const headers = { "Content-Type": "application/merge-patch+json" };
        const patched = await writing.ask(`/dataset/${id}`, {
          method: "PATCH",
          token: ada.token,
          headers,
          body,
        });
        expect(patched.status, patched.text).toBe(200);
      }
      const revisions: number[] = [];
      // Changes of one record that are read together come as one.
      while (revisions.at(-1) !== 3) {
        const event = await feed.next();
        expect(event.sequence).toBeGreaterThan(sequence);
        sequence = event.sequence;
        for (const change of event.changes) {
          expect(change).toMatchObject({ id, kind: "DATASET", record: { __typename: "Dataset" } });
          revisions.push(change.revision);
        }
      }
      expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));

      await feed.leave();
      const missed: string[] = [];
      for (let round = 0; round < 5; round++)
        missed.push(await create(`missed ${round}`, round % 2 ? writing : reading));
      const again = opened(subscribe(reading.url, { after: sequence, first: 2 }, ada.token));
      expect((await again.changes(5)).map((change) => change.id)).toEqual(missed);
      const next = await create("after the return");
      expect(await again.changes(1)).toMatchObject([{ id: next, change: "CREATED" }]);
    },
  );

  // A registry of one process has no other node; a skipped test is a failure of CI.
  if (isCluster)
    test("are read on from another node when the node is killed", async () => {
      const feed = opened(changesOverWebSocket(reading.url, {}, ada.token));
      await feed.next();
      const first = await create("before the end");
      const event = await feed.next();
      expect(event.changes).toMatchObject([{ id: first }]);
      await reading.kill();
      const second = await create("nobody listens");
      const elsewhere = opened(
        changesOverEvents(writing.url, { after: event.sequence }, ada.token),
      );
      expect(await elsewhere.changes(1)).toMatchObject([{ id: second, change: "CREATED" }]);
    });
});
