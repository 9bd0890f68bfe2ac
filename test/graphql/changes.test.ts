import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import type { JsonObject } from "../../src/model/field.js";
import { openFeeds } from "../../src/services/records/changes.js";
import { bodyOf, unnamed } from "../support/bodies.js";
import {
  type ChangeFeed,
  changesOverEvents,
  changesOverWebSocket,
} from "../support/graphql-streams.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

let folder: string;
let registry: LiveRegistry;
let ada: User;
let bob: User;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-changes-"));
  registry = await LiveRegistry.start({ DATA_DIR: folder, MAX_CHANGE_FEEDS: "12" });
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
});
afterAll(async () => {
  await registry?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function write(method: string, path: string, body?: object, user = ada, at = registry) {
  const answer = await at.ask(path, { method, body, token: user.token });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
async function createDataset(
  name: string,
  more: JsonObject = {},
  user = ada,
  at = registry,
): Promise<string> {
  const { "@id": _id, ...example } = bodyOf("dataset", user.ark);
  const body = await write("POST", "/dataset", { ...example, name, ...more }, user, at);
  return body["@id"] as string;
}
const publish = (id: string, publicationStatus: string) =>
  write("PUT", "/publish", { "@id": id, publicationStatus });

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  await expect.poll(() => openFeeds(registry.deps)).toBe(0);
});

function overWebSocket(variables: object, user?: User, at = registry): ChangeFeed {
  const feed = changesOverWebSocket(at.url, variables, user?.token);
  open.push(feed.leave);
  return feed;
}
function overEvents(variables: object, user?: User, at = registry): ChangeFeed {
  const feed = changesOverEvents(at.url, variables, user?.token);
  open.push(feed.leave);
  return feed;
}

describe.each([
  ["a WebSocket", overWebSocket],
  ["server-sent events", overEvents],
] as const)("changes of records over %s", (_name, subscribe) => {
  test("begin with their sequence, then come with the record as it is", async () => {
    const feed = subscribe({}, ada);
    const begin = await feed.next();
    expect(begin).toEqual({ sequence: await registry.deps.records.sequence(), changes: [] });
    const id = await createDataset("A table");
    const created = await feed.next();
    expect(created.sequence).toBe(begin.sequence + 1);
    expect(created.changes).toEqual([
      {
        id,
        kind: "DATASET",
        change: "CREATED",
        revision: 1,
        tombstone: null,
        record: { __typename: "Dataset", name: "A table", publicationStatus: "DRAFT" },
      },
    ]);
    await write("PUT", "/dataset", bodyOf("dataset", ada.ark, { "@id": id, name: "Another" }));
    expect((await feed.next()).changes).toMatchObject([
      { id, change: "UPDATED", revision: 2, record: { name: "Another" } },
    ]);
    const removed = await registry.graphql(
      `mutation ($id: ID!) { deleteRecord(input: { id: $id, reason: "wrong" }) { revision } }`,
      { id },
      ada.token,
    );
    expect(removed.body["errors"]).toBeUndefined();
    expect((await feed.next()).changes).toMatchObject([
      { id, change: "DELETED", record: null, tombstone: { by: { id: ada.ark }, reason: "wrong" } },
    ]);
  });

  test("go on behind a sequence, also in parts of a commit, and lose nothing", async () => {
    const begin = await registry.deps.records.sequence();
    const ids = [await createDataset("one"), await createDataset("two")];
    const all = await subscribe({ after: begin }, ada).changes(2);
    expect(all.map(({ id }) => id)).toEqual(ids);
    const rest = await subscribe({ after: begin + 1 }, ada).changes(1);
    expect(rest.map(({ id }) => id)).toEqual([ids[1]]);
    // A crate is one commit of several records.
    const eve = await registry.user("Eve");
    const before = await registry.deps.records.sequence();
    const { rocrateIdentifier: crate } = await registry.take(await buildDemoCrate(), eve.token);
    const feed = subscribe({ after: before, first: 2, filter: { crate } }, eve);
    const seen = new Set<string>();
    for (let complete = before; complete === before;) {
      const event = await feed.next();
      expect(event.changes.length).toBeLessThanOrEqual(2);
      for (const { id } of event.changes) seen.add(id);
      complete = event.sequence;
    }
    expect(seen.size).toBe(
      (
        await registry.deps.records.select({
          filter: { crates: [crate as string] },
          order: AS_CREATED,
          limit: 1000,
        })
      ).items.length,
    );
  });

  test("of drafts are for those who may change them, and leave when one is withdrawn", async () => {
    const mine = subscribe({}, ada);
    const bobs = subscribe({}, bob);
    const open = subscribe({});
    for (const feed of [mine, bobs, open]) await feed.next();
    const id = await createDataset("A draft");
    expect(await mine.changes(1)).toMatchObject([{ id, change: "CREATED" }]);
    await publish(id, "PUBLISHED");
    for (const feed of [mine, bobs, open])
      expect(await feed.changes(1)).toMatchObject([
        { id, change: "UPDATED", record: { name: "A draft" } },
      ]);
    await publish(id, "DRAFT");
    expect(await mine.changes(1)).toMatchObject([{ id, change: "UPDATED", record: {} }]);
    for (const feed of [bobs, open])
      expect(await feed.changes(1)).toMatchObject([
        { id, change: "DELETED", record: null, tombstone: null },
      ]);
    await write("DELETE", `/dataset/${await createDataset("Never seen")}`);
    const last = await createDataset("Seen");
    await publish(last, "PUBLISHED");
    expect(await bobs.changes(1)).toMatchObject([{ id: last }]);
  });

  test("are filtered by kind, owner and identifier", async () => {
    const wanted = `ark:99999/wanted-${crypto.randomUUID()}`;
    const feeds = [
      subscribe({ filter: { kinds: ["SOFTWARE"] } }, ada),
      subscribe({ filter: { owner: ada.ark, kinds: ["DATASET"] } }, ada),
      subscribe({ filter: { ids: [wanted] } }, ada),
    ];
    for (const feed of feeds) await feed.next();
    const first = await createDataset("first");
    await createDataset("wanted", { "@id": wanted });
    await write("POST", "/software", unnamed("software", ada.ark));
    expect(await feeds[0]!.changes(1)).toMatchObject([{ kind: "SOFTWARE", change: "CREATED" }]);
    expect((await feeds[1]!.changes(2)).map(({ id }) => id)).toEqual([first, wanted]);
    expect(await feeds[2]!.changes(1)).toMatchObject([{ id: wanted, record: { name: "wanted" } }]);
  });

  test.each([
    [{ after: -1 }, "afterSequence"],
    [{ after: 1.5 }, "after"],
    [{ after: 1e300 }, "after"],
    [{ after: 4_000_000_000 }, "newest change"],
    [{ first: 0 }, "first"],
    [{ first: 1001 }, "first"],
    [{ filter: { owner: "nobody" } }, "owner"],
    [{ filter: { ids: ["ark:99999/x", "nothing"] } }, "ids"],
    [{ filter: { ids: Array<string>(1001).fill("ark:99999/x") } }, "1000"],
  ])("are refused where an argument is impossible (%#)", async (variables, named) => {
    const [error] = await subscribe(variables, ada)
      .errors()
      .catch((thrown: unknown) => thrown as { message: string; extensions: Json }[]);
    expect(error!.extensions["code"]).toBe("VALIDATION");
    expect(JSON.stringify(error)).toContain(named);
  });

  test("end with an error when the token is revoked", async () => {
    const eve = await registry.user("Eve");
    const feed = subscribe({}, eve);
    await feed.next();
    await write("DELETE", `/user/${eve.ark}`, undefined, eve);
    const id = await createDataset("after her");
    await publish(id, "PUBLISHED");
    expect(await feed.errors()).toMatchObject([{ extensions: { code: "INVALID_TOKEN" } }]);
  });
});

test("a registry goes on with the sequence after a restart", async () => {
  const before = await registry.deps.records.sequence();
  const id = await createDataset("before the restart");
  await registry.stop();
  registry = await LiveRegistry.start({ DATA_DIR: folder, MAX_CHANGE_FEEDS: "12" });
  expect(await overWebSocket({ after: before }, ada).changes(1)).toMatchObject([{ id }]);
  expect(await overEvents({ after: before }, ada).changes(1)).toMatchObject([{ id }]);
});

test("are open for a quarter of MAX_CHANGE_FEEDS to one client", async () => {
  const feeds = [1, 2, 3].map(() => overEvents({}, ada));
  for (const feed of feeds) await feed.next();
  expect(await overEvents({}, ada).errors()).toMatchObject([
    {
      message: expect.stringContaining("MAX_CHANGE_FEEDS"),
      extensions: { code: "TOO_MANY_REQUESTS" },
    },
  ]);
  await overEvents({}, bob).next();
});

test("counts the limits of an answer for each event anew", async () => {
  const strict = await LiveRegistry.start({ GRAPHQL_MAX_BYTES: "64K", GRAPHQL_MAX_COST: "300" });
  open.push(() => strict.stop());
  const user = await strict.user();
  const feed = overWebSocket({ filter: { kinds: ["DATASET"] } }, user, strict);
  await feed.next();
  for (let round = 0; round < 5; round++) {
    await createDataset("Long", { description: "x".repeat(30_000) }, user, strict);
    expect(await feed.changes(1)).toMatchObject([{ record: { __typename: "Dataset" } }]);
  }
});
