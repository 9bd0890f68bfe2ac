import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forGraphql } from "../../src/graphql/errors.js";
import { packageRoot } from "../../src/package-root.js";
import { eventsOf, webSocketClient } from "../support/graphql-streams.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json } from "../support/registry-client.js";

/** Services whose sentences with operations of REST are no errors of GraphQL. */
const OVER_HTTP = new Set([
  // Advice of a score, the same text for every interface.
  "scoring/criteria.ts",
  // Cookies exist over HTTP only.
  "accounts/sessions.ts",
]);
const hashOf = (query: string): string => createHash("sha256").update(query).digest("hex");
const persisted = (query: string) => ({
  persistedQuery: { version: 1, sha256Hash: hashOf(query) },
});
const NOT_FOUND = {
  errors: [
    {
      message: "PersistedQueryNotFound",
      extensions: { code: "PERSISTED_QUERY_NOT_FOUND", apolloCode: "PERSISTED_QUERY_NOT_FOUND" },
    },
  ],
};

describe("automatic persisted queries", () => {
  let registry: LiveRegistry;
  beforeAll(async () => {
    registry = await LiveRegistry.start();
  });
  afterAll(() => registry?.stop());
  const send = async (body: Json): Promise<Json> => (await registry.ask("/graphql", { body })).body;
  const get = async (parameters: Record<string, string>): Promise<Json> =>
    (await registry.ask(`/graphql?${String(new URLSearchParams(parameters))}`)).body;

  test("are stored when they come with their document, and answered by hash", async () => {
    const query = "query First { me { id } }";
    expect(await send({ extensions: persisted(query) })).toMatchObject(NOT_FOUND);
    expect(await send({ query, extensions: persisted(query) })).toMatchObject({
      data: { me: null },
    });
    expect(await send({ extensions: persisted(query) })).toMatchObject({ data: { me: null } });
    expect(await get({ extensions: JSON.stringify(persisted(query)) })).toMatchObject({
      data: { me: null },
    });
  });

  test("take variables and operation names, over GET and over the other transports", async () => {
    const query = "query A($id: ID!) { record(id: $id) { id } } query B { me { id } }";
    const variables = { id: "ark:99999/nothing" };
    const extensions = persisted(query);
    const asked = { operationName: "A", variables };
    const answer = { data: { record: null } };
    expect(await send({ query, extensions, ...asked })).toMatchObject(answer);
    expect(
      await get({
        extensions: JSON.stringify(extensions),
        operationName: "A",
        variables: JSON.stringify(variables),
      }),
    ).toMatchObject(answer);
    const client = webSocketClient(registry.url);
    const { value } = await client.iterate({ query: "", extensions, ...asked }).next();
    expect(value).toMatchObject(answer);
    await client.dispose();
    const events = await eventsOf(
      await fetch(`${registry.url}/graphql/stream`, {
        method: "POST",
        body: JSON.stringify({ query, extensions, ...asked }),
        headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      }),
    );
    expect(events[0]!.data).toMatchObject(answer);
  });

  test("with another document than the hash's are refused, and nothing is stored", async () => {
    const query = "query Other { me { id } }";
    const wrong = { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } };
    expect(await send({ query, extensions: wrong })).toMatchObject({
      errors: [
        { extensions: { code: "PERSISTED_QUERY_HASH_MISMATCH", apolloCode: "BAD_REQUEST" } },
      ],
    });
    expect(await send({ extensions: wrong })).toMatchObject(NOT_FOUND);
  });

  test("that are no valid documents are not stored", async () => {
    for (const query of ["{", "{ nothing }"]) {
      await send({ query, extensions: persisted(query) });
      expect(await send({ extensions: persisted(query) })).toMatchObject(NOT_FOUND);
    }
  });

  test.each([
    { persistedQuery: { version: 2, sha256Hash: "0".repeat(64) } },
    { persistedQuery: { version: 1, sha256Hash: "ABC" } },
    { persistedQuery: { version: 1, sha256Hash: { toString: 1 } } },
    { persistedQuery: "x" },
    { persistedQuery: [] },
    { persistedQuery: { version: 1, sha256Hash: "__proto__" } },
    {},
  ])("with malformed extensions are the client's mistake (%j)", async (extensions) => {
    const answer = await registry.ask("/graphql", { body: { extensions } });
    expect(answer.status).toBeLessThan(500);
    expect(answer.body["errors"][0].extensions.code).toBe("BAD_REQUEST");
  });

  test("are forgotten, the least recently used first", async () => {
    const first = "query Kept { me { id } }";
    await send({ query: first, extensions: persisted(first) });
    for (let round = 0; round < 110; round++) {
      const query = `query Q${round} { me { id } } #${"x".repeat(60_000)}`;
      await send({ query, extensions: persisted(query) });
      if (round === 60) await send({ extensions: persisted(first) });
    }
    expect(await send({ extensions: persisted(first) })).toMatchObject({ data: { me: null } });
    expect(
      await send({ extensions: persisted(`query Q0 { me { id } } #${"x".repeat(60_000)}`) }),
    ).toMatchObject(NOT_FOUND);
  });
});

