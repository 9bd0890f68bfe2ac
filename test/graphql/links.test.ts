import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

interface Linked {
  id: string;
  name: string;
}

let server: TestServer;
let ada: Person;
let bob: Person;
let crate: string;
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = [await server.person("Ada"), await server.person("Bob")];
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(await buildDemoCrate())]), "crate.zip");
  const { body } = await server.request("POST", "/rocrate/upload", {
    token: ada.token,
    body: form,
  });
  crate = body["@id"] as string;
});
afterAll(() => server.stop());

async function record<T>(id: string, fields: string, token?: string): Promise<T> {
  const { body } = await server.graphql<{ record: T }>(
    `query ($id: ID!) { record(id: $id) { ${fields} } }`,
    { id },
    token,
  );
  expect(body.errors).toBeUndefined();
  return body.data.record;
}

describe("Record.related", () => {
  const embeddings = (): string => `${crate}/results/embeddings.csv`;

  test("leads where the field of that name leads", async () => {
    const found = await record<Record<string, { totalCount: number; nodes: Linked[] }>>(
      embeddings(),
      `related(relation: USED_BY) { totalCount nodes { id name } }
       ... on DataDownload { usedBy { totalCount nodes { id name } } }`,
    );
    expect(found["related"]!.nodes.map(({ name }) => name)).toEqual(["Clustering"]);
    expect(found["related"]).toEqual(found["usedBy"]);
  });

  test("is empty where the kind has no such relation", async () => {
    const { related } = await record<{ related: object }>(
      embeddings(),
      "related(relation: MEMBERS) { totalCount nodes { id } pageInfo { hasNextPage } }",
    );
    expect(related).toEqual({ totalCount: 0, nodes: [], pageInfo: { hasNextPage: false } });
  });

  test("has pages", async () => {
    const names: string[] = [];
    let after: string | null = null;
    do {
      const {
        related,
      }: { related: { nodes: Linked[]; pageInfo: { endCursor: string; hasNextPage: boolean } } } =
        await record(
          `${crate}/images`,
          `related(relation: DISTRIBUTION, first: 2${after ? `, after: "${after}"` : ""}) {
             nodes { name } pageInfo { hasNextPage endCursor } }`,
        );
      names.push(...related.nodes.map(({ name }) => name));
      after = related.pageInfo.hasNextPage ? related.pageInfo.endCursor : null;
    } while (after !== null);
    expect(names).toHaveLength(6);
    expect(new Set(names).size).toBe(6);
  });
});

describe("Record.links", () => {
  interface Links {
    links: {
      totalCount: number;
      nodes: { predicate: string; record: Linked }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
    };
  }
  const FIELDS =
    "{ totalCount nodes { predicate record { id name } } pageInfo { hasNextPage endCursor } }";

  test("have what the record states and what others state about it, by predicate", async () => {
    const id = `${crate}/results/embeddings.csv`;
    const { links: from } = await record<Links>(id, `links(direction: FROM) ${FIELDS}`);
    expect(from.totalCount).toBe(from.nodes.length);
    expect(from.nodes).toContainEqual({
      predicate: "evi:derivedFrom",
      record: { id: `${crate}/images`, name: "Microscope images" },
    });
    const { links: to } = await record<Links>(id, `links(direction: TO) ${FIELDS}`);
    expect(to.nodes.map(({ predicate, record: { name } }) => [predicate, name])).toContainEqual([
      "evi:usedDataset",
      "Clustering",
    ]);
  });

  test("have pages, and refuse a page of none", async () => {
    const { links: all } = await record<Links>(
      crate,
      `links(direction: TO, first: 1000) ${FIELDS}`,
    );
    const seen: object[] = [];
    let after = "";
    for (;;) {
      const { links } = await record<Links>(
        crate,
        `links(direction: TO, first: 3${after}) ${FIELDS}`,
      );
      expect(links.totalCount).toBe(all.nodes.length);
      seen.push(...links.nodes);
      if (!links.pageInfo.hasNextPage) break;
      after = `, after: "${links.pageInfo.endCursor}"`;
    }
    expect(seen).toEqual(all.nodes);
    const { body } = await server.graphql(
      `query ($id: ID!) { record(id: $id) { links(first: 0) { nodes { predicate } } } }`,
      { id: crate },
    );
    expect(body.errors).toBeDefined();
  });
});

test("a record names its crate, its creators, and whether the caller may change it", async () => {
  const fields = "crate { id } creators { id name } mayChange";
  const id = `${crate}/results/embeddings.csv`;
  const expected = {
    crate: { id: crate },
    creators: [{ id: "https://orcid.org/0000-0002-1825-0097", name: "Example Researcher" }],
  };
  expect(await record(id, fields, ada.token)).toEqual({ ...expected, mayChange: true });
  expect(await record(id, fields, bob.token)).toEqual({ ...expected, mayChange: false });
  expect(await record(id, fields)).toEqual({ ...expected, mayChange: false });
  expect(await record(crate, "crate { id }")).toEqual({ crate: null });
});

test("a revision names who made it as a record", async () => {
  const { revisions } = await record<{ revisions: { nodes: { by: { record: Linked } }[] } }>(
    crate,
    "revisions { nodes { by { record { id name } } } }",
  );
  expect(revisions.nodes[0]!.by.record).toEqual({ id: ada.id, name: "Ada" });
});
