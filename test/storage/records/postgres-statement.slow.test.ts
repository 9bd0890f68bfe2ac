import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  Database,
  isOutage,
  statement,
  type Value,
} from "../../../src/storage/records/postgres/statement.js";
import { isStorableText } from "../../../src/storage/records/text.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";

describe.skipIf(!hasPostgres)("statements of PostgreSQL", () => {
  let server: PostgresServer;
  let database: Database;
  const stated: string[] = [];
  beforeAll(async () => {
    server = await PostgresServer.start(["fsync=off"]);
    database = new Database({
      url: server.url(),
      pool: 2,
      timeout: 10_000,
      connectTimeout: 3_000,
      log: (message) => stated.push(message),
    });
  });
  afterAll(async () => {
    await database?.close();
    await server?.stop();
  });

  const anyText = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({
      unit: fc.constantFrom(
        "'",
        '"',
        "\\",
        "{",
        "}",
        ",",
        "NULL",
        "\n",
        "\0",
        "\ud800",
        "é",
        "\u{1f600}",
        "$1",
      ),
    }),
  );
  const ECHO = statement<[string | null, number | null, Uint8Array | null, boolean | null]>(
    "SELECT $1::text, $2::bigint, $3::bytea, $4::boolean",
  );
  const LIST = statement<[number, string | null]>(
    "SELECT v.place, v.item FROM unnest($1::text[]) WITH ORDINALITY AS v (item, place) " +
      "ORDER BY v.place",
  );
  const NUMBERS = statement<[number]>("SELECT v FROM unnest($1::bigint[]) AS v");

  test("return the values that they were given, or refuse them", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyText,
        fc.maxSafeInteger(),
        fc.uint8Array(),
        fc.option(fc.boolean()),
        async (text, number, bytes, flag) => {
          const echoed = database.query(ECHO, [text, number, bytes, flag]);
          if (isStorableText(text)) expect(await echoed).toEqual([[text, number, bytes, flag]]);
          else
            await expect(echoed).rejects.toMatchObject({
              code: "VALUE",
              message: expect.stringMatching(/NUL or a lone surrogate/),
            });
        },
      ),
      { numRuns: 150 },
    );
  });

  test("handle a connection that reports an error after it was discarded", async () => {
    const session = await database.session();
    const client = session.client;
    session.release(true);
    // As the last words of a server that is shut down come.
    expect(() => client.emit("error", new Error("terminating connection"))).not.toThrow();
  });

  test("detect a pooler that loses prepared statements, or mixes up those of others", async () => {
    const stated =
      "the connection pooler of the database must support prepared statements for each session";
    const session = await database.session();
    await session.query(ECHO, ["a", 1, null, true]);
    // What a pooler does that gives each transaction any session of the server.
    await session.exec("DEALLOCATE ALL");
    const lost = await session.query(ECHO, ["a", 1, null, true]).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(lost).toMatchObject({
      code: "26000",
      message: expect.stringContaining(stated) as string,
    });
    expect(isOutage(lost)).toBe(true);
    await session.exec(`PREPARE ${JSON.stringify(LIST.name)} AS SELECT 1`);
    await expect(session.query(LIST, [[]])).rejects.toMatchObject({
      code: "42P05",
      message: expect.stringContaining(stated) as string,
    });
    session.release(true);
  });

  test("accept lists with any values", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(anyText.filter(isStorableText))), async (items) => {
        expect((await database.query(LIST, [items])).map(([, item]) => item)).toEqual(items);
      }),
      { numRuns: 100 },
    );
    expect(await database.query(NUMBERS, [[1, -(2 ** 53 - 1), 0]])).toEqual([
      [1],
      [-(2 ** 53 - 1)],
      [0],
    ]);
  });

  test("refuse values that cannot be stored exactly, and go on", async () => {
    for (const value of [
      Number.NaN,
      Infinity,
      2 ** 53,
      undefined,
      {},
      1n,
      Symbol("x"),
      [["nested"]],
      [{}],
      ["\0"],
      [2 ** 53],
    ]) {
      await expect(database.query(statement("SELECT $1"), [value as Value])).rejects.toMatchObject({
        code: "VALUE",
      });
    }
    await expect(database.query(ECHO, ["a"])).rejects.toMatchObject({ code: "PARAMETERS" });
    await expect(database.query(statement("SELECT nothing FROM nowhere"))).rejects.toMatchObject({
      code: "42P01",
    });
    await expect(
      database.query(statement<[number]>("SELECT 9007199254740993::bigint")),
    ).rejects.toMatchObject({ code: "VALUE" });
    await expect(
      database.query(statement<[number]>("SELECT 1 / $1::int"), [0]),
    ).rejects.toMatchObject({ code: "22012" });
    expect(await database.query(statement<[number]>("SELECT 1"))).toEqual([[1]]);
  });

  test("throw where they must find a row and find none", async () => {
    const items = statement<[number]>("SELECT v FROM unnest($1::bigint[]) AS v LIMIT 1");
    expect(await database.one(items, [[5]])).toEqual([5]);
    await expect(database.one(items, [[]])).rejects.toMatchObject({ code: "ROW" });
    await database.transaction("READ ONLY", async (session) => {
      expect(await session.one(items, [[6]])).toEqual([6]);
      await expect(session.one(items, [[]])).rejects.toMatchObject({ code: "ROW" });
    });
  });

  test("of a failed transaction cannot be committed unnoticed", async () => {
    await expect(
      database.transaction("", async (session) => {
        await session.query(statement("SELECT 1 / 0")).catch(() => {});
      }),
    ).rejects.toMatchObject({ code: "25P02" });
    expect(
      await database.transaction("READ ONLY", (session) =>
        session.query(statement<[number]>("SELECT 2")),
      ),
    ).toEqual([[2]]);
  });
});
