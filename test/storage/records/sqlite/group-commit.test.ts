import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Commit, RecordWrite } from "../../../../src/storage/records/port.js";
import { Committer, GroupCommit } from "../../../../src/storage/records/sqlite/commit.js";
import {
  type PreparedCommit,
  prepareWrite,
  type WriterTask,
} from "../../../../src/storage/records/sqlite/requests.js";
import { migrate } from "../../../../src/storage/records/sqlite/schema.js";
import { Connection } from "../../../../src/storage/records/sqlite/statement.js";
import { commitOf, create, linkTo } from "../../../conformance/records/fixtures.js";

const prepareCommit = (commit: Commit): PreparedCommit => ({
  ...commit,
  records: commit.records.map(prepareWrite),
});
const task = (id: number, ark: string): WriterTask => ({
  id,
  call: "commit",
  args: [prepareCommit(commitOf([create(ark, { name: ark })]))],
});

describe("a group of requests in one transaction", () => {
  let connection: Connection;
  let group: GroupCommit;
  beforeEach(() => {
    connection = new Connection(":memory:");
    migrate(connection, "memory");
    group = new GroupCommit(connection, new Committer(connection));
  });
  afterEach(() => connection.close());
  const stored = (): unknown[] =>
    connection.prepare("SELECT ark FROM record ORDER BY id").all().flat();

  /** Compares what is indexed with the text that it was made from. */
  const checkIndex = () =>
    connection.exec("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)");

  test("is refused whole when SQLite ended the transaction, and the next one succeeds", async () => {
    expect(await group.run([task(1, "ark:99999/a")])).toMatchObject({
      sequence: 1,
      answers: [{ id: 1, result: { sequence: 1 } }],
    });
    // As a full disk does: the transaction is gone while a request is being done.
    connection.exec(
      "CREATE TEMP TRIGGER full BEFORE INSERT ON main.record WHEN new.ark = " +
        "'ark:99999/full' BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END",
    );
    const { answers, sequence } = await group.run([
      task(2, "ark:99999/b"),
      task(3, "ark:99999/full"),
      task(4, "ark:99999/c"),
    ]);
    expect(
      answers.map((answer) => [
        answer.id,
        "error" in answer && answer.error.type === "service" && answer.error.code,
      ]),
    ).toEqual([
      [2, "STORE_UNAVAILABLE"],
      [3, "STORE_UNAVAILABLE"],
      [4, "STORE_UNAVAILABLE"],
    ]);
    expect(sequence).toBe(1);
    expect(stored()).toEqual(["ark:99999/a"]);
    expect(await group.run([task(5, "ark:99999/b")])).toMatchObject({
      sequence: 2,
      answers: [{ id: 5, result: { sequence: 2 } }],
    });
  });

  test("commits the successful ones when one among them is refused", async () => {
    const message = await group.run([
      task(1, "ark:99999/a"),
      task(2, "ark:99999/a"),
      task(3, "ark:99999/b"),
      { id: 4, call: "commit", args: [null] },
      task(5, "ark:99999/c"),
    ]);
    expect(message).toMatchObject({
      sequence: 3,
      answers: [
        { id: 1, result: { sequence: 1 } },
        { id: 2, error: { code: "DUPLICATE", extra: { ark: "ark:99999/a" } } },
        { id: 3, result: { sequence: 2 } },
        { id: 4, error: { type: "fault" } },
        { id: 5, result: { sequence: 3 } },
      ],
    });
    expect(stored()).toEqual(["ark:99999/a", "ark:99999/b", "ark:99999/c"]);
    connection.exec("INSERT INTO search (search) VALUES ('integrity-check')");
  });

  test("numbers commits without a gap however many of them are refused", async () => {
    const expected: string[] = [];
    for (let round = 0; round < 140; round++) {
      const arks = ["a", "b", "c"].map(
        (letter) => `ark:99999/${letter}${String(round).padStart(3, "0")}`,
      );
      // Now and then one comes again, in the middle of its group.
      const refused = round === 3 || round === 90;
      const before = expected.length;
      expected.push(...arks);
      const { answers, sequence } = await group.run([
        task(1, arks[0]!),
        ...(refused ? [task(4, arks[0]!)] : []),
        task(2, arks[1]!),
        task(3, arks[2]!),
      ]);
      expect(answers).toMatchObject([
        { id: 1, result: { sequence: before + 1 } },
        ...(refused ? [{ id: 4, error: { code: "DUPLICATE" } }] : []),
        { id: 2, result: { sequence: before + 2 } },
        { id: 3, result: { sequence: before + 3 } },
      ]);
      expect(sequence).toBe(expected.length);
    }
    expect(stored()).toEqual(expected);
    expect(connection.prepare("SELECT sum(live) FROM tally").get()).toEqual([expected.length]);
    expect(
      connection.prepare("SELECT count(*), min(sequence), max(sequence) FROM change_log").get(),
    ).toEqual([expected.length, 1, expected.length]);
    checkIndex();
  });

  test(
    "leaves nothing of a refused request in tallies, back-links and search, and the " +
      "newest of the others",
    async () => {
      const linking = (ark: string) =>
        create(ark, { name: `says ${ark.slice(-1)}`, links: [linkTo("ark:99999/hub")] });
      const commit = (id: number, ...records: ReturnType<typeof create>[]): WriterTask => ({
        id,
        call: "commit",
        args: [prepareCommit(commitOf(records))],
      });
      await group.run([
        commit(1, create("ark:99999/hub", { name: "Hub" })),
        commit(2, linking("ark:99999/a")),
        commit(3, linking("ark:99999/x"), create("ark:99999/a")),
        commit(4, linking("ark:99999/b")),
      ]);
      expect(
        connection.prepare("SELECT ark, newest_backlink FROM record ORDER BY id").all(),
      ).toEqual([
        ["ark:99999/hub", 3],
        ["ark:99999/a", 0],
        ["ark:99999/b", 0],
      ]);
      expect(connection.prepare("SELECT sum(live) FROM tally").get()).toEqual([3]);
      expect(
        connection
          .prepare("SELECT rowid FROM search WHERE search MATCH 'says' ORDER BY rowid")
          .all()
          .flat(),
      ).toEqual([2, 3]);
      connection.exec("INSERT INTO search (search) VALUES ('integrity-check')");
    },
  );

  test("finds the text of live records in the search index, by stem", async () => {
    await group.run([
      {
        id: 1,
        call: "commit",
        args: [
          prepareCommit(
            commitOf([
              create("ark:99999/a", { name: "Measured temperatures" }),
              create("ark:99999/b", { name: "Other" }),
            ]),
          ),
        ],
      },
    ]);
    const search = (words: string): unknown[] =>
      connection
        .prepare(
          "SELECT r.ark FROM search AS s JOIN record AS r ON r.id = s.rowid WHERE search MATCH ?",
        )
        .all([words])
        .flat();
    expect(search("measuring temperature")).toEqual(["ark:99999/a"]);
    await group.run([
      {
        id: 2,
        call: "commit",
        args: [{ by: null, at: 5, records: [{ op: "delete", ark: "ark:99999/a", ifRevision: 1 }] }],
      },
    ]);
    expect(search("temperature")).toEqual([]);
    connection.exec("INSERT INTO search (search) VALUES ('integrity-check')");
  });

  test(
    "adds earlier records, those of the same group and of a large commit to one index, " +
      "each in its last state",
    async () => {
      const name = (index: number) => `ark:99999/m${String(index).padStart(2, "0")}`;
      // Not in the order of their identifiers; every other one is linked to, and one links to an
      // older record.
      const many = Array.from({ length: 40 }, (_, at) => (at * 7) % 40).map((index) =>
        create(name(index), {
          name: `Member ${index}`,
          links:
            index % 2 === 0
              ? [linkTo(name(index + 1))]
              : index === 7
                ? [linkTo("ark:99999/old")]
                : [],
        }),
      );
      const renewed: RecordWrite = {
        ...(create("ark:99999/old", { name: "Renewed" }) as Extract<RecordWrite, { op: "create" }>),
        op: "replace",
        ifRevision: 1,
        changed: ["/name"],
      };
      const { answers } = await group.run([
        task(1, "ark:99999/old"),
        {
          id: 2,
          call: "commit",
          args: [{ ...prepareCommit(commitOf([renewed, ...many])), within: 60_000 }],
        },
        task(3, "ark:99999/z"),
        {
          id: 4,
          call: "commit",
          args: [
            {
              ...prepareCommit(commitOf([create("ark:99999/late"), create("ark:99999/m00")])),
              within: 60_000,
            },
          ],
        },
        {
          id: 5,
          call: "commit",
          args: [{ ...prepareCommit(commitOf([create("ark:99999/never")])), within: -1 }],
        },
      ]);
      expect(answers).toMatchObject([
        { result: { sequence: 1 } },
        {
          result: {
            records: [
              { ark: "ark:99999/old", revision: 2 },
              ...many.map(({ ark }) => ({ ark, revision: 1 })),
            ],
          },
        },
        { result: { sequence: 3 } },
        { error: { code: "DUPLICATE" } },
        { error: { code: "TOO_LARGE" } },
      ]);
      expect(stored()).toEqual([
        "ark:99999/old",
        ...many.map(({ ark }) => ark).toSorted(),
        "ark:99999/z",
      ]);
      checkIndex();
      const found = (words: string) =>
        connection.prepare("SELECT rowid FROM search WHERE search MATCH ?").all([words]).length;
      expect([found("member"), found("renewed"), found("late"), found("old")]).toEqual([
        40, 1, 0, 0,
      ]);
      const backlinks = new Map(
        connection.prepare<[string, number]>("SELECT ark, newest_backlink FROM record").all(),
      );
      for (let index = 0; index < 40; index++)
        expect([index, backlinks.get(name(index))]).toEqual([index, index % 2 === 1 ? 2 : 0]);
      expect(backlinks.get("ark:99999/old")).toBe(2);
    },
  );
});
