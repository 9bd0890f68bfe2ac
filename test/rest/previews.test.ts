import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crate, tableWithSchema } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";

const ROOT = "ark:99999/seen";
const MANY = 3_000;
let registry: LiveRegistry;
let ada: User;
let bob: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
  const archive = await crate(
    [
      ...tableWithSchema(
        { "@id": "data/cells.csv", name: "Cells" },
        { id: { type: "integer", index: 0, description: "Number" } },
        { required: ["id"] },
      ),
      { "@id": "ro-crate-preview.html", "@type": "CreativeWork", about: { "@id": "./" } },
    ],
    {
      "data/cells.csv": "id\n1\nnone\n",
      "data/deep/er/notes.md": "# Notes\n",
      "data/page.html": "<script>alert(1)</script>",
      "ro-crate-preview.html": "<h1>Seen</h1><script>alert(document.domain)</script>",
      ...Object.fromEntries(Array.from({ length: MANY }, (_, i) => [`many/${i}.txt`, `${i}`])),
    },
    { "@id": ROOT, name: "Seen" },
  );
  expect(await registry.take(archive, ada.token)).toMatchObject({ status: "finished" });
});
afterAll(() => registry?.stop());

const PREVIEW = `preview {
  __typename
  ... on TablePreview { columns rows errors { row column keyword message } schema problem }
  ... on TextPreview { text language charset truncated }
  ... on NoPreview { reason }
}`;
const folder = async (args: string, user?: User): Promise<Json> => {
  const { body } = await registry.graphql(
    `query ($id: ID!) { roCrate(id: $id) { folder(${args}) {
      totalCount fileCount size pageInfo { hasNextPage endCursor }
      nodes { name path isFolder fileCount size file { id readable ${PREVIEW} } }
    } } }`,
    { id: ROOT },
    user?.token,
  );
  expect(body["errors"]).toBeUndefined();
  return body["data"].roCrate.folder as Json;
};

/** Without previews: each of them has its price. */
const names = async (args: string): Promise<Json> => {
  const { body } = await registry.graphql(
    `query ($id: ID!) { roCrate(id: $id) { folder(path: "many", ${args}) {
      nodes { name } pageInfo { hasNextPage endCursor }
    } } }`,
    { id: ROOT },
  );
  expect(body["errors"]).toBeUndefined();
  return body["data"].roCrate.folder as Json;
};

