import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  bob = await server.person("bob");
});
afterAll(() => server.stop());

const make = async (
  kind: Parameters<typeof bodyOf>[0],
  more: Parameters<typeof bodyOf>[2] = {},
  who = ada,
): Promise<string> => {
  const answer = await server.request("POST", `/${kind}`, {
    token: who.token,
    json: bodyOf(kind, who.id, more),
  });
  return String(answer.body["@id"]);
};

interface Page {
  nodes: { id: string }[];
  edges: { cursor: string }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  totalCount: number;
}
const DOCUMENT = (field: string) =>
  `query ($filter: RecordFilter, $orderBy: RecordOrder, $first: Int, $after: String, $last: Int,
    $before: String) { page: ${field}(filter: $filter, orderBy: $orderBy, first: $first,
    after: $after, last: $last, before: $before) { nodes { id } edges { cursor } pageInfo {
    hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`;

const ask = async (variables: object, token: string | null = ada.token, field = "records") =>
  (await server.graphql<{ page: Page }>(DOCUMENT(field), variables, token ?? undefined)).body;
const page = async (variables: object, token?: string | null, field?: string): Promise<Page> => {
  const { data, errors } = await ask(variables, token, field);
  expect(errors).toBeUndefined();
  return data.page;
};
const ids = async (filter: object, more: object = {}): Promise<string[]> =>
  (await page({ filter, ...more })).nodes.map(({ id }) => id);
/** The first error's code, and where it is. */
const refusal = async (variables: object, token?: string | null) => {
  const [error] = (await ask(variables, token)).errors ?? [];
  const { code, detail } = error!.extensions as {
    code: string;
    detail?: { loc: unknown[] }[];
  };
  return { code, loc: detail?.[0]?.loc, message: error!.message };
};

