import { auditServer } from "graphql-http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LiveRegistry } from "../support/live-registry.js";

let registry: LiveRegistry;
beforeAll(async () => {
  registry = await LiveRegistry.start();
});
afterAll(() => registry?.stop());

describe("GraphQL over HTTP", () => {
  test("passes every audit of graphql-http", async () => {
    const results = await auditServer({ url: `${registry.url}/graphql`, fetchFn: fetch });
    expect(results.length).toBeGreaterThanOrEqual(61);
    const missed = results
      .filter(({ status }) => status !== "ok")
      .map((result) => `${result.id} ${result.name}: ${"reason" in result ? result.reason : ""}`);
    expect(missed).toEqual([]);
  });
});
