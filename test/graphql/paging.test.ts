import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import type { Json } from "../support/registry-client.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());
const make = async (kind: Parameters<typeof bodyOf>[0], more = {}) =>
  String(
    (
      await server.request("POST", `/${kind}`, {
        token: ada.token,
        json: bodyOf(kind, ada.id, more),
      })
    ).body["@id"],
  );

interface Connection {
  nodes: { id: string }[];
  edges: { cursor: string; node: { id: string } }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  totalCount: number | null;
}
/** Every record of a connection, by pages of `first`; each page is whole but the last. */
async function all(
  query: (page: string) => string,
  at: (data: Record<string, never>) => Connection,
  first: number,
): Promise<string[]> {
  const found: string[] = [];
  let after: string | null = null;
  for (let round = 0; ; round++) {
    expect(round).toBeLessThan(50);
    const answer = await server.graphql<Record<string, never>>(
      query(`first: ${first}${after === null ? "" : `, after: ${JSON.stringify(after)}`}`),
      {},
      ada.token,
    );
    expect(answer.body.errors).toBeUndefined();
    const { nodes, edges, pageInfo, totalCount } = at(answer.body.data);
    expect(edges.map(({ node }) => node.id)).toEqual(nodes.map(({ id }) => id));
    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([
      edges[0]?.cursor ?? null,
      edges.at(-1)?.cursor ?? null,
    ]);
    expect(pageInfo.hasPreviousPage).toBe(after !== null);
    found.push(...nodes.map(({ id }) => id));
    if (!pageInfo.hasNextPage) {
      expect(totalCount).toBe(found.length);
      return found;
    }
    expect(nodes).toHaveLength(first);
    after = pageInfo.endCursor;
  }
}
const PAGE =
  "nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage " +
  "startCursor endCursor } totalCount";

describe("paging forward", () => {
  it.each([1, 2, 3, 7, 100])(
    "by %i returns each record of a list once, in each order",
    async (first) => {
      const marker = `list-${first}`;
      const ids: string[] = [];
      for (let round = 0; round < 7; round++)
        ids.push(
          await make("software", { name: `${round % 2 ? "b" : "a"} ${round}`, keywords: [marker] }),
        );
      const list = (order: string) =>
        all(
          (page) =>
            `{ softwares(${page}, filter: { keywords: "${marker}" }, orderBy: { ${order} }) { ` +
            `${PAGE} } }`,
          (data) => data["softwares"]!,
          first,
        );
      expect(await list("field: CREATED")).toEqual(ids);
      expect(await list("field: CREATED, direction: DESC")).toEqual(ids.toReversed());
      expect((await list("field: NAME")).sort()).toEqual(ids.toSorted());
    },
  );

  it.each([1, 2, 3, 4, 5, 100])(
    "by %i returns each linked record once, whichever side states the link and how often",
    async (first) => {
      const dataset = await make("dataset");
      const outside = "ark:99999/not-here";
      // Said by the dataset, by the run, by both in other spellings, twice by one run, and first
      // one then the other.
      const runs = [await make("computation", { usedDataset: dataset })];
      runs.push(
        await make("computation", { usedDataset: dataset, used: dataset, usedSample: [dataset] }),
      );
      const both = await make("computation", { usedDataset: dataset.replaceAll("-", "") });
      const later = bodyOf("computation", ada.id, { usedDataset: dataset });
      await server.request("POST", "/computation", { token: ada.token, json: later });
      runs.push(await make("computation", { usedDataset: dataset }));
      await server.request("PUT", "/computation", {
        token: ada.token,
        json: { ...later, usedInstrument: dataset },
      });
      await server.request("PUT", "/dataset", {
        token: ada.token,
        json: bodyOf("dataset", ada.id, {
          "@id": dataset,
          usedBy: [outside, both.replace("test-", "te-st-")],
          datasetUsedBy: [both, outside],
        }),
      });
      const found = await all(
        (page) => `{ dataset(id: "${dataset}") { usedBy(${page}) { ${PAGE} } } }`,
        (data) => (data["dataset"]! as { usedBy: Connection }).usedBy,
        first,
      );
      expect(found.toSorted()).toEqual([outside, both, String(later["@id"]), ...runs].toSorted());
      expect(found.slice(0, 2).toSorted()).toEqual([outside, both].toSorted());
      const backward: string[] = [];
      for (let before: string | null = null; ;) {
        const page: string = `last: ${first}${before === null ? "" : `, before: "${before}"`}`;
        const answer: { body: { data: { dataset: { usedBy: Connection } }; errors?: unknown } } =
          await server.graphql(`{ dataset(id: "${dataset}") { usedBy(${page}) { ${PAGE} } } }`);
        expect(answer.body.errors).toBeUndefined();
        const { nodes, edges, pageInfo } = answer.body.data.dataset.usedBy;
        backward.unshift(...nodes.map(({ id }) => id));
        expect(pageInfo.hasNextPage).toBe(before !== null);
        if (!pageInfo.hasPreviousPage) break;
        expect(nodes).toHaveLength(first);
        before = edges[0]!.cursor;
      }
      expect(backward).toEqual(found);
    },
  );

  it("returns a user's organizations once although the user owns them and is a member", async () => {
    const made: string[] = [];
    for (let round = 0; round < 4; round++) {
      const body = bodyOf("organization", ada.id);
      await server.request("POST", "/organization", { token: ada.token, json: body });
      made.push(String(body["@id"]));
    }
    for (const id of made)
      await server.request("PUT", "/organization", {
        token: ada.token,
        json: bodyOf("organization", ada.id, { "@id": id, members: [ada.id] }),
      });
    for (const first of [1, 2, 3, 10])
      expect(
        (
          await all(
            (page) => `{ user(id: "${ada.id}") { organizations(${page}) { ${PAGE} } } }`,
            (data) => (data["user"]! as { organizations: Connection }).organizations,
            first,
          )
        ).sort(),
      ).toEqual(made.toSorted());
  });
});

