import { describe, expect, test } from "vitest";
import { arkFrom } from "../../support/arks.js";
import type { ListQuery, RecordStore } from "../../../src/storage/records/port.js";
import { create, OWNER, remove, replace, type Setting, write } from "./fixtures.js";

const ark = (i: number): string => `ark:99999/d${String(i).padStart(2, "0")}`;

/** All pages of a list, two at a time. */
async function names(store: RecordStore, query: Omit<ListQuery, "limit">): Promise<string[]> {
  const all: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.list({
      ...query,
      limit: 2,
      ...(after === undefined ? {} : { after }),
    });
    all.push(...page.items.map((record) => record.ark));
    if (page.next === undefined) return all;
    after = page.next;
  }
}

export function listsConform({ store }: Setting): void {
  describe("a list", () => {
    test("is ordered by creation, then identifier; in reverse; or by name, in pages", async () => {
      await write(
        store(),
        create(ark(3), { name: "b" }),
        create(ark(1), { name: "C" }),
        create(ark(2), { name: "a" }),
      );
      await write(
        store(),
        create(ark(0), { name: "B" }),
        create("ark:99999/s", { kind: "software", name: "z" }),
      );
      expect(await names(store(), { kind: "dataset" })).toEqual([ark(1), ark(2), ark(3), ark(0)]);
      expect(await names(store(), { kind: "dataset", order: "-created" })).toEqual([
        ark(0),
        ark(3),
        ark(2),
        ark(1),
      ]);
      expect(await names(store(), { kind: "dataset", order: "name" })).toEqual([
        ark(2),
        ark(3),
        ark(0),
        ark(1),
      ]);
      expect(await names(store(), { order: "name" })).toEqual([
        ark(2),
        ark(3),
        ark(0),
        ark(1),
        "ark:99999/s",
      ]);
      expect(await names(store(), {})).toHaveLength(5);
    });

    test("continues after any record of a page, in every order", async () => {
      await write(
        store(),
        create(ark(2), { name: "b" }),
        create(ark(1), { name: "C" }),
        create(ark(3), { name: "a" }),
      );
      for (const order of ["created", "-created", "name"] as const) {
        const whole = await store().list({ order, limit: 10 });
        expect(whole.positions).toHaveLength(3);
        for (const [index, after] of whole.positions.entries()) {
          const rest = await store().list({ order, after, limit: 10 });
          expect(rest.items.map((record) => record.ark)).toEqual(
            whole.items.slice(index + 1).map((record) => record.ark),
          );
        }
      }
    });

    test("ends a page early at the byte limit, and continues after it, in every order", async () => {
      const sizes = [10, 3_000, 10, 10, 3_000, 3_000, 10];
      await write(
        store(),
        ...sizes.map((size, index) =>
          create(ark(index), { name: `n${index}`, extra: { pad: "x".repeat(size) } }),
        ),
      );
      for (const order of ["created", "-created", "name"] as const) {
        const pages: string[][] = [];
        for (let after: string | undefined; ;) {
          const page = await store().list({
            order,
            limit: 5,
            bytes: 2_000,
            ...(after === undefined ? {} : { after }),
          });
          pages.push(page.items.map((record) => record.ark));
          expect(page.positions).toHaveLength(page.items.length);
          if (page.next === undefined) break;
          after = page.next;
        }
        // A large document has a page of its own.
        expect(pages.map(({ length }) => length)).toEqual(
          order === "-created" ? [1, 1, 1, 2, 1, 1] : [1, 1, 2, 1, 1, 1],
        );
        const whole = await store().list({ order, limit: 10, bytes: 1e6 });
        expect(pages.flat()).toEqual(whole.items.map((record) => record.ark));
        expect(whole.next).toBeUndefined();
      }
    });

    test("that ends early does not hide what is written afterwards", async () => {
      await write(
        store(),
        ...Array.from({ length: 300 }, (_, index) => create(`ark:99999/early-${index}`)),
      );
      const { items, next } = await store().list({ limit: 250, bytes: 1 });
      expect(items).toHaveLength(1);
      expect(next).toBeDefined();
      await write(store(), create(ark(0), { name: "later" }));
      expect(await store().find(arkFrom(ark(0)))).toMatchObject({ record: { name: "later" } });
      expect(await store().count({ kind: "dataset" })).toBe(301);
    });

    test("is filtered by name, owner, keyword and crate, in every order and together", async () => {
      const other = "ark:99999/user-bob";
      await write(
        store(),
        create(
          ark(1),
          { name: "Ärger im Labor", keywords: ["Alpha", "beta"] },
          { crate: "ark:99999/c" },
        ),
        create(ark(2), { name: "labor 2", owner: other, keywords: ["ALPHA"] }),
        create(
          ark(3),
          { name: "100% LABOR_x", keywords: ["alpha", "alpha"] },
          { crate: "ark:99999/c" },
        ),
        create("ark:99999/s", { kind: "software", name: "labor", keywords: ["alpha"] }),
      );
      for (const order of ["created", "-created", "name"] as const) {
        for (const kind of ["dataset", undefined] as const) {
          const extra = kind ? [] : ["ark:99999/s"];
          const list = async (query: Partial<ListQuery>): Promise<string[]> =>
            (await names(store(), { order, ...(kind ? { kind } : {}), ...query })).toSorted();
          expect(await list({ name: "LABOR" })).toEqual([ark(1), ark(2), ark(3), ...extra]);
          expect(await list({ name: "ärger" })).toEqual([ark(1)]);
          expect(await list({ name: "%" })).toEqual([ark(3)]);
          expect(await list({ keyword: "aLpHa" })).toEqual([ark(1), ark(2), ark(3), ...extra]);
          expect(await list({ ownerKey: "ark:99999/userbob" })).toEqual([ark(2)]);
          expect(await list({ crate: "ark:99999/c" })).toEqual([ark(1), ark(3)]);
          expect(
            await list({ crate: "ark:99999/c", keyword: "alpha", ownerKey: OWNER, name: "lab" }),
          ).toEqual([ark(1), ark(3)]);
          expect(await list({ keyword: "nothing" })).toEqual([]);
        }
      }
      for (const query of [
        {},
        { kind: "dataset" },
        { name: "labor" },
        { keyword: "alpha", kind: "dataset" },
        { crate: "ark:99999/c" },
        { ownerKey: OWNER },
      ] as const) {
        expect(await store().count(query)).toBe((await names(store(), query)).length);
      }
    });

    test("leaves deleted records out and follows changes", async () => {
      await write(
        store(),
        create(ark(1), { name: "one", keywords: ["k"] }),
        create(ark(2), { name: "two", keywords: ["k"] }),
      );
      await write(store(), remove(ark(1), 1));
      await write(
        store(),
        replace(ark(2), 1, { name: "deux", keywords: ["l"], owner: "ark:99999/user-bob" }),
      );
      expect(await names(store(), { kind: "dataset" })).toEqual([ark(2)]);
      expect(await names(store(), { keyword: "k" })).toEqual([]);
      expect(
        await names(store(), { keyword: "l", name: "DEUX", ownerKey: "ark:99999/user-bob" }),
      ).toEqual([ark(2)]);
      expect([await store().count({}), await store().count({ kind: "dataset" })]).toEqual([1, 1]);
    });

    test("refuses an invalid cursor", async () => {
      for (const after of ["", "x", "1.2", "-1", "1e9", "9".repeat(40), "1'"]) {
        await expect(store().list({ kind: "dataset", after, limit: 5 })).rejects.toMatchObject({
          code: "BAD_REQUEST",
        });
        await expect(
          store().linksTo([ark(1)], { after: `${after}.`, limit: 5 }),
        ).rejects.toMatchObject({ code: "BAD_REQUEST" });
      }
      await expect(store().list({ order: "name", after: "x.y.z", limit: 5 })).rejects.toMatchObject(
        { code: "BAD_REQUEST" },
      );
    });
  });
}
