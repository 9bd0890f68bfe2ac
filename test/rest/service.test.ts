import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { packageRoot } from "../../src/package-root.js";
import { startServer, type TestServer } from "../support/server.js";

let server: TestServer;
beforeAll(async () => void (server = await startServer()));
afterAll(() => server.stop());
/** URLs a browser would follow by itself. */
const outside = (text: string): string[] =>
  [
    ...text.matchAll(
      /(?:src|href|action|@import|url\(|fetch\(|import\()\s*[=(]?\s*["'`]?((?:https?:)?\/\/[^\s"'`)>]+)/gi,
    ),
  ]
    .map((match) => match[1]!)
    .filter((url) => !url.startsWith(server.url));

describe("GET /healthz", () => {
  it("reports every store", async () => {
    const answer = await server.request("GET", "/healthz");
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(answer.body).toMatchObject({
      status: "healthy",
      checks: { records: "ok", objects: "ok", jobs: "ok" },
    });
    expect(["ok", "loading"]).toContain((answer.body["checks"] as { index: string }).index);
    await expect.poll(async () => (await server.request("GET", "/healthz")).body["lag"]).toBe(0);
  });
  it("is 503 when one fails, and shows no internals", async () => {
    const { objects } = server.deps;
    const health = objects.health;
    objects.health = () =>
      Promise.reject(
        Object.assign(new Error("EACCES: permission denied, open '/secret/folder'"), {
          code: "EACCES",
        }),
      );
    try {
      const answer = await server.request("GET", "/healthz");
      expect([answer.status, answer.body["status"]]).toEqual([503, "unhealthy"]);
      expect((answer.body["checks"] as { objects: string }).objects).toMatch(/^failed/);
      expect(answer.text).not.toContain("/secret/folder");
    } finally {
      objects.health = health;
    }
  });
});

describe("a graph that has outgrown its engine", () => {
  it("is reported with the setting that helps, by REST, GraphQL and the page of the status", async () => {
    const { queries } = server.deps;
    const { state } = queries;
    const advice = "The engine has too many records: set GRAPH_ENGINE=oxigraph.";
    const health = async () => ({
      rest: (await server.request("GET", "/healthz")).body["advice"],
      graphql: (
        await server.request("POST", "/graphql", { json: { query: "{ health { advice } }" } })
      ).body["data"],
      page: (await server.request("GET", "/status", { headers: { Accept: "text/html" } })).text,
    });
    expect(await health()).toMatchObject({
      rest: undefined,
      graphql: { health: { advice: null } },
    });
    queries.state = () => ({ ...state.call(queries), advice });
    try {
      expect(await health()).toEqual({
        rest: advice,
        graphql: { health: { advice } },
        page: expect.stringContaining(advice) as string,
      });
    } finally {
      queries.state = state;
    }
  });
});

describe("GET /readyz", () => {
  const failing = async (
    part: "records" | "objects",
    check: () => Promise<void>,
    look: () => Promise<void>,
  ) => {
    const { health } = server.deps[part];
    server.deps[part].health = check;
    await look().finally(() => {
      server.deps[part].health = health;
    });
  };
  it("is for a node that reaches its records, whatever else is unavailable", async () => {
    const answer = await server.request("GET", "/readyz");
    expect([answer.status, answer.headers.get("cache-control"), answer.body["status"]]).toEqual([
      200,
      "no-store",
      "ready",
    ]);
    await failing(
      "objects",
      () => Promise.reject(new Error("away")),
      async () => {
        expect(await server.request("GET", "/readyz")).toMatchObject({
          status: 200,
          body: { status: "ready", checks: { objects: "failed" } },
        });
      },
    );
    await failing(
      "records",
      () => Promise.reject(new Error("away")),
      async () => {
        expect(await server.request("GET", "/readyz")).toMatchObject({
          status: 503,
          body: { status: "not ready", checks: { records: "failed" }, lag: null },
        });
      },
    );
    expect((await server.request("GET", "/readyz")).status).toBe(200);
  });
  it("does not wait for a component that does not answer, and logs an outage once", async () => {
    const hurried = await startServer({ HEALTH_TIMEOUT: "100ms" });
    try {
      hurried.deps.objects.health = () => new Promise(() => {});
      for (let n = 0; n < 3; n++)
        expect((await hurried.request("GET", "/readyz")).body).toMatchObject({
          checks: { objects: "failed" },
        });
      expect(
        hurried.faults.filter(({ message }) => message === "a store is unavailable"),
      ).toHaveLength(1);
    } finally {
      await hurried.stop();
    }
  });
});

describe("pages", () => {
  it.each(["/", "/docs", "/graphql"])(
    "GET %s is HTML that loads nothing from elsewhere and runs only its own scripts",
    async (path) => {
      const answer = await server.request("GET", path, { headers: { Accept: "text/html" } });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([
        200,
        "text/html; charset=utf-8",
      ]);
      expect(outside(answer.text)).toEqual([]);
      expect(answer.text).not.toMatch(/<script>|\son\w+=|javascript:/i);
      const policy = answer.headers.get("content-security-policy")!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      for (const [, asset] of answer.text.matchAll(/(?:src|href)="(\/[^"]*)"/g))
        expect(
          (await server.request("GET", asset!, { headers: { Accept: "text/html, */*" } })).status,
          asset,
        ).toBeLessThan(400);
    },
  );
  it("have assets without an external URL", async () => {
    const folder = join(packageRoot, "src", "web", "assets");
    const names = readdirSync(folder);
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) {
      expect(outside(readFileSync(join(folder, name), "utf8")), name).toEqual([]);
      const served = await server.request("GET", `/assets/${name}`);
      expect([served.status, served.headers.get("x-content-type-options")]).toEqual([
        200,
        "nosniff",
      ]);
    }
  });
  it("name the configured address of the registry, whatever the Host header says", async () => {
    const answer = await server.request("GET", "/", {
      headers: { "X-Forwarded-Host": "evil.example" },
    });
    expect(answer.text).toContain(server.url);
    expect(answer.text).not.toContain("evil.example");
  });
});

describe("the contract", () => {
  it("is served as JSON and YAML, the same", async () => {
    const [json, yaml] = [
      await server.request("GET", "/openapi.json"),
      await server.request("GET", "/openapi.yaml"),
    ];
    expect(parse(yaml.text)).toEqual(json.body);
    expect(String(json.body["openapi"])).toBe("3.1.0");
  });
});
