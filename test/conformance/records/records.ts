import { describe, expect, test } from "vitest";
import { ownersOf } from "../../../src/services/access/rules.js";
import { packLinks, packQuads } from "../../../src/storage/records/codecs.js";
import { create, decode, OWNER, remove, replace, type Setting, write } from "./fixtures.js";
import { Ark } from "../../../src/identifiers/ark.js";
import { arkFrom } from "../../support/arks.js";
import { AS_CREATED } from "../../../src/services/records/pages.js";

const A = "ark:99999/data-set-1";

export function recordsConform({ store, reopen }: Setting): void {
  describe("a record", () => {
    test("is found by its stored form, and by any spelling with the same key", async () => {
      await write(store(), create(A));
      for (const spelling of [
        A,
        "ark:99999/dataset1",
        "ark:99999/data-set1",
        "ark:99999/d%61taset1",
      ]) {
        const found = await store().find(arkFrom(spelling));
        expect(found).toMatchObject({
          record: {
            ark: A,
            key: "ark:99999/dataset1",
            kind: "dataset",
            name: "A table",
            owner: OWNER,
            revision: 1,
            publicationStatus: "DRAFT",
            tombstone: null,
          },
        });
      }
      expect(await store().find(arkFrom("ark:99999/other"))).toBeUndefined();
    });

    test("holds its key, deleted or not, alone or with others", async () => {
      const [one, two] = ["ark:99999/c/a-b.csv", "ark:99999/c/ab.csv"] as const;
      await write(
        store(),
        create(one, { owner: "ark:99999/user-bob" }, { mayShareKey: true }),
        create(two, { kind: "software" }, { mayShareKey: true }),
        create(A),
      );
      await write(store(), remove(A, 1));
      const found = await store().holders([
        "ark:99999/c/ab.csv",
        "ark:99999/dataset1",
        "ark:99999/none",
        "\0",
      ]);
      expect(found.toSorted((a, b) => (a.ark < b.ark ? -1 : 1))).toEqual([
        {
          ark: one,
          key: "ark:99999/c/ab.csv",
          kind: "dataset",
          owner: "ark:99999/user-bob",
          deleted: false,
        },
        { ark: two, key: "ark:99999/c/ab.csv", kind: "software", owner: OWNER, deleted: false },
        { ark: A, key: "ark:99999/dataset1", kind: "dataset", owner: OWNER, deleted: true },
      ]);
      expect(await store().holders([])).toEqual([]);
    });

    test("preserves its document byte for byte", async () => {
      const document = new TextEncoder().encode(`{ "b":1,\n "a" : "\\u0000 \\ud800 ü" }`);
      await write(store(), create(A, {}, { document }));
      const found = (await store().find(arkFrom(A))) as { record: { document: Uint8Array } };
      expect(new Uint8Array(found.record.document)).toEqual(document);
      const reopened = (await (await reopen()).find(arkFrom(A))) as {
        record: { document: Uint8Array };
      };
      expect(new Uint8Array(reopened.record.document)).toEqual(document);
    });

    test("has the same graph whether its quads are passed as text or packed", async () => {
      const quads = Array.from(
        { length: 200 },
        (_, index) => `<${A}> <https://schema.org/x> "${index}" <${A}> .\n`,
      )
        .sort()
        .join("");
      await write(
        store(),
        create(A, {}, { quads: packQuads(quads) }),
        create("ark:99999/b", {}, { quads: quads.replaceAll(A, "ark:99999/b") }),
      );
      expect(await store().quads(A)).toBe(quads);
      expect((await store().quads("ark:99999/b"))!.replaceAll("ark:99999/b", A)).toBe(quads);
    });

    test("has the same links whether they are passed as a list or packed", async () => {
      const links = Array.from({ length: 120 }, (_, index) => ({
        predicate: "evi:usedDataset",
        target: `ark:99999/in-${index}`,
        targetKey: `ark:99999/in${index}`,
      }));
      await write(
        store(),
        create(A, { kind: "computation", links }),
        create("ark:99999/b", { kind: "computation" }, { links: packLinks(links) }),
      );
      const [listed, packed] = await store().linksFrom([A, "ark:99999/b"], { limit: 1000 });
      expect(packed!.items.map(({ predicate, target }) => [predicate, target])).toEqual(
        links.map(({ predicate, target }) => [predicate, target]),
      );
      expect(listed!.items.map(({ predicate, target }) => [predicate, target])).toEqual(
        packed!.items.map(({ predicate, target }) => [predicate, target]),
      );
    });

    test("with an identifier that cannot be stored is not found, whatever is requested", async () => {
      for (const strange of [
        "",
        "\0",
        "\ud800",
        "ark:99999/\ud800",
        "'; DROP TABLE record; --",
        "x".repeat(100_000),
      ]) {
        expect(await store().find(new Ark("99999", strange))).toBeUndefined();
        expect(await store().findMany([strange])).toEqual([undefined]);
        expect(await store().quads(strange)).toBeUndefined();
        expect(await store().history(strange, { limit: 5 })).toEqual([]);
        expect(await store().linksFrom([strange], { limit: 5 })).toEqual([{ items: [] }]);
        expect(await store().linksTo([strange], { limit: 5 })).toEqual([{ items: [] }]);
        expect(
          await store().select({
            filter: { nameContains: strange || "x" },
            order: AS_CREATED,
            limit: 5,
          }),
        ).toEqual({
          items: [],
          positions: [],
          more: false,
        });
        expect(await store().objectsOf(strange)).toEqual([]);
      }
    });

    test("among many is returned in the requested order, by stored form or key", async () => {
      await write(store(), create(A), create("ark:99999/b"));
      const found = await store().findMany([
        "ark:99999/b",
        "ark:99999/none",
        "ark:99999/dataset1",
        A,
        "ark:99999/b",
      ]);
      expect(found.map((record) => record?.ark)).toEqual([
        "ark:99999/b",
        undefined,
        A,
        A,
        "ark:99999/b",
      ]);
    });

    test(
      "has an owner that is readable alone: by stored form or key, also of a tombstone; a " +
        "user owns itself",
      async () => {
        const [USER, LOOSE] = ["ark:99999/user-own", "ark:99999/loose"];
        await write(
          store(),
          create(A),
          create("ark:99999/b"),
          create(LOOSE, { owner: null }),
          create(USER, { kind: "user", owner: null }),
        );
        await write(store(), remove("ark:99999/b", 1, {}));
        await write(
          store(),
          create("ark:99999/c-d"),
          create("ark:99999/cd", {}, { mayShareKey: true }),
        );
        const asked = [
          "ark:99999/b",
          "ark:99999/none",
          "ark:99999/dataset1",
          A,
          LOOSE,
          USER,
          "ark:99999/c-d",
          "ark:99999/c--d",
          "\0",
          "\ud800",
        ];
        expect(await ownersOf(store(), asked)).toEqual([
          OWNER,
          undefined,
          OWNER,
          OWNER,
          null,
          USER,
          OWNER,
          undefined,
          undefined,
          undefined,
        ]);
        expect(await ownersOf(store(), [])).toEqual([]);
      },
    );

    test("has every revision, newest first in the history", async () => {
      await write(store(), create(A, { name: "one" }));
      await write(store(), replace(A, 1, { name: "two" }));
      await write(store(), { op: "publish", ark: A, status: "PUBLISHED", embargoedUntil: null });
      await write(store(), remove(A, 3, { reason: "wrong", successor: "ark:99999/b" }));
      const history = await store().history(A, { limit: 10 });
      expect(
        history.map(({ revision, action, changed, by }) => [revision, action, changed, by]),
      ).toEqual([
        [4, "delete", [], OWNER],
        [3, "publish", [], OWNER],
        [2, "update", ["/name"], OWNER],
        [1, "create", [], OWNER],
      ]);
      expect(await store().history(A, { before: 3, limit: 1 })).toEqual([history[2]]);
      expect(decode((await store().atRevision(A, 1))?.document).name).toBe("one");
      expect(decode((await store().atRevision(A, 3))?.document).name).toBe("two");
      expect(await store().atRevision(A, 9)).toBeUndefined();
    });

    test("when deleted leaves a tombstone with user, time, reason and successor", async () => {
      await write(store(), create(A));
      await write(store(), remove(A, 1, { reason: "wrong", successor: "ark:99999/b" }));
      expect(await store().find(arkFrom("ark:99999/dataset1"))).toMatchObject({
        record: {
          revision: 2,
          tombstone: {
            by: OWNER,
            reason: "wrong",
            successor: "ark:99999/b",
            at: expect.any(Number),
          },
        },
      });
      expect(await store().quads(A)).toBeUndefined();
      await expect(write(store(), replace(A, 2))).rejects.toMatchObject({ code: "GONE" });
      await expect(write(store(), remove(A, 2))).rejects.toMatchObject({ code: "GONE" });
    });

    test("when revived continues with its next revision", async () => {
      await write(store(), create(A, { keywords: ["k"] }));
      await write(store(), remove(A, 1));
      await write(store(), replace(A, 2, { name: "back", keywords: ["k"] }, { revive: true }));
      expect(await store().find(arkFrom(A))).toMatchObject({
        record: { revision: 3, name: "back", tombstone: null },
      });
      expect(await store().countSelected({ filter: { kinds: ["dataset"] } })).toBe(1);
      expect(
        (await store().select({ filter: { keywords: ["k"] }, order: AS_CREATED, limit: 5 })).items,
      ).toHaveLength(1);
    });

    test(
      "changes its publication status as a revision with the same document; the same " +
        "status creates none",
      async () => {
        await write(store(), create(A));
        const publish = {
          op: "publish",
          ark: A,
          status: "EMBARGOED",
          embargoedUntil: "2030-01-01",
        } as const;
        expect((await write(store(), publish)).records).toEqual([{ ark: A, revision: 2 }]);
        const { sequence } = await write(store(), publish);
        expect(sequence).toBe(2);
        expect(await store().find(arkFrom(A))).toMatchObject({
          record: { revision: 2, publicationStatus: "EMBARGOED", embargoedUntil: "2030-01-01" },
        });
      },
    );

    test("when archived keeps the reason and the successor until its status changes", async () => {
      const said = { reason: "superseded", successor: "ark:99999/b" };
      const archive = { op: "publish", ark: A, status: "ARCHIVED", embargoedUntil: null } as const;
      const archived = async () => (await store().findMany([A]))[0]!.archived;
      await write(store(), create(A));
      expect(await archived()).toBeNull();
      await write(store(), { ...archive, ...said });
      expect(await archived()).toEqual(said);
      await write(store(), { ...archive, ...said });
      await write(store(), replace(A, 2, { name: "two" }));
      expect(await store().find(arkFrom(A))).toMatchObject({
        record: { revision: 3, archived: said, tombstone: null },
      });
      await write(store(), archive);
      expect(await archived()).toEqual({ reason: null, successor: null });
      await write(store(), { ...archive, ...said });
      await write(store(), { ...archive, status: "PUBLISHED" });
      expect(await archived()).toBeNull();
      await write(store(), archive);
      expect(await archived()).toEqual({ reason: null, successor: null });
    });

    test(
      "is not published at an outdated revision, where the revision is named; the whole " +
        "commit is refused",
      async () => {
        const other = "ark:99999/other";
        await write(store(), create(A), create(other));
        const publish = (ark: string, ifRevision: number) =>
          ({ op: "publish", ark, ifRevision, status: "PUBLISHED", embargoedUntil: null }) as const;
        await write(store(), { op: "publish", ark: A, status: "EMBARGOED", embargoedUntil: null });
        await expect(write(store(), publish(other, 1), publish(A, 1))).rejects.toMatchObject({
          code: "REVISION_MISMATCH",
          extra: { ark: A, revision: 2 },
        });
        expect(await store().find(arkFrom(other))).toMatchObject({
          record: { revision: 1, publicationStatus: "DRAFT" },
        });
        expect((await write(store(), publish(other, 1), publish(A, 2))).records).toEqual([
          { ark: other, revision: 2 },
          { ark: A, revision: 3 },
        ]);
      },
    );

    test("that is replaced without a change gets no revision", async () => {
      await write(store(), create(A, { name: "one" }));
      expect(await write(store(), replace(A, 1, { name: "two" }, { changed: [] }))).toEqual({
        sequence: 1,
        records: [{ ark: A, revision: 1 }],
      });
      expect(await store().find(arkFrom(A))).toMatchObject({ record: { name: "one" } });
    });
  });
}
