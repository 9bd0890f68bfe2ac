import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer } from "./support/server.js";

describe("a node that only runs background jobs", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ ROLE: "worker" });
  });
  afterAll(() => server.stop());

  it("reports its health and readiness", async () => {
    for (const path of ["/healthz", "/readyz", "/api/healthz", "/readyz?from=probe"]) {
      const { status, body, headers } = await server.request("GET", path);
      expect([
        path,
        status,
        (body["checks"] as { records: string }).records,
        headers.get("cache-control"),
      ]).toEqual([path, 200, "ok", "no-store"]);
    }
    expect((await server.request("HEAD", "/readyz")).text).toBe("");
  });

  it("serves nothing else, and names the nodes that do", async () => {
    for (const path of ["/", "/dataset", "/graphql", "/healthzz", "/readyz/more", "/%E0%A4%A"]) {
      const { status, body } = await server.request("GET", path);
      expect([path, status, body]).toEqual([
        path,
        404,
        { code: "NOT_FOUND", detail: expect.stringContaining("a node with ROLE=api") },
      ]);
    }
    const { status, headers } = await server.request("POST", "/readyz", { body: "x" });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(server.faults).toEqual([]);
  });
});
