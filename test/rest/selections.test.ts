import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/field.js";
import { bodyOf } from "../support/bodies.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
const arks: Record<string, string> = {};
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = await Promise.all([server.person("ada"), server.person("bob")]);
  const create = async (
    name: string,
    kind: "dataset" | "software" | "computation",
    more: JsonObject = {},
    who = ada,
  ): Promise<void> => {
    const { body } = await server.request<{ "@id": string }>("POST", `/${kind}`, {
      token: who.token,
      json: bodyOf(kind, who.id, { name, ...more }),
    });
    arks[name] = body["@id"];
  };
  await create("Mouse cells", "dataset", { keywords: ["Mouse"] });
  await create("Human cells", "dataset", { keywords: ["Human"] }, bob);
  await create("Segment", "software");
  await create("Run", "computation", {
    usedDataset: arks["Mouse cells"]!,
    usedSoftware: arks["Segment"]!,
  });
});
afterAll(() => server.stop());

const get = (query: string, token?: string) =>
  server.request<{ "@id": string; name: string }[]>(
    "GET",
    `/records${query}`,
    token === undefined ? {} : { token },
  );
const names = async (query: string, token?: string): Promise<string[]> => {
  const { status, body } = await get(query, token);
  expect(status, query).toBe(200);
  return body.map(({ name }) => name);
};

