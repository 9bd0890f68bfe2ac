import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { MIGRATIONS } from "../../../src/storage/records/postgres/schema.js";
import type { RecordFilter } from "../../../src/storage/records/port/selection.js";
import { commitOf, create, remove, replace, write } from "../../conformance/records/fixtures.js";
import { AWAY, type Node, Nodes } from "../../support/postgres-nodes.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";
import { arkFrom } from "../../support/arks.js";

const OURS = MIGRATIONS.length;
/** What a node of a newer version does at its start: under the lock that all writers take. */
const upgrade = (change: string, needs: number, held = 0): string =>
  `BEGIN; SELECT version FROM arkgraph_schema FOR UPDATE; SELECT 1 FROM counter FOR UPDATE; ` +
  `${change};
  SELECT pg_sleep(${held}); UPDATE arkgraph_schema SET version = ${OURS + 1}; UPDATE ` +
  `schema_needs SET version = ${needs}; COMMIT`;
/** Old nodes do not fill the column, and there is no default. */
const BREAKING =
  "ALTER TABLE text ADD COLUMN language text NOT NULL DEFAULT ''; ALTER TABLE text ALTER " +
  "COLUMN language DROP DEFAULT";
const HARMLESS = "CREATE TABLE later (id bigint PRIMARY KEY)";
const TOO_NEW = {
  ...AWAY,
  message: expect.stringMatching(
    new RegExp(`schema ${OURS + 1} by a newer version, and this version knows schema ${OURS}`),
  ) as string,
};

/**
 * As nodes do at their start: a writer that had begun may wait for the upgrade while the upgrade
 * waits for it.
 */
async function untilDone(change: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await change();
      return;
    } catch (error) {
      if (!String(error).includes("deadlock detected") || attempt === 10) throw error;
    }
  }
}

