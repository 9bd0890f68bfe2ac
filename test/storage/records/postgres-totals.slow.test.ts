import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SearchQuery } from "../../../src/storage/records/port.js";
import { COUNTED, FACETED } from "../../../src/storage/records/search.js";
import { create, write } from "../../conformance/records/fixtures.js";
import { LiveRegistry } from "../../support/live-registry.js";
import { type Node, Nodes } from "../../support/postgres-nodes.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";

/** Copies of one record. */
const COPIES = COUNTED + 10_000;

describe.skipIf(!hasPostgres)("a search that finds very many records in PostgreSQL", () => {
  let server: PostgresServer;
  let url: string;
  let node: Node;
  const nodes = new Nodes();
  beforeAll(async () => {
    server = await PostgresServer.start(["fsync=off"]);
    url = await server.schema();
    node = await nodes.open(url);
    const texts = {
      "common/a": ["dataset", "A plate", "frequent"],
      "common/b": ["software", "A lens", "frequent rare"],
      "common/c": ["dataset", "A plate", "seldom"],
    } as const;
    await write(
      node,
      ...Object.entries(texts).map(([name, [kind, title, description]]) => ({
        ...create(`ark:99999/${name}`, { kind, name: title, keywords: [] }),
        text: { name: title, description, keywords: "", other: "" },
      })),
    );
    // As a commit of so many records stores them, which would take a minute.
    await server.sql(
      `INSERT INTO record SELECT (jsonb_populate_record(r, jsonb_build_object(
          'id', r.id + 1000 * g, 'ark', r.ark || '/' || g, 'key', r.key || '/' || g,
          'state', r.state + 1000 * g))).*
        FROM record AS r, generate_series(1, ${COPIES}) AS g WHERE r.ark = 'ark:99999/common/a';
      INSERT INTO text SELECT (jsonb_populate_record(t, jsonb_build_object(
          'state', t.state + 1000 * g))).*
        FROM text AS t JOIN record AS r USING (state), generate_series(1, ${COPIES}) AS g
        WHERE r.ark = 'ark:99999/common/a';
      UPDATE tally SET live = live + ${COPIES} WHERE kind = 'dataset';
      ANALYZE`,
      url,
    );
  }, 600_000);
  afterAll(async () => {
    await nodes.close();
    await server?.stop();
  });

  const ask = (text: string, more: Partial<SearchQuery> = {}) =>
    node.search({ text, match: "all", offset: 0, limit: 10, ...more });
  const atLeast = (total: number): void => expect(total).toBe(COUNTED);

  test("counts up to a bound, and marks the number as one", async () => {
    const { total, exact, ranked, hits } = await ask("frequent");
    atLeast(total);
    expect(exact).toBe(false);
    expect(ranked).toBeLessThan(total);
    expect(hits).toHaveLength(10);
    expect(new Set(hits.map((hit) => hit.ark)).size).toBe(10);
  });

  test("has the same number on each page, and each record once", async () => {
    const [one, two] = [await ask("frequent"), await ask("frequent", { offset: 500 })];
    expect(two.total).toBe(one.total);
    expect(two.hits).toHaveLength(10);
    const last = await ask("frequent", { offset: 9_990 });
    expect(last.hits).toHaveLength(10);
    const arks = [one, two, last].flatMap(({ hits }) => hits.map((hit) => hit.ark));
    expect(new Set(arks).size).toBe(30);
  });

  test("counts what few records have, and what a filter leaves of many words", async () => {
    expect(await ask("seldom")).toMatchObject({ total: 1, exact: true, ranked: 1 });
    // No record has both words: those with one of them are found, the rare one first.
    const either = await ask("frequent seldom");
    expect(either).toMatchObject({ exact: false, matchesAnyWord: true });
    expect(either.hits[0]!.ark).toBe("ark:99999/common/c");
    expect(await ask("frequent", { filter: { nameStartsWith: "a table" } })).toMatchObject({
      total: 0,
      exact: true,
    });
  });

  test("counts up to the bound within a kind, and for any of several words", async () => {
    const kind = await ask("frequent", { filter: { kinds: ["dataset"] } });
    atLeast(kind.total);
    expect(kind.exact).toBe(false);
    expect(await ask("frequent", { filter: { kinds: ["software"] } })).toMatchObject({
      total: 1,
      exact: true,
    });
    const any = await ask("frequent seldom", { match: "related" });
    atLeast(any.total);
    expect(any.exact).toBe(false);
    // The rare word counts more.
    expect(any.hits[0]!.ark).toBe("ark:99999/common/c");
  });

  test("counts up to the bound for terms of every form, also for many at a time", async () => {
    const words = Array.from({ length: 63 }, (_, index) => `word${index}`).join(" ");
    for (const text of [
      '"a plate"',
      "freq*",
      "name:plate",
      "description:frequent",
      "frequent -seldom",
      "frequent OR AND ((",
      "FREQUENT frequent",
    ]) {
      const { total, exact } = await ask(text, text.includes("((") ? { match: "related" } : {});
      expect(exact, text).toBe(false);
      atLeast(total);
    }
    expect(await ask(`frequent ${words}`)).toMatchObject({ exact: false, matchesAnyWord: true });
    const any = await ask(`frequent ${words}`, { match: "related" });
    expect(any.exact).toBe(false);
    atLeast(any.total);
    // Nothing of a number is near to another one.
    expect(await ask("20240117")).toMatchObject({ total: 0, exact: true, hits: [] });
  });

  test("counts the newest by their values, and marks the counts as incomplete", async () => {
    const { facets } = await ask("frequent", { facets: { by: ["kind"], limit: 10 } });
    expect(facets).toMatchObject([{ by: "kind", exact: false }]);
    expect(facets![0]!.values.reduce((sum, { records }) => sum + records, 0)).toBe(FACETED);
  });

  test("marks the bound over REST and GraphQL and on the page", async () => {
    const registry = await LiveRegistry.start({ DATABASE_URL: url });
    try {
      const answers = async (words: string) => {
        const rest = await registry.ask(`/search/basic?query=${words}`);
        const graphql = await registry.graphql(
          `{ search(query: "${words}") { totalCount totalCountIsExact } }`,
        );
        const page = await registry.ask(`/search?q=${words}&drafts=yes`, {
          headers: { Accept: "text/html" },
        });
        return { rest: rest.body, graphql: graphql.body["data"].search, page: page.text };
      };
      const many = await answers("frequent");
      atLeast(many.rest["total_results"] as number);
      expect(many.rest["total_is_estimate"]).toBe(true);
      expect(many.graphql).toEqual({
        totalCount: many.rest["total_results"],
        totalCountIsExact: false,
      });
      expect(many.page).toMatch(/at least 60,000 records/);
      const few = await answers("seldom");
      expect(few.rest).not.toHaveProperty("total_is_estimate");
      expect(few.graphql).toEqual({ totalCount: 1, totalCountIsExact: true });
      expect(few.page).not.toContain("at least 1 record");
    } finally {
      await registry.stop();
    }
  }, 60_000);
});
