import { describe, expect, test } from "vitest";
import { arkKey, parseArk } from "../../../src/identifiers/ark.js";
import type {
  FeedAnswer,
  RecordFilter,
  ReviewLink,
  SearchQuery,
  Viewer,
} from "../../../src/storage/records/port.js";
import {
  commitOf,
  create,
  linkTo,
  OWNER,
  remove,
  replace,
  type Setting,
  type Sketch,
  write,
} from "./fixtures.js";
import { AS_CREATED } from "../../../src/services/records/pages.js";

const [BOB, CAT] = ["ark:99999/user-bob", "ark:99999/user-cat"] as const;
const GROUP = "ark:99999/group-lab";
const [OPEN, PRIVATE, GROUPS] = ["ark:99999/open", "ark:99999/private", "ark:99999/the-groups"];
const CRATE = "ark:99999/crate";
const as = (user: string): Viewer => ({ user: arkKey(user) });
const NOBODY: Viewer = { user: null };
const LINK: Viewer = { user: null, link: "a".repeat(64) };
const reviewLink = (record: string): ReviewLink => ({
  hash: LINK.link!,
  id: "one",
  record,
  createdBy: OWNER,
  createdAt: 1,
  expiresAt: 9,
  anonymous: false,
  uses: 0,
  usedAt: null,
});
/** Each viewer, and which of the two private records it sees. */
const VIEWERS: [name: string, viewer: Viewer | undefined, seen: string[]][] = [
  ["nobody", NOBODY, []],
  ["another user", as(CAT), []],
  ["the owner, who owns the group too", as(OWNER), [PRIVATE, GROUPS]],
  ["a member of the owning group", as(BOB), [GROUPS]],
  ["who has a review link to one", LINK, [PRIVATE]],
  ["the service", undefined, [PRIVATE, GROUPS]],
];
const hidden = (ark: string, sketch: Sketch = {}, more: object = {}) =>
  create(
    ark,
    { name: "zirconium secret", keywords: ["hush"], ...sketch },
    { private: true, ...more },
  );
const LISTED = { order: { by: "created", descending: false }, limit: 100 } as const;