describe("a page", () => {
  it("of links that are stated from both sides ends", async () => {
    const whole = await make("dataset");
    const parts: string[] = [];
    for (let round = 0; round < 5; round++)
      parts.push(await make("dataset", { isPartOf: { "@id": whole } }));
    await server.request("PUT", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id, {
        "@id": whole,
        hasPart: parts.map((part) => ({ "@id": part })),
      }),
    });
    for (const first of [1, 2, 5, 6])
      expect(
        await all(
          (page) => `{ dataset(id: "${whole}") { hasPart(${page}) { ${PAGE} } } }`,
          (data) => (data["dataset"]! as { hasPart: Connection }).hasPart,
          first,
        ),
      ).toEqual(parts);
  });
  it("shows missing records as unresolved", async () => {
    const run = await make("computation", { usedDataset: "ark:12345/elsewhere" });
    const { body } = await server.graphql(
      `{ computation(id: "${run}") { usedDataset { nodes { __typename id kind name revision ` +
        "owner { id } document revisions { nodes { number } } } } } }",
    );
    expect(body.data).toEqual({
      computation: {
        usedDataset: {
          nodes: [
            {
              __typename: "Unresolved",
              id: "ark:12345/elsewhere",
              kind: null,
              name: null,
              revision: null,
              owner: null,
              document: null,
              revisions: { nodes: [] },
            },
          ],
        },
      },
    });
  });
  it("reads a large evidence graph in the same way, by pageInfo", async () => {
    const parts: string[] = [];
    for (let round = 0; round < 5; round++) parts.push(await make("dataset"));
    const whole = await make("dataset", { derivedFrom: parts });
    const found: string[] = [];
    let after: string | null = null;
    do {
      const { body }: { body: Json } = await server.graphql(
        `query ($after: String) { evidence(id: "${whole}", first: 2, after: $after) {
          nodes { id } pageInfo {
            hasNextPage hasPreviousPage startCursor endCursor } } }`,
        { after },
      );
      expect(body["errors"]).toBeUndefined();
      const { nodes, pageInfo } = body["data"].evidence as {
        nodes: { id: string }[];
        pageInfo: Connection["pageInfo"];
      };
      expect(pageInfo).toMatchObject({ hasPreviousPage: after !== null, startCursor: null });
      expect(pageInfo.endCursor !== null).toBe(pageInfo.hasNextPage);
      found.push(...nodes.map(({ id }) => id));
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      expect(found.length).toBeLessThan(20);
    } while (after !== null);
    // Nodes that edges of a page begin at come again.
    expect([...new Set(found)].toSorted()).toEqual([whole, ...parts].toSorted());
  });

  it("has pages of the records and statements within one evidence graph", async () => {
    const parts: string[] = [];
    for (let round = 0; round < 5; round++) parts.push(await make("dataset"));
    const run = await make("computation", { usedDataset: parts });
    const whole = await make("dataset", { generatedBy: [run] });
    const read = async (field: string, selection: string, args = "") => {
      const { body }: { body: Json } = await server.graphql(
        `{ evidence(id: "${whole}") { ${field}${args === "" ? "" : `(${args})`} {
          totalCount nodes { ${selection} } edges { cursor node { ${selection} } }
          pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`,
      );
      return body["errors"] ?? body["data"].evidence[field];
    };
    for (const [field, selection, count] of [
      ["records", "id kind", 7],
      ["links", "source { id } name target { id }", 7],
    ] as const) {
      const all = await read(field, selection);
      expect(all.nodes).toHaveLength(count);
      const paged: Json[] = [];
      let after = "";
      for (let more = true; more;) {
        const page = await read(field, selection, `first: 2${after}`);
        expect(page.totalCount).toBe(count);
        expect(page.edges.map(({ node }: Json) => node)).toEqual(page.nodes);
        expect(page.pageInfo).toMatchObject({
          hasPreviousPage: after !== "",
          startCursor: page.edges[0].cursor,
          endCursor: page.edges.at(-1).cursor,
        });
        paged.push(...page.nodes);
        after = `, after: "${page.pageInfo.endCursor}"`;
        more = page.pageInfo.hasNextPage;
        expect(paged.length).toBeLessThanOrEqual(count);
      }
      expect(paged).toEqual(all.nodes);
      expect(await read(field, selection, "first: 0")).toMatchObject({
        totalCount: count,
        nodes: [],
        pageInfo: { hasNextPage: true, endCursor: null },
      });
      for (const [args, code] of [
        [`after: "bm9uc2Vuc2U"`, "BAD_REQUEST"],
        [`after: ""`, "BAD_REQUEST"],
        ["first: -1", "VALIDATION"],
        ["first: 1001", "VALIDATION"],
      ] as const)
        expect(await read(field, selection, args), args).toMatchObject([{ extensions: { code } }]);
    }
    const runs = await read("records", "id", "kinds: [COMPUTATION], first: 1");
    expect(runs).toMatchObject({ totalCount: 1, nodes: [{ id: run }] });
    const sets = await read("records", "id", "kinds: [DATASET], first: 4");
    expect(sets.totalCount).toBe(6);
    const rest = `kinds: [DATASET], first: 4, after: "${sets.pageInfo.endCursor}"`;
    expect((await read("records", "id", rest)).nodes).toHaveLength(2);
  });

  it.each([
    ["first: -1", "VALIDATION"],
    ["first: 1001", "VALIDATION"],
    [`after: "x"`, "BAD_REQUEST"],
    [`after: ""`, "BAD_REQUEST"],
    [`after: "ononsense"`, "BAD_REQUEST"],
    [`after: "i1"`, "BAD_REQUEST"],
  ])("with %s is refused", async (page, code) => {
    const run = await make("computation");
    for (const connection of ["generated", "hasPart"])
      expect(
        (
          await server.graphql(
            `{ computation(id: "${run}") { ${connection}(${page}) { nodes { id } } } }`,
          )
        ).body.errors![0]!.extensions.code,
      ).toBe(code);
    if (page.startsWith("first"))
      expect(
        (await server.graphql(`{ datasets(${page}) { nodes { id } } }`)).body.errors![0]!.extensions
          .code,
      ).toBe(code);
  });
});