describe("a list of trusted documents", () => {
  const trusted = "query Trusted { me { id } }";
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-trusted-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const start = async (content: unknown): Promise<LiveRegistry> => {
    const file = join(folder, `${crypto.randomUUID()}.json`);
    await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
    return LiveRegistry.start({ GRAPHQL_TRUSTED_DOCUMENTS: file });
  };

  test.each([
    ["by hash", { [hashOf(trusted)]: trusted }],
    [
      "as Apollo's manifest",
      { format: "apollo-persisted-query-manifest", operations: [{ body: trusted }] },
    ],
  ])("%s is answered by hash or text, and nothing else is", async (_name, list) => {
    const registry = await start(list);
    try {
      const send = async (body: Json) => (await registry.ask("/graphql", { body })).body;
      expect(await send({ query: trusted })).toMatchObject({ data: { me: null } });
      expect(await send({ extensions: persisted(trusted) })).toMatchObject({ data: { me: null } });
      const other = "{ me { id } }";
      for (const body of [
        { query: other },
        { query: other, extensions: persisted(other) },
        { extensions: persisted(other) },
      ])
        expect(await send(body)).toMatchObject({
          errors: [{ extensions: { code: "DOCUMENT_NOT_TRUSTED", apolloCode: "FORBIDDEN" } }],
        });
    } finally {
      await registry.stop();
    }
  });

  test.each([
    ["no JSON", "{"],
    ["a list", []],
    ["a hash of something else", { ["0".repeat(64)]: trusted }],
    ["a number", { [hashOf(trusted)]: 5 }],
  ])("with %s stops the start with one line", async (_name, content) => {
    await expect(start(content)).rejects.toThrow(/^GRAPHQL_TRUSTED_DOCUMENTS cannot be used/);
  });
});

describe("codes of errors", () => {
  let registry: LiveRegistry;
  beforeAll(async () => {
    registry = await LiveRegistry.start();
  });
  afterAll(() => registry?.stop());

  test.each([
    ["{", "GRAPHQL_PARSE_FAILED", "GRAPHQL_PARSE_FAILED"],
    ["{ nothing }", "GRAPHQL_VALIDATION_FAILED", "GRAPHQL_VALIDATION_FAILED"],
    ["query A { me { id } } query B { me { id } }", "OPERATION_RESOLUTION_FAILURE", undefined],
    ["query ($id: ID!) { record(id: $id) { id } }", "BAD_USER_INPUT", "BAD_USER_INPUT"],
    ["{ submissions { nodes { sha256 } } }", "NOT_AUTHENTICATED", "UNAUTHENTICATED"],
    ["{ datasets(first: -1) { nodes { id } } }", "VALIDATION", "BAD_USER_INPUT"],
  ])("name the mistake in %s by our code and by Apollo's", async (query, code, apollo) => {
    const { body } = await registry.graphql(query);
    expect(body["errors"][0].extensions).toMatchObject({ code, apolloCode: apollo ?? code });
  });

  test("come without the words of REST", async () => {
    const ada = await registry.user("Ada");
    const bob = await registry.user("Bob");
    const messages: string[] = [];
    for (const [query, variables, token] of [
      ["{ submissions { nodes { sha256 } } }", {}, undefined],
      ["{ me { id } }", {}, "none"],
      ["{ dataset(id: $id) { id } }", { id: ada.ark }, undefined],
      ["mutation { deleteRecord(input: { id: $id }) { revision } }", { id: ada.ark }, bob.token],
      ["mutation { deleteRecord(input: { id: $id }) { revision } }", { id: ada.ark }, undefined],
    ] as const) {
      const asked = query.replace(/^(\w*) ?\{/, (_all, kind: string) =>
        query.includes("$id") ? `${kind || "query"} ($id: ID!) {` : `${kind || "query"} {`,
      );
      const { body } = await registry.graphql(asked, variables, token);
      messages.push(...((body["errors"] ?? []) as { message: string }[]).map((e) => e.message));
    }
    expect(messages.length).toBeGreaterThan(2);
    expect(messages.join("\n")).not.toMatch(
      /\b(?:endpoint|body|header|GET|POST|PUT|DELETE|REST)\b|Authorization/,
    );
  });

  test("are worded anew wherever a service names an operation of REST", () => {
    const folder = join(packageRoot, "src/services");
    const named = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .flatMap((path) =>
        readFileSync(join(folder, path), "utf8")
          .split("\n")
          .filter((line) => /^[^*/]*["`].*\b(?:GET|POST|PUT|PATCH|DELETE) \//.test(line))
          .map((line) => [path, line.trim()] as const),
      );
    expect(named.length).toBeGreaterThan(3);
    for (const [path, line] of named)
      if (!OVER_HTTP.has(path))
        expect(forGraphql(line), path).not.toMatch(/\b(?:GET|POST|PUT|PATCH|DELETE) \//);
  });
});
