import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SearchAnswer } from "../../src/services/search/search.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
const make = (kind: string, type: object, name: string, description: string, more: object = {}) =>
  server.request("POST", `/${kind}`, {
    token: ada.token,
    json: { ...type, name, description, owner: ada.id, ...more },
  });
const dataset = { "@type": "evi:Dataset" };
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  await make("dataset", dataset, "Nuclear <images>", "Microscope images of the nucleus.", {
    keywords: ["imaging", "nucleus"],
    "@id": "ark:99999/images",
  });
  await make("dataset", dataset, "Counts", "Cells counted in the images.", {
    "@id": "ark:99999/counts",
  });
  await make("software", {}, "Counter", "Counts cells in images.", { "@id": "ark:99999/counter" });
  await make("dataset", dataset, "Old images", "To be deleted.", { "@id": "ark:99999/old" });
  await server.request("DELETE", "/ark:99999/old", { token: ada.token });
});
afterAll(() => server.stop());

const ask = (path: string) => server.request<SearchAnswer>("GET", path);
const ids = (answer: { body: SearchAnswer }) =>
  answer.body.results.map((result) => result["@id"].slice("ark:99999/".length));

describe("GET /search/basic", () => {
  it("returns records that contain every word, with totals, scores and highlights", async () => {
    const { status, body } = await ask("/search/basic?query=nucleus+image");
    expect(status).toBe(200);
    expect(body).toEqual({
      query: "nucleus image",
      total_results: 1,
      time_taken_ms: expect.any(Number),
      results: [
        {
          "@id": "ark:99999/images",
          "@type": "evi:Dataset",
          name: "Nuclear <images>",
          description: "Microscope images of the nucleus.",
          keywords: ["imaging", "nucleus"],
          score: expect.any(Number),
          highlight: {
            name: "Nuclear &lt;<em>images</em>&gt;",
            keywords: "<em>imaging</em> <em>nucleus</em>",
            description: "Microscope <em>images</em> of the <em>nucleus</em>.",
          },
        },
      ],
    });
  });

  it("omits deleted records, and private data of users", async () => {
    expect(ids(await ask("/search/basic?query=images")).toSorted()).toEqual([
      "counter",
      "counts",
      "images",
    ]);
    expect((await ask("/search/basic?query=example.org")).body.total_results).toBe(0);
    expect(ids(await ask("/search/basic?query=ada"))).toContain("user-ada");
  });

  it("filters by kind, by any of its names, and returns pages", async () => {
    for (const type of [
      "software",
      "Software",
      "evi:Software",
      "https%3A%2F%2Fw3id.org%2FEVI%23Software",
    ])
      expect(ids(await ask(`/search/basic?query=images&type=${type}`))).toEqual(["counter"]);
    const { body } = await ask("/search/basic?query=images&limit=2&offset=2");
    expect([body.total_results, body.results.length]).toEqual([3, 1]);
  });

  it("tolerates a typo only when no record contains the words as written", async () => {
    expect(ids(await ask("/search/basic?query=nuclues"))).toEqual(["images"]);
    expect((await ask("/search/basic?query=xylophone")).body).toMatchObject({
      total_results: 0,
      results: [],
    });
  });

  it.each([
    ["", ["query", "query"], "missing"],
    ["?query=", ["query", "query"], "string_too_short"],
    ["?query=%20", ["query", "query"], "string_too_short"],
    [`?query=${"x".repeat(8193)}`, ["query", "query"], "value_error"],
    ["?query=a&limit=0", ["query", "limit"], "greater_than_equal"],
    ["?query=a&limit=101", ["query", "limit"], "less_than_equal"],
    ["?query=a&offset=10001", ["query", "offset"], "less_than_equal"],
    ["?query=a&limit=x", ["query", "limit"], "int_parsing"],
    ["?query=a&type=Thing", ["query", "type"], "literal_error"],
    ["?query=a&kind=thing", ["query", "kind"], "literal_error"],
    ["?query=a&owner=ada", ["query", "owner"], "value_error"],
    ["?query=a&partOf=crate", ["query", "partOf"], "value_error"],
    ["?query=a&createdSince=yesterday", ["query", "createdSince"], "datetime_from_date_parsing"],
    ["?query=a&deletedSince=2026-01-01", ["query", "deletedSince"], "value_error"],
    ["?query=a&facets=colour", ["query", "facets"], "literal_error"],
    ["?query=a&facets=kind,kind", ["query", "facets"], "value_error"],
    ["?query=a&facets=kind&facetLimit=0", ["query", "facets"], "value_error"],
    ["?query=a&facets=kind&facetLimit=x", ["query", "facetLimit"], "int_parsing"],
    ["?query=a&explain=maybe", ["query", "explain"], "literal_error"],
  ])("refuses %s", async (search, loc, type) => {
    const answer = await server.request("GET", `/search/basic${search}`);
    expect(answer.status).toBe(422);
    expect(answer.body["detail"]).toMatchObject([{ loc, type }]);
  });
});

