import { expect, describe, test } from "vitest";
import { arkKey } from "../../../src/identifiers/ark.js";
import type { KindName } from "../../../src/model/kind.js";
import type { RecordStore, StoredRecord } from "../../../src/storage/records/port.js";
import type {
  RecordFilter,
  RecordOrder,
  SelectionQuery,
  StatisticsKey,
} from "../../../src/storage/records/port/selection.js";
import {
  commitOf,
  create,
  linkTo,
  OWNER,
  remove,
  replace,
  type Setting,
  write,
} from "./fixtures.js";

const T0 = Date.UTC(2026, 2, 1);
const HOUR = 3_600_000;
const OWNERS = [OWNER, "ark:99999/user-bob", null];
const KINDS: readonly KindName[] = ["dataset", "software", "user"];
const STATUSES = ["DRAFT", "PUBLISHED"] as const;
const NAMES = ["Alpha one", "alpha TWO", "beta", "Ärger", "ÄRGER", "", "100% sure", "a_b", "aXb"];
const WORDS = ["red", "Green", "deep  blue"];
const DATES = [Date.UTC(2024, 4, 3), null, Date.UTC(1950, 11, 31), Date.UTC(2026, 0, 1), null];
const LICENCES = ["CC-BY-4.0", null, "https://example.org/terms"];

interface Row {
  ark: string;
  kind: KindName;
  name: string;
  owner: string | null;
  status: (typeof STATUSES)[number];
  keywords: string[];
  licence: string | null;
  /** The day on which it states that it was published. */
  statedAt: number | null;
  /** Bytes of the stored content; null without. */
  size: number | null;
  created: number;
  modified: number;
}

/** Content of so many bytes, in two objects. */
const contentOf = (ark: string, size: number) =>
  [0, size].map((bytes, index) => ({
    sha256: Buffer.from(`${index}${ark}`).toString("hex").padEnd(64, "0"),
    size: bytes,
    mediaType: "text/csv",
    name: `${index}.csv`,
    role: "content" as const,
  }));

/** Records of which every combination of values occurs, some changed later, one deleted. */
async function fill(store: RecordStore): Promise<Row[]> {
  const rows = Array.from({ length: 60 }, (_, i): Row => {
    const created = T0 + Math.floor(i / 4) * HOUR;
    return {
      ark: `ark:99999/r${String(i).padStart(2, "0")}`,
      kind: KINDS[i % 3]!,
      name: NAMES[i % 9]!,
      owner: OWNERS[Math.floor(i / 3) % 3]!,
      status: STATUSES[Math.floor(i / 5) % 2]!,
      keywords: WORDS.filter((_word, bit) => (i >> bit) & 1),
      licence: LICENCES[Math.floor(i / 2) % 3]!,
      statedAt: DATES[Math.floor(i / 3) % 5]!,
      size: i % 4 === 2 ? null : (i % 5) * 1_000_000_000,
      created,
      modified: created,
    };
  });
  for (let start = 0; start < rows.length; start += 4)
    await store.commit(
      commitOf(
        rows.slice(start, start + 4).map((row) =>
          create(row.ark, row, {
            publicationStatus: row.status,
            ...(row.size === null ? {} : { objects: contentOf(row.ark, row.size) }),
          }),
        ),
        { at: rows[start]!.created },
      ),
    );
  for (const [index, row] of rows.entries()) {
    if (index % 7 !== 3) continue;
    row.modified = T0 + (100 - index) * HOUR;
    await store.commit(
      commitOf([replace(row.ark, 1, { ...row, extra: { changed: true } })], { at: row.modified }),
    );
  }
  await write(store, create("ark:99999/gone", { name: "alpha gone", keywords: ["red"] }));
  await write(store, remove("ark:99999/gone", 1));
  return rows;
}

const fold = (text: string): string => text.normalize("NFKC").toLowerCase();
const within = (
  time: number,
  range: { since?: number; before?: number } | undefined,
): boolean | undefined =>
  range && time >= (range.since ?? -Infinity) && time < (range.before ?? Infinity);

/** Whether name or keywords hold all the words, and none that is excluded. */
const holds = (row: Row, text: string): boolean => {
  const has = (word: string): boolean =>
    [row.name, ...row.keywords].some((part) =>
      fold(part)
        .split(/[\s_%]+/)
        .includes(fold(word)),
    );
  const words = text.split(" ");
  return (
    words.some((word) => word !== "" && !word.startsWith("-")) &&
    words.every((word) => word === "" || (word.startsWith("-") ? !has(word.slice(1)) : has(word)))
  );
};

/** What the filter means, in plain words. */
function meets(row: Row, filter: RecordFilter): boolean {
  const words = row.keywords.map((word) => fold(word).replace(/\s+/g, " "));
  const found = [
    filter.kinds?.includes(row.kind),
    filter.nameIs === undefined ? undefined : fold(row.name) === fold(filter.nameIs),
    filter.nameContains === undefined
      ? undefined
      : fold(row.name).includes(fold(filter.nameContains)),
    filter.nameStartsWith === undefined
      ? undefined
      : fold(row.name).startsWith(fold(filter.nameStartsWith)),
    filter.keywords?.some((word) => words.includes(fold(word).replace(/\s+/g, " "))),
    filter.owners?.some((owner) => row.owner !== null && arkKey(row.owner) === owner),
    filter.statuses?.includes(row.status),
    filter.licences?.some((licence) => row.licence === licence),
    filter.text === undefined ? undefined : holds(row, filter.text),
    within(row.created, filter.created),
    within(row.modified, filter.modified),
    row.statedAt === null && filter.published ? false : within(row.statedAt!, filter.published),
    filter.and?.every((inner) => meets(row, inner)),
    filter.or?.some((inner) => meets(row, inner)),
    filter.not === undefined ? undefined : !meets(row, filter.not),
  ];
  return found.every((one) => one !== false);
}