describe.skipIf(!hasPostgres)(
  "a database that a newer version upgrades while nodes of this one run",
  () => {
    let server: PostgresServer;
    let log: string[];
    const nodes = new Nodes();
    beforeAll(async () => {
      server = await PostgresServer.start(["fsync=off"]);
    });
    afterEach(() => nodes.close());
    afterAll(() => server?.stop());

    async function running(poll: number): Promise<[node: Node, url: string]> {
      const url = await server.schema();
      log = [];
      const node = await nodes.open(url, { poll, log: (message) => log.push(message) });
      await write(node, create("ark:99999/before"));
      return [node, url];
    }

    test(
      "is neither written nor read by them where the change is incompatible, and they " +
        "report the versions",
      async () => {
        const [node, url] = await running(50);
        await server.sql(upgrade(BREAKING, OURS + 1), url);
        await expect(write(node, create("ark:99999/after"))).rejects.toMatchObject(TOO_NEW);
        await expect
          .poll(() =>
            node.find(arkFrom("ark:99999/before")).then(
              () => undefined,
              (error: unknown) => error,
            ),
          )
          .toMatchObject(TOO_NEW);
        for (const asked of [
          node.health(),
          node.sequence(),
          node.lease("sweep", "n", 1000),
          node.unfinished(),
        ])
          await expect(asked).rejects.toMatchObject(TOO_NEW);
        await pause(200);
        expect(log.filter((line) => line.includes("newer version"))).toHaveLength(1);
        expect(await server.sql("SELECT count(*) FROM record", url)).toBe("1");
        await expect(nodes.open(url)).rejects.toMatchObject(TOO_NEW);
      },
    );

    test("accepts no write of theirs that waits during the upgrade, or arrives before they check", async () => {
      // They do not look by themselves: only the transactions do.
      const [node, url] = await running(3_600_000);
      const upgraded = server.sql(
        upgrade("CREATE TABLE later (id bigint PRIMARY KEY)", OURS + 1, 1),
        url,
      );
      await expect
        .poll(() =>
          server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"),
        )
        .toBe("1");
      const waiting = Promise.allSettled(
        [1, 2, 3].map((number) => write(node, create(`ark:99999/waiting-${number}`))),
      );
      await upgraded;
      for (const result of await waiting)
        expect(result).toMatchObject({ status: "rejected", reason: TOO_NEW });
      await expect(node.setSetting("a", "b")).rejects.toMatchObject(TOO_NEW);
      expect(await server.sql("SELECT count(*) FROM record", url)).toBe("1");
    });

    test("loses no answered write of many during the upgrade, and stores no other", async () => {
      const [node, url] = await running(50);
      // Writes go on until one begins after the upgrade, however long that waits for the writes
      // before it.
      const writes: Promise<unknown>[] = [];
      const answered: number[] = [];
      const refused: unknown[] = [];
      const begin = (): void => {
        const number = writes.length;
        writes.push(
          write(node, create(`ark:99999/busy-${number}`)).then(
            () => answered.push(number),
            (error: unknown) => refused.push(error),
          ),
        );
      };
      const beginning = setInterval(begin, 10);
      try {
        await pause(250);
        await untilDone(() => server.sql(upgrade(BREAKING, OURS + 1), url));
        begin();
      } finally {
        clearInterval(beginning);
        await Promise.all(writes);
      }
      for (const error of refused) expect(error).toMatchObject(TOO_NEW);
      expect(answered.length).toBeGreaterThan(0);
      expect(refused.length).toBeGreaterThan(0);
      expect(
        (await server.sql("SELECT ark FROM record WHERE ark LIKE '%busy%' ORDER BY id", url))
          .split("\n")
          .map((ark) => Number(ark.split("-")[1]))
          .toSorted((a, b) => a - b),
      ).toEqual(answered.toSorted((a, b) => a - b));
    });

    test("is used by them, and by more of them, where the newer version allows it", async () => {
      const [node, url] = await running(50);
      await server.sql(upgrade(HARMLESS, OURS), url);
      await write(node, create("ark:99999/after"));
      expect(await (await nodes.open(url)).find(arkFrom("ark:99999/after"))).toMatchObject({
        record: { ark: "ark:99999/after" },
      });
      expect(await server.sql("SELECT version FROM arkgraph_schema", url)).toBe(String(OURS + 1));
      expect(log).toEqual([]);
    });

    test("of before version 6 loses the archives that contain deleted content, and no other", async () => {
      const [node, url] = await running(50);
      const archive = (letter: string) => ({
        objects: [
          {
            sha256: letter.repeat(64),
            size: 1,
            mediaType: "application/zip",
            name: "crate.zip",
            role: "archive" as const,
          },
        ],
      });
      const content = {
        objects: [
          {
            sha256: "c".repeat(64),
            size: 1,
            mediaType: "text/plain",
            name: "c.txt",
            role: "content" as const,
          },
        ],
      };
      const crates = ["whole", "content", "member", "used", "again"].map(
        (name) => `ark:99999/${name}`,
      );
      for (const [index, crate] of crates.entries())
        await write(
          node,
          create(crate, { kind: "rocrate" }, archive("abdef"[index]!)),
          create(`${crate}/x`, {}, { crate, ...content }),
        );
      const [, ofContent, ofMember, used, again] = crates;
      await node.commit(commitOf([], { uses: { crate: used!, arks: [`${ofContent}/x`] } }));
      await write(node, replace(`${again}/x`, 1, {}, { objects: [], dropObjects: true }));
      await write(node, replace(again!, 1, { kind: "rocrate" }, archive("9")));
      const at = Date.UTC(2100, 0);
      await server.sql(
        "UPDATE object_ref SET ended = 1, dropped = true WHERE name = 'c.txt' AND record = " +
          "(SELECT id " +
          `FROM record WHERE ark = '${ofContent}/x');
      UPDATE revision SET at = ${at} WHERE record = (SELECT id FROM record WHERE ark = ` +
          `'${ofContent}/x');
      UPDATE record SET deleted_at = ${at} WHERE ark = '${ofMember}/x'; UPDATE arkgraph_schema ` +
          `SET version = 5; UPDATE schema_needs SET version = 4`,
        url,
      );
      const next = await nodes.open(url);
      expect(
        await Promise.all(
          crates.map(async (crate) => (await next.objectsOf(crate)).map(({ sha256 }) => sha256[0])),
        ),
      ).toEqual([["a"], [], [], [], ["9"]]);
    });

    test("of before version 9 finds phrases once it is upgraded", async () => {
      const [node, url] = await running(50);
      const text = { name: "Cell line", description: "A line.", keywords: "cell", other: "" };
      await write(node, create("ark:99999/pair", {}, { text }));
      await server.sql(
        `UPDATE text SET search = $$'cell':1A,9B 'line':5A,17C$$::tsvector;
        UPDATE arkgraph_schema SET version = 8; UPDATE schema_needs SET version = 6`,
        url,
      );
      const next = await nodes.open(url);
      const asked = { text: '"cell line"', match: "all", offset: 0, limit: 1 } as const;
      expect((await next.search(asked)).hits.map(({ ark }) => ark)).toEqual(["ark:99999/pair"]);
    });

    test("of before version 10 has licences and scores once it is upgraded", async () => {
      const [node, url] = await running(50);
      const crate = "ark:99999/crate";
      await write(
        node,
        create("ark:99999/one", { extra: { license: " MIT " } }),
        create("ark:99999/two", { extra: { license: { "@id": "https://spdx.org/licenses/MIT" } } }),
        create("ark:99999/gone", { extra: { license: "MIT" } }),
        create(crate, { kind: "rocrate" }),
      );
      await write(node, remove("ark:99999/gone", 1));
      const body = Buffer.from('{"answer":{"score":{"met":3,"partly":1,"total":6}}}');
      await node.storeScore({ crate, state: "1", whole: true, body });
      await server.sql(
        `ALTER TABLE record DROP COLUMN licence; DROP INDEX gone; ALTER TABLE score DROP COLUMN
        record, DROP COLUMN percent; UPDATE arkgraph_schema SET version = 9; UPDATE schema_needs
        SET version = 9`,
        url,
      );
      const next = await nodes.open(url);
      const found = async (filter: RecordFilter) => {
        const order = { by: "created", descending: false } as const;
        return (await next.select({ filter, order, limit: 9 })).items.map(({ ark }) => ark);
      };
      expect(await found({ licences: ["MIT"] })).toEqual(["ark:99999/one", "ark:99999/two"]);
      expect(await found({ score: { atLeast: 58, below: 59 } })).toEqual([crate]);
      expect(await found({ deleted: {} })).toEqual(["ark:99999/gone"]);
    });

    test("of before version 24 has dates of publication once it is upgraded", async () => {
      const [node, url] = await running(50);
      const [stated, opened, draft] = ["stated", "opened", "draft"].map(
        (name) => `ark:99999/${name}`,
      ) as [string, string, string];
      await write(
        node,
        create(stated, { extra: { datePublished: ["soon", "2019-05"] } }),
        create(opened, { extra: { datePublished: "99999-01-01" } }),
        create(draft),
      );
      await write(node, {
        op: "publish",
        ark: opened,
        status: "PUBLISHED",
        embargoedUntil: null,
      });
      await server.sql(
        `ALTER TABLE record DROP COLUMN stated_at, DROP COLUMN published_at;
        UPDATE arkgraph_schema SET version = 23; UPDATE schema_needs SET version = 23`,
        url,
      );
      const next = await nodes.open(url);
      const order = { by: "published", descending: true } as const;
      const { items } = await next.select({ filter: {}, order, limit: 3 });
      expect(items.map(({ ark }) => ark)).toEqual([opened, stated, draft]);
      const filter = { published: { since: Date.UTC(2019, 4, 1), before: Date.UTC(2019, 4, 2) } };
      expect(await next.countSelected({ filter })).toBe(1);
    });

    describe("of before version 14", () => {
      /** As version 13 left it: the program made the stems, and stored each. */
      const BEFORE_14 = `DROP TABLE word; DROP TEXT SEARCH CONFIGURATION arkgraph;
        DROP TEXT SEARCH DICTIONARY arkgraph;
        CREATE TABLE term (length smallint NOT NULL, stem text COLLATE "C" NOT NULL, PRIMARY KEY (length, stem));
        INSERT INTO term VALUES (9, 'microscop');
        UPDATE text SET search = $$'microscop':1A,3C 'cafe':5D$$::tsvector;
        UPDATE arkgraph_schema SET version = 13; UPDATE schema_needs SET version = 13`;
      const text = {
        name: "Microscopes",
        description: "Of the microscopy",
        keywords: "",
        other: "Café",
      };
      const found = async (node: Node, words: string): Promise<string[]> => {
        const asked = { text: words, match: "all", offset: 0, limit: 5 } as const;
        return (await node.search(asked)).hits.map(({ ark }) => ark);
      };

      test("finds the same, phrases and other spellings once it is upgraded", async () => {
        const [node, url] = await running(50);
        await write(node, create("ark:99999/one", {}, { text }));
        await server.sql(BEFORE_14, url);
        const next = await nodes.open(url);
        for (const words of [
          "microscope",
          "cafe",
          '"of the microscopy"',
          "micorscope",
          "name:micro*",
        ])
          expect(await found(next, words), words).toEqual(["ark:99999/one"]);
      });

      test("opens again after an upgrade that was cut off", async () => {
        const [node, url] = await running(50);
        await write(node, create("ark:99999/one", {}, { text }));
        await server.sql(BEFORE_14, url);
        // Another connection has locked the texts, so the upgrade waits in the middle of its work.
        const holding = server
          .sql("BEGIN; SELECT 1 FROM text FOR UPDATE; SELECT pg_sleep(60); COMMIT", url)
          .catch(() => "ended");
        const OF_HOLDER = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
        const OF_UPGRADE =
          "FROM pg_stat_activity WHERE wait_event_type = 'Lock' " +
          "AND query LIKE 'UPDATE text SET search%'";
        const count = (rows: string) => server.sql(`SELECT count(*) ${rows}`, url);
        await expect.poll(() => count(OF_HOLDER), { timeout: 20_000 }).toBe("1");
        const cutOff = nodes.open(url).then(
          () => "opened",
          () => "failed",
        );
        await expect.poll(() => count(OF_UPGRADE), { timeout: 20_000 }).toBe("1");
        await server.sql(`SELECT pg_terminate_backend(pid) ${OF_UPGRADE}`, url);
        expect(await cutOff).toBe("failed");
        await server.sql(`SELECT pg_terminate_backend(pid) ${OF_HOLDER}`, url);
        expect(await holding).toBe("ended");
        expect(await server.sql("SELECT version FROM arkgraph_schema", url)).toBe("13");
        expect(await found(await nodes.open(url), "microscopes")).toEqual(["ark:99999/one"]);
      });
    });

    test("of before version 15 has the same vectors once it is upgraded", async () => {
      const [node, url] = await running(50);
      await write(node, create("ark:99999/near"), create("ark:99999/far"));
      await server.sql(
        `DROP TABLE embedding; DROP TABLE embedding_reach;
        CREATE TABLE vector (model text COLLATE "C" NOT NULL, record bigint NOT NULL,
          kind text COLLATE "C" NOT NULL, step bigint NOT NULL, digest bytea, vector bytea,
          PRIMARY KEY (model, record));
        CREATE INDEX vector_step ON vector (model, step, record);
        CREATE TABLE vector_reach (model text COLLATE "C" PRIMARY KEY, sequence bigint NOT NULL,
          record bigint NOT NULL, era text COLLATE "C" NOT NULL, step bigint NOT NULL);
        INSERT INTO vector_reach VALUES ('m', 2, 3, 'e', 1);
        INSERT INTO vector SELECT 'm', id, kind, 1, '\\x01', CASE WHEN ark LIKE '%near'
          THEN '\\x0000803f00000000'::bytea ELSE '\\x000000000000803f' END FROM record
          WHERE ark ~ '(near|far)$';
        INSERT INTO vector VALUES ('m', 99, 'dataset', 1, NULL, NULL);
        UPDATE arkgraph_schema SET version = 14; UPDATE schema_needs SET version = 14`,
        url,
      );
      const next = await nodes.open(url);
      expect(await next.vectorsReach("m")).toBe("2/3");
      const near = { model: "m", vector: Float32Array.of(1, 0) };
      expect(
        await next.search({ text: "", match: "related", offset: 0, limit: 9, near }),
      ).toMatchObject({ hits: [{ ark: "ark:99999/near", score: 1 }] });
      expect(await server.sql("SELECT to_regclass('vector') IS NULL", url)).toBe("t");
    });

    test("of the previous version is upgraded while its nodes write", async () => {
      const [node, url] = await running(50);
      // As version 2 left it; its nodes know nothing of what older ones need.
      await server.sql(
        "DROP TABLE schema_needs; DROP TABLE embedding; DROP TABLE embedding_reach; DROP TABLE " +
          "score; UPDATE arkgraph_schema SET version = 2",
        url,
      );
      const next = await nodes.open(url);
      await Promise.all([
        write(node, create("ark:99999/old")),
        write(next, create("ark:99999/new")),
      ]);
      const { texts, to } = await next.changedTexts("m", "", 9);
      expect(texts).toHaveLength(3);
      expect(
        await next.storeVectors("m", {
          after: "",
          to: to!,
          vectors: [
            { ark: "ark:99999/before", digest: new Uint8Array(1), vector: Float32Array.of(1) },
          ],
        }),
      ).toBe(true);
      expect(
        await server.sql(
          "SELECT s.version, n.version FROM arkgraph_schema AS s, schema_needs AS n",
          url,
        ),
      ).toBe(`${OURS}|${Math.max(...MIGRATIONS.map(({ needs }) => needs))}`);
    });
  },
);