describe("the operators of a query", () => {
  const found = async (query: string, mode = "basic") =>
    ids(await ask(`/search/${mode}?query=${encodeURIComponent(query)}`)).toSorted();
  it("are phrases, prefixes, exclusions and fields", async () => {
    expect(await found('"microscope images"')).toEqual(["images"]);
    expect(await found('"images microscope"')).toEqual([]);
    expect(await found("microsc*")).toEqual(["images"]);
    expect(await found("images -cells")).toEqual(["images"]);
    expect(await found("name:counter images")).toEqual(["counter"]);
    expect(await found("keyword:imaging")).toEqual(["images"]);
    expect(await found("cells -name:counter", "semantic")).toEqual(["counts"]);
  });
  it("are words where they are not closed or stand alone", async () => {
    for (const query of ['"nucleus images', 'nucleus* "', "nucleus - images", "(nucleus)"])
      expect(await found(query), query).toEqual(["images"]);
    expect((await ask(`/search/basic?query=${encodeURIComponent('"-*')}`)).status).toBe(200);
  });
});

describe("the filters of a search", () => {
  it.each(["basic", "semantic"])("narrow what /search/%s finds and counts", async (mode) => {
    const found = async (more: string) => {
      const { status, body } = await ask(`/search/${mode}?query=images${more}`);
      expect(status).toBe(200);
      expect(body.total_results).toBe(body.results.length);
      return body.results.map((result) => result["@id"].slice("ark:99999/".length)).toSorted();
    };
    expect(await found("&kind=dataset")).toEqual(["counts", "images"]);
    expect(await found("&kind=software,computation")).toEqual(["counter"]);
    expect(await found("&keyword=IMAGING")).toEqual(["images"]);
    expect(await found("&nameStartsWith=count&kind=dataset")).toEqual(["counts"]);
    expect(await found(`&owner=${ada.id}`)).toEqual(["counter", "counts", "images"]);
    expect(await found("&createdBefore=2020-01-01")).toEqual([]);
    expect(await found("&type=Software&kind=dataset")).toEqual([]);
  });
});

describe("the facets of a search", () => {
  it("count all results, with what people read", async () => {
    const { body } = await ask(
      "/search/basic?query=images&limit=1&facets=kind,owner,keyword,format",
    );
    expect(body.facets).toEqual([
      {
        by: "kind",
        values: [
          { value: "dataset", label: "Dataset", count: 2 },
          { value: "software", label: "Software", count: 1 },
        ],
        has_more: false,
        exact: true,
      },
      {
        by: "owner",
        values: [{ value: ada.id, label: expect.stringMatching(/ada/i), count: 3 }],
        has_more: false,
        exact: true,
      },
      {
        by: "keyword",
        values: [
          { value: "imaging", label: "imaging", count: 1 },
          { value: "nucleus", label: "nucleus", count: 1 },
        ],
        has_more: false,
        exact: true,
      },
      { by: "format", values: [], has_more: false, exact: true },
    ]);
    const few = await ask("/search/semantic?query=images&facets=kind&facetLimit=1&keyword=nucleus");
    expect(few.body.facets).toEqual([
      {
        by: "kind",
        values: [{ value: "dataset", label: "Dataset", count: 1 }],
        has_more: false,
        exact: true,
      },
    ]);
    expect((await ask("/search/basic?query=images")).body.facets).toBeUndefined();
  });

  it("are the same over GraphQL, whose filters take their values", async () => {
    interface Answer {
      search: {
        totalCount: number;
        facets: {
          by: string;
          hasMore: boolean;
          values: { value: string; label: string; count: number }[];
        }[];
      };
    }
    const asked = (args: string) =>
      server.graphql<Answer>(
        `{ search(query: "images"${args}) { totalCount facets(by: [KIND, KEYWORD], first: 1) { by
          hasMore exact values { value label count } } } }`,
      );
    const { body } = await asked("");
    expect(body.errors).toBeUndefined();
    expect(body.data.search.facets).toEqual([
      {
        by: "KIND",
        hasMore: true,
        exact: true,
        values: [{ value: "DATASET", label: "Dataset", count: 2 }],
      },
      {
        by: "KEYWORD",
        hasMore: true,
        exact: true,
        values: [{ value: "imaging", label: "imaging", count: 1 }],
      },
    ]);
    for (const { by, values } of body.data.search.facets) {
      const value =
        by === "KIND" ? `kinds: ${values[0]!.value}` : `keywords: "${values[0]!.value}"`;
      const within = await asked(`, filter: { ${value} }`);
      expect(within.body.data.search.totalCount).toBe(values[0]!.count);
    }
    const refused = await server.graphql(
      '{ search(query: "images") { facets(by: [KIND], first: 101) { by } } }',
    );
    expect(refused.body.errors![0]!.extensions.code).toBe("VALIDATION");
  });
});