function inOrder(rows: readonly Row[], { by, descending }: RecordOrder): Row[] {
  const compare = (a: Row, b: Row): number =>
    by === "modified"
      ? a.modified - b.modified
      : by === "name"
        ? Buffer.compare(Buffer.from(fold(a.name)), Buffer.from(fold(b.name)))
        : by === "size"
          ? sizeOf(a) - sizeOf(b)
          : by === "published"
            ? dateOf(a) - dateOf(b)
            : 0;
  // Records without content or date come last in both directions, and none of these has a score.
  const sizeOf = ({ size }: Row): number => size ?? (descending ? -1 : Number.MAX_SAFE_INTEGER);
  const dateOf = ({ statedAt }: Row): number =>
    statedAt ?? (descending ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER);
  // Rows are in the order of creation, and sorting keeps that of equals.
  const sorted = rows.toSorted(compare);
  return descending ? sorted.toReversed() : sorted;
}

const ORDERS: readonly RecordOrder[] = (
  ["created", "modified", "published", "name", "size", "score"] as const
).flatMap((by) => [false, true].map((descending) => ({ by, descending })));

const FILTERS: readonly RecordFilter[] = [
  {},
  { kinds: ["dataset"] },
  { kinds: ["dataset", "software"] },
  { kinds: [] },
  { nameIs: "ALPHA one" },
  { nameIs: "ärger" },
  { nameIs: "" },
  { nameContains: "A" },
  { nameContains: "%" },
  { nameContains: "_" },
  { nameStartsWith: "alpha" },
  { nameStartsWith: "Ä" },
  { nameStartsWith: "" },
  { nameStartsWith: "zzz" },
  { keywords: ["RED"] },
  { keywords: ["deep blue", "green"] },
  { keywords: ["none such"] },
  { owners: [arkKey(OWNER)] },
  { owners: [arkKey(OWNER), arkKey("ark:99999/user-bob")] },
  { licences: ["CC-BY-4.0"] },
  { licences: ["CC-BY-4.0", "https://example.org/terms", "none such"] },
  { licences: ["none such"] },
  { not: { licences: ["CC-BY-4.0"] } },
  { text: "alpha" },
  { text: "alpha red" },
  { text: "alpha -red" },
  { text: "-red" },
  { text: "" },
  { text: "nosuchword" },
  { text: "green", kinds: ["dataset", "software"] },
  { text: "alpha", and: [{ text: "two" }] },
  { not: { text: "alpha" } },
  { or: [{ text: "alpha" }, { text: "beta" }, { licences: ["CC-BY-4.0"] }] },
  { statuses: ["DRAFT"] },
  { statuses: ["DRAFT", "ARCHIVED"] },
  { created: { since: T0 + 3 * HOUR, before: T0 + 9 * HOUR } },
  { modified: { since: T0 + 9 * HOUR } },
  { modified: { before: T0 } },
  { created: {} },
  { published: { since: Date.UTC(2024, 0, 1), before: Date.UTC(2025, 0, 1) } },
  { published: { before: 0 } },
  { published: {}, statuses: ["PUBLISHED"] },
  { not: { published: { since: Date.UTC(2026, 0, 1) } } },
  { kinds: ["dataset"], statuses: ["PUBLISHED"], keywords: ["red"] },
  { not: { owners: [arkKey(OWNER)] } },
  { not: { keywords: ["red"] } },
  { not: {} },
  { or: [] },
  { and: [] },
  { or: [{ kinds: ["user"] }, { nameContains: "b", statuses: ["DRAFT"] }] },
  { and: [{ keywords: ["red"] }, { keywords: ["green"] }] },
  { not: { or: [{ kinds: ["user"] }, { not: { keywords: ["red"] } }] } },
  { nameIs: "a\0b" },
  { not: { nameContains: "\ud800" } },
  { owners: ["'; DROP TABLE record; --"] },
];

/** All of a selection by pages, from either end; whole pages but the last. */
async function paged(
  store: RecordStore,
  query: Omit<SelectionQuery, "limit">,
  limit: number,
): Promise<StoredRecord[]> {
  const all: StoredRecord[] = [];
  for (let at: string | undefined; ;) {
    const page = await store.select({
      ...query,
      limit,
      ...(at === undefined ? {} : query.backward ? { before: at } : { after: at }),
    });
    expect(page.positions).toHaveLength(page.items.length);
    all.splice(query.backward ? 0 : all.length, 0, ...page.items);
    if (!page.more) return all;
    expect(page.items).toHaveLength(limit);
    at = query.backward ? page.positions[0]! : page.positions.at(-1)!;
  }
}

