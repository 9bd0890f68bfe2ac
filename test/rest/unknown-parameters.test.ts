import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "../support/contract.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const lists = OPERATIONS.filter(
  ({ method, operationId }) => method === "get" && /^(?:list_|search_|feed$)/.test(operationId),
).map(({ path, parameters }) => {
  const names = parameters.flatMap((one) => (one["in"] === "query" ? [one["name"] as string] : []));
  return [path, names.length === 0 ? "none is known" : `known are ${names.join(", ")}`] as const;
});

describe("an unknown query parameter of a list, a search or the feed", () => {
  it.each(lists)("of GET %s is a 422 that lists the known ones", async (path, known) => {
    const { status, body } = await server.request<{
      detail: { loc: string[]; msg: string; type: string }[];
    }>("GET", `${path}?query=cells&keywrod=cells&Limit=5`, { token: ada.token });
    expect(status).toBe(422);
    const unknown = body.detail
      .filter(({ type }) => type === "extra_forbidden")
      .map(({ loc }) => loc.join("."));
    expect(unknown).toEqual(expect.arrayContaining(["query.keywrod", "query.Limit"]));
    expect(body.detail[0]!.msg).toBe(`Extra inputs are not permitted; ${known}`);
  });

  it("has a limit among the known ones, but in lists that are short by themselves", () => {
    const short = lists.filter(([, known]) => !known.includes("limit")).map(([path]) => path);
    expect(short).toEqual(["/me/tokens", "/feed", "/review-links/ark:{NAAN}/{postfix}"]);
  });

  it("is ignored elsewhere, and known ones are accepted", async () => {
    expect((await server.request("GET", "/healthz?x=1")).status).toBe(200);
    expect(
      (await server.request("GET", "/dataset?limit=5&order=-created&name=x&keyword=y")).status,
    ).toBe(200);
    expect(
      (await server.request("GET", "/search/basic?query=cells&type=dataset&limit=1&offset=0"))
        .status,
    ).toBe(200);
  });
});

describe("GraphQL", () => {
  it.each([
    ["keywords", ["b"]],
    ["@id", "ark:99999/by-the-side"],
    ["@type", "evi:Dataset"],
    ["@context", {}],
    ["name", "Twice"],
  ])(
    "refuses %s in additionalProperties, because the input has a field for it",
    async (name, value) => {
      const input = {
        name: "A dataset",
        description: "Of some kind.",
        owner: ada.id,
        additionalProperties: { [name]: value, other: 1 },
      };
      const { body } = await server.graphql(
        "mutation ($input: DatasetInput!) { createDataset(input: { dataset: $input }) { dataset { id } } }",
        { input },
        ada.token,
      );
      expect(body.errors![0]!.extensions).toMatchObject({
        code: "VALIDATION",
        detail: [{ loc: ["input", "dataset", "additionalProperties", name] }],
      });
    },
  );

  it("answers a subscription over HTTP with an error that names its two transports", async () => {
    const { status, body } = await server.graphql(
      "subscription ($id: ID!) { submissionProgress(id: $id) { status } }",
      { id: "x" },
    );
    expect(status).toBe(400);
    expect(body.errors).toHaveLength(1);
    expect(body.errors![0]!.message).toMatch(
      /WebSocket at \/graphql .*graphql-transport-ws.*server-sent events from \/graphql\/stream/,
    );
    expect(body.errors![0]!.extensions.code).toBe("BAD_REQUEST");
    expect(server.faults).toEqual([]);
  });

  it("refuses additionalProperties that repeat a field of the input", async () => {
    const { body } = await server.graphql(
      `mutation ($owner: ID!) { createDataset(input: { dataset: { name: "A", description: "long ` +
        `enough", owner: $owner, additionalProperties: { name: "B", extra: 1 } } }) { revision } }`,
      { owner: ada.id },
      ada.token,
    );
    expect(body.errors?.[0]?.extensions).toMatchObject({
      code: "VALIDATION",
      detail: [{ loc: ["input", "dataset", "additionalProperties", "name"] }],
    });
  });
});