describe("the parts of an answer over REST that are there on request", () => {
  it("are matches as pieces of text, and what made a score", async () => {
    const { body } = await ask("/search/basic?query=nuclear+images&fragments=true&explain=true");
    const [hit] = body.results;
    expect(hit!.fragments!.name).toEqual([
      { text: "Nuclear", found: true },
      { text: " <", found: false },
      { text: "images", found: true },
      { text: ">", found: false },
    ]);
    expect(hit!.explanation!.map(({ reason }) => reason)).toEqual(["term", "term"]);
    expect(hit!.explanation!.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 6);
  });

  it("are pages by the cursor of the Link header, which belongs to query and filter", async () => {
    const seen: string[] = [];
    let path: string | undefined = `/search/basic?query=images&limit=1&offset=1&owner=${ada.id}`;
    let cursor = "";
    while (path !== undefined) {
      const answer = await ask(path);
      expect(answer.status).toBe(200);
      seen.push(...ids(answer));
      const next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get("link") ?? "")?.[1];
      path = next === undefined ? undefined : new URL(next).pathname + new URL(next).search;
      cursor = next === undefined ? cursor : new URL(next).searchParams.get("cursor")!;
    }
    const all = ids(await ask("/search/basic?query=images"));
    expect(seen).toEqual(all.slice(1));
    for (const other of [
      "basic?query=images",
      "basic?query=cells&limit=1",
      `semantic?query=images&owner=${ada.id}`,
      `basic?query=images&owner=${ada.id}&kind=dataset`,
      "basic?query=images&owner=ark:99999/other",
    ]) {
      const { status, body } = await server.request("GET", `/search/${other}&cursor=${cursor}`);
      expect([other, status, body["code"]]).toEqual([other, 400, "BAD_REQUEST"]);
    }
  });
});

describe("GET /search/semantic", () => {
  it("finds records that contain any of the words", async () => {
    expect((await ask("/search/basic?query=nucleus+proteome")).body).toMatchObject({
      matches_any_word: true,
    });
    expect(ids(await ask("/search/semantic?query=nucleus+proteome"))[0]).toBe("images");
  });
});

describe("an identifier in the search box", () => {
  it.each(["/search/basic", "/search/semantic"])(
    "finds the record of %s, or those below it, never by words in it",
    async (path) => {
      const whole = await ask(`${path}?query=${encodeURIComponent("ark:/99999/counter")}`);
      expect(whole.body.results.map((hit) => hit["@id"])).toEqual(["ark:99999/counter"]);
      expect(
        (await ask(`${path}?query=${encodeURIComponent("ark:99999/coun")}`)).body.results.map(
          (hit) => hit["@id"],
        ),
      ).toContain("ark:99999/counter");
      expect((await ask(`/search/basic?query=99999`)).body.total_results).toBe(0);
    },
  );

  it("is no searched text of a crate's entities, in any place", async () => {
    const python = {
      "@id": "ark:59852/software-clusters-Xyz",
      "@type": "SoftwareSourceCode",
      name: "Python",
      author: "ark:59852/person-clusters",
      identifier: [
        "ark:/59852/software-clusters-Xyz",
        "https://n2t.net/ark:59852/clusters",
        "GSE4711",
      ],
    };
    const crate = {
      "@context": "https://w3id.org/ro/crate/1.1/context",
      "@graph": [
        {
          "@id": "ro-crate-metadata.json",
          "@type": "CreativeWork",
          conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
          about: { "@id": "./" },
        },
        {
          "@id": "./",
          "@type": "Dataset",
          name: "Tools",
          description: "Programs.",
          license: "https://creativecommons.org/licenses/by/4.0/",
          datePublished: "2024-01-01",
          mentions: { "@id": python["@id"] },
        },
        python,
      ],
    };
    const made = await server.request("POST", "/rocrate/metadata", {
      token: ada.token,
      json: crate,
    });
    expect(made.status, made.text).toBe(200);
    await make(
      "dataset",
      { ...dataset, author: "ark:59852/person-clusters" },
      "Table",
      "Of nothing much.",
    );
    for (const path of ["/search/basic", "/search/semantic"]) {
      expect((await ask(`${path}?query=clusters`)).body.total_results).toBe(0);
      expect((await ask(`${path}?query=gse4711`)).body.results.map(({ name }) => name)).toEqual([
        "Python",
      ]);
      expect(
        (
          await ask(`${path}?query=${encodeURIComponent("ark:59852/software-clusters")}`)
        ).body.results.map(({ name }) => name),
      ).toEqual(["Python"]);
    }
  });
});

