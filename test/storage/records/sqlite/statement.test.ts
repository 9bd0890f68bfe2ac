import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import {
  Connection,
  countPlaceholders,
  textArray,
} from "../../../../src/storage/records/sqlite/statement.js";

/** Rows of 1 to 4 above a number. */
const expected = (above: number): [number][] =>
  [1, 2, 3, 4].filter((a) => a > above).map((a) => [a]);

describe("a statement", () => {
  const connection = new Connection(":memory:");
  afterAll(() => connection.close());
  connection.exec("CREATE TABLE t (a, b)");

  test("survives every JavaScript value and every number of them, in a separate process", () => {
    const folder = mkdtempSync(join(tmpdir(), "arkgraph-statement-"));
    try {
      const child = spawnSync(
        process.execPath,
        [fileURLToPath(new URL("hostile-values.mjs", import.meta.url)), join(folder, "t.db")],
        { encoding: "utf8", timeout: 100_000 },
      );
      expect({ status: child.status, signal: child.signal, stderr: child.stderr }).toEqual({
        status: 0,
        signal: null,
        stderr: "",
      });
      expect(JSON.parse(child.stdout)).toMatchObject({ wrong: [] });
      const { refused, accepted } = JSON.parse(child.stdout) as {
        refused: number;
        accepted: number;
      };
      expect(refused).toBeGreaterThan(500);
      expect(accepted).toBeGreaterThan(500);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("returns the values that it accepts", () => {
    const statement = connection.prepare("SELECT ?");
    for (const value of [null, 0, -1, 1.5, 2 ** 53 - 1, "", "ü\u{1F600}\uFFFF"])
      expect(statement.get([value])).toEqual([value]);
    expect(statement.get([new Uint8Array([1, 0, 255])])).toEqual([Buffer.from([1, 0, 255])]);
    expect(statement.get([new Uint8Array([1, 2, 3, 4]).subarray(1, 3)])).toEqual([
      Buffer.from([2, 3]),
    ]);
    expect(connection.prepare("SELECT typeof(?)").get([5n])).toEqual(["integer"]);
  });

  test("throws where it must find a row and finds none", () => {
    expect(connection.prepare<[number]>("SELECT count(*) FROM t").one()).toEqual([0]);
    const none = connection.prepare("SELECT a FROM t");
    expect(() => none.one()).toThrowError(expect.objectContaining({ code: "ROW" }));
  });

  test("counts its placeholders as SQLite does", () => {
    for (const [sql, count] of [
      ["SELECT 1", 0],
      ["SELECT ?, ?", 2],
      ["SELECT ?2, ?", 3],
      ["SELECT ?1, ?1", 1],
      ["SELECT '?', \"?\", `?`, [?] -- ?\n, ? /* ? */", 1],
      ["SELECT 'it''s ?' , ?;", 1],
      ["SELECT 1 ; -- end", 0],
    ] as const)
      expect(countPlaceholders(sql), sql).toBe(count);
    for (const sql of [
      "",
      "  ",
      "-- only",
      ";",
      "SELECT :a",
      "SELECT @a",
      "SELECT $a",
      "SELECT 1; SELECT 2",
    ])
      expect(() => countPlaceholders(sql), sql).toThrow(/./);
  });

  test("names SQLite's own failures", () => {
    expect(() => connection.prepare("SELEC 1")).toThrowError(
      expect.objectContaining({ name: "StatementError", code: "SQLITE_ERROR" }),
    );
    connection.exec("CREATE TABLE u (a PRIMARY KEY)");
    connection.prepare("INSERT INTO u VALUES (?)").put([1]);
    expect(() => connection.prepare("INSERT INTO u VALUES (?)").put([1])).toThrowError(
      expect.objectContaining({ code: "SQLITE_CONSTRAINT_PRIMARYKEY" }),
    );
    expect(() => new Connection("/nowhere/x.db")).toThrowError(
      expect.objectContaining({ code: "SQLITE_CANTOPEN" }),
    );
  });

  test("works again after it failed, however it was run", () => {
    connection.exec("CREATE TABLE v (a PRIMARY KEY)");
    for (const sql of ["INSERT INTO v VALUES (?)", "INSERT INTO v VALUES (?) RETURNING a"]) {
      const insert = connection.prepare(sql);
      for (const use of [
        "get",
        "all",
        "put",
        ...(sql.includes("RETURNING") ? [] : (["run"] as const)),
      ] as const) {
        const value = `${sql} ${use}`;
        insert[use]([value]);
        for (let i = 0; i < 3; i++)
          expect(() => insert[use]([value])).toThrowError(
            expect.objectContaining({ code: "SQLITE_CONSTRAINT_PRIMARYKEY" }),
          );
        insert[use]([`${value} again`]);
      }
    }
    expect(connection.prepare("SELECT count(*) FROM v").get()).toEqual([14]);
    expect(() => connection.prepare("SELECT 1").run()).toThrowError(
      expect.objectContaining({ code: "SQL" }),
    );
  });

  test("uses its own parameters, whatever was run before", () => {
    connection.exec("CREATE TABLE w (a); INSERT INTO w VALUES (1), (2), (3), (4)");
    const statement = connection.prepare<[number]>("SELECT a FROM w WHERE a > ? ORDER BY a");
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.constantFrom("get", "all", "walk", "stop" as const),
            fc.integer({ min: 0, max: 5 }),
          ),
          { maxLength: 12 },
        ),
        (uses) => {
          for (const [use, above] of uses) {
            if (use === "get") expect(statement.get([above])).toEqual(expected(above)[0]);
            else if (use === "all") expect(statement.all([above])).toEqual(expected(above));
            else if (use === "walk")
              expect([...statement.iterate([above])]).toEqual(expected(above));
            else expect(statement.iterate([above]).next().value).toEqual(expected(above)[0]);
          }
        },
      ),
    );
  });

  test("shows later commits after a walk that was left", () => {
    const folder = mkdtempSync(join(tmpdir(), "arkgraph-statement-"));
    const file = join(folder, "t.db");
    const writer = new Connection(file);
    const reader = new Connection(file);
    try {
      writer.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a)");
      const insert = writer.prepare("INSERT INTO t VALUES (?)");
      // More than libsql reads ahead.
      for (let a = 0; a < 500; a++) insert.put([a]);
      const walk = reader.prepare<[number]>("SELECT a FROM t WHERE a >= ? ORDER BY a");
      const count = reader.prepare<[number]>("SELECT count(*) FROM t");
      const left = (from: number): number => {
        for (const [a] of walk.iterate([from])) return a;
        throw new Error("the table is empty");
      };
      for (let written = 501; written < 505; written++) {
        expect(left(written - 490)).toBe(written - 490);
        insert.put([written]);
        expect(count.get()).toEqual([written]);
      }
      expect(() => {
        for (const [a] of walk.iterate([7])) throw new Error(`row ${a}`);
      }).toThrowError("row 7");
      insert.put([505]);
      expect(count.get()).toEqual([505]);
      expect(walk.all([502])).toEqual([[502], [503], [504], [505]]);
    } finally {
      reader.close();
      writer.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("is refused once the connection is closed", () => {
    const closed = new Connection(":memory:");
    const statement = closed.prepare("SELECT 1");
    closed.close();
    closed.close();
    for (const use of [
      () => statement.get(),
      () => statement.all(),
      () => statement.run(),
      () => closed.exec("SELECT 1"),
      () => closed.prepare("SELECT 1"),
      () => closed.pragma("user_version"),
    ]) {
      expect(use).toThrowError(expect.objectContaining({ code: "CLOSED" }));
    }
    expect(closed.inTransaction).toBe(false);
  });

  test("in a transaction that throws leaves nothing", () => {
    expect(() =>
      connection.transaction(() => {
        connection.prepare("INSERT INTO t VALUES (?, ?)").run([1, 2]);
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(connection.prepare("SELECT count(*) FROM t").get()).toEqual([0]);
    expect(connection.inTransaction).toBe(false);
  });

  test("accepts a list as one parameter, if all of it can be stored", () => {
    expect(
      connection.prepare("SELECT value FROM json_each(?)").all([textArray(['a"b', "ü"])]),
    ).toEqual([['a"b'], ["ü"]]);
    expect(() => textArray(["\ud800"])).toThrowError(expect.objectContaining({ code: "VALUE" }));
  });
});
