import { describe, expect, test } from "vitest";
import type { ObjectReference, RecordWrite } from "../../../src/storage/records/port.js";
import { commitOf, create, OWNER, remove, replace, type Setting, write } from "./fixtures.js";

const A = "ark:99999/download-1";
const hash = (letter: string): string => letter.repeat(64);
const object = (letter: string, role: ObjectReference["role"] = "content"): ObjectReference => ({
  sha256: hash(letter),
  size: 3,
  mediaType: "text/csv",
  name: `${letter}.csv`,
  role,
});
const DAY = 86_400_000;

export function objectsConform({ store, reopen }: Setting): void {
  const claim = (...letters: string[]): Promise<string[]> =>
    store().claimUnreferenced(letters.map(hash), { now: 10 * DAY, intentLifetime: DAY });

  describe("objects", () => {
    test("are those of the requested revision; a write that does not name them preserves them", async () => {
      await write(store(), create(A, {}, { objects: [object("a"), object("b", "metadata")] }));
      await write(store(), replace(A, 1, { name: "two" }));
      await write(
        store(),
        replace(A, 2, { name: "three" }, { objects: [object("b", "metadata"), object("c")] }),
      );
      expect(await store().objectsOf(A)).toEqual([object("b", "metadata"), object("c")]);
      expect(await store().objectsOf(A, { role: "content" })).toEqual([object("c")]);
      expect(await store().objectsOf(A, { role: "content", revision: 2 })).toEqual([object("a")]);
      expect(await claim("a", "b", "c", "d")).toEqual([hash("d")]);
    });

    test("that are dropped are free, and the record reports that its content was deleted", async () => {
      await write(store(), create(A, {}, { objects: [object("a")] }));
      expect(await store().contentWasDeleted(A)).toBe(false);
      await write(store(), replace(A, 1, {}, { objects: [], dropObjects: true }));
      expect(await store().contentWasDeleted(A)).toBe(true);
      expect(await store().objectsOf(A, { revision: 1 })).toEqual([]);
      expect(await claim("a")).toEqual([hash("a")]);
      await store().removed([hash("a")]);
      await write(store(), replace(A, 2, {}, { objects: [object("b")] }));
      expect(await store().contentWasDeleted(A)).toBe(false);
      expect(await store().contentWasDeleted("ark:99999/none")).toBe(false);
    });

    test(
      "of a deleted record remain for its earlier revisions unless they are dropped, or " +
        "while another record has them",
      async () => {
        await write(
          store(),
          create(A, {}, { objects: [object("a"), object("b")] }),
          create("ark:99999/kept", {}, { objects: [object("c")] }),
        );
        await write(store(), create("ark:99999/other", {}, { objects: [object("a")] }));
        await write(store(), remove(A, 1, { dropObjects: true }), remove("ark:99999/kept", 1));
        expect(await claim("a", "b", "c")).toEqual([hash("b")]);
        expect(await store().objectsOf("ark:99999/kept", { revision: 1 })).toEqual([object("c")]);
      },
    );

    test("of a crate are those of its records and its own, in pages, at least of a size", async () => {
      const crate = "ark:99999/rocrate-files";
      const sized = (letter: string, size: number, role?: ObjectReference["role"]) => ({
        ...object(letter, role),
        size,
      });
      const own = [sized("a", 10, "member"), sized("b", 20, "member"), sized("c", 9, "archive")];
      await write(
        store(),
        create(crate, { kind: "rocrate" }, { objects: own }),
        create(`${crate}/1`, {}, { crate, objects: [sized("d", 30)] }),
        create(`${crate}/2`, {}, { crate, objects: [sized("e", 5)] }),
        create(`${crate}/gone`, {}, { crate, objects: [sized("f", 30)] }),
        create("ark:99999/used", {}, { objects: [sized("a", 40)] }),
        create("ark:99999/other", {}, { objects: [sized("1", 40)] }),
      );
      await store().commit({
        ...commitOf([remove(`${crate}/gone`, 1)]),
        uses: { crate, arks: ["ark:99999/used"] },
      });
      const files: [string, string, number][] = [];
      let after: string | undefined;
      do {
        const page = await store().filesOf(crate, { limit: 2, ...(after ? { after } : {}) });
        expect(page.items.length).toBeLessThanOrEqual(2);
        for (const { ark, name, size } of page.items) files.push([ark, name, size]);
        after = page.next;
      } while (after !== undefined);
      expect(files).toEqual([
        [crate, "a.csv", 10],
        [crate, "b.csv", 20],
        [`${crate}/1`, "d.csv", 30],
        [`${crate}/2`, "e.csv", 5],
        ["ark:99999/used", "a.csv", 40],
      ]);
      const large = await store().filesOf(crate, { limit: 9, minSize: 20 });
      expect(large.items.map(({ size }) => size)).toEqual([20, 30, 40]);
      expect(large.items[1]).toMatchObject({ sha256: hash("d"), mediaType: "text/csv" });
      expect(await store().filesOf("ark:99999/none", { limit: 9 })).toEqual({ items: [] });
      await expect(store().filesOf(crate, { limit: 9, after: "x" })).rejects.toMatchObject({
        code: "BAD_REQUEST",
      });
    });

    test("that were announced are not swept until the intent is old or released", async () => {
      const holder = { kind: "upload", id: "u1", attempt: 1 } as const;
      expect(await store().intend(holder, [hash("a"), hash("b")], 9.5 * DAY)).toEqual({
        removing: [],
      });
      await store().intend({ ...holder, id: "u2" }, [hash("c")], 8 * DAY);
      expect(await claim("a", "b", "c")).toEqual([hash("c")]);
      expect(await store().intend(holder, [hash("c"), hash("d")], 10 * DAY)).toEqual({
        removing: [hash("c")],
      });
      await store().removed([hash("c")]);
      expect(await store().intend(holder, [hash("c")], 10 * DAY)).toEqual({ removing: [] });
      await store().release(holder);
      expect(await claim("a", "b")).toEqual([hash("a"), hash("b")]);
      expect(await (await reopen()).intend(holder, [hash("a")], 10 * DAY)).toEqual({
        removing: [],
      });
    });

    test(
      "of a crate's archive are deleted with the content of a member, and with a member, " +
        "whoever deletes it",
      async () => {
        const [crate, other, member, shared] = [
          "ark:99999/crate",
          "ark:99999/crate-2",
          "ark:99999/crate/a.csv",
          "ark:99999/shared",
        ];
        await write(
          store(),
          create(
            crate,
            { kind: "rocrate" },
            { objects: [object("a", "archive"), object("b", "member")] },
          ),
          create(other, { kind: "rocrate" }, { objects: [object("c", "archive")] }),
          create(member, {}, { crate: crate, objects: [object("d")] }),
          create(shared, {}, { crate: crate }),
        );
        await store().commit(commitOf([], { uses: { crate: other, arks: [shared] } }));
        // What says nothing of the bytes takes nothing away.
        await write(
          store(),
          replace(member, 1, {}),
          replace(member, 2, {}, { objects: [object("e")] }),
        );
        expect(await store().objectsOf(crate)).toEqual([
          object("a", "archive"),
          object("b", "member"),
        ]);
        await write(store(), replace(member, 3, {}, { objects: [], dropObjects: true }));
        expect(await store().objectsOf(crate)).toEqual([object("b", "member")]);
        expect(await store().objectsOf(crate, { revision: 1 })).toEqual([object("b", "member")]);
        expect(await store().contentWasDeleted(crate, "archive")).toBe(true);
        expect(await store().contentWasDeleted(other, "archive")).toBe(false);
        expect(await claim("a", "b", "c", "d", "e")).toEqual(["a", "d", "e"].map(hash));
        await store().removed(["a", "d", "e"].map(hash));
        // An archive that comes with the deletion is one without it.
        await write(
          store(),
          replace(
            crate,
            1,
            { kind: "rocrate" },
            { objects: [object("f", "archive"), object("b", "member")] },
          ),
          remove(member, 4, { dropObjects: true }),
        );
        expect(await store().objectsOf(crate)).toEqual([
          object("b", "member"),
          object("f", "archive"),
        ]);
        expect(await store().contentWasDeleted(crate, "archive")).toBe(false);
        // A crate that describes the record too has its bytes in its archive as well.
        await write(store(), remove(shared, 1, { dropObjects: true }));
        expect(await store().objectsOf(other)).toEqual([]);
        expect(await (await reopen()).objectsOf(crate)).toEqual([object("b", "member")]);
      },
    );

    test(
      "that a crate has and that are not public are listed with the records that decide " +
        "about them",
      async () => {
        const [crate, other] = ["ark:99999/crate", "ark:99999/crate-2"];
        const member = (name: string, more: object = {}, owner = OWNER): RecordWrite =>
          create(`${crate}/${name}`, { owner }, { crate: crate, objects: [object("a")], ...more });
        const shut = { publicationStatus: "EMBARGOED" as const };
        const open = { publicationStatus: "PUBLISHED" as const };
        await write(
          store(),
          create(crate, { kind: "rocrate" }, open),
          create(other, { kind: "rocrate" }, open),
          member("open", open),
          member("a-draft"),
          member("b-draft"),
          member("shut", shut),
          member("bob", shut, "ark:99999/user-bob"),
          member("metadata", { ...shut, objects: [object("b", "metadata")] }),
          member("gone", shut),
          member("without", { ...shut, objects: [] }),
        );
        await write(store(), remove(`${crate}/gone`, 1), {
          op: "publish",
          ark: `${crate}/shut`,
          status: "EMBARGOED",
          embargoedUntil: "2030",
        });
        const found = {
          kind: "dataset",
          owner: OWNER,
          embargoedUntil: null,
          crate,
          private: false,
        };
        const bob = {
          ...found,
          ark: `${crate}/bob`,
          owner: "ark:99999/user-bob",
          publicationStatus: "EMBARGOED",
        };
        const members = async (ark: string) =>
          (await store().closedMembers(ark, { limit: 100 })).items;
        expect((await members(crate)).toSorted((a, b) => (a.ark < b.ark ? -1 : 1))).toEqual([
          { ...found, ark: `${crate}/a-draft`, publicationStatus: "DRAFT" },
          bob,
          {
            ...found,
            ark: `${crate}/shut`,
            publicationStatus: "EMBARGOED",
            embargoedUntil: "2030",
          },
        ]);
        expect(await members(other)).toEqual([]);
        await store().commit(
          commitOf([], { uses: { crate: other, arks: [`${crate}/bob`, `${crate}/open`] } }),
        );
        expect(await members(other)).toEqual([bob]);
        expect(await members("ark:99999/none")).toEqual([]);
        const paged: string[] = [];
        for (let after: string | undefined, page = 0; page < 20; page++) {
          const { items, next } = await store().closedMembers(crate, {
            limit: 1,
            ...(after === undefined ? {} : { after }),
          });
          paged.push(...items.map(({ ark }) => ark.slice(crate.length + 1)));
          if ((after = next) === undefined) break;
        }
        expect(paged.toSorted()).toEqual(["a-draft", "b-draft", "bob", "shut"]);
      },
    );

    test.each(["group", "organization", "project"] as const)(
      "of a %s stay its own: it is not deleted while it owns any, and none comes after it",
      async (kind) => {
        const lab = `ark:99999/${kind}-lab`;
        const [first, second] = [`${lab}-first`, `${lab}-second`];
        await write(store(), create(lab, { kind }), create(first, { owner: lab }));
        await expect(write(store(), remove(lab, 1))).rejects.toMatchObject({
          code: "OWNS_RECORDS",
          extra: { ark: lab, records: 1 },
        });
        // Created and deleted at once: one of them comes first.
        const race = await Promise.allSettled([
          write(store(), replace(first, 1, { owner: OWNER })),
          write(store(), create(second, { owner: lab })),
          write(store(), remove(lab, 1)),
        ]);
        expect(race.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
        // Handed over, deleted, and deleted itself in one commit.
        await write(store(), remove(second, 1), remove(lab, 1));
        const late = create(`${lab}-late`, { owner: lab });
        await expect(write(store(), late)).rejects.toMatchObject({ code: "FORBIDDEN" });
        await expect(write(store(), replace(first, 2, { owner: lab }))).rejects.toMatchObject({
          code: "FORBIDDEN",
        });
        expect((await store().findMany([`${lab}-late`, first]))[0]).toBeUndefined();
        await write(store(), replace(first, 2, { owner: OWNER, name: "later" }));
      },
    );

    test("embargoes with an end are listed in pages, with the crate that each record came with", async () => {
      const crate = "ark:99999/embargoed";
      const names = ["", "/file", "/open", "/endless", "/gone"].map((name) => crate + name);
      await write(
        store(),
        ...names.map((ark) =>
          ark === crate ? create(ark, { kind: "rocrate" }) : { ...create(ark), crate },
        ),
      );
      const embargo = (ark: string, embargoedUntil: string | null) =>
        ({ op: "publish", ark, status: "EMBARGOED", embargoedUntil }) as const;
      await write(
        store(),
        embargo(crate, "2999-01-01"),
        embargo(`${crate}/file`, "2001-01-01"),
        embargo(`${crate}/endless`, null),
        embargo(`${crate}/gone`, "2001-01-01"),
      );
      await write(store(), remove(`${crate}/gone`, 2));
      const found: unknown[] = [];
      let after: string | undefined;
      do {
        const page = await store().embargoes({
          limit: 1,
          ...(after === undefined ? {} : { after }),
        });
        found.push(...page.items);
        after = page.next;
      } while (after !== undefined);
      expect(found).toEqual([
        { ark: crate, revision: 2, until: "2999-01-01", crate: null },
        { ark: `${crate}/file`, revision: 2, until: "2001-01-01", crate },
      ]);
    });

    test("of an unfinished submission's archive are not swept", async () => {
      await store().submit({
        id: "s1",
        type: "crate",
        user: "ark:99999/u",
        sha256: hash("e"),
        input: {},
        at: 1,
      });
      expect(await claim("e")).toEqual([]);
      await store().cancelSubmission("s1", 2);
      expect(await claim("e")).toEqual([hash("e")]);
    });

    test("that are needed are listed by hash, each once", async () => {
      await write(
        store(),
        create(A, {}, { objects: [object("c"), object("a")] }),
        create("ark:99999/o", {}, { objects: [object("a")] }),
      );
      await store().submit({
        id: "s1",
        type: "crate",
        user: "ark:99999/u",
        sha256: hash("b"),
        input: {},
        at: 1,
      });
      const first = await store().referenced({ limit: 2 });
      expect(first).toEqual({ items: [hash("a"), hash("b")], next: hash("b") });
      expect(await store().referenced({ limit: 2, after: first.next! })).toEqual({
        items: [hash("c")],
      });
    });
  });
}
