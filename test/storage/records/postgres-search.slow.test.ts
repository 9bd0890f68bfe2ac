import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { arkFrom } from "../../support/arks.js";
import { everyWordOf } from "../../../src/storage/records/search.js";
import { isStorableText } from "../../../src/storage/records/text.js";
import { create, write } from "../../conformance/records/fixtures.js";
import { type Node, Nodes } from "../../support/postgres-nodes.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";

type Text = Partial<Record<"name" | "description" | "keywords" | "other", string>>;

/** Characters that are in all versions of Unicode that a database may know. */
const character = fc
  .oneof(
    fc.integer({ min: 1, max: 0x6ff }),
    fc.integer({ min: 0x2000, max: 0x218f }),
    fc.integer({ min: 0x4e00, max: 0x9fff }),
    fc.integer({ min: 0xe000, max: 0xf8ff }),
  )
  .map((code) => String.fromCodePoint(code));
/** The words of a text that a query of 8 KiB may ask for. */
const some = (text: string): string[] => [...new Set(everyWordOf(text))].slice(0, 20);

describe.skipIf(!hasPostgres)("full text in PostgreSQL", () => {
  let server: PostgresServer;
  const nodes = new Nodes();
  let records = 0;
  beforeAll(async () => {
    server = await PostgresServer.start(["fsync=off"]);
  });
  afterAll(async () => {
    await nodes.close();
    await server?.stop();
  });

  const store = (node: Node, name: string, text: Text): Promise<unknown> =>
    write(
      node,
      create(
        `ark:99999/${name}`,
        {},
        { text: { name: "", description: "", keywords: "", other: "", ...text } },
      ),
    );
  const found = async (node: Node, text: string): Promise<string[]> => {
    const { hits } = await node.search({ text, match: "all", offset: 0, limit: 100 });
    return hits.map(({ ark }) => ark.slice("ark:99999/".length)).toSorted();
  };

  for (const locale of ["C", "C.UTF-8"])
    describe(`with the locale ${locale}`, () => {
      let node: Node;
      beforeAll(async () => {
        const name = `locale_${locale.replace(/\W/g, "").toLowerCase()}`;
        await server.sql(
          `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE '${locale}'`,
        );
        node = await nodes.open(server.url(name));
      });

      test("finds any text by its words", async () => {
        const field = fc
          .oneof(
            fc.string({ unit: character, maxLength: 60 }),
            fc.lorem({ maxCount: 20 }),
            fc.array(fc.constantFrom("1e5x", "0x1f", "-3.5", "a&b;", "<i>", "x@y.org", "/a/b.c")),
          )
          .map((text) => (typeof text === "string" ? text : text.join(" ")))
          .filter(isStorableText);
        await fc.assert(
          fc.asyncProperty(fc.record({ name: field, other: field }), async (text) => {
            const name = `any-${records++}`;
            await store(node, name, text);
            const words = some(`${text.name} ${text.other}`);
            if (words.length > 0) expect(await found(node, words.join(" ")), name).toContain(name);
          }),
          { numRuns: 60 },
        );
      });

      test("finds numbers, identifiers and names of files by their parts", async () => {
        await store(node, "parts", {
          description:
            "DOI 10.5281/zenodo.1234567, raw_data-v2.1.csv, 5e8f8b8320, user@example.org, " +
            "https://example.org/a/b?c=d, AT&amp;T, -42, H₂O, <b>bold</b>, 2024-05-01",
        });
        for (const query of [
          "10.5281/zenodo.1234567",
          "zenodo 1234567",
          "123456*",
          "H₂O",
          "h₂*",
          "raw data csv",
          '"raw_data-v2.1.csv"',
          "raw_data-v2.1.csv",
          "5e8f8b8320",
          "5e8f8*",
          "user example",
          "bold",
          '"2024-05-01"',
          "42",
          '"a/b"',
        ])
          expect(await found(node, query), query).toContain("parts");
        for (const query of ["123457", "HO", "H2O", "O"])
          expect(await found(node, query), query).not.toContain("parts");
        expect(await found(node, '"2024-05-02"')).toEqual([]);
      });

      test("finds texts of other languages by their words and how these begin", async () => {
        await store(node, "german", {
          name: "Häufigkeit der Zellteilungen in Großstädten",
          description: "Die Messungen wurden über Nacht wiederholt.",
        });
        await store(node, "french", { name: "Évolution des cœurs d'élevage à l'été" });
        await store(node, "polish", { name: "Żółte łąki", description: "Ελληνικός ΛΌΓΟΣ" });
        for (const [query, name] of [
          ["Häufigkeit", "german"],
          ["haufigkeit", "german"],
          ["Zellteilungen", "german"],
          ["zellteil*", "german"],
          ["Großstädten", "german"],
          ["wiederhol*", "german"],
          ['"über Nacht"', "german"],
          ["évolution", "french"],
          ["E\u0301VOLUTION", "french"],
          ["cœurs élev*", "french"],
          ["d'élevage", "french"],
          ["żółte", "polish"],
          ["λόγος", "polish"],
          ["ΛΌΓΟΣ", "polish"],
          ["ελλην*", "polish"],
        ] as const)
          expect(await found(node, query), query).toEqual([name]);
      });

      test("marks hits in a text as it is written", async () => {
        await store(node, "marked", {
          name: "L'Évolution  des <cafés>, 2e éd.",
          description: `${"Vorher. ".repeat(40)}Über dem Café. ${"Danach. ".repeat(40)}`,
        });
        const { hits } = await node.search({ text: "cafe", match: "all", offset: 0, limit: 5 });
        const fragments = hits.find(({ ark }) => ark.endsWith("/marked"))!.fragments;
        const text = (parts: readonly { text: string; found: boolean }[]): string =>
          parts.map((part) => (part.found ? `[${part.text}]` : part.text)).join("");
        expect(text(fragments.name!)).toBe("L'Évolution  des <[cafés]>, 2e éd.");
        expect(text(fragments.description!)).toMatch(/^….*Über dem \[Café\]\. Danach.*…$/);
      });
    });

  describe("of a size that PostgreSQL does not index whole", () => {
    let node: Node;
    beforeAll(async () => {
      node = await nodes.open(await server.schema());
    });

    test("is stored and found by its first words", async () => {
      const distinct = (count: number, length: number): string =>
        Array.from({ length: count }, (_, index) => `w${index}${"x".repeat(length)}`).join(" ");
      await store(node, "words", { name: "Large", description: distinct(90_000, 20) });
      await store(node, "short", { name: "Large", description: distinct(300_000, 0) });
      await store(node, "prose", {
        name: "Large",
        description: `${"of the same words again ".repeat(120_000)}finally`,
      });
      await store(node, "long", { name: `Large ${"y".repeat(5000)}`, keywords: "細".repeat(4000) });
      expect(await found(node, "large")).toEqual(["long", "prose", "short", "words"]);
      expect(await found(node, "w7xxxxxxxxxxxxxxxxxxxx")).toEqual(["words"]);
      expect(await found(node, "w777")).toEqual(["short"]);
      expect(await found(node, "finally description:finally")).toEqual(["prose"]);
      expect(await found(node, '"same words"')).toEqual(["prose"]);
      expect(await found(node, "y".repeat(5000))).toEqual(["long"]);
      expect(await found(node, "細細*")).toEqual(["long"]);
      expect(await node.find(arkFrom("ark:99999/words"))).toBeDefined();
    });
  });

  describe("of a role that may not make the extension for other spellings", () => {
    test("finds words, corrects none and says what is missing", async () => {
      await server.sql("CREATE ROLE plain LOGIN");
      await server.sql("CREATE DATABASE plain");
      await server.sql("CREATE SCHEMA plain AUTHORIZATION plain", server.url("plain"));
      const url = server.url("plain").replace("arkgraph@", "plain@");
      const log: string[] = [];
      const node = await nodes.open(url, { log: (line) => log.push(line) });
      await store(node, "a", { name: "Microscope" });
      expect(await found(node, "microscopes")).toEqual(["a"]);
      expect(await found(node, "micorscope")).toEqual([]);
      expect(log).toHaveLength(1);
      expect(log[0]).toMatch(/permission denied.*CREATE EXTENSION pg_trgm/s);
      await server.sql("CREATE EXTENSION pg_trgm SCHEMA public", server.url("plain"));
      const next = await nodes.open(url, { log: (line) => log.push(line) });
      expect(await found(next, "micorscope")).toEqual(["a"]);
      expect(log).toHaveLength(1);
    });
  });
});