export function visibilityConforms({ store, reopen }: Setting): void {
  const world = async (): Promise<void> => {
    await write(
      store(),
      ...[OWNER, BOB, CAT].map((user) => create(user, { kind: "user", name: user, owner: null })),
      create(GROUP, { kind: "group", name: "Lab", links: [linkTo(BOB, "schema:member")] }),
      create(OPEN, { name: "plain table" }),
      create(CRATE, { kind: "rocrate", name: "crate" }),
    );
    await write(
      store(),
      hidden(PRIVATE, { links: [linkTo(OPEN)] }),
      hidden(GROUPS, { owner: GROUP, links: [linkTo(OPEN), linkTo(PRIVATE)] }),
    );
    await store().storeReviewLink(reviewLink(PRIVATE), 5);
  };
  const arksOf = (records: readonly ({ ark: string } | undefined)[]) =>
    records.flatMap((record) => record?.ark ?? []).filter((ark) => [PRIVATE, GROUPS].includes(ark));
  const selected = async (filter: RecordFilter, viewer: Viewer | undefined) =>
    arksOf((await store().select({ ...LISTED, filter, viewer })).items);

  describe("a private record", () => {
    test.each(VIEWERS)("is there, or is not, for %s", async (_, viewer, seen) => {
      await world();
      for (const ark of [PRIVATE, GROUPS]) {
        const found = await store().find(parseArk(ark)!, viewer);
        expect(found !== undefined).toBe(seen.includes(ark));
      }
      expect(arksOf(await store().findMany([PRIVATE, GROUPS, OPEN], viewer))).toEqual(seen);
      expect(
        arksOf(await store().holders([PRIVATE, GROUPS].map(arkKey), viewer)).toSorted(),
      ).toEqual(seen.toSorted());
      expect(arksOf(await store().findMany([PRIVATE], viewer))).toEqual(
        seen.includes(PRIVATE) ? [PRIVATE] : [],
      );
      for (const order of [
        AS_CREATED,
        { by: "created", descending: true },
        { by: "name", descending: false },
      ] as const)
        expect(
          arksOf(
            (
              await store().select({
                filter: { kinds: ["dataset"] },
                order,
                limit: 100,
                viewer,
              })
            ).items,
          ).toSorted(),
        ).toEqual(seen.toSorted());
      expect(await store().countSelected({ filter: { kinds: ["dataset"] }, viewer })).toBe(
        1 + seen.length,
      );
      expect(await store().countSelected({ filter: {}, viewer })).toBe(6 + seen.length);
      expect(await store().countSelected({ filter: { owners: [arkKey(OWNER)] }, viewer })).toBe(
        3 + seen.filter((ark) => ark === PRIVATE).length,
      );
      for (const filter of [{}, { kinds: ["dataset"] }, { nameContains: "secret" }] as const) {
        expect(await selected(filter, viewer)).toEqual(seen);
        expect(await store().countSelected({ filter, viewer })).toBe(
          (await store().select({ ...LISTED, filter, viewer })).items.length,
        );
      }
      const { groups } = await store().statistics({ filter: {}, by: ["kind"], limit: 100, viewer });
      expect(groups.find(({ values }) => values[0] === "dataset")?.records).toBe(1 + seen.length);
      const { items, positions } = await store().select({
        ...LISTED,
        filter: { kinds: ["dataset"] },
        limit: 1,
        viewer,
      });
      const rest = await store().select({
        ...LISTED,
        filter: { kinds: ["dataset"] },
        after: positions[0]!,
        viewer,
      });
      expect([...items, ...rest.items].map(({ ark }) => ark)).toEqual([OPEN, ...seen]);
    });

    test.each(VIEWERS)(
      "states links that are there, or are not, for %s",
      async (_, viewer, seen) => {
        await world();
        for (const backward of [false, true]) {
          const [page] = await store().linksTo([arkKey(OPEN)], { limit: 10, backward, viewer });
          expect(page!.items.map(({ source }) => source)).toEqual(seen);
        }
        const [count] = await store().countLinks({
          arks: [OPEN],
          from: {},
          to: { distinct: true },
          viewer,
        });
        expect(count).toBe(seen.length);
        const relation = { out: ["evi:usedDataset"], in: ["evi:usedDataset"] };
        const byName = await store().select({
          ...LISTED,
          filter: { related: { ...relation, filter: { nameContains: "zirconium" } } },
          viewer,
        });
        expect(byName.items.map(({ ark }) => ark).includes(OPEN)).toBe(seen.length > 0);
        const linked = await store().select({
          ...LISTED,
          filter: { linked: { key: arkKey(PRIVATE), ...relation } },
          viewer,
        });
        expect(linked.items.map(({ ark }) => ark).includes(OPEN)).toBe(seen.includes(PRIVATE));
      },
    );

    test("of a crate is shown by the crate's review link, with crates within it", async () => {
      const within = "ark:99999/crate-within";
      const member = (name: string, crate: string | null, owner = OWNER) =>
        hidden(`ark:99999/${name}`, { owner }, { crate });
      await write(
        store(),
        hidden(CRATE, { kind: "rocrate" }),
        hidden(within, { kind: "rocrate" }, { crate: CRATE }),
        member("of-crate", CRATE),
        member("of-within", within),
        member("of-another", CRATE, BOB),
        member("beside", null),
      );
      await store().storeReviewLink(reviewLink(CRATE), 5);
      const seen = [CRATE, within, "ark:99999/of-crate", "ark:99999/of-within"].toSorted();
      const listed = async () =>
        (await store().select({ filter: {}, order: AS_CREATED, limit: 100, viewer: LINK })).items
          .map(({ ark }) => ark)
          .toSorted();
      expect(await listed()).toEqual(seen);
      expect(await store().countSelected({ filter: {}, viewer: LINK })).toBe(4);
      expect(await store().countSelected({ filter: { kinds: ["rocrate"] }, viewer: LINK })).toBe(2);
      expect(await store().countSelected({ filter: { crates: [CRATE] }, viewer: LINK })).toBe(2);
      expect(await store().countSelected({ filter: {}, viewer: LINK })).toBe(4);
      await write(store(), remove("ark:99999/of-crate", 1));
      expect(await listed()).toEqual(seen.filter((ark) => !ark.endsWith("of-crate")));
      await write(store(), remove(CRATE, 1));
      expect(await listed()).toEqual([]);
      expect(await store().find(parseArk(CRATE)!, LINK)).toBeUndefined();
    });

    const search = (text: string, viewer: Viewer | undefined, more: Partial<SearchQuery> = {}) =>
      store().search({ text, match: "all", offset: 0, limit: 10, viewer, ...more });
    const found = async (...asked: Parameters<typeof search>): Promise<string[]> =>
      (await search(...asked)).hits.map(({ ark }) => ark);

    test("is found by words and by its identifier for those who see it, and by nothing for others", async () => {
      await world();
      const newest = [GROUPS, PRIVATE];
      for (const [, viewer, seen] of VIEWERS) {
        // Words find open records only for who reads by a link.
        const by = viewer === LINK ? [] : seen;
        const beside = viewer === LINK ? seen : [];
        const own = newest.filter((ark) => by.includes(ark));
        const facets = { by: ["keyword"], limit: 10 } as const;
        for (const text of ["zirconium", "hush", "secret -plain", "name:secret", "zirc*"]) {
          const page = await search(text, viewer, { facets });
          expect(page.hits.map(({ ark }) => ark)).toEqual(own);
          expect([page.total, page.ranked, page.exact]).toEqual([own.length, own.length, true]);
          expect(page.facets).toEqual([{ by: "keyword", values: [], more: false, exact: true }]);
          expect(await found(text, viewer, { match: "related" })).toEqual(own);
        }
        // Neither a correction nor a hint: no open record has the words.
        for (const text of ["zirconum", "hushed plain", "secret -zirconium"])
          expect(JSON.stringify(await search(text, viewer))).not.toMatch(/secret|zirconium"/);
        expect((await found("plain zirconium", viewer, { match: "related" })).toSorted()).toEqual(
          [OPEN, ...own].toSorted(),
        );
        const page = await search(arkKey(PRIVATE), viewer, { match: "identifier" });
        expect(page).toMatchObject({ total: seen.includes(PRIVATE) ? 1 : 0 });
        expect(page.hits.length).toBe(page.total);
        expect(await selected({ text: "zirconium" }, viewer)).toEqual(by);
        expect(await selected({ not: { text: "zirconium" } }, viewer)).toEqual(beside);
        expect(await store().countSelected({ filter: { text: "zirconium" }, viewer })).toBe(
          by.length,
        );
        expect(await selected({ keywords: ["hush"] }, viewer)).toEqual([]);
        expect(await store().countSelected({ filter: { keywords: ["hush"] }, viewer })).toBe(0);
      }
    });

    test("comes before open records in a search of those who may change it, and changes nothing in that of others", async () => {
      await world();
      const names = ["ark:99999/one", "ark:99999/two", "ark:99999/three"];
      await write(
        store(),
        ...names.map((ark, index) => create(ark, { name: `zirconium ${"dust ".repeat(index)}` })),
      );
      const facets = { by: ["kind", "owner"], limit: 10 } as const;
      const open = await search("zirconium", NOBODY, { facets });
      expect(open.total).toBe(3);
      expect(await search("zirconium", as(CAT), { facets })).toEqual(open);
      const own = await search("zirconium", as(OWNER), { facets });
      const all = [GROUPS, PRIVATE, ...open.hits.map(({ ark }) => ark)];
      expect(own.hits.map(({ ark }) => ark)).toEqual(all);
      expect(own.hits.slice(2)).toEqual(open.hits);
      expect(own.hits[0]).toEqual({
        ark: GROUPS,
        score: 1,
        fragments: {
          name: [
            { text: "zirconium", found: true },
            { text: " secret", found: false },
          ],
        },
      });
      expect([own.total, own.ranked]).toEqual([5, 5]);
      expect(own.facets![0]!.values).toEqual([{ value: "dataset", records: 5 }]);
      const service = await search("zirconium", undefined, { facets });
      expect(service.hits.map(({ ark }) => ark)).toEqual([...all.slice(2), ...all.slice(0, 2)]);
      for (const [viewer, expected] of [
        [as(OWNER), all],
        [undefined, service.hits.map(({ ark }) => ark)],
      ] as const)
        for (const limit of [1, 2, 3])
          for (let offset = 0; offset < 6; offset++) {
            const page = await search("zirconium", viewer, { offset, limit });
            expect(page.hits.map(({ ark }) => ark)).toEqual(expected.slice(offset, offset + limit));
            expect(page.total).toBe(5);
          }
      const kinds = { filter: { kinds: ["software" as const] } };
      expect(await found("zirconium", as(OWNER), kinds)).toEqual([]);
      expect(await found("zirconium", as(OWNER), { filter: { owners: [arkKey(GROUP)] } })).toEqual([
        GROUPS,
      ]);
    });

    test("is found by the words and the owner that it has now, and by nothing once it is deleted", async () => {
      await world();
      await write(store(), replace(PRIVATE, 1, { name: "argon", owner: CAT }));
      expect(await found("argon", as(OWNER))).toEqual([]);
      expect(await found("argon", as(CAT))).toEqual([PRIVATE]);
      expect(await found("zirconium", as(CAT))).toEqual([]);
      // The same text of another owner.
      await write(store(), replace(PRIVATE, 2, { name: "argon", owner: OWNER }));
      expect([await found("argon", as(OWNER)), await found("argon", as(CAT))]).toEqual([
        [PRIVATE],
        [],
      ]);
      await write(store(), remove(PRIVATE, 3));
      expect(await found("argon", as(OWNER))).toEqual([]);
      await write(store(), replace(PRIVATE, 4, { name: "krypton" }, { revive: true }));
      expect(await found("krypton", as(OWNER))).toEqual([PRIVATE]);
      await write(store(), {
        op: "publish",
        ark: PRIVATE,
        status: "PUBLISHED",
        embargoedUntil: null,
      });
      for (const viewer of [NOBODY, as(OWNER), undefined])
        expect(await search("krypton", viewer)).toMatchObject({ total: 1, hits: [{ score: 1 }] });
    });

    test("stands by how many of the words it has, twice for those in name and keywords", async () => {
      await world();
      const holding = (ark: string, name: string, description: string) =>
        hidden(ark, {}, { text: { name, description, keywords: "", other: "" } });
      await write(
        store(),
        holding("ark:99999/both", "argon krypton", ""),
        holding("ark:99999/name", "argon", ""),
        holding("ark:99999/text", "table", "argon"),
      );
      expect(await found("argon krypton", as(OWNER), { match: "related" })).toEqual(
        ["both", "name", "text"].map((name) => `ark:99999/${name}`),
      );
    });

    test("changes no state that others see: newest link, feed, texts to embed", async () => {
      await world();
      const [open] = await store().findMany([OPEN]);
      expect(open!.newestBacklink).toBe(0);
      await write(
        store(),
        replace(PRIVATE, 1, { name: "other", links: [linkTo(OPEN), linkTo(CRATE)] }),
      );
      await write(store(), hidden("ark:99999/early", { links: [linkTo("ark:99999/later")] }));
      await write(store(), create("ark:99999/later"));
      const [later, crate] = await store().findMany(["ark:99999/later", CRATE]);
      expect([later!.newestBacklink, crate!.newestBacklink]).toEqual([0, 0]);
      await write(store(), hidden("ark:99999/late", { links: [linkTo(PRIVATE)] }));
      await write(store(), hidden("ark:99999/end", { links: [linkTo("ark:99999/wanted")] }));
      const { sequence } = await write(store(), hidden("ark:99999/wanted"));
      const [target, wanted] = await store().findMany([PRIVATE, "ark:99999/wanted"]);
      expect(target!.newestBacklink).toBe(sequence - 2);
      expect(wanted!.newestBacklink).toBe(sequence - 1);
      const port = store().openFeed();
      const ask = (request: object) =>
        new Promise<FeedAnswer>((resolve) => {
          port.once("message", resolve);
          port.postMessage({ id: 1, ...request });
        });
      const all = await ask({ all: { after: 0, limit: 100 } });
      expect(all).toMatchObject({ total: 7 });
      expect(JSON.stringify(all)).not.toMatch(/private|groups|early/);
      const since = await ask({ since: { sequence: 0, limit: 100 } });
      expect(since.graphs.find(({ ark }) => ark === PRIVATE)).toEqual({
        ark: PRIVATE,
        nquads: null,
      });
      port.close();
      const { texts } = await store().changedTexts("model", "", 100);
      expect(texts.filter(({ ark }) => ark === PRIVATE)).toEqual(
        texts.filter(({ ark }) => ark === PRIVATE).map((text) => ({ ...text, text: null })),
      );
      expect(texts.find(({ ark }) => ark === OPEN)!.text).not.toBeNull();
      const { changes } = await store().changes({ sequence: 0, record: 0 }, 100);
      expect(changes.filter((change) => change.private).map(({ ark }) => ark)).toContain(PRIVATE);
      expect(changes.find(({ ark }) => ark === OPEN)!.private).toBe(false);
    });

    test("is open for ever once it was published, with its links, words and counts", async () => {
      await world();
      const publish = (status: "PUBLISHED" | "DRAFT" | "ARCHIVED") =>
        write(store(), { op: "publish", ark: PRIVATE, status, embargoedUntil: null });
      await publish("ARCHIVED");
      await publish("DRAFT");
      expect(await store().findMany([PRIVATE], NOBODY)).toEqual([undefined]);
      const { sequence } = await publish("PUBLISHED");
      await publish("DRAFT");
      await reopen();
      expect((await store().findMany([PRIVATE], NOBODY))[0]).toMatchObject({
        private: false,
        publicationStatus: "DRAFT",
      });
      expect(await store().countSelected({ filter: { kinds: ["dataset"] }, viewer: NOBODY })).toBe(
        2,
      );
      expect(await store().countSelected({ filter: { kinds: ["dataset"] } })).toBe(3);
      expect(await found("zirconium", NOBODY)).toEqual([PRIVATE]);
      expect(await selected({ keywords: ["hush"] }, NOBODY)).toEqual([PRIVATE]);
      expect((await store().findMany([OPEN]))[0]!.newestBacklink).toBe(sequence);
      const [page] = await store().linksTo([arkKey(OPEN)], { limit: 10, viewer: NOBODY });
      expect(page!.items.map(({ source }) => source)).toEqual([PRIVATE]);
      await write(store(), replace(PRIVATE, 5, { name: "argon now" }));
      const words = async (text: string) => (await search(text, NOBODY)).total;
      expect([await words("zirconium"), await words("argon")]).toEqual([0, 1]);
    });

    test("that is replaced and published by one commit is found by its new words alone", async () => {
      await world();
      await write(store(), replace(PRIVATE, 1, { name: "argon", keywords: ["noble"] }), {
        op: "publish",
        ark: PRIVATE,
        status: "PUBLISHED",
        embargoedUntil: null,
      });
      const words = async (text: string) => (await search(text, NOBODY)).total;
      expect([await words("zirconium"), await words("argon")]).toEqual([0, 1]);
      expect(await selected({ keywords: ["noble"] }, NOBODY)).toEqual([PRIVATE]);
      expect(await store().countSelected({ filter: { keywords: ["hush"] } })).toBe(0);
    });

    test("that is created and published by one commit is found by everybody", async () => {
      const ark = "ark:99999/at-once";
      await world();
      await write(store(), hidden(ark, { name: "argon" }), {
        op: "publish",
        ark,
        status: "PUBLISHED",
        embargoedUntil: null,
      });
      expect((await search("argon", NOBODY)).hits).toMatchObject([{ ark }]);
      const words = { ...LISTED, filter: { text: "argon" } };
      for (const viewer of [NOBODY, as(OWNER), undefined]) {
        const { items } = await store().select({ ...words, viewer });
        expect(items.map((record) => record.ark)).toEqual([ark]);
        expect(await store().countSelected({ filter: words.filter, viewer })).toBe(1);
      }
      await write(store(), remove(ark, 2));
      expect((await search("argon", undefined)).total).toBe(0);
    });

    test("leaves a tombstone that is private too, and may be restored", async () => {
      await world();
      const total = await store().countSelected({ filter: {}, viewer: NOBODY });
      await write(store(), remove(PRIVATE, 1));
      expect(await store().findMany([PRIVATE], NOBODY)).toEqual([undefined]);
      expect((await store().findMany([PRIVATE], as(OWNER)))[0]).toMatchObject({ private: true });
      const deleted = { filter: { deleted: {} } };
      expect(await selected(deleted.filter, NOBODY)).toEqual([]);
      expect(await selected(deleted.filter, as(OWNER))).toEqual([PRIVATE]);
      await write(store(), replace(PRIVATE, 2, { name: "again" }, { revive: true }));
      expect(await store().findMany([PRIVATE], NOBODY)).toEqual([undefined]);
      expect(await store().countSelected({ filter: {}, viewer: NOBODY })).toBe(total);
      expect(await store().countSelected({ filter: {}, viewer: as(OWNER) })).toBe(total + 2);
    });

    test("is no member of an open crate, nor its file, nor the target of its links, for others", async () => {
      await world();
      const member = `${CRATE}/secret`;
      const file = { sha256: "a".repeat(64), size: 3, mediaType: "text/csv", name: "a.csv" };
      await write(
        store(),
        hidden(member, {}, { crate: CRATE, objects: [{ ...file, role: "content" }] }),
        replace(CRATE, 1, { kind: "rocrate", links: [linkTo(member)] }),
      );
      const before = await store().stateOfCrate(CRATE);
      await write(store(), replace(member, 1, { name: "new" }));
      expect(await store().stateOfCrate(CRATE)).toBe(before);
      await store().commit(commitOf([], { uses: { crate: CRATE, arks: [GROUPS] } }));
      for (const [viewer, sees] of [
        [NOBODY, false],
        [as(CAT), false],
        [as(OWNER), true],
        [undefined, true],
      ] as const) {
        const files = await store().filesOf(CRATE, { limit: 10, viewer });
        expect(files.items.length).toBe(sees ? 1 : 0);
        expect(await store().usesOf(CRATE, viewer)).toEqual(sees ? [GROUPS] : []);
        const { items } = await store().danglingLinks(CRATE, { limit: 10, viewer });
        expect(items.map(({ source, target, deleted }) => [source, target, deleted])).toEqual(
          sees ? [] : [[CRATE, member, false]],
        );
        expect(await store().countSelected({ filter: { crates: [CRATE] }, viewer })).toBe(
          sees ? 1 : 0,
        );
        const described = await store().select({
          ...LISTED,
          filter: { describedBy: CRATE },
          viewer,
        });
        expect(described.items.length).toBe(sees ? 2 : 0);
      }
      const { items } = await store().closedMembers(CRATE, { limit: 10 });
      expect(items).toMatchObject([{ ark: member, private: true }]);
    });

    test("that is a crate does not show by the records that it describes", async () => {
      await world();
      const secret = "ark:99999/secret-crate";
      await write(store(), hidden(secret, { kind: "rocrate", links: [linkTo(OPEN)] }));
      await store().commit(commitOf([], { uses: { crate: secret, arks: [OPEN] } }));
      const described = async (viewer: Viewer) =>
        (await store().select({ ...LISTED, filter: { describedBy: secret }, viewer })).items.length;
      expect([await described(NOBODY), await described(as(OWNER))]).toEqual([0, 1]);
    });

    test("does not make an identifier ambiguous for others", async () => {
      await world();
      const twins = ["ark:99999/ab", "ark:99999/a-b"] as const;
      await write(
        store(),
        create(twins[0], {}, { mayShareKey: true }),
        hidden(twins[1], {}, { mayShareKey: true }),
      );
      const asked = parseArk("ark:99999/-ab")!;
      expect(await store().find(asked, NOBODY)).toMatchObject({ record: { ark: twins[0] } });
      expect(await store().find(asked, as(OWNER))).toMatchObject({
        ambiguous: twins.toSorted(),
      });
      const found = await store().findMany(["ark:99999/-ab", OPEN], NOBODY);
      expect(found.map((record) => record?.ark)).toEqual([twins[0], OPEN]);
    });
  });
}