describe("the files of a crate", () => {
  it("are a tree of folders with counts and sizes", async () => {
    const root = await folder(`path: ""`, ada);
    expect(root["totalCount"]).toBe(3);
    expect(
      (root["nodes"] as Json[]).map(({ name, isFolder, fileCount }) => [name, isFolder, fileCount]),
    ).toEqual([
      ["data", true, 3],
      ["many", true, MANY],
      ["ro-crate-preview.html", false, 1],
    ]);
    const data = await folder(`path: "/data/"`, ada);
    expect((data["nodes"] as Json[]).map(({ path, isFolder }) => [path, isFolder])).toEqual([
      ["data/deep", true],
      ["data/cells.csv", false],
      ["data/page.html", false],
    ]);
    const { body } = await registry.graphql(
      `query ($id: ID!) { roCrate(id: $id) { folder(path: "nowhere") { fileCount } } }`,
      { id: ROOT },
    );
    expect(body["errors"][0].message).toContain('The crate has no folder "nowhere".');
  });

  it("are read in pages, thousands of them in a moment", async () => {
    const seen = new Set<string>();
    let after = "";
    for (;;) {
      const { nodes, pageInfo } = await names(`first: 1000${after}`);
      for (const { name } of nodes as Json[]) seen.add(name as string);
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }
    expect(seen.size).toBe(MANY);
    const before = process.cpuUsage();
    await names("first: 10");
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1_000);
  });

  it("are found by a part of their path, in a folder and below it", async () => {
    const found = await folder(`find: "NOTES"`, ada);
    expect(found).toMatchObject({ totalCount: 1, fileCount: 1, size: 8 });
    expect(found["nodes"]).toMatchObject([
      { name: "data/deep/er/notes.md", path: "data/deep/er/notes.md", isFolder: false },
    ]);
    const below = await folder(`path: "data", find: "er/n"`, ada);
    expect(below["nodes"]).toMatchObject([
      { name: "deep/er/notes.md", path: "data/deep/er/notes.md" },
    ]);
    expect(await folder(`path: "data", find: "1.txt"`)).toMatchObject({ totalCount: 0, nodes: [] });
    const { body } = await registry.graphql(
      `query ($id: ID!, $find: String) { roCrate(id: $id) { folder(find: $find) { fileCount } } }`,
      { id: ROOT, find: "a".repeat(1001) },
    );
    expect(body["errors"][0].message).toContain("at most 1000 characters");
    // A text of spaces looks for nothing.
    expect(await folder(`find: " "`)).toMatchObject({ totalCount: 3 });
    const many = new Set<string>();
    let after = "";
    for (;;) {
      const { nodes, pageInfo } = await names(`find: "99", first: 20${after}`);
      for (const { name } of nodes as Json[]) many.add(name as string);
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }
    expect(many).toEqual(
      new Set(
        Array.from({ length: MANY }, (_, i) => `${i}.txt`).filter((name) => name.includes("99")),
      ),
    );
  });

  it("have previews, with the errors of the schema that their record names", async () => {
    const { nodes } = await folder(`path: "data"`, ada);
    const previews = (nodes as Json[]).map(({ name, file }) => [name, file?.preview]);
    expect(previews).toEqual([
      ["deep", undefined],
      [
        "cells.csv",
        {
          __typename: "TablePreview",
          columns: ["id"],
          rows: [["1"], ["none"]],
          errors: [{ row: 1, column: 0, keyword: null, message: expect.any(String) as string }],
          schema: expect.stringMatching(/^ark:/) as string,
          problem: null,
        },
      ],
      [
        "page.html",
        {
          __typename: "TextPreview",
          text: "<script>alert(1)</script>",
          language: "html",
          charset: "utf-8",
          truncated: false,
        },
      ],
    ]);
  });

  it("have no preview for those who may not read them, whichever way they ask", async () => {
    for (const user of [undefined, bob]) {
      const { nodes } = await folder(`path: "data"`, user);
      for (const { file } of (nodes as Json[]).filter(({ isFolder }) => !isFolder))
        expect([file.readable, file.preview]).toEqual([
          false,
          { __typename: "NoPreview", reason: "NOT_READABLE" },
        ]);
      const { body } = await registry.graphql(
        `query ($id: ID!, $file: ID!) { roCrate(id: $id) { ${PREVIEW} } preview(id: $file) { __typename } }`,
        { id: ROOT, file: `${ROOT}/data/page.html` },
        user?.token,
      );
      expect(body["data"]).toEqual({
        roCrate: { preview: { __typename: "NoPreview", reason: "NOT_READABLE" } },
        preview: { __typename: "NoPreview" },
      });
    }
    const { body } = await registry.graphql(
      `query ($id: ID!, $file: ID!) { roCrate(id: $id) { ${PREVIEW} } preview(id: $file) { __typename } }`,
      { id: ROOT, file: `${ROOT}/data/page.html` },
      ada.token,
    );
    expect(body["data"]).toEqual({
      roCrate: { preview: { __typename: "NoPreview", reason: "ARCHIVE" } },
      preview: { __typename: "TextPreview" },
    });
  });
});

describe("the page that came with a crate", () => {
  it("is sent in a sandbox without scripts or an origin", async () => {
    const { body } = await registry.graphql(
      "query ($id: ID!) { roCrate(id: $id) { addresses { page } } }",
      { id: ROOT },
    );
    expect(new URL(body["data"].roCrate.addresses.page as string).pathname).toBe(
      `/rocrate/page/${ROOT}`,
    );
    const path = `/rocrate/page/${ROOT}`;
    const page = await registry.ask(path, { token: ada.token });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html"]);
    expect(page.text).toContain("<h1>Seen</h1>");
    const policy = page.headers.get("content-security-policy")!.split("; ");
    expect(policy).toContain("sandbox");
    expect(policy).toContain("default-src 'none'");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    expect((await registry.ask(path)).status).toBe(401);
    expect((await registry.ask(path, { token: bob.token })).status).toBe(403);
  });
});
