import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventsOf, webSocketClient } from "../support/graphql-streams.js";
import { LiveRegistry } from "../support/live-registry.js";
import { provenance } from "../support/provenance-world.js";
import type { Json, User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user();
  await provenance(registry.deps.records, ada.ark, 150);
});
afterAll(() => registry?.stop());

/** Four levels of lists, each with its default page. */
const FOUR =
  "{ computations { nodes { usedDataset { nodes { ... on Dataset { generatedBy { nodes { ... on " +
  "Computation { usedDataset { nodes { id } } } } } } } } } } }";

describe("the price of an operation", () => {
  test("is in the answer, over every transport", async () => {
    const query = "{ datasets(first: 5) { nodes { owner { id } } } }";
    const extensions = { cost: { requested: 10, limit: 50_000 } };
    expect((await registry.graphql(query)).body).toMatchObject({ extensions });
    const client = webSocketClient(registry.url);
    expect((await client.iterate({ query }).next()).value).toMatchObject({ extensions });
    await client.dispose();
    const response = await fetch(`${registry.url}/graphql/stream`, {
      method: "POST",
      body: JSON.stringify({ query }),
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    });
    expect((await eventsOf(response))[0]!.data).toMatchObject({ extensions });
  });

  test("has a place for each count of links, one for each record of the page", async () => {
    const priceOf = async (page: string) => {
      const query =
        `{ datasets(first: 5) { nodes { usedBy(first: 2) { nodes { id } ${page} } } } } ` +
        "fragment Counted on RecordConnection { totalCount pageInfo { hasNextPage } }";
      const { body } = await registry.graphql(
        page.includes("Counted") ? query : query.split(" fragment")[0]!,
      );
      return body["extensions"].cost.requested as number;
    };
    const without = await priceOf("");
    expect(await priceOf("totalCount")).toBe(without + 5 * 10);
    expect(await priceOf("...Counted")).toBe(without + 5 * 10);
    // The count of a list is ready.
    const { body } = await registry.graphql("{ datasets(first: 5) { totalCount } }");
    expect(body["extensions"].cost.requested).toBe(5);
  });

  test("has a place for each link of a filter, in variables and their defaults too", async () => {
    const priceOf = async (query: string, variables: object = {}) => {
      const { body } = await registry.graphql(query, variables);
      expect(body["errors"]).toBeUndefined();
      return body["extensions"].cost.requested as number;
    };
    const list = (page: string, inner = "id") =>
      `{ datasets(first: 5${page}) { nodes { ${inner} } } }`;
    const filter = '{ usedBy: { not: { usedSoftware: { ids: "ark:99999/x" } } } }';
    const plain = await priceOf(list(""));
    expect(await priceOf(list(`, filter: ${filter}`))).toBe(plain + 2 * 100);
    const asked = "datasets(first: 5, filter: $filter) { nodes { id } } }";
    expect(
      await priceOf(`query ($filter: RecordFilter) { ${asked}`, {
        filter: { or: [{ usedBy: {} }, { usedBy: null, hasPart: { hasPart: {} } }] },
      }),
    ).toBe(plain + 3 * 100);
    expect(await priceOf(`query ($filter: RecordFilter = ${filter}) { ${asked}`)).toBe(plain + 200);
    const links = (page: string) => list("", `usedBy(first: 2${page}) { nodes { id } }`);
    const followed = await priceOf(links(""));
    expect(await priceOf(links(", orderBy: { field: NAME }"))).toBe(followed + 5 * 10);
    expect(await priceOf(links(`, filter: ${filter}`))).toBe(followed + 5 * (10 + 2 * 10));
    const many = Array.from({ length: 501 }, () => ({ usedBy: {} }));
    const { body } = await registry.graphql(`query ($filter: RecordFilter) { ${asked}`, {
      filter: { or: many },
    });
    expect(body["errors"]).toMatchObject([{ extensions: { code: "QUERY_TOO_COSTLY" } }]);
  });

  test("lets four levels of lists with their default pages pass", async () => {
    const { body } = await registry.graphql(FOUR);
    expect(body["errors"]).toBeUndefined();
    const { requested, limit } = body["extensions"].cost as { requested: number; limit: number };
    // A hundred computations, and seven links of each record on three levels.
    expect(requested).toBe(100 * (1 + 7 * (1 + 7 * (1 + 7))));
    expect(requested).toBeLessThanOrEqual(limit);
  });

  test("counts no more records than there are", async () => {
    const { body } = await registry.graphql(
      "{ softwares(first: 1000) { nodes { usedBy(first: 1000) { nodes { id } } } } }",
    );
    expect(body["errors"]).toBeUndefined();
    // One piece of software; a million by the product of the page sizes.
    expect(body["extensions"].cost.requested).toBeLessThan(400);
  });

  test("is named where it is too high", async () => {
    const { body } = await registry.graphql(FOUR.replaceAll("{ nodes", "(first: 1000) { nodes"));
    expect(body).toMatchObject({
      errors: [
        {
          extensions: {
            code: "QUERY_TOO_COSTLY",
            cost: { requested: expect.any(Number), limit: 50_000 },
          },
        },
      ],
    });
  });
});

describe("an operation without a token", () => {
  test("ends in time, with what it has read so far", async () => {
    const strict = await LiveRegistry.start({ GRAPHQL_ANONYMOUS_TIME: "1ms" });
    try {
      const user = await strict.user();
      await provenance(strict.deps.records, user.ark, 30);
      const { body } = await strict.graphql(FOUR);
      expect((body["errors"] as Json[])[0]).toMatchObject({
        message: expect.stringContaining("GRAPHQL_ANONYMOUS_TIME"),
        extensions: { code: "QUERY_TIMEOUT" },
      });
      expect((await strict.graphql(FOUR, {}, user.token)).body["errors"]).toBeUndefined();
    } finally {
      await strict.stop();
    }
  });
});