describe("records by filter", () => {
  it("finds by kind, name, keyword, owner, status and time, combined", async () => {
    const keyword = "mixed";
    const table = await make("dataset", { name: "Mixed table", keywords: [keyword] });
    const tool = await make("software", { name: "Mixed tool", keywords: [keyword] });
    const other = await make("dataset", { name: "Another", keywords: [keyword, "rare"] }, bob);
    const answer = await server.graphql(
      `mutation { publishRecord(input: { id: "${table}", publicationStatus: PUBLISHED }) { revision } }`,
      {},
      ada.token,
    );
    expect(answer.body.errors).toBeUndefined();
    expect(await ids({ keywords: keyword })).toEqual([table, tool, other]);
    expect(await ids({ keywords: keyword, kinds: ["DATASET"] })).toEqual([table, other]);
    expect(await ids({ keywords: keyword, kinds: "SOFTWARE" })).toEqual([tool]);
    expect(await ids({ keywords: keyword, name: { contains: "IXED T" } })).toEqual([table, tool]);
    expect(await ids({ keywords: keyword, name: { equals: "mixed TOOL" } })).toEqual([tool]);
    expect(await ids({ keywords: keyword, name: { startsWith: "mixed" } })).toEqual([table, tool]);
    expect(await ids({ keywords: keyword, owners: bob.id })).toEqual([other]);
    expect(await ids({ keywords: keyword, owners: [bob.id, ada.id] })).toEqual([
      table,
      tool,
      other,
    ]);
    expect(await ids({ keywords: keyword, publicationStatus: ["PUBLISHED"] })).toEqual([table]);
    expect(await ids({ and: [{ keywords: keyword }, { keywords: ["rare", "none"] }] })).toEqual([
      other,
    ]);
    expect(await ids({ keywords: keyword, not: { owners: ada.id } })).toEqual([other]);
    expect(
      await ids({ keywords: keyword, or: [{ kinds: "SOFTWARE" }, { and: [{ owners: bob.id }] }] }),
    ).toEqual([tool, other]);
    expect(await ids({ keywords: keyword, created: { before: "2020-01-01T00:00:00Z" } })).toEqual(
      [],
    );
    expect(
      await ids({ keywords: keyword, modified: { since: "2020-01-01T00:00:00Z" } }),
    ).toHaveLength(3);
    expect(
      await ids({ keywords: keyword }, { orderBy: { field: "MODIFIED", direction: "DESC" } }),
    ).toEqual([table, other, tool]);
    expect(await ids({ keywords: keyword }, { orderBy: { field: "NAME" } })).toEqual([
      other,
      table,
      tool,
    ]);
  });

  it("pages both ways with a count, and a page of none counts", async () => {
    const made: string[] = [];
    for (let index = 0; index < 7; index++)
      made.push(await make("dataset", { name: `paged ${index}`, keywords: ["paged"] }));
    const filter = { keywords: "paged" };
    const first = await page({ filter, first: 3 });
    expect(first).toMatchObject({ totalCount: 7 });
    expect(first.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: first.edges[0]!.cursor,
      endCursor: first.edges[2]!.cursor,
    });
    const second = await page({ filter, first: 3, after: first.pageInfo.endCursor });
    expect(second.nodes.map(({ id }) => id)).toEqual(made.slice(3, 6));
    expect(second.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    const back = await page({ filter, last: 2, before: second.pageInfo.startCursor });
    expect(back.nodes.map(({ id }) => id)).toEqual(made.slice(1, 3));
    expect(back.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    const end = await page({ filter, last: 2 });
    expect(end.nodes.map(({ id }) => id)).toEqual(made.slice(5));
    expect(end.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    expect(await page({ filter, first: 0 })).toEqual({
      nodes: [],
      edges: [],
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null },
      totalCount: 7,
    });
    // A list of one kind takes the same.
    const list = await page(
      { filter: {}, last: 1, orderBy: { field: "CREATED", direction: "DESC" } },
      ada.token,
      "softwares",
    );
    expect(list.nodes).toHaveLength(1);
  });

  it("finds by relation, whichever side states it", async () => {
    const table = await make("dataset");
    const run = await make("computation", { usedDataset: table });
    const other = await make("computation");
    const result = await make("dataset", { generatedBy: run, usedBy: [other] });
    const is = (...of: string[]) => ({ ids: of });
    expect(await ids({ used: is(table) })).toEqual([run]);
    expect(await ids({ used: is(table.replaceAll("-", "")) })).toEqual([run]);
    expect(await ids({ used: is(result) })).toEqual([other]);
    expect(await ids({ generatedBy: is(run) })).toEqual([result]);
    expect(
      await ids({ kinds: "COMPUTATION", or: [{ used: is(table) }, { used: is(result) }] }),
    ).toEqual([run, other]);
    expect(await ids({ used: is("ark:99999/nothing") })).toEqual([]);
    expect(await ids({ owners: ada.id, keywords: "none", not: { used: is(table) } })).toEqual([]);
    expect(await ids({ generatedBy: is(run), not: { used: is(table) } })).toEqual([result]);
    expect(await ids({ ids: [run, table, "ark:99999/nothing"] })).toEqual([table, run]);
    expect(await refusal({ filter: { used: is(table, "a table") } })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter", "used", "ids", 1],
    });
    const { body } = await server.request("GET", "/records?used=a%20table&partOf=none");
    expect(body).toMatchObject({
      detail: [{ loc: ["query", "used"] }, { loc: ["query", "partOf"] }],
    });
  });

  it("follows links to records that meet filters of their own", async () => {
    const tool = await make("software", { name: "Chain segmenter" });
    const run = await make("computation", { name: "Chain run", usedSoftware: tool });
    const result = await make("dataset", { name: "Chain result", generatedBy: run });
    await make("dataset", { name: "Chain other" });
    const usedTool = { usedSoftware: { name: { contains: "segmenter" } } };
    const filter = { generatedBy: usedTool };
    expect(await page({ filter }, null, "datasets")).toMatchObject({
      nodes: [{ id: result }],
      totalCount: 1,
    });
    expect(await ids({ generatedBy: { ...usedTool, kinds: "EXPERIMENT" } })).toEqual([]);
    expect(await ids({ name: { startsWith: "chain" }, not: filter })).toHaveLength(3);
    expect(await ids({ usedBy: { generated: { ids: [result] } } })).toEqual([tool]);
    // Each of several conditions on one link may be met by another record.
    expect(await ids({ generatedBy: {}, and: [filter] })).toEqual([result]);
    const team = await make("organization", { name: "Chain team", members: [ada.id] });
    expect(await ids({ members: { ids: [ada.id] }, kinds: "ORGANIZATION" })).toEqual([team]);
    const { errors } = await ask({ filter: { projects: {} } });
    expect(errors).toBeUndefined();
    const groups = await server.graphql(
      `{ recordStatistics(by: [KIND], filter: { generatedBy: { usedSoftware: { ids: "${tool}" } } })
        { groups { kind count } } }`,
    );
    expect(groups.body.data).toEqual({
      recordStatistics: { groups: [{ kind: "DATASET", count: 1 }] },
    });
  });

  it("finds and orders what a record is linked with, from both ends, with counts", async () => {
    const inputs: string[] = [];
    for (const [index, name] of ["b one", "a two", "c three", "a four"].entries())
      inputs.push(await make("dataset", { name, keywords: index < 3 ? ["linked"] : [] }));
    const [b, a, c, four] = inputs as [string, string, string, string];
    const outside = "ark:99999/not-here";
    const run = await make("computation", { usedDataset: [four, outside, c, b] });
    await server.request("PUT", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id, {
        "@id": a,
        name: "a two",
        keywords: ["linked"],
        datasetUsedBy: [run],
      }),
    });
    const links = async (args: string, name = "usedDataset", id = run) => {
      const answer = await server.graphql<{ computation: { page: Page } }>(
        `{ computation(id: "${id}") { page: ${name}(${args}) { nodes { id } edges { cursor }
          totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`,
      );
      return answer.body;
    };
    const linked = async (args: string): Promise<Page> => {
      const { data, errors } = await links(args);
      expect(errors).toBeUndefined();
      return data.computation.page;
    };
    const idsOf = async (args: string) => (await linked(args)).nodes.map(({ id }) => id);
    expect(await idsOf("first: 9")).toEqual([four, outside, c, b, a]);
    expect(await idsOf("last: 2")).toEqual([b, a]);
    expect(await idsOf("orderBy: { field: NAME }")).toEqual([four, a, b, c]);
    const only = 'filter: { keywords: "linked" }';
    expect(await idsOf(only)).toEqual([b, a, c]);
    const order = `${only}, orderBy: { field: NAME, direction: DESC }`;
    const first = await linked(`${order}, first: 2`);
    expect(first).toMatchObject({
      nodes: [{ id: c }, { id: b }],
      totalCount: 3,
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    expect(await idsOf(`${order}, after: "${first.pageInfo.endCursor}"`)).toEqual([a]);
    expect(await linked(`${order}, last: 1, before: "${first.pageInfo.endCursor}"`)).toMatchObject({
      nodes: [{ id: c }],
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    expect(await idsOf(`filter: { usedBy: { name: { contains: "" } } }, last: 1`)).toEqual([four]);
    expect(await idsOf("filter: { generatedBy: {} }")).toEqual([]);
    expect(await linked(`${only}, first: 0`)).toMatchObject({
      nodes: [],
      totalCount: 3,
      pageInfo: { hasNextPage: true },
    });
    // The cursor of one list is none of another one.
    const other = await make("computation", { usedDataset: [c, b] });
    const plain = (await linked("first: 1")).pageInfo.endCursor;
    for (const [args, id] of [
      [`${only}, after: "${first.pageInfo.endCursor}"`, run],
      [`${order}, after: "${first.pageInfo.endCursor}"`, other],
      [`${order}, after: "${plain}"`, run],
      [`after: "${first.pageInfo.endCursor}"`, run],
      [`last: 1, before: "${first.pageInfo.endCursor}"`, run],
    ] as const) {
      const { errors } = await links(args, "usedDataset", id);
      expect(errors?.[0]).toMatchObject({
        message: expect.stringMatching(/cursor is (?:not )?from/) as string,
        extensions: { code: "BAD_REQUEST" },
      });
    }
    const related = await links(`relation: USED_DATASET, ${order}`, "related");
    expect(related.data.computation.page.nodes).toEqual([{ id: c }, { id: b }, { id: a }]);
  });

  it("orders by size and score, and refuses a score where no record can have one", async () => {
    const marker = "sized";
    const table = await make("dataset", { keywords: [marker] });
    const empty = await make("dataset", { keywords: [marker] });
    const by = (field: string, direction = "ASC") => ({ orderBy: { field, direction } });
    const filter = { keywords: marker };
    // Neither has content: the order of creation.
    expect(await ids(filter, by("SIZE"))).toEqual([table, empty]);
    expect(await ids(filter, by("SCORE", "DESC"))).toEqual([empty, table]);
    const refused = await ask({ filter, ...by("SCORE") }, null, "datasets");
    expect(refused.errors).toMatchObject([
      { extensions: { code: "VALIDATION", detail: [{ loc: ["orderBy"] }] } },
    ]);
    expect((await ask({ ...by("SCORE") }, null, "roCrates")).errors).toBeUndefined();
    for (const field of ["NAME", "SIZE", "SCORE"])
      expect(await refusal({ filter: { deleted: {} }, ...by(field) })).toMatchObject({
        code: "VALIDATION",
        loc: ["orderBy"],
      });
  });

  it("follows four links and no more, and refuses what nests or counts too much", async () => {
    const chain = (links: number, end: object = {}): object =>
      links === 0 ? end : { generatedBy: chain(links - 1, end) };
    const many = Array.from({ length: 990 }, (_, i) => `ark:99999/none-${i}`);
    expect(await ids(chain(4))).toEqual([]);
    expect(await ids(chain(4, { or: many.map((id) => ({ owners: [id] })).slice(0, 490) }))).toEqual(
      [],
    );
    const far = "generatedBy";
    expect(await refusal({ filter: chain(5) })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter", far, far, far, far, far],
      message: expect.stringContaining("at most 4 links") as string,
    });
    expect(await refusal({ filter: chain(10, { ids: many }) })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter", far, far, far, far, far],
    });
    const negated = (levels: number): object =>
      levels === 0 ? { generatedBy: {} } : { not: negated(levels - 1) };
    expect((await ask({ filter: chain(3, negated(9)) })).errors).toBeUndefined();
    expect(await refusal({ filter: chain(3, negated(10)) })).toMatchObject({ code: "VALIDATION" });
    expect(await refusal({ filter: chain(2, { ids: [...many, ...many] }) })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter"],
    });
    expect(await refusal({ filter: chain(1, { deleted: {} }) })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter", "generatedBy", "deleted"],
    });
    expect(await refusal({ filter: { deleted: {}, ...chain(1) } })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter", "generatedBy"],
    });
  });

  it("finds by licence, by its SPDX identifier or its address", async () => {
    const keyword = "licensed";
    const licensed = (license: string) => make("dataset", { keywords: [keyword], license });
    const usual = await licensed(" https://creativecommons.org/licenses/by/4.0/");
    const short = await licensed("CC-BY-4.0");
    const own = await licensed("Ask the authors");
    const ccBy = [usual, short];
    expect(await ids({ keywords: keyword, licenses: "CC-BY-4.0" })).toEqual(ccBy);
    expect(await ids({ keywords: keyword, licenses: "cc-by-4.0" })).toEqual(ccBy);
    expect(
      await ids({
        keywords: keyword,
        licenses: ["http://creativecommons.org/licenses/by/4.0/deed.de"],
      }),
    ).toEqual(ccBy);
    expect(await ids({ keywords: keyword, licenses: ["Ask the authors", "MIT"] })).toEqual([own]);
    expect(await ids({ keywords: keyword, not: { licenses: "CC-BY-4.0" } })).toEqual([own]);
    const silent = await make("dataset", { keywords: [keyword], license: null });
    expect(await ids({ keywords: keyword, licenses: [""] })).toEqual([silent]);
    expect(await ids({ keywords: keyword, licenses: ["", "CC-BY-4.0"] })).toEqual([
      ...ccBy,
      silent,
    ]);
    expect(await ids({ keywords: keyword, not: { licenses: [""] } })).toEqual([...ccBy, own]);
    const { body } = await server.request<Record<string, unknown>>("GET", `/dataset/${short}`);
    const changed = await server.request("PUT", `/${short}`, {
      token: ada.token,
      json: { ...body, license: "MIT" },
    });
    expect(changed.status).toBe(200);
    expect(await ids({ keywords: keyword, licenses: "CC-BY-4.0" })).toEqual([usual]);
    expect(
      await ids({ keywords: keyword, licenses: "https://opensource.org/license/mit" }),
    ).toEqual([short]);
  });

  it("finds by text, with phrases, beginnings and exclusions", async () => {
    const one = await make("dataset", { description: "Zebrafish heart development", name: "one" });
    const two = await make("software", { description: "Heart of zebrafish", name: "two" });
    expect(await ids({ text: "zebrafish heart" })).toEqual([one, two]);
    expect(await ids({ text: '"zebrafish heart"' })).toEqual([one]);
    expect(await ids({ text: "zebraf* -development" })).toEqual([two]);
    expect(await ids({ text: "zebrafish", kinds: "SOFTWARE" })).toEqual([two]);
    expect(await ids({ text: "zebrafish", not: { text: "name:one" } })).toEqual([two]);
    expect(await ids({ text: "zebrafisch" })).toEqual([]);
    expect(await ids({ text: "" })).toEqual([]);
    expect((await page({ filter: { text: "zebrafish" }, first: 0 })).totalCount).toBe(2);
  });

  it("finds by project, whichever side states it, and by group, its members' too", async () => {
    const stated = await make("dataset");
    const project = await make("project", { datasets: [stated] });
    const owned = await make("software", { owner: project });
    const run = await make("computation", { sourceProject: project });
    const part = await make("dataset", { isPartOf: [{ "@id": project }] });
    const found = await ids({ project });
    expect(found.toSorted()).toEqual([stated, owned, run, part].toSorted());
    const group = await make("group", { members: [bob.id] });
    const ours = await make("dataset", { owner: group });
    const bobs = await make("dataset", { keywords: ["of bob"] }, bob);
    const drafts = await ids({ group, publicationStatus: "DRAFT", kinds: ["DATASET", "SOFTWARE"] });
    expect(drafts).toContain(ours);
    expect(drafts).toContain(bobs);
    expect(drafts).not.toContain(stated);
    expect(await ids({ owners: group })).toEqual([ours]);
    // A group that owns records cannot be deleted before they are handed over.
    const handed = await server.request("POST", "/records/transfer", {
      token: ada.token,
      json: { ids: [ours], owner: ada.id },
    });
    expect(handed.body).toMatchObject([{ done: true }]);
    const gone = await server.request("DELETE", `/group/${group}`, { token: ada.token });
    expect(gone.status).toBe(200);
    expect(await ids({ group })).toEqual([]);
  });

  it("lists deleted records instead of live ones, with no more than their tombstones", async () => {
    const since = new Date().toISOString();
    const gone = await make("dataset", { name: "Secret name", keywords: ["secret"] });
    const alive = await make("dataset");
    const successor = encodeURIComponent(alive);
    await server.request("DELETE", `/dataset/${gone}?reason=wrong&successor=${successor}`, {
      token: ada.token,
    });
    const deleted = { since };
    expect(await ids({ deleted })).toEqual([gone]);
    expect(await ids({ and: [{ deleted }], kinds: "DATASET", owners: ada.id })).toEqual([gone]);
    expect(await ids({ deleted, owners: bob.id })).toEqual([]);
    expect(await ids({ deleted: { before: since }, kinds: "DATASET" })).not.toContain(gone);
    expect(await ids({ modified: { since }, kinds: "DATASET" })).toEqual([alive]);
    expect((await page({ filter: { deleted }, first: 0 })).totalCount).toBe(1);
    const { body } = await server.graphql<{ records: { nodes: object[] } }>(
      `query ($deleted: DateTimeRange) { records(filter: { deleted: $deleted }) { nodes {
        __typename id kind name description keywords revision types additionalProperties
        tombstone { at by { id } reason successor { id } }
        ... on Dataset { content { state } generatedBy { nodes { id } } } } } }`,
      { deleted },
    );
    expect(body.errors).toBeUndefined();
    expect(JSON.stringify(body.data)).not.toMatch(/secret/i);
    expect(body.data.records.nodes).toMatchObject([
      {
        __typename: "Dataset",
        id: gone,
        kind: "DATASET",
        name: null,
        keywords: [],
        revision: 2,
        tombstone: { by: { id: ada.id }, reason: "wrong", successor: { id: alive } },
        content: { state: "NONE" },
      },
    ]);
    const { data } = (
      await server.graphql<{ records: { nodes: { tombstone: unknown }[] } }>(
        `{ records(first: 1) { nodes { tombstone { at } } } }`,
      )
    ).body;
    expect(data.records.nodes).toEqual([{ tombstone: null }]);
  });

  it("gives nodes in the order of their identifiers, with gaps and errors in their places", async () => {
    const [one, two] = [await make("dataset"), await make("software")];
    await server.request("DELETE", `/software/${two}`, { token: ada.token });
    const { data, errors } = (
      await server.graphql<{ nodes: ({ id: string } | null)[] }>(
        "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }",
        { ids: [one, "ark:99999/nothing", two, one, ada.id] },
      )
    ).body;
    expect(data.nodes.map((node) => node?.id ?? null)).toEqual([one, null, null, one, ada.id]);
    expect(errors!.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [["nodes", 2], "GONE"],
    ]);
    const many = await server.graphql("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {
      ids: Array.from({ length: 1001 }, () => one),
    });
    expect(many.body.errors![0]!.extensions.code).toBe("VALIDATION");
  });

  it("shows users to callers with a token only, as the list of users does", async () => {
    const kinds = { kinds: ["USER", "GROUP"] };
    expect(await ids(kinds)).toContain(ada.id);
    const anonymous = await page({ filter: kinds }, null);
    expect(anonymous.nodes).toEqual([]);
    expect(anonymous.totalCount).toBe(0);
    expect((await page({ filter: {} }, null)).nodes.map(({ id }) => id)).not.toContain(ada.id);
  });
});

