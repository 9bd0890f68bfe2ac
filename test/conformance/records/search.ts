import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arkKey } from "../../../src/identifiers/ark.js";
import type { RecordWrite, SearchHit, SearchQuery } from "../../../src/storage/records/port.js";
import { RANKED } from "../../../src/storage/records/search.js";
import { type RecordFilter, STATISTICS_KEYS } from "../../../src/storage/records/port/selection.js";
import { fold } from "../../../src/storage/records/text.js";
import { create, OWNER, remove, replace, type Setting, write } from "./fixtures.js";

const ark = (name: string): string => `ark:99999/${name}`;
/** A record with the text that search sees of it. */
const holding = (
  name: string,
  text: { name?: string; description?: string; keywords?: string[]; other?: string },
  kind: "dataset" | "software" | "entity" = "dataset",
): RecordWrite =>
  ({
    ...create(ark(name), { kind, name: text.name ?? "", keywords: text.keywords ?? [] }),
    text: {
      name: text.name ?? "",
      description: text.description ?? "",
      keywords: (text.keywords ?? []).join(" "),
      other: text.other ?? "",
    },
  }) as RecordWrite;
const marked = (
  hit: SearchHit | undefined,
  field: "name" | "description" | "keywords",
): string | undefined =>
  hit?.fragments[field]?.map(({ text, found }) => (found ? `[${text}]` : text)).join("");

