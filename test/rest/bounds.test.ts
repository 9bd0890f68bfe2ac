import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { statementsOf } from "../../src/services/records/reserved.js";
import type { JsonObject } from "../../src/model/field.js";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const JSON_TYPE = { "Content-Type": "application/json" };
const FORM_TYPE = { "Content-Type": "application/x-www-form-urlencoded" };
const post = (
  path: string,
  body: string,
  headers: Record<string, string> = JSON_TYPE,
  token = "",
) => server.request("POST", path, { body, headers, ...(token === "" ? {} : { token }) });
const keys = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(",")}}`;

describe("a body of a request without a token", () => {
  it.each([
    ["/token", "JSON", keys(700_000), JSON_TYPE],
    ["/login", "JSON", keys(3_000), JSON_TYPE],
    ["/user", "JSON", keys(700_000), JSON_TYPE],
    ["/user", "JSON", keys(3_000), JSON_TYPE],
    ["/token", "a form", "a=&".repeat(1_000_000), FORM_TYPE],
    ["/login", "a form", `username=${"x".repeat(20_000)}&password=x`, FORM_TYPE],
  ])("at %s is refused above MAX_LOGIN_BYTES, as %s", async (path, _, body, type) => {
    const answer = await post(path, body, type);
    expect([answer.status, answer.body["code"]]).toEqual([413, "TOO_LARGE"]);
    expect(String(answer.body["detail"])).toContain("MAX_LOGIN_BYTES");
  });
  it("has at most MAX_FORM_FIELDS fields", async () => {
    const answer = await post("/token", "a&".repeat(1_001), FORM_TYPE);
    expect([answer.status, String(answer.body["detail"]).includes("MAX_FORM_FIELDS=1000")]).toEqual(
      [413, true],
    );
  });
  it("is bounded by the same setting over GraphQL", async () => {
    const { body } = await server.graphql(
      "mutation ($u: String!, $p: String!) { signIn(input: { username: $u, password: $p }) { token { accessToken } } }",
      { u: "x".repeat(10_000), p: "y".repeat(10_000) },
    );
    expect(body.errors).toMatchObject([
      { message: expect.stringContaining("MAX_LOGIN_BYTES"), extensions: { code: "TOO_LARGE" } },
    ]);
  });
});

describe("a JSON body", () => {
  it.each([
    ["keys", keys(10_000)],
    ["values", `{"x":[${"0,".repeat(20_000)}0]}`],
    ["empty arrays", `{"x":[${"[],".repeat(20_000)}[]]}`],
    ["what is no JSON", ",".repeat(30_000)],
  ])("of too many %s is a 413 that names MAX_JSON_VALUES, over each interface", async (_, body) => {
    for (const answer of [
      await post("/dataset", body, JSON_TYPE, ada.token),
      await server.request("PUT", "/publish", { token: ada.token, headers: JSON_TYPE, body }),
      await server.request("PUT", "/dataset", { token: ada.token, headers: JSON_TYPE, body }),
      await server.request("PUT", "/user", { token: ada.token, headers: JSON_TYPE, body }),
    ]) {
      expect([answer.status, answer.body["code"]]).toEqual([413, "TOO_LARGE"]);
      expect(String(answer.body["detail"])).toContain("MAX_JSON_VALUES=20000");
    }
    const graphql = await post("/graphql", `{"query":"{ me { id } }","variables":${body}}`);
    expect([graphql.status, graphql.text.includes("MAX_JSON_VALUES=20000")]).toEqual([413, true]);
  });
  it("with the maximum number of values is stored, in an array of any kind", async () => {
    const fields: JsonObject[] = [
      { keywords: Array.from({ length: 19_000 }, (_, index) => `w${index}`) },
      { measured: Array.from({ length: 19_000 }, (_, index) => index) },
      { usedByComputation: Array.from({ length: 19_000 }, (_, index) => `ark:99999/c${index}`) },
    ];
    for (const more of fields) {
      const made = await server.request("POST", "/dataset", {
        token: ada.token,
        json: bodyOf("dataset", ada.id, more),
      });
      expect(made.status, made.text.slice(0, 300)).toBe(200);
    }
  });
  it("of 130,000 values is refused, or stored where the limit allows it, and causes no fault", async () => {
    const large = await startServer({ MAX_JSON_VALUES: "1000000", DOCUMENT_TIMEOUT: "60s" });
    try {
      const bob = await large.person("bob");
      const json = bodyOf("dataset", bob.id, {
        measured: Array.from({ length: 130_000 }, (_, index) => index),
      });
      expect(
        (
          await server.request("POST", "/dataset", {
            token: ada.token,
            json: { ...json, owner: ada.id },
          })
        ).status,
      ).toBe(413);
      const made = await large.request("POST", "/dataset", { token: bob.token, json });
      expect(made.status, made.text.slice(0, 300)).toBe(200);
      expect((made.body["measured"] as number[]).length).toBe(130_000);
      expect(large.faults).toEqual([]);
    } finally {
      await large.stop();
    }
  });
  it("that takes longer to expand than DOCUMENT_TIMEOUT is a 413, and the next one is stored", async () => {
    const hasty = await startServer({
      DOCUMENT_TIMEOUT: "300ms",
      MAX_JSON_VALUES: "1000000",
      MAX_BODY_BYTES: "10MiB",
    });
    try {
      const bob = await hasty.person("bob");
      const values = Array.from({ length: 60_000 }, (_, index) => ({
        "@type": "PropertyValue",
        value: index,
      }));
      const slow = await hasty.request("POST", "/dataset", {
        token: bob.token,
        json: bodyOf("dataset", bob.id, { measured: values }),
      });
      expect([slow.status, String(slow.body["detail"]).includes("DOCUMENT_TIMEOUT=300")]).toEqual([
        413,
        true,
      ]);
      expect(
        (
          await hasty.request("POST", "/dataset", {
            token: bob.token,
            json: bodyOf("dataset", bob.id),
          })
        ).status,
      ).toBe(200);
    } finally {
      await hasty.stop();
    }
  });
  it("has the same graph as one that is expanded at once", async () => {
    const made = await server.request("POST", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id, {
        measured: Array.from({ length: 300 }, (_, index) => ({
          "@type": "PropertyValue",
          value: index,
        })),
      }),
    });
    expect(made.status).toBe(200);
    const ark = String(made.body["@id"]);
    const { quads } = await statementsOf({ ark, kind: "dataset", document: made.body });
    expect(await server.deps.records.quads(ark)).toBe(quads);
  });
});

describe("a message over a WebSocket", () => {
  const closeOf = (message: string) =>
    new Promise<number>((resolve, reject) => {
      const socket = new WebSocket(
        `${server.url.replace("http", "ws")}/graphql`,
        "graphql-transport-ws",
      );
      socket
        .on("open", () => socket.send(message))
        .on("close", resolve)
        .on("error", reject);
    });
  it("closes the connection with 1009 when it contains too many values or bytes", async () => {
    expect(await closeOf(`{"type":"connection_init","payload":${keys(15_000)}}`)).toBe(1009);
    expect(await closeOf(`{"type":"connection_init","payload":"${"x".repeat(300_000)}"}`)).toBe(
      1009,
    );
  });
});

describe("an error message", () => {
  it.each([
    ["numbers below a long key", `{"${"k".repeat(500_000)}":[${"1e400,".repeat(200)}1]}`],
    [
      "keys that are not well-formed",
      `{${Array.from({ length: 200 }, (_, index) => `"${"k".repeat(5_000)}\\ud800${index}":1`).join(",")}}`,
    ],
    [
      "values of a wrong type",
      JSON.stringify({
        name: 1,
        keywords: Array.from({ length: 5_000 }, () => 1),
        usedBy: Array.from({ length: 5_000 }, () => 1),
      }),
    ],
  ])("lists at most a hundred items and is short: %s", async (_, body) => {
    const answer = await post("/dataset", body, JSON_TYPE, ada.token);
    expect(answer.status).toBe(422);
    expect((answer.body["detail"] as unknown[]).length).toBeLessThanOrEqual(101);
    expect(answer.text.length).toBeLessThan(64 * 1024);
  });
  it("is short over GraphQL, however long the invalid variable is", async () => {
    const { text } = await server.graphql(
      "mutation ($i: DatasetInput!) { createDataset(input: { dataset: $i }) { dataset { id } } }",
      {
        i: Object.fromEntries(
          Array.from({ length: 60 }, (_, index) => [`wrong${index}`, "x".repeat(20_000)]),
        ),
      },
      ada.token,
    );
    expect(text).toContain("VALIDATION");
    expect(text.length).toBeLessThan(10_000);
  });
});

describe("a query string", () => {
  it("has at most MAX_FORM_FIELDS parameters", async () => {
    for (const path of ["/dataset", "/sparql"]) {
      const answer = await server.request("GET", `${path}?${"a&".repeat(1_001)}`);
      expect([answer.status, answer.text.includes("MAX_FORM_FIELDS")]).toEqual([413, true]);
    }
  });
});

describe("a query to /sparql", () => {
  it("is refused above SPARQL_MAX_QUERY_BYTES before it is read whole, as text and as a form", async () => {
    for (const [body, type] of [
      ["#".repeat(2_000_000), "application/sparql-query"],
      [`query=${"%23".repeat(600_000)}`, "application/x-www-form-urlencoded"],
    ] as const) {
      const answer = await post("/sparql", body, { "Content-Type": type });
      expect([answer.status, answer.text.includes("SPARQL_MAX_QUERY_BYTES")]).toEqual([413, true]);
    }
  });
});

describe("an answer of many or large documents", () => {
  it("ends its page early over REST and GraphQL, and says how to continue", async () => {
    const small = await startServer({ MAX_PAGE_BYTES: "150K", GRAPHQL_MAX_BYTES: "500K" });
    try {
      const bob = await small.person("bob");
      const made: string[] = [];
      for (let index = 0; index < 6; index++)
        made.push(
          String(
            (
              await small.request("POST", "/dataset", {
                token: bob.token,
                json: bodyOf("dataset", bob.id, { pad: "x".repeat(60_000) }),
              })
            ).body["@id"],
          ),
        );
      const page = await small.request<JsonObject[]>("GET", "/dataset?limit=5");
      expect([page.body.length, page.headers.get("x-total-count")]).toEqual([2, "6"]);
      expect(page.headers.get("link")).toContain('rel="next"');
      const whole = await small.request<JsonObject[]>("GET", "/dataset");
      expect(whole.body.map((record) => record["@id"])).toEqual(made);
      const listed = await small.graphql<{
        datasets: { nodes: unknown[]; pageInfo: { hasNextPage: boolean } };
      }>("{ datasets(first: 5) { nodes { id additionalProperties } pageInfo { hasNextPage } } }");
      expect([
        listed.body.data.datasets.nodes.length,
        listed.body.data.datasets.pageInfo.hasNextPage,
      ]).toEqual([2, true]);
      const twice = await small.graphql(
        "{ a: datasets(first: 2) { nodes { id } } b: datasets(first: 2) { nodes { id } } c: " +
          "datasets(first: 2) { nodes { id } } d: datasets(first: 2) { nodes { document } } }",
      );
      expect(JSON.stringify(twice.body.errors)).toContain("GRAPHQL_MAX_BYTES");
    } finally {
      await small.stop();
    }
  });
  it("shows a field without arguments under four names at the most", async () => {
    const named = (count: number) =>
      "{ datasets(first: 1) { nodes { " +
      `${Array.from({ length: count }, (_, index) => `a${index}: additionalProperties`).join(" ")} ` +
      "} } }";
    expect((await server.graphql(named(4))).body.errors).toBeUndefined();
    expect((await server.graphql(named(5))).body.errors).toMatchObject([
      { extensions: { code: "QUERY_TOO_COSTLY" } },
    ]);
  });
});
