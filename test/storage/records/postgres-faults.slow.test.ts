import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RecordStore } from "../../../src/storage/records/port.js";
import { openPostgresRecordStore } from "../../../src/storage/records/postgres/index.js";
import { LOCK } from "../../../src/storage/records/postgres/writes/writer.js";
import { create, replace, write } from "../../conformance/records/fixtures.js";
import { AWAY, Nodes, three } from "../../support/postgres-nodes.js";
import { CuttingProxy } from "../../support/servers/cutting-proxy.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";
import { arkFrom } from "../../support/arks.js";
import { AS_CREATED } from "../../../src/services/records/pages.js";

const A = "ark:99999/a-1";

/** The end of what a server says when a connection is ready. */
const READY = Buffer.from("Z\0\0\0\x05I", "latin1");
const FIELDS = "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
const SHUTTING_DOWN = Buffer.concat([
  Buffer.from("E"),
  Buffer.from([0, 0, 0, FIELDS.length + 4]),
  Buffer.from(FIELDS),
]);

describe.skipIf(!hasPostgres)("records on PostgreSQL, when something fails", () => {
  let server: PostgresServer;
  const nodes = new Nodes();
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterEach(() => nodes.close());
  afterAll(() => server?.stop());

  /** Everything there is of a commit of three records, and that the log has no gap. */
  async function expectWhole(
    store: RecordStore,
    url: string,
    ended: ReadonlyMap<string, boolean>,
  ): Promise<void> {
    for (const [name, isStored] of ended) {
      const found = await store.findMany(
        ["a", "b", "c"].map((part) => `ark:99999/${name}/${part}`),
      );
      expect(
        found.map((record) => record !== undefined),
        name,
      ).toEqual([isStored, isStored, isStored]);
    }
    const [count, newest] = (
      await server.sql("SELECT count(DISTINCT sequence), max(sequence) FROM change_log", url)
    ).split("|");
    expect(count).toBe(newest);
    expect(await store.sequence()).toBe(Number(newest));
    expect(await store.countSelected({ filter: {} })).toBe(
      [...ended.values()].filter(Boolean).length * 3,
    );
  }
  test(
    "a server that is killed during a commit has all of the commit or nothing, and the " +
      "store recovers with it",
    async () => {
      const url = await server.schema();
      const store = await nodes.open(url);
      const ended = new Map<string, boolean>();
      for (let round = 0; round < 3; round++) {
        let killed = false;
        const writers = Array.from({ length: 8 }, async (_, writer) => {
          for (let i = 0; !killed || i < 3; i++) {
            const name = `r${round}w${writer}i${i}`;
            ended.set(
              name,
              await write(store, ...three(name)).then(
                () => true,
                (error: unknown) => {
                  expect(error).toMatchObject(AWAY);
                  return false;
                },
              ),
            );
            if (killed) await pause(100);
          }
        });
        await pause(150 + 70 * round);
        await server.kill();
        killed = true;
        await pause(300);
        await server.up();
        await Promise.all(writers);
        await store.health();
      }
      expect([...ended.values()].filter(Boolean).length).toBeGreaterThan(10);
      await expectWhole(store, url, ended);
    },
  );

  test("while the database is unavailable every call reports it, and the store recovers", async () => {
    const store = await nodes.open(await server.schema());
    await write(store, create(A));
    await server.kill();
    for (const call of [
      () => store.find(arkFrom(A)),
      () => store.select({ filter: {}, order: AS_CREATED, limit: 1 }),
      () => write(store, replace(A, 1)),
      () => store.health(),
      () => store.search({ text: "table", match: "all", offset: 0, limit: 1 }),
      () => store.setSetting("n", "v"),
      () => store.lease("l", "h", 1000),
      () => store.sequence(),
      () => store.accountOf(A),
    ])
      await expect(call()).rejects.toMatchObject(AWAY);
    await expect(
      openPostgresRecordStore({
        url: server.url(),
        pool: 5,
        timeout: 1000,
        connectTimeout: 1000,
        poll: 100,
      }),
    ).rejects.toMatchObject(AWAY);
    await server.up();
    await store.health();
    expect(await write(store, replace(A, 1))).toMatchObject({ sequence: 2 });
    expect(await store.find(arkFrom(A))).toMatchObject({ record: { revision: 2 } });
  });

  test(
    "connections that the server closes, or that are idle across its restart, are " +
      "replaced without an error",
    async () => {
      const store = await nodes.open(await server.schema());
      await write(store, create(A));
      await Promise.all(Array.from({ length: 12 }, () => store.find(arkFrom(A))));
      await server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = " +
          "'arkgraph'",
      );
      expect(
        await Promise.all(Array.from({ length: 12 }, () => store.find(arkFrom(A)))),
      ).toHaveLength(12);
      await server.kill();
      await server.up();
      expect(await write(store, replace(A, 1))).toMatchObject({ sequence: 2 });
    },
  );

  test("a server that ends while a connection is being opened affects nothing else", async () => {
    const url = await server.schema();
    const proxy = await CuttingProxy.start(server.port);
    const died: unknown[] = [];
    const note = (error: unknown): void => void died.push(error);
    process.on("uncaughtException", note);
    try {
      const store = await nodes.open(url.replace(`:${server.port}/`, `:${proxy.port}/`));
      await write(store, create(A));
      // More at a time than there are connections: some are made for it.
      proxy.say(SHUTTING_DOWN, READY);
      expect(
        await Promise.all(Array.from({ length: 12 }, () => store.find(arkFrom(A)))),
      ).toHaveLength(12);
      expect(await write(store, replace(A, 1))).toMatchObject({ sequence: 2 });
    } finally {
      process.off("uncaughtException", note);
      await nodes.close();
      await proxy.stop();
    }
    expect(died).toEqual([]);
  });

  describe("a COMMIT without an answer", () => {
    const through = async (when: "before" | "after") => {
      const url = await server.schema();
      await nodes.open(url);
      const proxy = await CuttingProxy.start(server.port);
      try {
        const store = await nodes.open(url.replace(`:${server.port}/`, `:${proxy.port}/`));
        await write(store, create("ark:99999/first"));
        proxy.cut({ at: "COMMIT\0", when });
        const results = await Promise.allSettled([
          write(store, create(A)),
          write(store, create("ark:99999/b")),
          store.setSetting("n", "v"),
        ]);
        // The store goes on whichever it was.
        expect(await write(store, create("ark:99999/next"))).toMatchObject({ sequence: 4 });
        return { store, results, found: await store.findMany([A, "ark:99999/b"]) };
      } finally {
        await nodes.close();
        await proxy.stop();
      }
    };

    test.each([
      ["that the server never got is done again", "before"],
      ["that was done is not", "after"],
    ] as const)("%s: each is stored once", async (_, when) => {
      const { results, found } = await through(when);
      expect(results).toMatchObject([
        { status: "fulfilled", value: { sequence: 2 } },
        { status: "fulfilled", value: { sequence: 3 } },
        { status: "fulfilled", value: "v" },
      ]);
      expect(found).toMatchObject([{ ark: A, revision: 1 }, { ark: "ark:99999/b" }]);
    });

    test("whose outcome stays unknown for long is refused as unknown, and others are not delayed", async () => {
      const proxy = await CuttingProxy.start(server.port);
      const behind = await nodes.open(
        (await server.schema()).replace(`:${server.port}/`, `:${proxy.port}/`),
        { timeout: 700 },
      );
      await write(behind, create("ark:99999/first"));
      proxy.cut({ at: "COMMIT\0", when: "gone" });
      const lost = write(behind, create(A));
      await pause(100);
      const later = write(behind, create("ark:99999/b"));
      expect(await Promise.allSettled([lost, later])).toMatchObject([
        {
          status: "rejected",
          reason: {
            ...AWAY,
            message: expect.stringContaining("could not be restored to find out"),
          },
        },
        { status: "rejected", reason: AWAY },
      ]);
      await nodes.close();
      await proxy.stop();
    });
  });

  test(
    "a node suspended during a commit delays the others only briefly; its commit is " +
      "repeated after theirs",
    async () => {
      const url = await server.schema();
      const proxy = await CuttingProxy.start(server.port);
      try {
        const still = await nodes.open(url.replace(`:${server.port}/`, `:${proxy.port}/`), {
          timeout: 600,
        });
        const other = await nodes.open(url);
        await write(still, create("ark:99999/first"));
        proxy.cut({ at: LOCK.name, when: "still" });
        const stuck = write(still, create(A));
        await pause(100);
        expect(await other.find(arkFrom(A))).toBeUndefined();
        expect(await write(other, create("ark:99999/b"))).toMatchObject({ sequence: 2 });
        expect(await stuck).toMatchObject({ sequence: 3 });
        expect(await other.find(arkFrom(A))).toMatchObject({ record: { revision: 1 } });
      } finally {
        await nodes.close();
        await proxy.stop();
      }
    },
  );

  test("a statement that takes too long is ended, others go on", async () => {
    const url = await server.schema();
    const store = await nodes.open(url, { timeout: 400 });
    await write(store, create(A));
    const holding = server.sql(
      "BEGIN; SELECT 1 FROM counter FOR UPDATE; SELECT pg_sleep(1.5); COMMIT",
      url,
    );
    await pause(300);
    await expect(write(store, replace(A, 1))).rejects.toMatchObject({
      ...AWAY,
      message: expect.stringContaining("statement timeout"),
    });
    expect(await store.find(arkFrom(A))).toMatchObject({ record: { revision: 1 } });
    await holding;
    expect(await write(store, replace(A, 1))).toMatchObject({ sequence: 2 });
  });
});