describe("statistics of records", () => {
  const count = async (args: string, fields: string, token: string | null = ada.token) =>
    (
      await server.graphql<{
        recordStatistics: { groups: Record<string, unknown>[]; hasMore: boolean };
      }>(
        `{ recordStatistics(${args}) { hasMore groups { count ${fields} } } }`,
        {},
        token ?? undefined,
      )
    ).body;

  it("count by kind and month, by owner and by keyword, with bytes", async () => {
    await make("dataset", { keywords: ["counted", "Twice"] });
    await make("dataset", { keywords: ["counted"] }, bob);
    await make("software", { keywords: ["counted"] });
    const filter = `filter: { keywords: "counted" }`;
    const month = new Date().toISOString().slice(0, 7);
    expect(
      (await count(`${filter}, by: [KIND, MONTH]`, "kind month bytes owner { id }")).data,
    ).toEqual({
      recordStatistics: {
        hasMore: false,
        groups: [
          { count: 2, kind: "DATASET", month, bytes: 0, owner: null },
          { count: 1, kind: "SOFTWARE", month, bytes: 0, owner: null },
        ],
      },
    });
    expect(
      (await count(`${filter}, by: OWNER, first: 1`, "owner { id name }")).data.recordStatistics,
    ).toMatchObject({ hasMore: true, groups: [{ count: 2, owner: { id: ada.id } }] });
    expect(
      (await count(`${filter}, by: KEYWORD`, "keyword publicationStatus")).data.recordStatistics
        .groups,
    ).toEqual([
      { count: 3, keyword: "counted", publicationStatus: null },
      { count: 1, keyword: "twice", publicationStatus: null },
    ]);
    const anonymous = await count("by: KIND", "kind", null);
    expect(anonymous.data.recordStatistics.groups.map(({ kind }) => kind)).not.toContain("USER");
  });

  it("count by the year of publication, which can be asked for", async () => {
    const made = await make("dataset", { keywords: ["dated"], datePublished: "2019-05-03" });
    await make("dataset", { keywords: ["dated"], datePublished: "soon" });
    const published = '{ since: "2019-01-01T00:00:00Z", before: "2020-01-01T00:00:00Z" }';
    expect(
      (await count('filter: { keywords: "dated" }, by: PUBLICATION_YEAR', "publicationYear")).data
        .recordStatistics.groups,
    ).toEqual([
      { count: 1, publicationYear: null },
      { count: 1, publicationYear: "2019" },
    ]);
    const { body } = await server.graphql<{ records: { nodes: { id: string }[] } }>(
      `{ records(filter: { published: ${published} }, orderBy: { field: PUBLISHED }) { nodes { id } } }`,
    );
    expect(body.data.records.nodes).toEqual([{ id: made }]);
  });

  it("count by licence, and by the band of the score", async () => {
    const keyword = "to count";
    for (const license of ["MIT", "https://opensource.org/licenses/MIT", "On request"])
      await make("dataset", { keywords: [keyword], license });
    const { data } = await count(
      `filter: { keywords: "${keyword}" }, by: [LICENSE, SCORE_BAND]`,
      "license scoreBand bytes averageBytes averageScore",
    );
    expect(data.recordStatistics.groups).toEqual([
      {
        count: 2,
        license: "MIT",
        scoreBand: null,
        bytes: 0,
        averageBytes: null,
        averageScore: null,
      },
      {
        count: 1,
        license: "On request",
        scoreBand: null,
        bytes: 0,
        averageBytes: null,
        averageScore: null,
      },
    ]);
  });

  it("refuse too many keys, the same twice, unknown ones and too many groups", async () => {
    for (const args of [
      "by: [KIND, MONTH, OWNER, FORMAT]",
      "by: [KIND, KIND]",
      "by: KIND, first: 0",
      "by: KIND, first: 1001",
    ])
      expect((await count(args, "")).errors![0]!.extensions.code).toBe("VALIDATION");
    expect((await count("by: COLOUR", "")).errors![0]!.message).toContain("RecordStatisticsKey");
  });
});