export function searchConforms({ store, reopen }: Setting): void {
  const ask = (text: string, more: Partial<SearchQuery> = {}) =>
    store().search({ text, match: "all", offset: 0, limit: 10, ...more });
  const found = async (text: string, more: Partial<SearchQuery> = {}): Promise<string[]> =>
    (await ask(text, more)).hits.map((hit) => hit.ark.slice("ark:99999/".length));

  describe("a search for an identifier", () => {
    const identified = (text: string, more: Partial<SearchQuery> = {}) =>
      ask(text, { match: "identifier", ...more });
    test("finds the record of this key and those below, the shortest first, and counts all", async () => {
      await write(
        store(),
        holding("cells/a", {}),
        holding("cells", {}),
        holding("cells/b", {}, "software"),
        holding("cellspan", {}),
        holding("other", {}),
      );
      await write(store(), remove(ark("cells/a"), 1));
      const { total, hits } = await identified("ark:99999/cells");
      expect([total, hits.map((hit) => hit.ark)]).toEqual([
        3,
        ["cells", "cells/b", "cellspan"].map(ark),
      ]);
      expect(hits[0]!.score).toBe(1);
      expect(hits[1]!.score).toBeLessThan(1);
      expect(
        (await identified("ark:99999/cells", { filter: { kinds: ["software"] } })).hits.map(
          (hit) => hit.ark,
        ),
      ).toEqual([ark("cells/b")]);
      expect(
        (await identified("ark:99999/cells", { offset: 1, limit: 1 })).hits.map((hit) => hit.ark),
      ).toEqual([ark("cells/b")]);
      expect(await identified("ark:99999/nothing")).toEqual({
        total: 0,
        exact: true,
        ranked: 0,
        hits: [],
      });
    });
  });

  describe("a search for all words", () => {
    test("finds records that contain each of them, by stem, without case and accents", async () => {
      await write(
        store(),
        holding("a", { name: "Images of cells", description: "Taken under a microscope." }),
        holding("b", { name: "Image", description: "A Café." }),
        holding("c", { keywords: ["imaging"], other: "ark:99999/xyz" }),
      );
      expect((await found("imaging")).toSorted()).toEqual(["a", "b", "c"]);
      expect(await found("cell IMAGES")).toEqual(["a"]);
      expect(await found("cafe")).toEqual(["b"]);
      expect(await found("xyz imaging")).toEqual(["c"]);
      expect(await ask("cells café")).toMatchObject({ total: 2, matchesAnyWord: true });
      expect(await ask("… !!! ---")).toEqual({ total: 0, exact: true, ranked: 0, hits: [] });
    });

    test("ranks a word in the name before one in keywords, description or elsewhere", async () => {
      await write(
        store(),
        holding("other", { name: "one", other: "plate" }),
        holding("described", { name: "two", description: "plate" }),
        holding("keyword", { name: "three", keywords: ["plate"] }),
        holding("named", { name: "plate" }),
        ...Array.from({ length: 9 }, (_, i) => holding(`far${i}`, { name: "else" })),
      );
      const { hits, total } = await ask("plates");
      expect(total).toBe(4);
      expect(hits.map((hit) => hit.ark)).toEqual(
        ["named", "keyword", "described", "other"].map(ark),
      );
      const scores = hits.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      expect(scores.at(-1)).toBeGreaterThan(0);
    });

    test("ranks an entity of a crate behind a dataset with the same words", async () => {
      const words = { name: "Alignment of reads" };
      await write(
        store(),
        ...["first", "second"].map((name) => holding(name, words, "entity")),
        holding("whole", { ...words, description: "All that was sequenced on one day in spring." }),
        holding("aside", { name: "A plate", other: "alignment" }),
        ...Array.from({ length: 9 }, (_, i) => holding(`far${i}`, { name: "else" })),
      );
      for (const match of ["all", "related"] as const)
        expect(await found("alignment", { match })).toEqual(["whole", "first", "second", "aside"]);
    });

    test("ranks an own private entity behind a private dataset with the same words", async () => {
      const hidden = (name: string, kind: "dataset" | "entity"): RecordWrite =>
        ({ ...holding(name, { name: "Alignment" }, kind), private: true }) as RecordWrite;
      await write(store(), hidden("whole", "dataset"), hidden("step", "entity"));
      expect(await found("alignment", { viewer: { user: arkKey(OWNER) } })).toEqual([
        "whole",
        "step",
      ]);
    });

    test("ignores stop words, unless there are no other words", async () => {
      await write(
        store(),
        holding("a", { name: "Images, nuclei" }),
        holding("b", { name: "The Who" }),
        holding("c", { name: "Nuclei of cells" }),
      );
      expect(await found("images of nuclei")).toEqual(["a"]);
      expect((await found("the nuclei")).toSorted()).toEqual(["a", "c"]);
      expect(await found("The Who")).toEqual(["b"]);
      expect(await found("of", { match: "related" })).toEqual(["c"]);
    });

    test("uses no stop word of the best records as a related word", async () => {
      await write(
        store(),
        ...["one", "two", "three"].map((name) =>
          holding(name, {
            name: `Nuclei ${name}`,
            description: "Images of the cells and their walls, which were with us.",
          }),
        ),
        holding("other", { name: "The Who", description: "A band of the sixties, and with us." }),
      );
      expect((await found("nuclei", { match: "related" })).toSorted()).toEqual([
        "one",
        "three",
        "two",
      ]);
    });

    test("gives the best hit a score of 1, also for a word that most records have", async () => {
      await write(
        store(),
        ...Array.from({ length: 20 }, (_, i) =>
          holding(
            `d${i}`,
            i % 2 === 0 ? { name: "plate" } : { name: "else", description: "a plate" },
          ),
        ),
      );
      const { hits } = await ask("plate", { limit: 20 });
      expect(hits[0]!.score).toBe(1);
      expect(hits.at(-1)!.score).toBeGreaterThan(0.01);
      expect((await ask("plate", { limit: 5, offset: 15 })).hits[0]!.score).toBeCloseTo(
        hits[15]!.score,
        10,
      );
    });

    test("highlights the matches in place", async () => {
      await write(
        store(),
        holding("a", {
          name: "Images <of> cells",
          description: `${"Before. ".repeat(60)}Here are cells. ${"After. ".repeat(60)}`,
          keywords: ["cell", "map"],
        }),
      );
      const [hit] = (await ask("cells")).hits;
      expect(marked(hit, "name")).toBe("Images <of> [cells]");
      expect(marked(hit, "keywords")).toBe("[cell] map");
      expect(marked(hit, "description")).toMatch(/^….*Here are \[cells\]\. .*…$/);
      expect((await ask("images")).hits[0]!.fragments).toEqual({
        name: [
          { text: "Images", found: true },
          { text: " <of> cells", found: false },
        ],
      });
    });

    test("counts all hits, returns pages of them, and filters by kind", async () => {
      await write(
        store(),
        ...Array.from({ length: 7 }, (_, i) => holding(`d${i}`, { name: "plate" })),
        holding("s", { name: "plate" }, "software"),
      );
      expect(await ask("plate", { limit: 3 })).toMatchObject({ total: 8 });
      expect(
        [
          ...(await found("plate", { limit: 5 })),
          ...(await found("plate", { limit: 5, offset: 5 })),
        ].toSorted(),
      ).toEqual([...Array.from({ length: 7 }, (_, i) => `d${i}`), "s"]);
      expect(await ask("plate", { offset: 8 })).toEqual({
        total: 8,
        exact: true,
        ranked: 8,
        hits: [],
      });
      expect(await ask("plate", { filter: { kinds: ["software"] } })).toMatchObject({
        total: 1,
        hits: [{ ark: ark("s") }],
      });
      expect(await ask("plate", { filter: { kinds: ["group"] } })).toEqual({
        total: 0,
        exact: true,
        ranked: 0,
        hits: [],
      });
    });

    test("tries other spellings only when no record contains all words", async () => {
      await write(
        store(),
        holding("a", { name: "Microscope images" }),
        holding("b", { name: "Microscop" }),
        holding("c", { name: "Map" }),
      );
      expect(await found("microscop")).toContain("b");
      expect(await found("micorscope images")).toEqual(["a"]);
      expect(await found("microskope")).not.toEqual([]);
      // Short words are near everything.
      expect(await found("mop")).toEqual([]);
      expect(await found("xylophone")).toEqual([]);
    });

    test("finds records with any of the words where none has all, the best first, and says so", async () => {
      await write(
        store(),
        holding("both", { name: "Images of nuclei", description: "By the plate." }),
        holding("one", { name: "Nuclei" }),
        holding("soft", { name: "Counter of nuclei" }, "software"),
        ...["a", "b", "c"].map((name) => holding(name, { name: "Plates" })),
      );
      const page = await ask("nuclei images xylophone", { facets: { by: ["kind"], limit: 5 } });
      expect(page).toMatchObject({ total: 3, exact: true, matchesAnyWord: true });
      expect(page.hits[0]!.ark).toBe(ark("both"));
      expect(marked(page.hits[0], "name")).toBe("[Images] of [nuclei]");
      expect(page.facets![0]!.values).toEqual([
        { value: "dataset", records: 2 },
        { value: "software", records: 1 },
      ]);
      expect(await found("nuclei xylophone -counter")).not.toContain("soft");
      expect(await found("nuclei xylophone", { filter: { kinds: ["software"] } })).toEqual([
        "soft",
      ]);
      expect(await ask("nuclei images")).not.toHaveProperty("matchesAnyWord");
      expect(await ask("xylophone quartzite")).toEqual({
        total: 0,
        exact: true,
        ranked: 0,
        hits: [],
      });
    });

    test("answers questions of many languages without their stop words", async () => {
      await write(
        store(),
        holding("a", { name: "Mikroskopie Bilder" }),
        holding("b", { name: "Images de cellules" }),
        holding("c", { name: "La die" }),
      );
      for (const [question, answer] of [
        ["Where can I find Mikroskopie Bilder?", "a"],
        ["Wo sind die Bilder aus der Mikroskopie", "a"],
        ["quelles sont les images des cellules ?", "b"],
      ] as const)
        expect([question, (await found(question))[0]]).toEqual([question, answer]);
      await write(store(), holding("d", { name: "A dog" }));
      // "dog" is a stop word in Danish.
      expect(await found("dog xylophone")).toEqual(["d"]);
      expect(await ask("die Bilder der Mikroskopie")).not.toHaveProperty("matchesAnyWord");
    });

    test("finds other forms of a word: irregular plurals, British spellings, units and Greek letters", async () => {
      await write(
        store(),
        holding("mice", { name: "Mice in a haematology centre" }),
        holding("local", { name: "Localization of tumor signals" }),
        holding("dose", { name: "Dose 5 \u00B5M of IL-2" }),
        holding("tnf", { name: "TNF-\u03B1" }),
        holding("fish", { name: "Zebrafish" }),
        holding("old", { name: "MS2 analysis" }),
      );
      for (const [typed, answer] of [
        ["mouse", "mice"],
        ["hematology center", "mice"],
        ["localisation", "local"],
        ["tumours", "local"],
        ["5 uM", "dose"],
        ["IL2", "dose"],
        ["il-2", "dose"],
        ["TNF alpha", "tnf"],
        ["TNF\u03B1", "tnf"],
        ["zebra fish", "fish"],
        ["MS-2 analyses", "old"],
      ] as const) {
        const { hits, matchesAnyWord } = await ask(typed);
        expect([typed, hits.map((hit) => hit.ark), matchesAnyWord]).toEqual([
          typed,
          [ark(answer)],
          undefined,
        ]);
      }
      expect(marked((await ask("mouse")).hits[0], "name")).toBe("[Mice] in a haematology centre");
      expect(await ask("mouse")).not.toHaveProperty("corrected");
    });

    test("finds words that hold an unknown one, and two words for one", async () => {
      await write(
        store(),
        holding("pipe", { name: "CellProfilerPipelineOutput" }),
        holding("german", { name: "Zellkulturdaten" }),
        holding("chinese", { name: "\u5C0F\u9F20\u7EC6\u80DE\u56FE\u50CF\u6570\u636E" }),
        holding("fish", { name: "Zebra fish" }),
        holding("cat", { name: "Category" }),
      );
      for (const [typed, answer] of [
        ["CellProfiler", "pipe"],
        ["pipeline outputs", "pipe"],
        ["Kultur", "german"],
        ["\u7EC6\u80DE", "chinese"],
        ["\u5C0F\u9F20\u7684\u56FE\u50CF\u5728\u54EA\u91CC", "chinese"],
        ["zebrafish", "fish"],
      ] as const)
        expect([typed, await found(typed)]).toEqual([typed, [answer]]);
      expect(await found("cat")).toEqual([]);
      expect(await ask("CellProfiler")).not.toHaveProperty("corrected");
    });

    test("corrects neither a number nor a word to one that begins with a digit", async () => {
      await write(
        store(),
        holding("a", { name: "Batch 20240117" }),
        holding("b", { name: "3plate" }),
      );
      expect(await found("20240118")).toEqual([]);
      expect(await found("2024o117")).toEqual([]);
      expect(await found("splate")).toEqual([]);
      expect(await found("bacth")).toEqual(["a"]);
    });

    test("corrects a word with one wrong letter, also where its ending changes the stem", async () => {
      await write(
        store(),
        holding("a", { name: "Embedding of images" }),
        holding("b", { name: "A computation" }),
        holding("c", { name: "Paging" }),
      );
      for (const typed of ["embeddign", "embeddnig", "embeddings", "embeding"])
        expect(await found(typed), typed).toEqual(["a"]);
      for (const typed of ["computaton", "computatiom", "compuattion", "computattion"])
        expect(await found(typed), typed).toEqual(["b"]);
      expect(await found("pagign")).toEqual(["c"]);
      expect((await found("embeddign computaton")).toSorted()).toEqual(["a", "b"]);
    });

    test("corrects a long word with two wrong letters, also where its stem differs", async () => {
      await write(
        store(),
        holding("a", { name: "A Polymerase" }),
        holding("b", { description: "Of phosphatases." }),
        holding("c", { keywords: ["transcriptase"] }),
      );
      // What the stem "polymeras" becomes when it is taken for a word.
      await write(store(), holding("d", { name: "Polymera" }));
      expect(await found("pollymerrase")).toEqual(["a"]);
      expect(await found("fosphatase")).toEqual(["b"]);
      expect(await found("transscripttase")).toEqual(["c"]);
      expect(await ask("pollymerrase fosphatase")).toHaveProperty("matchesAnyWord", true);
      expect(marked((await ask("pollymerrase")).hits[0], "name")).toBe("A [Polymerase]");
    });

    test("follows changes, and finds no deleted record", async () => {
      await write(store(), holding("a", { name: "first" }), holding("b", { name: "first" }));
      expect(await found("first")).toHaveLength(2);
      await write(
        store(),
        {
          ...replace(ark("a"), 1),
          text: { name: "second", description: "", keywords: "", other: "" },
        } as RecordWrite,
        remove(ark("b"), 1),
      );
      expect(await found("first")).toEqual([]);
      expect(await found("second")).toEqual(["a"]);
      await reopen();
      expect(await found("second")).toEqual(["a"]);
    });
  });

  describe("a query in the search language", () => {
    const cells = (): Promise<unknown> =>
      write(
        store(),
        holding("pair", { name: "Cell counts", description: "Of a single cell line, by plate." }),
        holding("apart", {
          name: "Counts of a cell",
          description: "A line about single genes. Genomics of the mouse.",
          keywords: ["cell", "map", "line"],
        }),
        holding("gene", { name: "Genome", keywords: ["gene therapy", "mouse"] }),
        holding("calc", { name: "Computation", description: "Microscopy, transcription." }),
      );
    const sorted = async (text: string, more: Partial<SearchQuery> = {}): Promise<string[]> =>
      (await found(text, more)).toSorted();

    test("finds a phrase where its words stand next to each other, in one field", async () => {
      await cells();
      expect(await sorted('"cell counts"')).toEqual(["pair"]);
      expect(await sorted('"CELLS count"')).toEqual(["pair"]);
      expect(await sorted('"counts of a cell"')).toEqual(["apart"]);
      expect(await sorted('"counts cell"')).toEqual([]);
      // "line" ends the keywords, "a" begins the description.
      expect(await sorted('"line a"')).toEqual([]);
      expect(await sorted('"cell line" plate')).toEqual(["pair"]);
      expect(await sorted("“cell line”")).toEqual(["pair"]);
      expect(await sorted('"gene therapy" genome')).toEqual(["gene"]);
    });

    test("finds a phrase far behind in a text that repeats its words", async () => {
      await write(
        store(),
        holding("far", {
          description: `${"cell ".repeat(30)}${"word ".repeat(500)}cell plate and more`,
        }),
        holding("not", { description: `${"cell ".repeat(30)}and a plate` }),
      );
      expect(await sorted('"cell plate"')).toEqual(["far"]);
    });

    test("finds words by how they begin, also where their stem is shorter", async () => {
      await cells();
      expect(await sorted("gen*")).toEqual(["apart", "gene"]);
      expect(await sorted("genom*")).toEqual(["apart", "gene"]);
      expect(await sorted("computat*")).toEqual(["calc"]);
      expect(await sorted("computatio*")).toEqual(["calc"]);
      expect(await sorted("microsco*")).toEqual(["calc"]);
      expect(await sorted("Transcriptio*")).toEqual(["calc"]);
      expect(await sorted("gen* mou*")).toEqual(["apart", "gene"]);
      expect(await sorted("xyl*")).toEqual([]);
    });

    test("leaves out what is excluded, also from related records", async () => {
      await cells();
      expect(await sorted("cell -mouse")).toEqual(["pair"]);
      expect(await sorted("cell -mice")).toEqual(["apart", "pair"]);
      expect(await sorted("cell -plate -genomics")).toEqual([]);
      expect(await sorted('cell -"single cell"')).toEqual(["apart"]);
      expect(await sorted("mouse -genome*")).toEqual([]);
      expect(await sorted("mouse -name:genome")).toEqual(["apart"]);
      expect(await sorted("counts -single-cell")).toEqual(["apart"]);
      for (const query of ["cell -mouse", "genes cell -mouse"])
        expect(await found(query, { match: "related" })).toEqual(["pair"]);
      expect(await ask("-mouse")).toEqual({ total: 0, exact: true, ranked: 0, hits: [] });
      expect(await ask("-mouse", { match: "related" })).toEqual({
        total: 0,
        exact: true,
        ranked: 0,
        hits: [],
      });
    });

    test("finds words and phrases in one field", async () => {
      await cells();
      expect(await sorted("name:cell")).toEqual(["apart", "pair"]);
      expect(await sorted("keyword:cell")).toEqual(["apart"]);
      expect(await sorted("keywords:line name:counts")).toEqual(["apart"]);
      expect(await sorted("Description:genes")).toEqual(["apart"]);
      expect(await sorted('description:"cell line"')).toEqual(["pair"]);
      expect(await sorted('name:"cell line"')).toEqual([]);
      expect(await sorted("keyword:gen*")).toEqual(["gene"]);
      // What is no field is words.
      expect(await sorted("cell:counts")).toEqual(["apart", "pair"]);
      expect(await ask("name: counts")).toHaveProperty("matchesAnyWord", true);
    });

    test("takes other spellings of plain words and words in a field, not of phrases", async () => {
      await cells();
      expect(await sorted('micorscopy name:computaton -"cell line"')).toEqual(["calc"]);
      expect(await sorted('"cell cuonts"')).toEqual([]);
    });

    test("shows the words of a phrase, of a prefix and of a field in their places", async () => {
      await cells();
      const [pair] = (await ask('"single cell"')).hits;
      expect(marked(pair, "name")).toBeUndefined();
      expect(marked(pair, "description")).toMatch(/single.{0,3}cell/);
      const [gene] = (await ask("keyword:ther*")).hits;
      expect(marked(gene, "keywords")).toBe("gene [therapy] mouse");
      const [named] = (await ask("name:cell -mouse")).hits;
      expect(named?.fragments.description).toBeUndefined();
      expect(marked(named, "name")).toBe("[Cell] counts");
    });

    test("reads words of all scripts", async () => {
      await write(
        store(),
        holding("arabic", { name: "صور الخلايا السرطانية" }),
        holding("hebrew", { name: "תמונות של תאים" }),
        holding("chinese", { name: "细胞图像 数据" }),
        holding("hindi", { name: "कोशिका चित्र" }),
        holding("greek", { name: "Εικόνες κυττάρων" }),
        holding("combining", { name: "Größe café" }),
      );
      for (const [query, name] of [
        ["الخلايا", "arabic"],
        ['"صور الخلايا"', "arabic"],
        ["السرطان*", "arabic"],
        ["name:תאים -תמונה", "hebrew"],
        ["细胞*", "chinese"],
        ['"细胞图像 数据"', "chinese"],
        ["कोशिका", "hindi"],
        ["ΕΙΚΌΝΕΣ", "greek"],
        ["größe café", "combining"],
        ["grö*", "combining"],
      ] as const) {
        expect(await found(query), query).toEqual([name]);
        expect(await found(query, { filter: { kinds: ["dataset"] } }), query).toEqual([name]);
        expect(await found(query, { filter: { not: { kinds: ["dataset"] } } }), query).toEqual([]);
      }
    });

    test("is fast with 8 KiB of operators", async () => {
      await cells();
      for (const part of ['"', "-", "*", "(", 'name:"', "-gen* ", '-"a b" ', "gen*x* ", '"a" ']) {
        const before = process.cpuUsage();
        await ask(part.repeat(8192 / part.length));
        await ask(part.repeat(8192 / part.length), { match: "related" });
        expect(process.cpuUsage(before).user / 1000, part).toBeLessThan(2000);
      }
    });
  });

  describe("what a search says of its answer", () => {
    const some = (): Promise<unknown> =>
      write(
        store(),
        holding("a", { name: "Microscope images", description: "Of a Polymerase, and cells." }),
        holding("b", { name: "Cells", description: "Cells and cells, images too." }),
        holding("c", { keywords: ["cell"] }),
        ...Array.from({ length: 9 }, (_, index) => holding(`far${index}`, { name: "Weather" })),
      );

    test("is which words it took for others, as records write them", async () => {
      await some();
      expect((await ask("micorscope images")).corrected).toEqual([
        { typed: "micorscope", meant: "microscope" },
      ]);
      for (const match of ["all", "related"] as const)
        expect((await ask("pollymerrase", { match })).corrected).toEqual([
          { typed: "pollymerrase", meant: "polymerase" },
        ]);
      expect((await ask("cells")).corrected).toBeUndefined();
      expect((await ask("xylophone")).corrected).toBeUndefined();
    });

    test("is what made each score, where that is asked for", async () => {
      await some();
      expect((await ask("cell images")).hits[0]!.parts).toBeUndefined();
      for (const [query, match] of [
        ["cell images", "all"],
        ["cell micro* -weather", "related"],
        ['"microscope images" name:images', "all"],
      ] as const) {
        const { hits } = await ask(query, { match, explain: true });
        expect(hits.length).toBeGreaterThan(0);
        for (const { parts, score } of hits) {
          expect(parts!.reduce((sum, part) => sum + part.score, 0)).toBeCloseTo(score, 6);
          expect(parts!.every((part) => part.score > 0)).toBe(true);
        }
      }
      const [best] = (await ask('"microscope images" name:images micro*', { explain: true })).hits;
      expect(best!.parts!.map(({ reason, text }) => `${reason} ${text}`).toSorted()).toEqual([
        'term "microscope images"',
        "term micro*",
        "term name:images",
      ]);
      const page = await ask("cell", { match: "related", explain: true });
      expect(page.hits.find((hit) => hit.ark === ark("c"))!.parts).toEqual([
        { reason: "term", text: "cell", score: expect.any(Number) as number },
      ]);
    });
  });

  describe("a search within a filter", () => {
    const fill = (): Promise<unknown> =>
      write(
        store(),
        holding("a", { name: "Plate of cells", keywords: ["Imaging", "cells"] }),
        holding("b", { name: "Plate", keywords: ["imaging"] }, "software"),
        holding("c", { description: "A plate." }),
        holding("d", { name: "Plates", keywords: ["other"] }),
        holding("e", { name: "Cup", keywords: ["other"] }),
      );
    const FILTERS: readonly [RecordFilter, string[]][] = [
      [{ kinds: ["dataset"] }, ["a", "c", "d"]],
      [{ kinds: ["dataset", "software"] }, ["a", "b", "c", "d"]],
      [{ keywords: ["IMAGING"] }, ["a", "b"]],
      [{ keywords: ["imaging"], kinds: ["dataset"] }, ["a"]],
      [{ not: { keywords: ["imaging"] } }, ["c", "d"]],
      [{ or: [{ nameContains: "cells" }, { kinds: ["software"] }] }, ["a", "b"]],
      [{ owners: [arkKey(OWNER)] }, ["a", "b", "c", "d"]],
      [{ owners: ["99999/no-such"] }, []],
      [{ created: { before: 0 } }, []],
      [{ kinds: [] }, []],
    ];
    test("finds, counts and ranks only what meets it", async () => {
      await fill();
      for (const [filter, names] of FILTERS)
        for (const match of ["all", "related"] as const) {
          const page = await ask("plate", { filter, match });
          const told = JSON.stringify([filter, match]);
          expect(page.hits.map((hit) => hit.ark.slice(10)).toSorted(), told).toEqual(names);
          expect([page.total, page.ranked], told).toEqual([names.length, names.length]);
          // The best of those, not of all.
          expect(page.hits[0]?.score ?? 1, told).toBe(1);
          if (names.length > 1)
            expect(await found("plate", { filter, match, offset: 1, limit: 1 }), told).toEqual([
              page.hits[1]!.ark.slice(10),
            ]);
        }
      expect(await found("-cells plate", { filter: { keywords: ["imaging"] } })).toEqual(["b"]);
    });

    test("looks for other spellings only among the records of the filter", async () => {
      await fill();
      expect(await ask("plaet", { filter: { keywords: ["imaging"] } })).toMatchObject({
        total: 2,
        corrected: [{ typed: "plaet", meant: "plate" }],
      });
    });

    test("finds identifiers within it", async () => {
      await fill();
      const filter = { keywords: ["imaging"] };
      const page = await ask("ark:99999/", { match: "identifier", filter, facets });
      expect(page).toMatchObject({ total: 2, ranked: 2 });
      expect(page.hits.map((hit) => hit.ark)).toEqual(["a", "b"].map(ark));
      expect(page.facets![0]!.values).toEqual([
        { value: "dataset", records: 1 },
        { value: "software", records: 1 },
      ]);
    });

    const facets = { by: ["kind", "keyword", "owner"], limit: 2 } as const;
    test("counts what was found by kind, keyword and owner", async () => {
      await fill();
      expect((await ask("plate")).facets).toBeUndefined();
      const expected = [
        {
          by: "kind",
          values: [
            { value: "dataset", records: 3 },
            { value: "software", records: 1 },
          ],
          more: false,
          exact: true,
        },
        {
          by: "keyword",
          values: [
            { value: "imaging", records: 2 },
            { value: "cells", records: 1 },
          ],
          more: true,
          exact: true,
        },
        { by: "owner", values: [{ value: OWNER, records: 4 }], more: false, exact: true },
      ];
      for (const match of ["all", "related"] as const) {
        expect((await ask("plate", { facets, match })).facets).toEqual(expected);
        // The same on each page, and without one.
        expect((await ask("plate", { facets, match, offset: 3, limit: 1 })).facets).toEqual(
          expected,
        );
        expect(await ask("plate", { facets, match, limit: 0 })).toEqual({
          total: 4,
          exact: true,
          ranked: 4,
          facets: expected,
          hits: [],
        });
      }
      const within = await ask("plate", { facets, filter: { keywords: ["imaging"] } });
      expect(within.facets![0]!.values).toEqual([
        { value: "dataset", records: 1 },
        { value: "software", records: 1 },
      ]);
      for (const nothing of ["xylophone", "…", "-plate"])
        for (const match of ["all", "related"] as const)
          expect((await ask(nothing, { facets, match })).facets).toEqual(
            facets.by.map((by) => ({ by, values: [], more: false, exact: true })),
          );
    });

    test("counts by each key of statistics", async () => {
      await fill();
      const all = await ask("plate", { facets: { by: STATISTICS_KEYS, limit: 10 } });
      const of = (by: string) => all.facets!.find((facet) => facet.by === by)!.values;
      expect(all.facets!.map(({ by }) => by)).toEqual(STATISTICS_KEYS);
      expect(of("status")).toEqual([{ value: "DRAFT", records: 4 }]);
      expect(of("month")).toEqual([{ value: "2026-01", records: 4 }]);
      // None has stored content.
      expect(of("format")).toEqual([]);
    });
  });

  describe("a search that finds more than can be ranked", () => {
    const more = RANKED + 300;
    const fill = async (): Promise<void> => {
      for (let from = 0; from < more; from += 1000)
        await write(
          store(),
          ...Array.from({ length: Math.min(1000, more - from) }, (_, index) =>
            holding(
              `d${from + index}`,
              from + index === 7
                ? { name: "plate" }
                : { name: "one", description: `a plate${from + index === 9 ? " rare" : ""}` },
              from + index < 20 ? "software" : "dataset",
            ),
          ),
        );
    };

    test(
      "ranks likely ones, says so, and gives the others behind them, each once",
      { timeout: 120_000 },
      async () => {
        await fill();
        const first = await ask("plate");
        expect(first.total).toBe(more);
        expect(first.ranked).toBeLessThanOrEqual(RANKED);
        expect(first.ranked).toBeGreaterThan(RANKED / 4);
        // The oldest but seven, by its name.
        expect(first.hits[0]).toMatchObject({ ark: ark("d7"), score: 1 });
        const all: string[] = [];
        for (let offset = 0; offset < more; offset += 1000)
          all.push(...(await found("plate", { offset, limit: 1000 })));
        expect(all).toHaveLength(more);
        expect(new Set(all).size).toBe(more);
        const last = await ask("plate", { offset: more - 3 });
        expect(last.hits).toHaveLength(3);
        expect(last.hits[2]!.score).toBeGreaterThan(0);
        expect(last.hits[2]!.fragments.description).toBeDefined();
        expect(await ask("plate", { offset: more })).toMatchObject({ total: more, hits: [] });
        // A kind with few records: all of them are ranked.
        expect(await ask("plate", { filter: { kinds: ["software"] } })).toMatchObject({
          total: 20,
          exact: true,
          ranked: 20,
        });
        // A filter that most of them meet, and one that finds them by more than an index.
        for (const filter of [
          { kinds: ["dataset"] },
          { not: { nameIs: "plate" }, kinds: ["dataset"] },
        ] as const) {
          const part = await ask("plate", { filter, facets: { by: ["kind"], limit: 5 } });
          expect(part.total).toBe(more - 20);
          expect(part.ranked).toBeLessThanOrEqual(RANKED);
          expect(part.facets).toEqual([
            {
              by: "kind",
              values: [{ value: "dataset", records: more - 20 }],
              more: false,
              exact: true,
            },
          ]);
          const [behind] = await found("plate", { filter, offset: more - 21, limit: 5 });
          expect(Number(behind!.slice(1))).toBeGreaterThanOrEqual(20);
        }
        expect(await ask("rare plate")).toMatchObject({ total: 1, ranked: 1 });
        // Any of the words: a rare one is found among many that hold the other.
        const any = await ask("rare plate", { match: "related" });
        expect(any.total).toBe(more);
        expect(any.ranked).toBeLessThanOrEqual(RANKED);
        expect(any.hits.slice(0, 2).map((hit) => hit.ark)).toContain(ark("d9"));
        expect((await ask("plate -one")).hits.map((hit) => hit.ark)).toEqual([ark("d7")]);
      },
    );
  });

  describe("a search for related records", () => {
    test("finds records that contain any of the words, and words of the best of those", async () => {
      await write(
        store(),
        holding("a", { name: "Tumour samples", description: "Oncology of the breast" }),
        holding("b", { name: "Tumour scans", description: "Oncology of the lung" }),
        holding("c", { name: "Oncology register" }),
        holding("d", { name: "Weather in Graz" }),
        ...Array.from({ length: 30 }, (_, i) =>
          holding(`far${i}`, { name: `Station ${i}`, description: "Rain of the day" }),
        ),
      );
      const hits = await found("tumour patients", { match: "related" });
      expect(hits.slice(0, 2).toSorted()).toEqual(["a", "b"]);
      expect(hits).toContain("c");
      expect(hits).not.toContain("d");
      expect(await ask("tumour patients")).toHaveProperty("matchesAnyWord", true);
      expect(await found("tunour", { match: "related" })).toContain("a");
      expect(await ask("xylophone", { match: "related" })).toEqual({
        total: 0,
        exact: true,
        ranked: 0,
        hits: [],
      });
    });

    test("counts each record once", async () => {
      await write(
        store(),
        ...Array.from({ length: 5 }, (_, i) => holding(`a${i}`, { name: "alpha beta gamma" })),
      );
      const { hits, total } = await ask("alpha beta", { match: "related" });
      expect(total).toBe(5);
      expect(new Set(hits.map((hit) => hit.ark)).size).toBe(5);
    });
  });

  test("a search whose caller has left is not run", async () => {
    await write(store(), holding("a", { name: "plate" }));
    const gone = new AbortController();
    const first = ask("plate");
    const second = store().search(
      { text: "plate", match: "all", offset: 0, limit: 1 },
      gone.signal,
    );
    gone.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    expect((await first).total).toBe(1);
    expect(
      (await Promise.all(Array.from({ length: 20 }, () => ask("plate")))).every(
        ({ total }) => total === 1,
      ),
    ).toBe(true);
  });

  test("any query text is searched, never executed", async () => {
    await write(store(), holding("a", { name: "NEAR plate* name:alpha OR NOT" }));
    const hostile = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.string({ unit: "binary", maxLength: 20 }),
      fc
        .array(
          fc.constantFrom(
            '"',
            "'",
            "*",
            "(",
            ")",
            "OR",
            "AND",
            "NOT",
            "NEAR(",
            "name:",
            "keyword:",
            '-"',
            "-name:",
            "pla*",
            "*a*",
            "^",
            "-",
            "+",
            "{",
            "}",
            ":",
            ",",
            "plate",
            "\u0000",
            "\uD800",
            "\uFDD0",
            ";",
            "--",
          ),
          { maxLength: 12 },
        )
        .map((parts) => parts.join(" ")),
    );
    await fc.assert(
      fc.asyncProperty(hostile, fc.constantFrom("all", "related" as const), async (text, match) => {
        const { total, hits } = await ask(text, { match });
        expect(hits.length).toBeLessThanOrEqual(total);
        for (const { score } of hits) expect(score).toBeGreaterThan(0);
        // Within filters too, whose values are no more than text.
        const own = { filter: { owners: [arkKey(OWNER)] }, match };
        expect((await ask(text, own)).total).toBe(total);
        const filter = { or: [{ nameContains: text }, { keywords: [text] }, { crates: [text] }] };
        const part = await ask("plate", { filter, match, facets: { by: ["keyword"], limit: 1 } });
        expect(part.total).toBe("near plate* name:alpha or not".includes(fold(text)) ? 1 : 0);
      }),
      { numRuns: 150 },
    );
    expect(await found("NOT plate")).toEqual(["a"]);
    expect(await found("NOT absent")).toEqual([]);
    expect(await found('name:alpha "plate"')).toEqual(["a"]);
    // As long as a query may be.
    expect((await ask("plate x ".repeat(1024))).total).toBe(1);
    expect((await ask(Array.from({ length: 2000 }, (_, i) => `w${i}`).join(" "))).total).toBe(0);
    expect(
      (await ask(Array.from({ length: 2000 }, (_, i) => `w${i}`).join(" "), { match: "related" }))
        .total,
    ).toBe(0);
  });
}
