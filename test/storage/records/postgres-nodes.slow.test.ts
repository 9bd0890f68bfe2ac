import { execFile } from "node:child_process";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RecordStore } from "../../../src/storage/records/port.js";
import { MIGRATIONS } from "../../../src/storage/records/postgres/schema.js";
import { firstAdminToken } from "../../../src/services/accounts/user-account.js";
import { commitOf, create, linkTo, replace, write } from "../../conformance/records/fixtures.js";
import { AWAY, type Node, Nodes, three } from "../../support/postgres-nodes.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";

const A = "ark:99999/a-1";

describe.skipIf(!hasPostgres)("records on PostgreSQL", () => {
  let server: PostgresServer;
  const nodes = new Nodes();
  beforeAll(async () => {
    server = await PostgresServer.start(["fsync=off"]);
  });
  afterEach(() => nodes.close());
  afterAll(() => server?.stop());

  async function twoNodes(): Promise<[Node, Node, string]> {
    const url = await server.schema();
    return [await nodes.open(url), await nodes.open(url), url];
  }
  const won = (results: readonly PromiseSettledResult<unknown>[]): number =>
    results.filter(({ status }) => status === "fulfilled").length;

  describe("of two nodes", () => {
    test("that update one record at one revision exactly one succeeds", async () => {
      const [one, two] = await twoNodes();
      await write(one, create(A));
      for (let revision = 1; revision <= 8; revision++) {
        const results = await Promise.allSettled(
          [one, two, one, two].map((store, i) =>
            write(store, replace(A, revision, { name: `n${i}` })),
          ),
        );
        expect(won(results)).toBe(1);
        for (const result of results)
          if (result.status === "rejected")
            expect(result.reason).toMatchObject({
              code: "REVISION_MISMATCH",
              extra: { revision: revision + 1 },
            });
      }
    });

    test("that mint one identifier, or two with one key, exactly one succeeds", async () => {
      const [one, two] = await twoNodes();
      for (let i = 0; i < 8; i++) {
        const results = await Promise.allSettled([
          write(one, create(`ark:99999/x-${i}`)),
          write(two, create(`ark:99999/x${i}`)),
          write(two, create(`ark:99999/x-${i}`)),
        ]);
        expect(won(results)).toBe(1);
        for (const result of results)
          if (result.status === "rejected")
            expect(result.reason).toMatchObject({ code: "DUPLICATE" });
      }
    });

    test(
      "that begin an installation together one announces the admin token, or the other if " +
        "the first dies",
      async () => {
        const [one, two] = await twoNodes();
        // As one that has announced and will never store.
        await one.lease("admin-token", "a node that died", 300);
        const announced: string[] = [];
        const tokens = await Promise.all(
          [one, two, one, two].map((records) =>
            firstAdminToken({ records }, (token) => announced.push(token)),
          ),
        );
        expect(announced).toHaveLength(1);
        expect(tokens.filter((token) => token !== undefined)).toEqual(announced);
      },
    );

    test(
      "that create an account for one e-mail address, or consume one setting, exactly one " +
        "succeeds",
      async () => {
        const [one, two] = await twoNodes();
        await one.setSetting("once", "v");
        const account = (user: string, email: string, spends?: { name: string; value: string }) =>
          ({
            op: "create",
            user,
            email,
            passwordHash: "h",
            admin: false,
            ...(spends ? { spends } : {}),
          }) as const;
        const sign = (
          store: RecordStore,
          user: string,
          email: string,
          spends?: { name: string; value: string },
        ) =>
          store.commit(
            commitOf([create(user, { kind: "user", owner: null })], {
              account: account(user, email, spends),
            }),
          );
        const addresses = await Promise.allSettled([
          sign(one, "ark:99999/u1", "ann@example.org"),
          sign(two, "ark:99999/u2", "ann@example.org"),
        ]);
        expect(won(addresses)).toBe(1);
        expect(addresses.find(({ status }) => status === "rejected")).toMatchObject({
          reason: { code: "EMAIL_TAKEN" },
        });
        const spends = { name: "once", value: "v" };
        expect(
          won(
            await Promise.allSettled([
              sign(one, "ark:99999/u3", "c@x", spends),
              sign(two, "ark:99999/u4", "d@x", spends),
            ]),
          ),
        ).toBe(1);
        expect(await two.countAccounts()).toBe(2);
      },
    );

    test(
      "at one submission the later attempt commits, and the other is fenced; one archive " +
        "is one submission",
      async () => {
        const [one, two] = await twoNodes();
        const asked = (id: string) =>
          ({ id, type: "crate", user: A, sha256: "a".repeat(64), input: {}, at: 1 }) as const;
        const submitted = await Promise.all([one.submit(asked("s1")), two.submit(asked("s2"))]);
        expect(submitted.filter(({ existing }) => !existing)).toHaveLength(1);
        const { id } = submitted[0].submission;
        expect([await one.beginAttempt(id, 2), await two.beginAttempt(id, 3)]).toMatchObject([
          { attempt: 1 },
          { attempt: 2 },
        ]);
        const finish = (store: RecordStore, attempt: number) =>
          store.commit(
            commitOf([create("ark:99999/crate")], {
              submission: { id, attempt, status: "finished" },
              within: 10_000,
            }),
          );
        const ended = await Promise.allSettled([finish(one, 1), finish(two, 2)]);
        expect(ended).toMatchObject([
          { status: "rejected", reason: { name: "FenceLost" } },
          { status: "fulfilled" },
        ]);
      },
    );

    test(
      "each is notified of the other's commits, in order, and no reader of the log ever " +
        "sees a gap",
      async () => {
        const [one, two, url] = await twoNodes();
        const received: number[] = [];
        two.onCommit((sequence) => received.push(sequence));
        let isDone = false;
        const gaps: string[] = [];
        const reader = (async () => {
          while (!isDone) {
            const [count, newest, counter] = (
              await server.sql(
                "SELECT count(DISTINCT sequence), coalesce(max(sequence), 0), (SELECT " +
                  "sequence FROM counter) FROM change_log",
                url,
              )
            ).split("|");
            if (count !== newest || newest !== counter)
              gaps.push(`${count} of ${newest}, ${counter}`);
          }
        })();
        await Promise.all(
          [one, two].flatMap((store, node) =>
            Array.from({ length: 30 }, (_, i) => write(store, ...three(`n${node}i${i}`))),
          ),
        );
        isDone = true;
        await reader;
        expect(gaps).toEqual([]);
        await expect.poll(() => received.at(-1)).toBe(60);
        await write(one, create(A));
        await expect.poll(() => received.at(-1)).toBe(61);
        expect(received).toEqual(received.toSorted((a, b) => a - b));
      },
    );

    test(
      "with clocks that differ by days neither sweeps new objects of the other; leases use " +
        "the database's clock",
      async () => {
        const url = await server.schema();
        const DAY = 86_400_000;
        const late = (): number => Date.now() - 5 * DAY;
        const [right, slow] = [await nodes.open(url), await nodes.open(url, { clock: late })];
        const sha256 = "c".repeat(64);
        await slow.intend({ kind: "upload", id: "u", attempt: 1 }, [sha256], late());
        expect(
          await right.claimUnreferenced([sha256], { now: Date.now(), intentLifetime: DAY }),
        ).toEqual([]);
        expect(await slow.lease("projector", "slow", 300)).toEqual({ fence: 1 });
        expect(await right.lease("projector", "right", 300)).toBeUndefined();
        expect(await slow.lease("projector", "slow", 300)).toEqual({ fence: 1 });
        await expect.poll(() => right.lease("projector", "right", 60_000)).toEqual({ fence: 2 });
        await slow.releaseLease("projector", "slow");
        expect(await slow.lease("projector", "slow", 300)).toBeUndefined();
        await right.releaseLease("projector", "right");
        expect(await slow.lease("projector", "slow", 300)).toEqual({ fence: 3 });
      },
    );

    test("a lost node's marks of a sweep do not block the other", async () => {
      const [one, two, url] = await twoNodes();
      const sha256 = "d".repeat(64);
      expect(await one.claimUnreferenced([sha256], { now: Date.now(), intentLifetime: 1 })).toEqual(
        [sha256],
      );
      const intend = () =>
        two.intend({ kind: "upload", id: "u", attempt: 1 }, [sha256], Date.now());
      expect(await intend()).toEqual({ removing: [sha256] });
      // As if it had not been seen for long.
      await server.sql(
        "UPDATE writer SET seen_at = now() - interval '1 hour' WHERE id IN (SELECT writer " +
          "FROM object_removal)",
        url,
      );
      expect(await intend()).toEqual({ removing: [] });
    });
  });

  describe("opening", () => {
    test("at once by many nodes creates the tables once", async () => {
      const url = await server.database();
      const stores = await Promise.all(Array.from({ length: 5 }, () => nodes.open(url)));
      await Promise.all(stores.map((store, i) => write(store, create(`ark:99999/m${i}`))));
      expect(await stores[0]!.sequence()).toBe(5);
      expect(await server.sql("SELECT count(*), max(version) FROM arkgraph_schema", url)).toBe(
        `1|${MIGRATIONS.length}`,
      );
    });

    test("removes identifiers from the searched text of before schema 7", async () => {
      const url = await server.database();
      const other = "Ada ark:99999/clusters-of-cells Lovelace https://n2t.net/ark:/99999/nuclei";
      const before = await nodes.open(url);
      const NOTHING = { name: "", description: "", keywords: "" };
      await write(
        before,
        create("ark:99999/by-ada", {}, { text: { ...NOTHING, other } }),
        create("ark:99999/clusters", {}, { text: { ...NOTHING, other: "clusters" } }),
      );
      await before.close();
      await server.sql("UPDATE arkgraph_schema SET version = 6", url);
      const after = await nodes.open(url);
      const found = async (text: string) =>
        (await after.search({ text, match: "all", offset: 0, limit: 9 })).hits.map(
          ({ ark }) => ark,
        );
      expect(await found("ada lovelace")).toEqual(["ark:99999/by-ada"]);
      expect(await found("clusters")).toEqual(["ark:99999/clusters"]);
      expect(await found("nuclei")).toEqual([]);
    });

    test("of a newer version's database, or of another program's, is refused and changes nothing", async () => {
      const url = await server.database();
      await (await nodes.open(url)).health();
      await server.sql(
        "UPDATE arkgraph_schema SET version = 99; UPDATE schema_needs SET version = 99",
        url,
      );
      await expect(nodes.open(url)).rejects.toMatchObject({
        ...AWAY,
        message: expect.stringMatching(
          new RegExp(
            `schema 99 by a newer version, and this version knows schema ${MIGRATIONS.length};`,
          ),
        ),
      });
      const other = await server.database();
      await server.sql("CREATE TABLE link (x int)", other);
      await expect(nodes.open(other)).rejects.toMatchObject({
        ...AWAY,
        message: expect.stringContaining("another program"),
      });
      expect(
        await server.sql(
          "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename IN " +
            "('record', 'counter')",
          other,
        ),
      ).toBe("0");
    });
  });

  test(
    "a connection by TLS is opened where the URL requires it, and refused with another " +
      "host's certificate",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "arkgraph-tls-"));
      const file = (name: string): string => join(folder, name);
      await promisify(execFile)("openssl", [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        file("key"),
        "-out",
        file("cert"),
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
      ]);
      await chown(file("key"), 65534, 65534).catch(() => {});
      await chmod(folder, 0o755);
      const secure = await PostgresServer.start([
        "ssl=on",
        `ssl_key_file=${file("key")}`,
        `ssl_cert_file=${file("cert")}`,
      ]);
      try {
        const url = `${secure.url()}?sslmode=verify-full`;
        const store = await nodes.open(`${url}&sslrootcert=${file("cert")}`);
        await write(store, create(A));
        expect(
          Number(
            await secure.sql(
              "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE " +
                "application_name = 'arkgraph' AND ssl",
            ),
          ),
        ).toBeGreaterThan(0);
        await nodes.close();
        await expect(nodes.open(url)).rejects.toMatchObject(AWAY);
      } finally {
        await secure.stop();
        await rm(folder, { recursive: true });
      }
    },
  );

  test(
    "a text too long for an index is refused as an identifier, and found by its " +
      "beginning elsewhere",
    async () => {
      const store = await nodes.open(await server.schema());
      // Text that does not pack well.
      const long = Array.from({ length: 1500 }, (_, i) =>
        ((i * 2654435761) >>> 0).toString(36),
      ).join("");
      await expect(write(store, create(`ark:99999/${long}`))).rejects.toMatchObject({
        code: "TOO_LARGE",
      });
      await expect(
        write(store, create(A, { links: [linkTo(`ark:99999/${long}`)] })),
      ).rejects.toMatchObject({ code: "TOO_LARGE" });
      await write(store, create(A, { name: long, keywords: [long] }));
      expect(
        (
          await store.select({
            filter: { keywords: [long], nameContains: long.slice(-100) },
            order: { by: "name", descending: false },
            limit: 5,
          })
        ).items,
      ).toHaveLength(1);
    },
  );

  test("a crate of 10,000 entities is one commit, and small ones go on beside it", async () => {
    const store = await nodes.open(await server.schema());
    const root = "ark:99999/crate";
    const entities = Array.from({ length: 10_000 }, (_, i) =>
      create(
        `${root}/${i}`,
        { name: `Table ${i}`, links: [linkTo(root), linkTo(`${root}/${(i * 7) % 10_000}`)] },
        { crate: root },
      ),
    );
    const large = store.commit({
      ...commitOf([create(root, { kind: "rocrate" }), ...entities]),
      within: 30_000,
      uses: { crate: root, arks: [] },
    });
    const small = await Promise.all(
      Array.from({ length: 20 }, (_, i) => write(store, create(`ark:99999/small${i}`))),
    );
    expect(small).toHaveLength(20);
    expect((await large).records).toHaveLength(10_001);
    expect(await store.countSelected({ filter: { crates: [root] } })).toBe(10_000);
    expect((await store.linksTo([root], { limit: 10 }))[0]!.items).toHaveLength(10);
    await expect(
      store.commit({
        ...commitOf(Array.from({ length: 5000 }, (_, i) => create(`ark:99999/late${i}`))),
        within: 40,
      }),
    ).rejects.toMatchObject({ code: "TOO_LARGE" });
    expect(await store.countSelected({ filter: {} })).toBe(10_021);
  });
});