describe("a list refuses", () => {
  const nested = (depth: number): object =>
    depth === 1 ? { keywords: "x" } : { not: nested(depth - 1) };

  it("filters 20 deep, and takes 10", async () => {
    expect(await refusal({ filter: nested(20) })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter", ...Array.from({ length: 10 }, () => "not")],
    });
    await page({ filter: nested(10) });
  });

  it("10,000 values, in one list or in many, and takes 1,000", async () => {
    const values = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`);
    for (const filter of [
      { keywords: values(10_000) },
      { or: values(2_000).map((keyword) => ({ keywords: keyword })) },
      { and: [{ keywords: values(600) }, { not: { keywords: values(600) } }] },
    ])
      expect(await refusal({ filter })).toMatchObject({
        code: "VALIDATION",
        loc: ["filter"],
      });
    expect(await ids({ keywords: values(999) })).toEqual([]);
    expect(await ids({ or: values(499).map((keyword) => ({ keywords: keyword })) })).toEqual([]);
  });

  it("scores out of range, long texts and many of them", async () => {
    for (const filter of [{ scoreBelow: 101 }, { scoreAtLeast: -1 }, { not: { scoreBelow: -5 } }])
      expect(await refusal({ filter })).toMatchObject({ code: "VALIDATION" });
    expect((await refusal({ filter: { scoreBelow: 59.5 } })).message).toContain("scoreBelow");
    expect(await refusal({ filter: { text: "x".repeat(1_000_000) } })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter", "text"],
    });
    const texts = (many: number) => Array.from({ length: many }, (_, at) => ({ text: `w${at}` }));
    expect(await refusal({ filter: { or: texts(30) } })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter"],
    });
    expect(await ids({ or: texts(15) })).toEqual([]);
  });

  it("10,000 licences, and takes 999", async () => {
    const licence = Array.from({ length: 10_000 }, (_, index) => `licence ${index}`);
    expect(await refusal({ filter: { licenses: licence } })).toMatchObject({ code: "VALIDATION" });
    expect(await ids({ licenses: licence.slice(0, 999) })).toEqual([]);
  });

  it("deleted in or and not, and beside what a tombstone does not say", async () => {
    const deleted = { since: "2020-01-01T00:00:00Z" };
    for (const [filter, ...place] of [
      [{ or: [{ kinds: "DATASET" }, { deleted }] }, "or", 1, "deleted"],
      [{ not: { deleted } }, "not", "deleted"],
      [{ deleted, name: { contains: "x" } }, "name"],
      [{ deleted, and: [{ not: { text: "x" } }] }, "and", 0, "not", "text"],
      [{ deleted, publicationStatus: "DRAFT" }, "publicationStatus"],
    ] as const)
      expect(await refusal({ filter }), JSON.stringify(filter)).toMatchObject({
        code: "VALIDATION",
        loc: ["filter", ...place],
      });
    expect(await refusal({ filter: { deleted }, orderBy: { field: "NAME" } })).toMatchObject({
      code: "VALIDATION",
      loc: ["orderBy"],
    });
    const { pageInfo } = await page({ filter: { deleted }, first: 1 });
    expect(await refusal({ after: pageInfo.endCursor })).toMatchObject({ code: "BAD_REQUEST" });
    expect((await refusal({ filter: { deleted: { since: "99999-01-01" } } })).message).toContain(
      "filter.deleted.since",
    );
    expect(
      await ids({ deleted: { since: "0000-01-01T00:00:00Z", before: deleted.since } }),
    ).toEqual([]);
  });

  it("values that no enum has, and names the place", async () => {
    for (const [filter, place] of [
      [{ kinds: ["NOVEL"] }, "kinds"],
      [{ kinds: ["dataset"] }, "kinds"],
      [{ not: { publicationStatus: ["HIDDEN"] } }, "publicationStatus"],
      [{ size: 3 }, "size"],
    ] as const)
      expect((await refusal({ filter })).message).toContain(place);
    const { errors } = await ask({ orderBy: { field: "WEIGHT" } });
    expect(errors![0]!.message).toContain("orderBy.field");
  });

  it("what is no ARK, naming its place", async () => {
    expect(await refusal({ filter: { and: [{}, { owners: [ada.id, "ada"] }] } })).toMatchObject({
      code: "VALIDATION",
      loc: ["filter", "and", 1, "owners", 1],
    });
  });

  it("cursors of another query, and what is no cursor", async () => {
    const { pageInfo } = await page({ first: 1 });
    const after = pageInfo.endCursor;
    for (const variables of [
      { filter: { kinds: "DATASET" }, after },
      { orderBy: { field: "NAME" }, after },
      { orderBy: { field: "CREATED", direction: "DESC" }, before: after, last: 1 },
    ]) {
      const { code, message } = await refusal(variables);
      expect(code).toBe("BAD_REQUEST");
      expect(message).toContain("another filter or order");
    }
    for (const cursor of ["", "x", "17", "🦆", "A".repeat(10_000)])
      expect(await refusal({ after: cursor })).toMatchObject({ code: "BAD_REQUEST" });
  });

  it("pages out of range, and both ends at once", async () => {
    for (const variables of [
      { first: -1 },
      { first: 1001 },
      { last: -1 },
      { last: 1001 },
      { first: 1, last: 1 },
    ])
      expect(await refusal(variables)).toMatchObject({ code: "VALIDATION" });
  });

  it("dates that are none, and takes the years 0 and 9999", async () => {
    for (const since of ["99999-01-01T00:00:00Z", "yesterday", "2026-02-30T00:00:00Z", ""])
      expect((await refusal({ filter: { created: { since } } })).message).toContain(
        "filter.created.since",
      );
    const [all, none] = [
      { created: { since: "0000-01-01T00:00:00Z" } },
      { created: { since: "9999-12-31T23:59:59Z" } },
    ];
    expect((await page({ filter: all })).totalCount).toBeGreaterThan(0);
    expect(await ids(none)).toEqual([]);
    expect(
      await ids({ created: { since: "2030-01-01T00:00:00Z", before: "2020-01-01T00:00:00Z" } }),
    ).toEqual([]);
  });
});
