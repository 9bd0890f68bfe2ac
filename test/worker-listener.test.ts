import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer } from "./support/server.js";

describe("A node that only works in the background", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ ROLE: "worker" });
  });
  afterAll(() => server.stop());

  it("says whether it is well, and is ready", async () => {
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

  it("answers nothing else, and says who does", async () => {
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