describe("search in GraphQL", () => {
  interface Page {
    totalCount: number;
    rankedCount: number;
    didYouMean: string | null;
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null };
    nodes: { id: string }[];
    edges: {
      cursor: string;
      fragments: { field: string; parts: { text: string; found: boolean }[] }[];
      explanation: { reason: string; text: string | null; score: number }[] | null;
    }[];
  }
  const page = (args: string) =>
    server.graphql<{ search: Page }>(
      `{ search(${args}) { totalCount rankedCount didYouMean pageInfo { hasNextPage
        hasPreviousPage endCursor } nodes { id } edges { cursor fragments { field parts { text
        found } } explanation { reason text score } } } }`,
    );

  it("gives pages by cursor, which belongs to its search", async () => {
    const seen: string[] = [];
    let after = "";
    for (let more = true; more;) {
      const { body } = await page(`query: "images", first: 2${after}`);
      expect(body.errors).toBeUndefined();
      const { nodes, pageInfo, totalCount, rankedCount, edges } = body.data.search;
      expect([totalCount, rankedCount]).toEqual([3, 3]);
      expect(pageInfo.endCursor).toBe(edges.at(-1)!.cursor);
      expect(pageInfo.hasPreviousPage).toBe(after !== "");
      seen.push(...nodes.map(({ id }) => id));
      after = `, after: ${JSON.stringify(pageInfo.endCursor)}`;
      more = pageInfo.hasNextPage;
    }
    expect(seen).toHaveLength(3);
    expect(new Set(seen).size).toBe(3);
    for (const args of [
      `query: "cells"${after}`,
      `query: "images", mode: SEMANTIC${after}`,
      `query: "images", filter: { kinds: SOFTWARE }${after}`,
      `query: "images", filter: { keywords: "imaging" }${after}`,
      'query: "images", after: "x"',
      `query: "images", after: "${"x".repeat(5000)}"`,
    ])
      expect((await page(args)).body.errors![0]!.extensions.code, args).toBe("BAD_REQUEST");
  });

  it("shows matches as plain pieces, says what was meant, and explains scores when asked", async () => {
    const { body } = await page('query: "nuclues imaegs", explain: true');
    expect(body.errors).toBeUndefined();
    const { didYouMean, edges } = body.data.search;
    expect(didYouMean).toBe("nucleus images");
    expect(edges[0]!.fragments.find(({ field }) => field === "NAME")!.parts).toEqual([
      { text: "Nuclear <", found: false },
      { text: "images", found: true },
      { text: ">", found: false },
    ]);
    const parts = edges[0]!.explanation!;
    expect(parts.map(({ reason }) => reason)).toEqual(["TERM", "TERM"]);
    expect(parts.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 6);
    const plain = await page('query: "images"');
    expect(plain.body.data.search.didYouMean).toBeNull();
    expect(plain.body.data.search.edges[0]!.explanation).toBeNull();
    const rest = await ask(`/search/basic?query=${encodeURIComponent('name:"x" -y')}`);
    expect(rest.body.did_you_mean).toBeUndefined();
    expect((await ask("/search/basic?query=nuclues")).body.did_you_mean).toBe("nucleus");
  });

  it("returns the same, as records", async () => {
    const { body } = await server.graphql<{
      search: {
        totalCount: number;
        edges: { node: { id: string; __typename: string }; score: number; fragments: object[] }[];
      };
    }>(
      "query ($q: String!) { search(query: $q, filter: { kinds: SOFTWARE }, first: 5) { " +
        "totalCount edges { score fragments { field parts { text found } } node { id __typename " +
        "... on Software { name } } } } }",
      { q: "images" },
    );
    expect(body.errors).toBeUndefined();
    expect(body.data.search).toMatchObject({
      totalCount: 1,
      edges: [
        {
          node: { id: "ark:99999/counter", __typename: "Software", name: "Counter" },
          fragments: [
            {
              field: "DESCRIPTION",
              parts: [
                { text: "Counts cells in ", found: false },
                { text: "images", found: true },
                { text: ".", found: false },
              ],
            },
          ],
        },
      ],
    });
    const both = await server.graphql<{ search: { totalCount: number } }>(
      '{ search(query: "nucleus proteome", mode: SEMANTIC) { totalCount } }',
    );
    expect(both.body.data.search.totalCount).toBeGreaterThan(0);
    const refused = await server.graphql('{ search(query: " ") { totalCount } }');
    expect(refused.body.errors![0]!.extensions.code).toBe("VALIDATION");
  });
});
