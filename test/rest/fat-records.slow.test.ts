import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecordWrite } from "../../src/storage/records/port.js";
import { recordOf } from "../support/provenance-world.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

/** As long as only the metadata of a crate can be: more than a whole answer over GraphQL may have. */
const LONG = "zebra ".repeat(950_000);
const ID = "ark:99999/fat";
/** Parts of a crate whose metadata alone is longer than an answer. */
const PARTS = 60_000;

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  const write = async (
    kind: "dataset" | "rocrate",
    name: string,
    document: object,
  ): Promise<RecordWrite> => {
    const record = await recordOf(kind, { "@id": `${ID}-${name}`, name, ...document }, ada.id);
    const text = { name: `zebra ${name}`, description: "zebra", keywords: "zebra", other: "" };
    return record.op === "create" ? { ...record, text } : record;
  };
  const records = [
    await write("dataset", "before", { description: "A plain one." }),
    await write("dataset", "description", { description: LONG }),
    await write("dataset", "keywords", { keywords: [LONG] }),
    await write("dataset", "license", { license: LONG }),
    await write("dataset", "other", { other: LONG }),
    await write("dataset", "author", { author: Array.from({ length: 90_000 }, () => "A. Author") }),
    await write("dataset", "after", { description: "A plain one." }),
    await write("rocrate", "crate", {
      "@type": ["Dataset", "https://w3id.org/EVI#ROCrate"],
      hasPart: Array.from({ length: PARTS }, (_, index) => ({
        "@id": `${ID}-crate/a-folder-with-a-long-name/and-another-one-below-it/file-${index}.csv`,
      })),
    }),
  ];
  await server.deps.records.commit({ by: ada.id, at: Date.now(), records });
}, 120_000);
afterAll(() => server.stop());

const NAMES = ["before", "description", "keywords", "license", "other", "author", "after"];
interface Page {
  data: { datasets: List };
  errors?: { extensions: { code: string } }[];
}
interface List {
  nodes: { id: string; description?: string | null; document?: object | null }[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}
const pageAfter = async (after: string | null): Promise<Page> => {
  const { body } = await server.graphql<Page["data"]>(
    `query ($after: String) { datasets(first: 100, after: $after) {
      nodes { id name keywords types document } pageInfo { hasNextPage endCursor } } }`,
    { after },
  );
  return body;
};

describe("records of megabytes", () => {
  it("are in pages of lists over GraphQL, which end early and go on", async () => {
    const found: string[] = [];
    for (let after: string | null = null; ;) {
      const page: Page = await pageAfter(after);
      const { nodes, pageInfo } = page.data.datasets;
      found.push(...nodes.map(({ id }) => id));
      for (const { extensions } of page.errors ?? [])
        expect(extensions.code).toBe("QUERY_TOO_COSTLY");
      for (const { id, document } of nodes)
        if (/before|after/.test(id)) expect(document).toMatchObject({ "@id": id });
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect(found.toSorted()).toEqual(NAMES.toSorted().map((name) => `${ID}-${name}`));
  });

  it("have null in place of a value that is too long, with an error that says so", async () => {
    const ids = JSON.stringify(NAMES.map((name) => `${ID}-${name}`));
    const { body } = await server.graphql<{ nodes: List["nodes"] }>(
      `{ nodes(ids: ${ids}) { id ... on Record { name description } } }`,
    );
    expect(body.errors).toMatchObject([
      {
        path: ["nodes", 1, "description"],
        message: expect.stringContaining("GRAPHQL_MAX_BYTES"),
        extensions: { code: "QUERY_TOO_COSTLY" },
      },
    ]);
    expect(body.data.nodes.map(({ description }) => description)).toEqual([
      "A plain one.",
      null,
      null,
      null,
      null,
      null,
      "A plain one.",
    ]);
  });

  it("are found with others over GraphQL and REST", async () => {
    const { body } = await server.graphql<{ search: { nodes: { name: string }[] } }>(
      `{ search(query: "zebra", first: 20) { nodes { id name } } }`,
    );
    expect(body.errors).toBeUndefined();
    expect(body.data.search.nodes).toHaveLength(NAMES.length + 1);
    const rest = await server.request<{ total_results: number }>(
      "GET",
      "/search/basic?query=zebra&limit=20",
    );
    expect([rest.status, rest.body.total_results]).toEqual([200, NAMES.length + 1]);
  });

  it("end a page of a search early, which goes on with its cursor", async () => {
    const small = await startServer({ GRAPHQL_MAX_BYTES: "1M" });
    try {
      const { id } = await small.person("bob");
      const records = await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          const name = `zebra ${index}`;
          const document = {
            "@id": `${ID}-found-${index}`,
            name,
            description: "plain ".repeat(16_000),
          };
          const record = await recordOf("dataset", document, id);
          const text = { name, description: "", keywords: "", other: "" };
          return record.op === "create" ? { ...record, text } : record;
        }),
      );
      await small.deps.records.commit({ by: id, at: Date.now(), records });
      const found: string[] = [];
      let pages = 0;
      const pageAt = async (after: string | null): Promise<List> => {
        const { body } = await small.graphql<{ search: List }>(
          `query ($after: String) { search(query: "zebra", first: 100, after: $after) {
            nodes { id name } pageInfo { hasNextPage endCursor } } }`,
          { after },
        );
        expect(body.errors).toBeUndefined();
        return body.data.search;
      };
      for (let after: string | null = null, more = true; more; pages++) {
        const { nodes, pageInfo }: List = await pageAt(after);
        found.push(...nodes.map((node) => node.id));
        [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
      }
      expect([new Set(found).size, found.length]).toEqual([30, 30]);
      expect(pages).toBeGreaterThan(2);
    } finally {
      await small.stop();
    }
  });

  it("are in lists over REST, each in a page that holds nothing else", async () => {
    const found: string[] = [];
    for (let path = "/dataset?limit=100"; path !== "";) {
      const { status, body, headers, text } = await server.request<{ "@id": string }[]>(
        "GET",
        path,
      );
      expect(status).toBe(200);
      if (text.length > server.deps.config.MAX_PAGE_BYTES) expect(body).toHaveLength(1);
      found.push(...body.map((record) => record["@id"]));
      path = /<[^>]*?(\/dataset\?[^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1] ?? "";
    }
    expect(found.toSorted()).toEqual(NAMES.toSorted().map((name) => `${ID}-${name}`));
  });

  it.each([
    "/browse/dataset?drafts=yes",
    "/search?q=zebra&drafts=yes",
    "/",
    ...["before", "description", "keywords", "license", "other", "author", "crate"].map(
      (name) => `/${ID}-${name}`,
    ),
  ])("have pages, and break none: %s", async (path) => {
    const { status, text } = await server.request("GET", path, {
      headers: { Accept: "text/html" },
    });
    expect([status, text.includes("</html>")]).toEqual([200, true]);
  });
});