describe("GET /records", () => {
  it("selects by each condition, all of which must hold", async () => {
    expect(await names("?kind=dataset,software&order=name")).toEqual([
      "Human cells",
      "Mouse cells",
      "Segment",
    ]);
    expect(await names("?name=CELLS&keyword=mouse")).toEqual(["Mouse cells"]);
    expect(await names("?nameStartsWith=hum")).toEqual(["Human cells"]);
    expect(await names("?nameIs=run")).toEqual(["Run"]);
    expect(await names(`?kind=dataset&owner=${bob.id}`)).toEqual(["Human cells"]);
    expect(await names(`?used=${arks["Mouse cells"]}`)).toEqual(["Run"]);
    expect(await names("?kind=dataset&status=DRAFT&order=-created")).toEqual([
      "Human cells",
      "Mouse cells",
    ]);
    expect(await names("?kind=dataset&status=PUBLISHED")).toEqual([]);
    expect(await names("?kind=dataset&createdBefore=2000-01-01")).toEqual([]);
    expect(await names("?kind=dataset&modifiedSince=2000-01-01T00:00:00Z")).toHaveLength(2);
  });

  it("selects by licence, text, project, group and score", async () => {
    expect(await names("?kind=dataset,software&licence=CC-BY-4.0&order=name")).toEqual([
      "Human cells",
      "Mouse cells",
      "Segment",
    ]);
    expect(await names("?kind=dataset&licence=MIT,Apache-2.0")).toEqual([]);
    expect(await names("?kind=dataset&text=cells -human")).toEqual(["Mouse cells"]);
    expect(await names("?kind=dataset&text=cells&keyword=human")).toEqual(["Human cells"]);
    expect(await names("?project=ark:99999/none")).toEqual([]);
    expect(await names(`?group=${bob.id}&kind=dataset`)).toEqual(["Human cells"]);
    expect(await names("?scoreBelow=60")).toEqual([]);
    expect(await names("?scoreAtLeast=0&describedBy=ark:99999/none")).toEqual([]);
  });

  it("selects, orders and counts by the date of publication", async () => {
    const made: string[] = [];
    for (const [name, datePublished] of [
      ["Frog", "2019-05-03"],
      ["Toad", ["soon", "2021"]],
      ["Newt", "0000-01-01"],
      ["Fish", "99999-01-01"],
    ] as const) {
      const json = { ...bodyOf("software", ada.id, { name }), datePublished, keywords: ["water"] };
      const { status, body } = await server.request<{ "@id": string }>("POST", "/software", {
        token: ada.token,
        json,
      });
      expect(status).toBe(200);
      made.push(body["@id"]);
    }
    const published = { "@id": made[2], publicationStatus: "PUBLISHED" };
    await server.request("PUT", "/publish", { token: ada.token, json: published });
    const water = "?keyword=water";
    expect(await names(`${water}&order=-published`)).toEqual(["Newt", "Toad", "Frog", "Fish"]);
    expect(await names(`${water}&order=published`)).toEqual(["Frog", "Toad", "Newt", "Fish"]);
    expect(await names(`${water}&publishedSince=2019-05-03&publishedBefore=2022-01-01`)).toEqual([
      "Frog",
      "Toad",
    ]);
    const { body } = await server.request<{ groups: Record<string, unknown>[] }>(
      "GET",
      "/records/statistics?by=publicationYear&keyword=water",
    );
    const thisYear = String(new Date().getUTCFullYear());
    expect(body.groups.map(({ publicationYear }) => publicationYear)).toEqual([
      null,
      "2019",
      "2021",
      thisYear,
    ]);
    const { body: found } = await server.request<{ facets: unknown[] }>(
      "GET",
      "/search/basic?query=keywords:water&facets=publicationYear",
    );
    expect(found.facets).toMatchObject([
      { by: "publicationYear", values: [{ value: "2019", count: 1 }, { value: "2021" }, {}] },
    ]);
    for (const id of made) await server.request("DELETE", `/software/${id}`, { token: ada.token });
  });

  it("lists deleted records by their tombstones", async () => {
    const since = new Date().toISOString();
    const { body } = await server.request<{ "@id": string }>("POST", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id, { name: "Not for long" }),
    });
    await server.request("DELETE", `/dataset/${body["@id"]}?reason=wrong`, { token: ada.token });
    const { body: found, headers } = await get(`?deletedSince=${since}`);
    expect(headers.get("x-total-count")).toBe("1");
    const tombstone = {
      deletedAt: expect.any(String) as string,
      deletedBy: ada.id,
      reason: "wrong",
    };
    expect(found).toEqual([{ "@id": body["@id"], kind: "dataset", revision: 2, ...tombstone }]);
    const gone = await server.request("GET", `/dataset/${body["@id"]}`);
    expect(gone.body).toMatchObject(tombstone);
    expect(await names(`?deletedSince=${since}&deletedBefore=${since}`)).toEqual([]);
    expect((await get(`?deletedSince=${since}&name=long`)).status).toBe(422);
    const beside = await get(
      `?deletedSince=${since}&keyword=a&format=b&status=DRAFT&licence=c&kind=dataset`,
    );
    const { detail } = beside.body as unknown as { detail: { loc: string[] }[] };
    expect(detail.map(({ loc }) => loc.at(-1))).toEqual(["keyword", "status", "format", "licence"]);
    expect((await get(`?deletedSince=${since}&order=name`)).status).toBe(422);
    expect((await get("?deletedSince=99999")).status).toBe(422);
  });

  it("has pages that lead through all of them, and their number", async () => {
    const seen: string[] = [];
    let query: string | undefined = "?kind=dataset,software,computation&order=-name&limit=1";
    while (query !== undefined) {
      const { body, headers } = await get(query);
      expect(headers.get("x-total-count")).toBe("4");
      seen.push(...body.map(({ name }) => name));
      query = /\/records(\?[^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    }
    expect(seen).toEqual(["Segment", "Run", "Mouse cells", "Human cells"]);
  });

  it("shows users to callers with a token only, as GraphQL does", async () => {
    expect(await names("?kind=user")).toEqual([]);
    expect(await names("?kind=user", ada.token)).toHaveLength(2);
    const { body } = await server.graphql<{ records: { nodes: { id: string }[] } }>(
      "{ records { nodes { id } } }",
    );
    expect((await get("")).body.map((record) => record["@id"])).toEqual(
      body.data.records.nodes.map(({ id }) => id),
    );
  });

  it("names everything that is wrong with its parameters", async () => {
    const { status, body } = await get(
      "?kind=datasets&status=OPEN&createdSince=yesterday&order=size&limit=0",
    );
    expect(status).toBe(422);
    expect(
      (body as unknown as { detail: { loc: string[] }[] }).detail.map(({ loc }) => loc[1]),
    ).toEqual(["kind", "status", "createdSince", "order", "limit"]);
    for (const query of [
      "?scoreBelow=high",
      "?scoreBelow=101",
      "?scoreAtLeast=-1",
      "?project=none",
      "?group=",
    ])
      expect((await get(query)).status, query).toBe(422);
    for (const query of ["?owner=nobody", "?colour=red", "?limit=1001", "?modifiedBefore=99999"])
      expect((await get(query)).status, query).toBe(422);
    for (const cursor of ["x", "a.b.c.d"])
      expect((await get(`?cursor=${cursor}`)).status, cursor).toBe(400);
    const { headers } = await get("?limit=1");
    const cursor = /cursor=([^&>]*)/.exec(headers.get("link")!)![1]!;
    expect((await get(`?limit=1&kind=dataset&cursor=${cursor}`)).status).toBe(400);
  });
});

describe("GET /records/statistics", () => {
  const count = (query: string) =>
    server.request<{ groups: JsonObject[]; hasMore: boolean }>(
      "GET",
      `/records/statistics${query}`,
    );

  it("counts by up to three keys", async () => {
    const month = new Date().toISOString().slice(0, 7);
    const { body } = await count("?by=kind,month&kind=dataset,software");
    expect(body).toEqual({
      groups: [
        { kind: "dataset", month, count: 2, bytes: 0 },
        { kind: "software", month, count: 1, bytes: 0 },
      ],
      hasMore: false,
    });
    expect((await count("?by=owner&kind=dataset&limit=1")).body).toMatchObject({ hasMore: true });
  });

  it("counts by licence and by band of the score", async () => {
    const { body } = await count("?by=licence,scoreBand&kind=dataset");
    expect(body.groups).toEqual([{ licence: "CC-BY-4.0", scoreBand: null, count: 2, bytes: 0 }]);
  });

  it("refuses keys that it does not know, and more than three", async () => {
    for (const query of ["", "?by=", "?by=size", "?by=kind,month,owner,status", "?by=kind&limit=0"])
      expect((await count(query)).status, query).toBe(422);
  });
});