export function selectionsConform({ store }: Setting): void {
  describe("a selection", () => {
    test("holds the records that meet the filter, in each order, from both ends", async () => {
      const rows = await fill(store());
      for (const filter of FILTERS) {
        const expected = rows.filter((row) => meets(row, filter));
        expect(await store().countSelected({ filter }), JSON.stringify(filter)).toBe(
          expected.length,
        );
        for (const order of ORDERS) {
          const arks = inOrder(expected, order).map(({ ark }) => ark);
          for (const backward of [false, true]) {
            const whole = await store().select({ filter, order, backward, limit: 100 });
            expect(
              whole.items.map(({ ark }) => ark),
              JSON.stringify([filter, order]),
            ).toEqual(arks);
            expect(whole.more).toBe(false);
          }
        }
      }
    });

    test("comes page by page, each record once, forward and backward", async () => {
      const rows = await fill(store());
      for (const filter of [{}, { kinds: KINDS.slice(0, 2) }, { keywords: ["red"] }])
        for (const order of ORDERS)
          for (const [backward, limit] of [
            [false, 7],
            [true, 10],
          ] as const) {
            const found = await paged(store(), { filter, order, backward }, limit);
            expect(
              found.map(({ ark }) => ark),
              JSON.stringify([filter, order, backward]),
            ).toEqual(
              inOrder(
                rows.filter((row) => meets(row, filter)),
                order,
              ).map(({ ark }) => ark),
            );
          }
    });

    test("is cut at both positions, and leaves out the kinds that the caller may not list", async () => {
      await fill(store());
      for (const order of ORDERS) {
        const filter = { statuses: ["DRAFT"] as const };
        const whole = await store().select({ filter, order, limit: 100 });
        const [after, before] = [whole.positions[2]!, whole.positions[9]!];
        const arks = whole.items.slice(3, 9).map(({ ark }) => ark);
        for (const backward of [false, true]) {
          const part = await store().select({ filter, order, after, before, backward, limit: 100 });
          expect(part.items.map(({ ark }) => ark)).toEqual(arks);
        }
        const shown = await store().select({ filter, order, without: ["user"], limit: 100, after });
        expect(shown.items.map(({ ark }) => ark)).toEqual(
          whole.items.slice(3).flatMap(({ ark, kind }) => (kind === "user" ? [] : [ark])),
        );
        expect(await store().countSelected({ filter, without: ["user"] })).toBe(
          whole.items.filter(({ kind }) => kind !== "user").length,
        );
      }
    });

    test("of no records says whether there are any", async () => {
      await fill(store());
      const order = { by: "created", descending: false } as const;
      expect(await store().select({ filter: {}, order, limit: 0 })).toEqual({
        items: [],
        positions: [],
        more: true,
      });
      expect(await store().select({ filter: { kinds: [] }, order, limit: 0 })).toMatchObject({
        more: false,
      });
    });

    test("ends a page before the record that brings it past the bytes asked for, from both ends", async () => {
      const sizes = [10, 3_000, 10, 10, 3_000, 3_000, 10];
      await write(
        store(),
        ...sizes.map((size, index) =>
          create(`ark:99999/d${index}`, { name: `n${index}`, extra: { pad: "x".repeat(size) } }),
        ),
      );
      for (const { by, lengths, backward } of [
        { by: "name", backward: false, lengths: [1, 1, 2, 1, 1, 1] },
        { by: "created", backward: true, lengths: [1, 1, 1, 2, 1, 1] },
      ] as const) {
        const found: number[] = [];
        const query = { filter: {}, order: { by, descending: false }, bytes: 2_000, backward };
        for (let at: string | undefined; ;) {
          const page = await store().select({
            ...query,
            limit: 5,
            ...(at === undefined ? {} : backward ? { before: at } : { after: at }),
          });
          found.push(page.items.length);
          if (!page.more) break;
          at = backward ? page.positions[0]! : page.positions.at(-1)!;
        }
        expect(found).toEqual(lengths);
      }
    });

    test("refuses the position of another filter or order, and what is none", async () => {
      await fill(store());
      const order = { by: "name", descending: false } as const;
      const asked = { filter: { kinds: ["dataset"] as const }, order, limit: 2 };
      const { positions } = await store().select(asked);
      const after = positions[1]!;
      // The same filter, written in another order, has the same positions.
      const filter = { nameContains: "a", kinds: ["dataset"] as const };
      const same = await store().select({ ...asked, filter });
      await expect(
        store().select({
          ...asked,
          filter: { kinds: ["dataset"], nameContains: "a" },
          after: same.positions[0]!,
        }),
      ).resolves.toBeDefined();
      for (const other of [
        { ...asked, filter: { kinds: ["software"] as const } },
        { ...asked, filter: {} },
        { ...asked, order: { by: "name", descending: true } as const },
        { ...asked, order: { by: "modified", descending: false } as const },
        { ...asked, order: { by: "size", descending: false } as const },
      ])
        for (const end of [{ after }, { before: after }])
          await expect(store().select({ ...other, ...end })).rejects.toMatchObject({
            code: "BAD_REQUEST",
            message: expect.stringContaining("another filter or order") as string,
          });
      const digest = after.slice(0, 8);
      for (const bad of [
        "",
        "x",
        "17",
        digest,
        `${digest}.`,
        `${digest}.1`,
        `${digest}.-1.YQ`,
        `${digest}.1.YQ.YQ`,
        `${digest}.1.%%`,
        `${digest}.${"9".repeat(30)}.YQ`,
        `${after}\0`,
        "a".repeat(10_000),
      ])
        await expect(store().select({ ...asked, after: bad })).rejects.toMatchObject({
          code: "BAD_REQUEST",
        });
    });

    test("holds the records that are linked, from either side, and those of a format", async () => {
      const ark = (name: string): string => `ark:99999/${name}`;
      const [x, stating, stated, both, other] = ["x", "stating", "stated", "bo-th", "other"].map(
        ark,
      ) as [string, string, string, string, string];
      const used = "evi:usedDataset";
      const content = (mediaType: string) => ({
        objects: [
          { sha256: "c".repeat(64), size: 1, mediaType, name: "x", role: "content" as const },
        ],
      });
      await write(
        store(),
        create(stating, { links: [linkTo(x, used), linkTo(x, used)] }, content("text/csv")),
        create(x, { links: [linkTo(stated, "evi:usedBy"), linkTo(ark("both"), "evi:usedBy")] }),
        create(stated),
        create(both, { links: [linkTo(x, used)] }),
        create(other, { links: [linkTo(x, "evi:other")] }, content("Text/HTML; charset=utf-8")),
      );
      const linked = { key: arkKey(x), out: ["evi:usedBy"], in: [used, "evi:used"] };
      const found = async (filter: RecordFilter, by: RecordOrder["by"] = "created") => {
        const { items } = await store().select({
          filter,
          order: { by, descending: false },
          limit: 10,
        });
        expect(await store().countSelected({ filter })).toBe(items.length);
        return items.map((record) => record.ark).toSorted();
      };
      for (const by of ["created", "modified", "name"] as const) {
        expect(await found({ linked }, by)).toEqual([both, stated, stating].toSorted());
        expect(await found({ not: { linked } }, by)).toEqual([other, x].toSorted());
        expect(await found({ formats: ["TEXT/csv"] }, by)).toEqual([stating]);
      }
      expect(await found({ linked: { ...linked, out: [], in: ["evi:used"] } })).toEqual([]);
      expect(await found({ linked, formats: ["text/csv"] })).toEqual([stating]);
      expect(await found({ formats: [] })).toEqual([]);
      await write(store(), remove(stating, 1), remove(x, 1));
      expect(await found({ linked })).toEqual([both]);
    });

    test("is counted by each key, by several, and with the bytes of its content", async () => {
      const rows = await fill(store());
      const content = (
        sha: string,
        size: number,
        mediaType: string,
        role = "content" as const,
      ) => ({
        sha256: sha.repeat(64),
        size,
        mediaType,
        name: "x",
        role,
      });
      const sized: Row = {
        ark: "ark:99999/sized",
        kind: "dataset",
        name: "sized",
        owner: null,
        status: "DRAFT",
        keywords: [],
        licence: "MIT",
        statedAt: null,
        size: 9,
        created: Date.UTC(2025, 11, 31, 23, 59),
        modified: 0,
      };
      await store().commit(
        commitOf([create(sized.ark, sized, { objects: [content("a", 7, "Text/CSV")] })], {
          at: sized.created,
        }),
      );
      // Only the content of now counts.
      await store().commit(
        commitOf([replace(sized.ark, 1, sized, { objects: [content("b", 9, "text/csv")] })], {
          at: sized.created + 1,
        }),
      );
      const scored: Row = { ...sized, ark: "ark:99999/scored", kind: "rocrate", size: null };
      await store().commit(commitOf([create(scored.ark, scored)], { at: scored.created }));
      await store().storeScore({
        crate: scored.ark,
        state: "1",
        whole: true,
        percent: 59,
        body: new Uint8Array(1),
      });
      const all = [...rows, sized, scored];
      const valuesOf = (row: Row, key: StatisticsKey): (string | null)[] => {
        switch (key) {
          case "month":
            return [new Date(row.created).toISOString().slice(0, 7)];
          case "publicationYear":
            return [
              row.statedAt === null ? null : new Date(row.statedAt).toISOString().slice(0, 4),
            ];
          case "keyword":
            return row.keywords.map((word) => fold(word).replace(/\s+/g, " "));
          case "format":
            return [row.size === null ? null : "text/csv"];
          case "scoreBand":
            return [row === scored ? "FROM_40" : null];
          case "crate":
            return [null];
          case "project":
            return [];
          default:
            return [row[key]];
        }
      };
      const combined = (row: Row, by: readonly StatisticsKey[]): (string | null)[][] =>
        by.reduce<(string | null)[][]>(
          (lists, key) =>
            lists.flatMap((list) => valuesOf(row, key).map((value) => [...list, value])),
          [[]],
        );
      for (const by of [
        [],
        ["kind"],
        ["month"],
        ["owner"],
        ["keyword"],
        ["status"],
        ["format"],
        ["licence"],
        ["publicationYear"],
        ["publicationYear", "kind"],
        ["scoreBand", "licence"],
        ["kind", "month"],
        ["status", "kind"],
        ["keyword", "owner", "month"],
      ] as const)
        for (const filter of [
          {},
          { kinds: ["dataset"] as const },
          { not: { keywords: ["red"] } },
          { text: "alpha" },
          { licences: ["MIT"] },
          { nameContains: "a", statuses: ["DRAFT"] as const },
        ]) {
          const counts = new Map<string, number>();
          const sums = new Map<string, number[]>();
          for (const row of all.filter((one) => meets(one, filter)))
            for (const values of combined(row, by)) {
              const key = JSON.stringify(values);
              counts.set(key, (counts.get(key) ?? 0) + 1);
              const sizes = sums.get(key) ?? [];
              sums.set(key, sizes);
              if (row.size !== null) sizes.push(row.size);
            }
          for (const sizes of [false, true]) {
            const { groups, more } = await store().statistics({ filter, by, sizes, limit: 1000 });
            const label = JSON.stringify([by, filter]);
            expect(more).toBe(false);
            expect(
              new Map(groups.map(({ values, records }) => [JSON.stringify(values), records])),
              label,
            ).toEqual(counts.size === 0 && by.length === 0 ? new Map([["[]", 0]]) : counts);
            const numbers = groups.map(({ records }) => records);
            expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
            for (const { values, bytes, averageBytes, averageScore } of groups) {
              const own = sums.get(JSON.stringify(values)) ?? [];
              const sum = own.reduce((total, size) => total + size, 0);
              expect(bytes, label).toBe(sizes ? sum : 0);
              expect(averageBytes, label).toBe(sizes && own.length > 0 ? sum / own.length : null);
              expect([null, 59]).toContain(averageScore);
            }
            const isScored = meets(scored, filter) && !by.some((key) => key === "keyword");
            expect(
              groups.some(({ averageScore }) => averageScore !== null),
              label,
            ).toBe(sizes && isScored);
          }
        }
      const cut = await store().statistics({ filter: {}, by: ["keyword"], limit: 2 });
      expect(cut.groups).toHaveLength(2);
      expect(cut.more).toBe(true);
    });

    test("is in the order of publication: as stated, else by the first act of publication", async () => {
      const ark = (name: string): string => `ark:99999/${name}`;
      const [early, late, draft, stated] = ["early", "late", "draft", "stated"].map(ark) as [
        string,
        string,
        string,
        string,
      ];
      const day = Date.UTC(2025, 5, 1);
      await write(
        store(),
        ...[late, early, draft].map((id) => create(id, {})),
        create(stated, { statedAt: day }),
      );
      const publish = (id: string, at: number, status: "PUBLISHED" | "DRAFT" = "PUBLISHED") =>
        store().commit(
          commitOf([{ op: "publish", ark: id, status, embargoedUntil: null }], { at }),
        );
      await publish(early, T0 + HOUR);
      await publish(late, T0 + 2 * HOUR);
      // The first act counts, and a stated date before it.
      await publish(early, T0 + 3 * HOUR, "DRAFT");
      await publish(early, T0 + 4 * HOUR);
      await publish(stated, T0 + 5 * HOUR);
      const listed = async (descending: boolean): Promise<string[]> => {
        const order = { by: "published", descending } as const;
        const { items } = await store().select({ filter: {}, order, limit: 9 });
        return items.map((record) => record.ark);
      };
      expect(await listed(true)).toEqual([late, early, stated, draft]);
      expect(await listed(false)).toEqual([stated, early, late, draft]);
      const years = async () =>
        (await store().statistics({ filter: {}, by: ["publicationYear"], limit: 9 })).groups.map(
          ({ values: [year], records }) => [year, records],
        );
      expect(await years()).toEqual([
        ["2026", 2],
        [null, 1],
        ["2025", 1],
      ]);
      // Without the statement the act counts again; what is deleted states nothing.
      await write(store(), replace(stated, 2, {}));
      expect(await listed(true)).toEqual([stated, late, early, draft]);
      await write(store(), replace(stated, 3, { statedAt: day }));
      expect(await listed(false)).toEqual([stated, early, late, draft]);
    });

    test("is of deleted records, by the time, where that is asked for", async () => {
      const rows = await fill(store());
      const [a, b, c] = rows.slice(0, 3).map(({ ark }) => ark) as [string, string, string];
      const at = (hour: number): number => T0 + (1000 + hour) * HOUR;
      await store().commit(commitOf([remove(c, 1), remove(a, 1)], { at: at(1) }));
      await store().commit(commitOf([remove(b, 1, { reason: "wrong" })], { at: at(2) }));
      const found = async (filter: RecordFilter, more: Partial<SelectionQuery> = {}) => {
        const order = { by: "modified", descending: false } as const;
        const page = await store().select({ filter, order, limit: 10, ...more });
        return page.items.map(({ ark }) => ark);
      };
      const since = (hour: number): RecordFilter => ({ deleted: { since: at(hour) } });
      expect(await found(since(0))).toEqual([a, c, b]);
      expect(await found(since(0), { order: { by: "created", descending: true } })).toEqual([
        c,
        b,
        a,
      ]);
      expect(await found(since(2))).toEqual([b]);
      expect(await found(since(3))).toEqual([]);
      expect(await found({ deleted: { since: at(0), before: at(2) } })).toEqual([a, c]);
      expect(await found({ kinds: ["dataset"], and: [since(0)] })).toEqual([a]);
      expect(await found(since(0), { without: ["user"] })).toEqual([a, b]);
      expect(await found({ owners: [arkKey(OWNER)], ...since(0) })).toEqual([a, c, b]);
      expect(await store().countSelected({ filter: since(0) })).toBe(3);
      const first = await store().select({
        filter: since(0),
        order: { by: "modified", descending: false },
        limit: 1,
      });
      expect(first).toMatchObject({ more: true, items: [{ tombstone: { at: at(1) } }] });
      expect(await found(since(0), { after: first.positions[0]! })).toEqual([c, b]);
      const { groups } = await store().statistics({ filter: since(0), by: ["kind"], limit: 9 });
      expect(groups).toMatchObject([
        { values: ["dataset"], records: 1 },
        { values: ["software"], records: 1 },
        { values: ["user"], records: 1 },
      ]);
      // Live lists have none of them.
      expect(await store().countSelected({ filter: { nameContains: "" } })).toBe(rows.length - 3);
      // What a deleted record stated counts no more; restored, it counts again.
      const licences = async () =>
        (await store().statistics({ filter: since(0), by: ["licence"], limit: 9 })).groups;
      expect(await licences()).toMatchObject([{ values: [null], records: 3 }]);
      await store().commit(commitOf([replace(a, 2, rows[0], { revive: true })]));
      expect(await found(since(0))).toEqual([c, b]);
      expect(
        await found({ licences: ["CC-BY-4.0"], nameIs: rows[0]!.name, kinds: ["dataset"] }),
      ).toContain(a);
    });

    test("holds the crates of a score, and counts them by band", async () => {
      const scores = { a: 0, b: 19, c: 20, d: 59, e: 60, f: 80, g: 100, h: null };
      const ark = (name: string): string => `ark:99999/crate-${name}`;
      const names = Object.keys(scores);
      await write(
        store(),
        create("ark:99999/no-crate"),
        ...names.map((name) => create(ark(name), { kind: "rocrate" })),
        create(ark("unscored"), { kind: "rocrate" }),
      );
      const put = (name: string, state: string, percent: number | null) =>
        store().storeScore({
          crate: ark(name),
          state,
          whole: true,
          percent,
          body: new Uint8Array(1),
        });
      for (const [name, percent] of Object.entries(scores)) await put(name, "1", percent);
      await put("never-stored", "1", 10);
      expect(await store().storedScore(ark("d"))).toMatchObject({ percent: 59 });
      const found = async (score: NonNullable<RecordFilter["score"]>, not = false) => {
        const filter = not ? { kinds: ["rocrate"] as const, not: { score } } : { score };
        const found = [];
        for (const by of ["created", "modified", "name"] as const) {
          const { items } = await store().select({
            filter,
            order: { by, descending: false },
            limit: 20,
          });
          found.push(items.map((record) => record.ark.slice(ark("").length)).join(""));
        }
        expect(await store().countSelected({ filter })).toBe(
          (await store().select({ filter, order: { by: "created", descending: false }, limit: 20 }))
            .items.length,
        );
        expect(new Set(found).size).toBe(1);
        return found[0];
      };
      expect(await found({ below: 60 })).toBe("abcd");
      expect(await found({ atLeast: 60 })).toBe("efg");
      expect(await found({ atLeast: 20, below: 60 })).toBe("cd");
      expect(await found({ atLeast: 60, below: 60 })).toBe("");
      expect(await found({ below: 0 })).toBe("");
      expect(await found({ atLeast: 0 }, true)).toBe("hunscored");
      const { groups } = await store().statistics({
        filter: { kinds: ["rocrate"] },
        by: ["scoreBand"],
        limit: 9,
      });
      expect(Object.fromEntries(groups.map(({ values, records }) => [values[0], records]))).toEqual(
        { BELOW_20: 2, FROM_20: 1, FROM_40: 1, FROM_60: 1, FROM_80: 2, null: 2 },
      );
      for (const [descending, last] of [
        [false, "hunscored"],
        [true, "unscoredh"],
      ] as const) {
        const query = { filter: { kinds: ["rocrate"] as const }, backward: false };
        const ordered = await paged(store(), { ...query, order: { by: "score", descending } }, 2);
        const backward = { ...query, backward: true };
        expect(
          await paged(store(), { ...backward, order: { by: "score", descending } }, 3),
        ).toEqual(ordered);
        expect(ordered.map((record) => record.ark.slice(ark("").length)).join("")).toBe(
          (descending ? "gfedcba" : "abcdefg") + last,
        );
      }
      await put("a", "2", 95);
      await write(store(), remove(ark("g"), 1));
      expect(await found({ atLeast: 80 })).toBe("af");
    });

    test("counts records by their crate and by each of their projects", async () => {
      const ark = (name: string): string => `ark:99999/${name}`;
      const [crate, p1, p2] = [ark("crate"), ark("p-1"), ark("p2")];
      await write(
        store(),
        create(crate, { kind: "rocrate" }),
        create(p1, { kind: "project", links: [linkTo(ark("c"), "schema:hasPart")] }),
        create(p2, { kind: "project" }),
        create(ark("a"), { links: [linkTo(ark("p1"), "schema:isPartOf")] }, { crate }),
        create(ark("b"), { links: [linkTo(p2, "schema:sourceProject"), linkTo(p2)] }),
        create(ark("c"), { links: [linkTo(p2, "schema:isPartOf")] }, { crate }),
      );
      const counts = async (by: StatisticsKey): Promise<object> => {
        const filter = { kinds: ["dataset"] as const };
        const { groups } = await store().statistics({ filter, by: [by], limit: 9 });
        return Object.fromEntries(groups.map(({ values, records }) => [values[0], records]));
      };
      expect(await counts("crate")).toEqual({ [crate]: 2, null: 1 });
      expect(await counts("project")).toEqual({ [p1]: 2, [p2]: 2 });
      await write(store(), remove(p2, 1));
      expect(await counts("project")).toEqual({ [p1]: 2 });
    });

    test("holds what a group and its members own, and what a crate describes", async () => {
      const ark = (name: string): string => `ark:99999/${name}`;
      const group = ark("gr-oup");
      const crate = ark("crate");
      await write(
        store(),
        create(group, {
          kind: "group",
          owner: ark("boss"),
          links: [linkTo(ark("ann"), "schema:member"), linkTo(ark("eve"), "schema:other")],
        }),
        create(crate, { kind: "rocrate", owner: ark("boss") }),
        create(ark("of-group"), { owner: group }, { crate }),
        create(ark("of-ann"), { owner: ark("a-nn") }),
        create(ark("of-eve"), { owner: ark("eve") }),
        create(ark("of-nobody"), { owner: null }),
      );
      await store().commit(commitOf([], { uses: { crate, arks: [ark("of-eve")] } }));
      const found = async (filter: RecordFilter, by: RecordOrder["by"] = "created") => {
        const order = { by, descending: false };
        const { items } = await store().select({ filter, order, limit: 10 });
        expect(await store().countSelected({ filter })).toBe(items.length);
        return items.map((record) => record.ark).toSorted();
      };
      for (const by of ["created", "modified", "name"] as const) {
        expect(await found({ group: arkKey(group) }, by)).toEqual([ark("of-ann"), ark("of-group")]);
        expect(await found({ group: arkKey(group), statuses: ["PUBLISHED"] }, by)).toEqual([]);
        expect(await found({ describedBy: crate }, by)).toEqual([ark("of-eve"), ark("of-group")]);
      }
      expect(await found({ describedBy: crate, not: { crates: [crate] } })).toEqual([
        ark("of-eve"),
      ]);
      expect(await found({ not: { group: arkKey(group) }, kinds: ["dataset"] })).toEqual([
        ark("of-eve"),
        ark("of-nobody"),
      ]);
      expect(await found({ group: arkKey(ark("no-group")) })).toEqual([]);
      await write(store(), remove(ark("of-eve"), 1));
      expect(await found({ describedBy: crate })).toEqual([ark("of-group")]);
      // A group that owns live records cannot be deleted.
      await write(store(), remove(ark("of-group"), 1));
      await write(store(), remove(group, 1));
      expect(await found({ group: arkKey(group) })).toEqual([]);
    });

    test("follows links to records that meet a filter, whichever side states them", async () => {
      const ark = (name: string): string => `ark:99999/${name}`;
      const link = (name: string, predicate: string) => linkTo(ark(name), predicate);
      const users = ["evi:usedSoftware"];
      await write(
        store(),
        create(ark("tool"), { kind: "software", name: "Segmenter" }),
        create(ark("other-tool"), { kind: "software", name: "Counter" }),
        create(ark("run"), {
          kind: "computation",
          name: "Run one",
          links: [link("to-ol", "evi:usedSoftware"), link("raw", "evi:usedDataset")],
        }),
        create(ark("run2"), {
          kind: "computation",
          name: "Run two",
          links: [link("other-tool", "evi:usedSoftware"), link("says-itself", "evi:generated")],
        }),
        create(ark("raw"), { links: [link("nowhere", "evi:derivedFrom")] }),
        create(ark("twice"), { links: [link("run", "evi:generatedBy"), link("run", "evi:by")] }),
        create(ark("says-itself"), { links: [link("run", "evi:generatedBy")] }),
        create(ark("unlike"), { links: [link("run", "evi:used"), link("gone", "evi:by")] }),
        create(ark("gone"), { kind: "computation", links: [link("raw", "evi:generated")] }),
      );
      await write(store(), remove(ark("gone"), 1));
      const usedTool = (filter: RecordFilter): RecordFilter => ({
        related: { out: users, in: ["evi:softwareUsedBy"], filter },
      });
      const by = (filter: RecordFilter, inKinds?: readonly KindName[]): RecordFilter => ({
        related: {
          out: ["evi:generatedBy", "evi:by"],
          in: ["evi:generated"],
          filter,
          ...(inKinds ? { inKinds } : {}),
        },
      });
      const segmenter = { nameContains: "segment" };
      const keys = (...names: string[]) => ({ keys: names.map((name) => arkKey(ark(name))) });
      const cases: [RecordFilter, string[]][] = [
        [keys("tool", "ra-w", "none"), ["raw", "tool"]],
        [keys(), []],
        [{ not: keys("tool"), kinds: ["software"] }, ["other-tool"]],
        [usedTool(segmenter), ["run"]],
        [usedTool({ ...segmenter, kinds: ["dataset"] }), []],
        [usedTool({}), ["run", "run2"]],
        [usedTool({ not: segmenter }), ["run2"]],
        [usedTool({ nameIs: "a\0b" }), []],
        [by({}), ["says-itself", "twice"]],
        [by({ nameIs: "run two" }), ["says-itself"]],
        [by({ nameIs: "run two" }, ["dataset"]), []],
        [by({ nameIs: "run one" }, ["dataset"]), ["says-itself", "twice"]],
        [by(usedTool(segmenter)), ["says-itself", "twice"]],
        [by(usedTool({ nameContains: "count" })), ["says-itself"]],
        [by({ ...usedTool({}), and: [usedTool(segmenter)] }), ["says-itself", "twice"]],
        [{ and: [by({ nameIs: "run one" }), by({ nameIs: "run two" })] }, ["says-itself"]],
        [{ or: [by({}), usedTool(segmenter)] }, ["run", "says-itself", "twice"]],
        [{ kinds: ["dataset"], not: by({}) }, ["raw", "unlike"]],
        [{ ...by({}), nameContains: "none such" }, []],
        // Of keys alone the link counts, whether or not a record has the identifier.
        [by(keys("gone")), ["unlike"]],
        [by({ ...keys("gone"), kinds: ["computation"] }), []],
        [{ related: { out: ["evi:derivedFrom"], in: [], filter: keys("nowhere") } }, ["raw"]],
        [by(keys("run2")), ["says-itself"]],
        [by({ keys: ["a\0b", "'; --"] }), []],
        [by(usedTool(by({}))), []],
        [
          { linked: { key: arkKey(ark("run2")), out: ["evi:generated"], in: ["evi:generatedBy"] } },
          ["says-itself"],
        ],
        [
          {
            linked: {
              key: arkKey(ark("run")),
              out: [],
              in: ["evi:generatedBy", "evi:used"],
              inKinds: ["software"],
            },
          },
          [],
        ],
      ];
      for (const [filter, names] of cases) {
        expect(await store().countSelected({ filter }), JSON.stringify(filter)).toBe(names.length);
        for (const order of ORDERS) {
          const forward = await paged(store(), { filter, order }, 2);
          expect(
            forward.map((record) => record.ark.slice(ark("").length)).toSorted(),
            JSON.stringify(filter),
          ).toEqual(names);
          expect(await paged(store(), { filter, order, backward: true }, 2)).toEqual(forward);
        }
        const { groups } = await store().statistics({ filter, by: [], limit: 5 });
        expect(groups[0]?.records ?? 0).toBe(names.length);
      }
    });

    test("answers a chain of four links with a thousand conditions", async () => {
      await write(store(), create("ark:99999/a", { links: [linkTo("ark:99999/a", "evi:used")] }));
      const owners = Array.from({ length: 996 }, (_, i) => arkKey(`ark:99999/nobody-${i}`));
      const chain = (links: number): RecordFilter =>
        links === 0
          ? { or: [{ owners: [arkKey(OWNER)] }, ...owners.map((owner) => ({ owners: [owner] }))] }
          : { related: { out: ["evi:used"], in: ["evi:usedBy"], filter: chain(links - 1) } };
      for (const order of ORDERS.slice(0, 3)) {
        const { items } = await store().select({ filter: chain(4), order, limit: 5 });
        expect(items.map(({ ark }) => ark)).toEqual(["ark:99999/a"]);
      }
      expect(await store().countSelected({ filter: { not: chain(4) } })).toBe(0);
    });

    test("reads a text in the language of search", async () => {
      const ark = (name: string): string => `ark:99999/${name}`;
      const texts = {
        one: "Imaging of cell lines",
        two: "A line of cells",
        three: "Genome of a mouse",
        four: "Genetics",
      };
      await write(
        store(),
        ...Object.entries(texts).map(([name, description]) =>
          create(ark(name), {}, { text: { name, description, keywords: "", other: "" } }),
        ),
      );
      const found = async (text: string): Promise<string> => {
        const { items } = await store().select({
          filter: { text },
          order: { by: "created", descending: false },
          limit: 10,
        });
        return items.map((record) => record.ark.slice(ark("").length)).join(" ");
      };
      expect(await found("cells line")).toBe("one two");
      expect(await found('"cell line"')).toBe("one");
      expect(await found("gen*")).toBe("four three");
      expect(await found("gen* -mouse")).toBe("four");
      expect(await found("name:four")).toBe("four");
      expect(await found("description:four")).toBe("");
      expect(await found("imaged")).toBe("one");
      // Not corrected, as search would.
      expect(await found("genomme")).toBe("");
      for (const text of [
        '"',
        "((((",
        "* AND OR NOT",
        "a\0b",
        "\ud800",
        "' ; --",
        "x ".repeat(4000),
      ])
        expect(await found(text)).toBe("");
      await write(store(), replace(ark("one"), 1, { name: "other" }), remove(ark("two"), 1));
      expect(await found("cells line")).toBe("");
    });

    test("takes many values, deep filters and times far away", async () => {
      const rows = await fill(store());
      const order = { by: "created", descending: false } as const;
      const many = Array.from({ length: 1000 }, (_, i) => arkKey(`ark:99999/nobody-${i}`));
      const found = async (filter: RecordFilter) =>
        (await store().select({ filter, order, limit: 100 })).items.length;
      const deep = (levels: number): RecordFilter =>
        levels === 0 ? { kinds: ["dataset"] } : { not: deep(levels - 1) };
      expect(await found({ owners: many })).toBe(0);
      expect(await found({ not: { owners: many } })).toBe(rows.length);
      expect(await found({ or: many.map((owner) => ({ owners: [owner] })) })).toBe(0);
      expect(await found(deep(10))).toBe(20);
      expect(await found({ created: { since: -62_167_219_200_000 } })).toBe(rows.length);
      expect(await found({ modified: { since: 8.64e15 } })).toBe(0);
    });
  });
}
