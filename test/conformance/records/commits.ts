import { describe, expect, test } from "vitest";
import { commitOf, create, linkTo, remove, replace, type Setting, write } from "./fixtures.js";
import { arkFrom } from "../../support/arks.js";

const A = "ark:99999/a-1";

export function commitsConform({ store, reopen }: Setting): void {
  describe("a commit", () => {
    test("refuses a taken identifier, also in another spelling, and names the holder", async () => {
      await write(store(), create(A, { kind: "software" }));
      for (const ark of [A, "ark:99999/a1", "ark:99999/a--1"]) {
        await expect(write(store(), create(ark))).rejects.toMatchObject({
          code: "DUPLICATE",
          status: 409,
          extra: { ark: A, kind: "software" },
        });
      }
      await write(store(), remove(A, 1));
      await expect(write(store(), create(A))).rejects.toMatchObject({
        code: "DUPLICATE",
        message: expect.stringContaining("deleted"),
      });
    });

    test("lets members of a crate share a key; the key alone is then ambiguous", async () => {
      const [one, two] = ["ark:99999/c/a-b.csv", "ark:99999/c/ab.csv"] as const;
      await write(
        store(),
        create(one, {}, { mayShareKey: true }),
        create(two, {}, { mayShareKey: true }),
      );
      expect(await store().find(arkFrom(one))).toMatchObject({ record: { ark: one } });
      expect(await store().find(arkFrom("ark:99999/c/a-b-.csv"))).toEqual({
        ambiguous: [one, two],
      });
      expect(await store().findMany(["ark:99999/c/a-b-.csv", two])).toMatchObject([
        undefined,
        { ark: two },
      ]);
      await expect(write(store(), create(one, {}, { mayShareKey: true }))).rejects.toMatchObject({
        code: "DUPLICATE",
      });
    });

    test("is refused when a key that was free when it was planned is held now", async () => {
      await write(store(), create("ark:99999/c-1"), create("ark:99999/gone"));
      await write(store(), remove("ark:99999/gone", 1));
      const [one, two] = await Promise.allSettled([
        write(store(), create("ark:99999/new")),
        store().commit(
          commitOf([create("ark:99999/new/part")], {
            unheld: ["ark:99999/other", "ark:99999/new"],
          }),
        ),
      ]);
      expect(one.status).toBe("fulfilled");
      expect(two).toMatchObject({
        status: "rejected",
        reason: { code: "CHANGED_MEANWHILE", status: 409, extra: { ark: "ark:99999/new" } },
      });
      for (const key of ["ark:99999/c1", "ark:99999/gone"])
        await expect(
          store().commit(commitOf([create(`${key}/x`)], { unheld: [key] })),
        ).rejects.toMatchObject({ code: "CHANGED_MEANWHILE" });
      expect(await store().countSelected({ filter: {} })).toBe(2);
      // What the commit itself brings stands in nobody's way.
      await store().commit(
        commitOf([create("ark:99999/whole"), create("ark:99999/whole/part")], {
          unheld: ["ark:99999/whole", "ark:99999/other"],
        }),
      );
      expect(await store().countSelected({ filter: {} })).toBe(4);
    });

    test("of an earlier revision is refused and changes nothing", async () => {
      await write(store(), create(A));
      await write(store(), replace(A, 1));
      await expect(write(store(), replace(A, 1))).rejects.toMatchObject({
        code: "REVISION_MISMATCH",
        status: 412,
        extra: { revision: 2 },
      });
      await expect(write(store(), remove(A, 1))).rejects.toMatchObject({
        code: "REVISION_MISMATCH",
      });
      await expect(write(store(), replace("ark:99999/none", 1))).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
      expect(await store().find(arkFrom(A))).toMatchObject({ record: { revision: 2 } });
    });

    test(
      "that would delay others for too long is refused, changes nothing, and does not " +
        "affect others",
      async () => {
        const large = {
          ...commitOf(Array.from({ length: 50 }, (_, i) => create(`ark:99999/large-${i}`))),
          within: 0,
        };
        const [refused, other] = await Promise.allSettled([
          store().commit(large),
          write(store(), create(A)),
        ]);
        expect(refused).toMatchObject({
          status: "rejected",
          reason: { code: "TOO_LARGE", status: 413, extra: { setting: "COMMIT_LIMIT" } },
        });
        expect(other.status).toBe("fulfilled");
        expect(await store().countSelected({ filter: {} })).toBe(1);
        await store().commit({ ...large, within: 60_000 });
        expect(await store().countSelected({ filter: {} })).toBe(51);
      },
    );

    test("is all or nothing, and does not affect concurrent commits", async () => {
      await write(store(), create("ark:99999/taken"));
      const results = await Promise.allSettled(
        Array.from({ length: 40 }, (_, i) =>
          write(
            store(),
            create(`ark:99999/x${i}`),
            create(i % 4 === 0 ? "ark:99999/taken" : `ark:99999/y${i}`),
          ),
        ),
      );
      for (const [i, { status }] of results.entries()) {
        expect(status).toBe(i % 4 === 0 ? "rejected" : "fulfilled");
        expect((await store().find(arkFrom(`ark:99999/x${i}`))) === undefined).toBe(i % 4 === 0);
      }
      expect(await store().countSelected({ filter: {} })).toBe(61);
      // 1 for the first, 30 for those that were taken: no number is missing.
      expect(await store().sequence()).toBe(31);
    });

    test("is decided after earlier ones that came at the same time, also after refused ones", async () => {
      const B = "ark:99999/b";
      const results = await Promise.allSettled([
        write(store(), create(A)),
        write(store(), create(A)),
        write(store(), replace(A, 1, { links: [linkTo(B)] })),
        write(store(), replace(A, 1)),
        write(store(), create("ark:99999/half"), create(A)),
        write(store(), create(B)),
        write(store(), create("ark:99999/half")),
      ]);
      expect(results).toMatchObject([
        { value: { sequence: 1 } },
        { reason: { code: "DUPLICATE" } },
        { value: { sequence: 2, records: [{ ark: A, revision: 2 }] } },
        { reason: { code: "REVISION_MISMATCH", extra: { revision: 2 } } },
        { reason: { code: "DUPLICATE" } },
        { value: { sequence: 3, records: [{ ark: B, newestBacklink: 2 }] } },
        { value: { sequence: 4 } },
      ]);
      expect(await store().find(arkFrom(B))).toMatchObject({ record: { newestBacklink: 2 } });
      expect(await store().countSelected({ filter: {} })).toBe(3);
    });

    test("increments the sequence by one, and notifies its listeners", async () => {
      const received: number[] = [];
      store().onCommit((sequence) => received.push(sequence));
      expect(await write(store(), create(A), create("ark:99999/b"))).toMatchObject({
        sequence: 1,
        records: [{ revision: 1 }, { revision: 1 }],
      });
      expect((await write(store(), replace(A, 1))).sequence).toBe(2);
      await store().setSetting("n", "v");
      expect(received).toEqual([1, 2]);
      expect(await (await reopen()).sequence()).toBe(2);
    });

    test("of many records is one step, whatever its size", async () => {
      const arks = Array.from({ length: 1200 }, (_, i) => `ark:99999/m${i}`);
      await expect(
        write(store(), ...arks.map((ark) => create(ark)), create("ark:99999/m-7")),
      ).rejects.toMatchObject({ code: "DUPLICATE" });
      expect(await store().countSelected({ filter: {} })).toBe(0);
      const { sequence, records } = await write(store(), ...arks.map((ark) => create(ark)));
      expect([sequence, records.map(({ ark }) => ark)]).toEqual([1, arks]);
      expect(await store().countSelected({ filter: { kinds: ["dataset"] } })).toBe(1200);
    });

    test("of two concurrent ones for one identifier exactly one succeeds", async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          write(store(), create(i % 2 ? "ark:99999/one" : "ark:99999/o-n-e")),
        ),
      );
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const updates = await Promise.allSettled(
        Array.from({ length: 20 }, async () => {
          const { record } = (await store().find(arkFrom("ark:99999/one"))) as {
            record: { ark: string };
          };
          return write(store(), replace(record.ark, 1));
        }),
      );
      expect(updates.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });

    test("with a value that cannot be stored is refused, and the store goes on", async () => {
      await expect(
        store().commit(commitOf([create("ark:99999/z", { name: "a\0b" })])),
      ).rejects.toThrow(/NUL/);
      await expect(store().commit(commitOf([create("ark:99999/\ud800")]))).rejects.toThrow(
        /surrogate/,
      );
      expect(await store().countSelected({ filter: {} })).toBe(0);
      await write(store(), create(A));
      await store().health();
    });
  });
}
