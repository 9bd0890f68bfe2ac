import { describe, expect, test } from "vitest";
import {
  type StoredVector,
  MAX_EMBEDDED_CHARACTERS,
  type RecordWrite,
  type SearchPage,
  type SearchQuery,
} from "../../../src/storage/records/port.js";
import { commitOf, create, remove, replace, type Setting, write } from "./fixtures.js";

const MODEL = "test/four";
const ark = (name: string): string => `ark:99999/${name}`;
const short = (found: string): string => found.slice("ark:99999/".length);
const digestOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (digest: Uint8Array | null): string | null =>
  digest && new TextDecoder().decode(digest);
/** Of length 1. */
const unit = (...values: number[]): Float32Array =>
  Float32Array.from(values, (value) => value / Math.hypot(...values));
const [EAST, NORTH, UP] = [unit(1, 0, 0, 0), unit(0, 1, 0, 0), unit(0, 0, 1, 0)];
const kept = (name: string, vector: Float32Array | null, digest = name): StoredVector => ({
  ark: ark(name),
  digest: digestOf(digest),
  vector,
});
const holding = (
  name: string,
  text: string,
  kind: "dataset" | "software" = "dataset",
): RecordWrite => create(ark(name), { name: text, kind });

export function vectorsConform({ store, reopen }: Setting): void {
  /** All places and records behind a place, in pages of a size. */
  async function walk(after: string, limit: number, model = MODEL): Promise<string[]> {
    const seen: string[] = [];
    for (let at = after; ;) {
      const { texts, to } = await store().changedTexts(model, at, limit);
      seen.push(...texts.map(({ ark: of, text }) => `${short(of)}=${text?.name ?? "-"}`));
      expect(texts.length).toBeLessThanOrEqual(limit);
      if (to === undefined) return seen;
      at = to;
    }
  }
  /** Keeps vectors as of the end of the change log. */
  async function keep(vectors: StoredVector[], model = MODEL): Promise<void> {
    const after = await store().vectorsReach(model);
    let to = after;
    for (
      let next: string | undefined = after;
      next !== undefined;
      next = (await store().changedTexts(model, next, 100)).to
    )
      to = next;
    expect(await store().storeVectors(model, { after, to, vectors })).toBe(true);
  }
  const ask = (
    text: string,
    vector: Float32Array,
    more: Partial<SearchQuery> = {},
    model = MODEL,
  ): Promise<SearchPage> =>
    store().search({
      text,
      match: "related",
      offset: 0,
      limit: 10,
      near: { model, vector },
      ...more,
    });
  const found = async (...asked: Parameters<typeof ask>): Promise<string[]> =>
    (await ask(...asked)).hits.map((hit) => short(hit.ark));

  describe("texts for which vectors are computed", () => {
    test("are listed in the order of the change log with the current text, whatever the page size", async () => {
      expect(await store().changedTexts(MODEL, "", 10)).toEqual({ texts: [], to: undefined });
      await write(
        store(),
        create(ark("a"), { name: "First", keywords: ["one", "two"] }),
        holding("b", "Second"),
      );
      await write(store(), replace(ark("a"), 1, { name: "Third" }));
      await write(store(), remove(ark("b"), 1), holding("c", "Fourth"));
      const all = ["a=Third", "b=-", "a=Third", "b=-", "c=Fourth"];
      for (const limit of [1, 2, 3, 100]) expect(await walk("", limit)).toEqual(all);
      const { to } = await store().changedTexts(MODEL, "", 3);
      expect(await walk(to!, 1)).toEqual(all.slice(3));
      await write(store(), replace(ark("a"), 2, { name: "Fifth" }));
      expect(await walk(to!, 100)).toEqual([...all.slice(3), "a=Fifth"]);
    });

    test("of a crate's many records may be split anywhere", async () => {
      const root = ark("crate");
      await store().commit(
        commitOf(
          [
            create(root, { kind: "rocrate" }),
            ...Array.from({ length: 40 }, (_, i) =>
              create(`${root}/${i}`, { name: `Table ${i}` }, { crate: root }),
            ),
          ],
          { within: 30_000, uses: { crate: root, arks: [] } },
        ),
      );
      const whole = await walk("", 100);
      expect(whole).toHaveLength(41);
      expect(await walk("", 7)).toEqual(whole);
    });

    test("are name, keywords and description alone, each up to a length", async () => {
      await write(store(), {
        ...create(ark("a")),
        text: {
          name: "N",
          keywords: "k w",
          description: "D".repeat(MAX_EMBEDDED_CHARACTERS + 1),
          other: "secret",
        },
      } as RecordWrite);
      expect((await store().changedTexts(MODEL, "", 1)).texts).toEqual([
        {
          ark: ark("a"),
          text: { name: "N", keywords: "k w", description: "D".repeat(MAX_EMBEDDED_CHARACTERS) },
          digest: null,
        },
      ]);
    });

    test(
      "are listed with the digest of the text that the stored vector of the model was " +
        "computed from",
      async () => {
        await write(store(), holding("a", "First"), holding("b", "Second"), holding("c", "Third"));
        await keep([kept("a", EAST, "First"), kept("b", NORTH, "Second"), kept("c", null)]);
        const digests = async (model: string) =>
          (await store().changedTexts(model, "", 9)).texts.map(({ digest }) => textOf(digest));
        expect(await digests(MODEL)).toEqual(["First", "Second", null]);
        expect(await digests("other")).toEqual([null, null, null]);
        // Another kind is no other text.
        await write(store(), replace(ark("a"), 1, { name: "First", kind: "software" }));
        expect(await digests(MODEL)).toEqual(["First", "Second", null, "First"]);
        await keep([kept("a", null), kept("b", null)]);
        expect(await digests(MODEL)).toEqual([null, null, null, null]);
      },
    );

    test("are not listed for an unknown position", async () => {
      for (const place of ["x", "1", "1/", "-1/2", "1/2/3", "1/2 ", "9".repeat(20), "1.5/2"]) {
        await expect(store().changedTexts(MODEL, place, 1)).rejects.toMatchObject({
          code: "BAD_REQUEST",
        });
        await expect(
          store().storeVectors(MODEL, { after: "", to: place, vectors: [] }),
        ).rejects.toMatchObject({ code: "BAD_REQUEST" });
      }
      await expect(
        store().storeVectors(MODEL, { after: "2/1", to: "1/9", vectors: [] }),
      ).rejects.toMatchObject({ code: "BAD_REQUEST" });
      await expect(
        store().storeVectors(MODEL, { after: "", to: "", vectors: [] }),
      ).rejects.toMatchObject({ code: "BAD_REQUEST" });
    });
  });

  describe("stored vectors", () => {
    test("reach the recorded position, by model, also after a restart", async () => {
      await write(store(), holding("a", "First"), holding("b", "Second"));
      const { to: middle } = await store().changedTexts(MODEL, "", 1);
      const { to: end } = await store().changedTexts(MODEL, middle!, 1);
      expect(await store().vectorsReach(MODEL)).toBe("");
      expect(await store().storeVectors(MODEL, { after: "", to: middle!, vectors: [] })).toBe(true);
      expect(
        await store().storeVectors(MODEL, { after: middle!, to: end!, vectors: [kept("b", EAST)] }),
      ).toBe(true);
      expect([await store().vectorsReach(MODEL), await store().vectorsReach("other")]).toEqual([
        end,
        "",
      ]);
      await reopen();
      expect(await store().vectorsReach(MODEL)).toBe(end);
      expect(await found("nothing", EAST)).toEqual(["b"]);
    });

    test("are those of the faster of two writers at one position", async () => {
      await write(store(), holding("a", "First"), holding("b", "Second"));
      const { to } = await store().changedTexts(MODEL, "", 10);
      let after = "";
      for (const [round, next] of [to!, "7/0", "8/0"].entries()) {
        const step = (name: string) =>
          store().storeVectors(MODEL, {
            after,
            to: next,
            vectors: [kept("a", null), kept("b", null), kept(name, EAST)],
          });
        const done = await Promise.all([step("a"), step("b")]);
        expect(done.toSorted(), `round ${round}`).toEqual([false, true]);
        expect(await store().vectorsReach(MODEL)).toBe(next);
        expect(await found("nothing", EAST)).toEqual([done[0] ? "a" : "b"]);
        after = next;
      }
      expect(await store().storeVectors(MODEL, { after: "", to: "9/0", vectors: [] })).toBe(false);
      expect(await store().storeVectors("other", { after: to!, to: "9/0", vectors: [] })).toBe(
        false,
      );
      expect([await store().vectorsReach(MODEL), await store().vectorsReach("other")]).toEqual([
        "8/0",
        "",
      ]);
    });

    test(
      "have length 1, and the last of several for one record is stored; missing records " +
        "are skipped",
      async () => {
        await write(store(), holding("a", "First"));
        const step = (vectors: StoredVector[]) =>
          store().storeVectors(MODEL, { after: "", to: "1/1", vectors });
        for (const wrong of [[1, 1, 0, 0], [0, 0, 0, 0], [NaN, 1, 0, 0], [], [Infinity, 0, 0, 0]])
          await expect(step([kept("a", Float32Array.from(wrong))])).rejects.toThrow(
            /a is not of length 1/,
          );
        await expect(
          step([kept("a", new Float32Array(20_000).fill(1 / Math.sqrt(20_000)))]),
        ).rejects.toThrow(/at most 16000/);
        expect(await store().vectorsReach(MODEL)).toBe("");
        expect(
          await step([kept("a", NORTH, "old"), kept("nowhere", EAST), kept("a", EAST, "new")]),
        ).toBe(true);
        expect((await ask("nothing", EAST)).hits).toEqual([
          { ark: ark("a"), score: 1, fragments: {} },
        ]);
        expect(textOf((await store().changedTexts(MODEL, "", 1)).texts[0]!.digest)).toBe("new");
      },
    );

    test("of other models are removed in batches, and those of the current model are not", async () => {
      await write(store(), ...["a", "b", "c"].map((name) => holding(name, name)));
      const all = ["a", "b", "c"].map((name) => kept(name, EAST));
      for (const model of ["old", MODEL, "zuletzt"]) await keep(all, model);
      let forgotten = 0;
      for (let last = Infinity; last > 0; forgotten += last) {
        last = await store().forgetVectors(MODEL, 3);
        expect(last).toBeLessThanOrEqual(3);
        expect([await store().vectorsReach("old"), await store().vectorsReach("zuletzt")]).toEqual([
          "",
          "",
        ]);
      }
      expect(forgotten).toBe(8);
      expect(await store().vectorsReach(MODEL)).not.toBe("");
      expect((await found("nothing", EAST)).length).toBe(3);
      expect(await found("nothing", EAST, {}, "old")).toEqual([]);
      expect((await store().changedTexts("old", "", 9)).texts.map(({ digest }) => digest)).toEqual([
        null,
        null,
        null,
      ]);
    });

    test("that were removed and computed again are found", async () => {
      await write(store(), holding("a", "First"), holding("b", "Second"), holding("c", "Third"));
      await keep([kept("a", EAST)]);
      await write(store(), holding("d", "Fourth"));
      await keep([kept("b", UP)]);
      expect(await found("nothing", EAST)).toEqual(["a"]);
      // Not all of them, and then again as many steps as before.
      expect(await store().forgetVectors("other", 2)).toBe(2);
      await keep([kept("c", EAST), kept("a", null)]);
      await write(store(), holding("e", "Fifth"));
      await keep([kept("b", EAST)]);
      expect((await found("nothing", EAST)).toSorted()).toEqual(["b", "c"]);
      while ((await store().forgetVectors("other", 10)) > 0);
      await keep([kept("d", EAST)]);
      await write(store(), holding("f", "Sixth"));
      await keep([]);
      expect(await found("nothing", EAST)).toEqual(["d"]);
    });
  });

  describe("a search with a vector", () => {
    test("without any stored vector equals one without", async () => {
      await write(
        store(),
        holding("a", "Tumour samples"),
        holding("b", "Tumour scans"),
        holding("c", "Weather"),
      );
      const plain = await store().search({
        text: "tumour",
        match: "related",
        offset: 0,
        limit: 10,
      });
      expect(plain.total).toBe(2);
      expect(await ask("tumour", EAST)).toEqual(plain);
      expect(await ask("… !!!", EAST)).toEqual({ total: 0, exact: true, ranked: 0, hits: [] });
      await keep([kept("a", EAST)], "other");
      expect(await ask("tumour", EAST)).toEqual(plain);
      expect(await ask("tumour", unit(1, 1), {}, "other")).toEqual(plain);
    });

    test("finds the nearest of all, with words or without, in order", async () => {
      await write(
        store(),
        ...["a", "b", "c", "d", "e"].map((name) => holding(name, `Record ${name}`)),
      );
      await keep([
        kept("a", unit(0.8, 0.6, 0, 0)),
        kept("b", NORTH),
        kept("c", EAST),
        kept("d", UP),
      ]);
      for (const text of ["", "… !!!", "xylophone"]) {
        const { hits, total } = await ask(text, EAST);
        expect(total, text).toBe(2);
        // The mean of 0.8, 0, 1 and 0 is 0.45.
        expect(hits).toEqual([
          { ark: ark("c"), score: 1, fragments: {} },
          { ark: ark("a"), score: expect.closeTo(0.35 / 0.55, 5), fragments: {} },
        ]);
      }
    });

    test("combines words and vectors, and shows where words were found", async () => {
      await write(
        store(),
        holding("words", "Tumour tumour"),
        holding("both", "A tumour among very many other words"),
        holding("near", "Oncology"),
        ...Array.from({ length: 20 }, (_, i) => holding(`far${i}`, "Rain")),
      );
      await keep([
        kept("both", EAST),
        kept("near", unit(1, 0.1, 0, 0)),
        ...Array.from({ length: 20 }, (_, i) => kept(`far${i}`, NORTH)),
      ]);
      const plain = await store().search({
        text: "tumour",
        match: "related",
        offset: 0,
        limit: 10,
      });
      expect(plain.hits.map((hit) => short(hit.ark))).toEqual(["words", "both"]);
      const { hits, total } = await ask("tumour", EAST);
      expect(total).toBe(3);
      expect(hits.map((hit) => short(hit.ark))).toEqual(["both", "words", "near"]);
      const [words, both] = plain.hits.map(({ score }) => score) as [number, number];
      expect(hits[0]!.score).toBeCloseTo(both / words + 1, 5);
      expect(hits[1]!.score).toBeCloseTo(1, 5);
      expect(hits[2]!.score).toBeLessThan(1);
      expect(hits[2]!.score).toBeGreaterThan(0.9);
      expect(hits[1]!.fragments).toEqual(plain.hits[0]!.fragments);
      expect(hits[0]!.fragments.name).toContainEqual({ text: "tumour", found: true });
      expect(hits[2]!.fragments).toEqual({});
    });

    test("weighs words by how rare they are", async () => {
      await write(
        store(),
        holding("plants", "Pressed leaves"),
        ...Array.from({ length: 9 }, (_, i) => holding(`of${i}`, `Table of number ${i}`)),
      );
      await keep([
        kept("plants", EAST),
        kept("of3", unit(0.5, 0.5, 0, 0)),
        ...[0, 1, 2, 4, 5, 6, 7, 8].map((i) => kept(`of${i}`, NORTH)),
      ]);
      const { hits, total } = await ask("botany number flowers", EAST);
      expect(total).toBe(10);
      expect(short(hits[0]!.ark)).toBe("plants");
      for (const { score } of hits.slice(1)) expect(score).toBeLessThan(0.9);
      // Of a question whose words are all known the best by words counts as much as the nearest.
      expect((await ask("leaves", NORTH)).hits.map(({ score }) => score)[0]).toBeCloseTo(1, 5);
    });

    test("counts all hits, returns ordered pages, ties by creation, and filters by kind", async () => {
      const names = Array.from({ length: 7 }, (_, i) => `d${i}`);
      await write(
        store(),
        ...names.map((name) => holding(name, name === "d3" ? "plate" : "cup")),
        holding("s", "cup", "software"),
        holding("t", "plate", "software"),
        holding("u", "fork", "software"),
      );
      await keep(
        [
          ...names.map((name) => kept(name, name === "d5" ? UP : EAST)),
          kept("s", unit(0.9, 0.1, 0, 0)),
          kept("u", NORTH),
        ].toReversed(),
      );
      const all = ["d3", "d0", "d1", "d2", "d4", "d6", "t", "s"];
      expect(await found("plate", EAST)).toEqual(all);
      for (let offset = 0; offset <= 9; offset += 3)
        expect(
          await ask("plate", EAST, { limit: 3, offset }).then(({ total, hits }) => ({
            total,
            hits: hits.map((hit) => short(hit.ark)),
          })),
        ).toEqual({ total: 8, hits: all.slice(offset, offset + 3) });
      expect(await found("plate", EAST, { filter: { kinds: ["software"] } })).toEqual(["s", "t"]);
      expect(await ask("plate", EAST, { filter: { kinds: ["software"] }, offset: 2 })).toEqual({
        total: 2,
        exact: true,
        ranked: 2,
        hits: [],
      });
      expect(await ask("", EAST, { filter: { kinds: ["software"] }, offset: 1 })).toEqual({
        total: 1,
        exact: true,
        ranked: 1,
        hits: [],
      });
      // Other filters too, among which the nearest is that of the filter.
      for (const filter of [
        { kinds: ["software", "group"] },
        { or: [{ kinds: ["software"] }] },
      ] as const) {
        expect(await found("plate", EAST, { filter })).toEqual(["s", "t"]);
        const page = await ask("", NORTH, { filter, facets: { by: ["kind"], limit: 1 } });
        expect(page.hits).toMatchObject([{ ark: ark("u"), score: 1 }]);
        expect(page.facets).toMatchObject([{ values: [{ value: "software", records: 1 }] }]);
      }
      expect(await ask("", EAST, { offset: 100 })).toEqual({
        total: 7,
        exact: true,
        ranked: 7,
        hits: [],
      });
      expect(await ask("plate", EAST, { filter: { kinds: ["group"] } })).toEqual({
        total: 0,
        exact: true,
        ranked: 0,
        hits: [],
      });
    });

    test("for all words ignores it", async () => {
      await write(store(), holding("a", "plate"), holding("b", "cup"));
      await keep([kept("a", NORTH), kept("b", EAST)]);
      expect(await found("plate", EAST, { match: "all" })).toEqual(["a"]);
      expect(await ask("", EAST, { match: "all" })).toEqual({
        total: 0,
        exact: true,
        ranked: 0,
        hits: [],
      });
    });

    test(
      "finds no deleted record although its vector exists, and finds drafts and embargoed " +
        "records as words do",
      async () => {
        await write(
          store(),
          holding("a", "plate"),
          create(ark("b"), { name: "plate" }, { publicationStatus: "DRAFT" }),
          holding("c", "plate"),
          holding("d", "cup"),
        );
        await write(store(), {
          op: "publish",
          ark: ark("c"),
          status: "EMBARGOED",
          embargoedUntil: "2099-01-01",
        });
        await keep([kept("a", EAST), kept("b", EAST), kept("c", EAST), kept("d", NORTH)]);
        await write(store(), remove(ark("a"), 1));
        const plain = await store().search({
          text: "plate",
          match: "related",
          offset: 0,
          limit: 10,
        });
        expect(plain.hits.map((hit) => short(hit.ark))).toEqual(["b", "c"]);
        for (const text of ["plate", ""]) {
          const { total, hits } = await ask(text, EAST);
          expect({ total, hits: hits.map((hit) => short(hit.ark)) }).toEqual({
            total: 2,
            hits: ["b", "c"],
          });
        }
      },
    );

    test("sees replaced, removed and added vectors at once", async () => {
      const names = Array.from({ length: 40 }, (_, i) => `r${i}`);
      await write(store(), ...names.map((name) => holding(name, "x")));
      await keep(names.map((name) => kept(name, NORTH)));
      // All are alike.
      expect((await ask("", EAST, { limit: 100 })).total).toBe(40);
      for (const [at, name] of ["r7", "r39", "r0"].entries()) {
        await write(store(), holding(`n${at}`, "y"));
        await keep([kept(name, EAST)]);
        expect(await found("", EAST)).toEqual([name]);
        await write(store(), holding(`m${at}`, "y"));
        await keep([kept(`n${at}`, unit(1, 0.1, 0, 0)), kept(name, null)]);
        expect(await found("", EAST)).toEqual([`n${at}`]);
        await write(store(), holding(`o${at}`, "y"));
        await keep([kept(`n${at}`, null)]);
      }
      await write(store(), holding("z", "z"));
      await keep([kept("r7", UP)]);
      expect(await found("", UP)).toEqual(["r7"]);
    });

    test("uses the requested model each time", async () => {
      await write(store(), holding("a", "x"), holding("b", "y"));
      await keep([kept("a", EAST), kept("b", NORTH)]);
      await keep([kept("a", unit(0, 1)), kept("b", unit(1, 0))], "two");
      for (let round = 0; round < 2; round++) {
        expect(await found("", EAST)).toEqual(["a"]);
        expect(await found("", unit(1, 0), {}, "two")).toEqual(["b"]);
      }
    });
  });
}
