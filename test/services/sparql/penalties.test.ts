import { describe, expect, it } from "vitest";
import { type ErrorCode, ServiceError } from "../../../src/errors.js";
import { networkOf } from "../../../src/config/client.js";
import { answerQuery, Penalties } from "../../../src/services/sparql/answer.js";
import { LocalMemory } from "../../../src/storage/shared/port.js";

const MINUTE = 60_000;

describe("penalties for queries that run into limits", () => {
  it("allow the first one, and double with every further one", () => {
    const penalties = new Penalties(MINUTE, new LocalMemory());
    const waits = (now: number) => {
      try {
        penalties.check("mallory", now);
        return 0;
      } catch (error) {
        return Number((error as { headers: Record<string, string> }).headers["Retry-After"]);
      }
    };
    penalties.strike("mallory", 1, 0);
    expect(waits(1)).toBe(0);
    penalties.strike("mallory", 1, 1000);
    expect(waits(1000)).toBe(60);
    expect(waits(31_000)).toBe(30);
    expect(waits(61_000)).toBe(0);
    penalties.strike("mallory", 1, 62_000);
    expect(waits(62_000)).toBe(120);
    expect(() => penalties.check("grace", 62_000)).not.toThrow();
  });

  it("apply to a caller whose queries made the engine fail only after five such queries", () => {
    const penalties = new Penalties(MINUTE, new LocalMemory());
    for (let i = 0; i < 4; i++) penalties.strike("ada", 0.25, i);
    expect(() => penalties.check("ada", 10)).not.toThrow();
    penalties.strike("ada", 0.25, 11);
    expect(() => penalties.check("ada", 12)).toThrow(
      expect.objectContaining({ code: "TOO_MANY_REQUESTS", headers: { "Retry-After": "60" } }),
    );
  });

  // No query is known that makes the engine fail: an engine that always fails stands in for it.
  it.each<[ErrorCode, number]>([
    ["QUERY_FAILED", 5],
    ["QUERY_TIMEOUT", 2],
    ["QUERY_MEMORY", 2],
  ])("count an answer %s so that the caller waits after %i of them", async (code, most) => {
    const penalties = new Penalties(MINUTE, new LocalMemory());
    const deps = {
      penalties,
      guard: {
        check: async (text: string) => ({ form: "ASK", text, refusal: (error: unknown) => error }),
      },
      records: { sequence: async () => 1 },
      openQueries: { ask: () => Promise.reject(new ServiceError(code, "failed")) },
      config: { SPARQL_MAX_ROWS: 1 },
      baseUrl: () => "https://registry.example",
    } as unknown as Parameters<typeof answerQuery>[1];
    const ask = (shared = false, anonymous = false) =>
      answerQuery(
        {
          query: "ASK {}",
          dataset: { default: [], named: [] },
          caller: anonymous ? "address 192.0.2.1" : "ada",
          shared,
          anonymous,
          formatFor: () => "json",
        },
        deps,
      ).catch((error: unknown) => (error as ServiceError).code);
    for (let i = 0; i < 10; i++) expect(await ask(true)).toBe(code);
    // Somebody else behind the address may have sent the queries that ended the engine.
    if (code === "QUERY_FAILED")
      for (let i = 0; i < 50; i++) expect(await ask(false, true)).toBe(code);
    for (let i = 0; i < most; i++) expect(await ask()).toBe(code);
    expect(await ask()).toBe("TOO_MANY_REQUESTS");
  });

  it("are forgotten after some time", () => {
    const penalties = new Penalties(MINUTE, new LocalMemory());
    penalties.strike("ada", 1, 0);
    penalties.strike("ada", 1, 12 * MINUTE);
    expect(() => penalties.check("ada", 12 * MINUTE)).not.toThrow();
  });

  it("count a network of IPv6 as one caller", () => {
    expect(networkOf("2001:db8:1:2:3:4:5:6")).toBe(networkOf("2001:db8:1:2:ffff::1"));
    expect(networkOf("2001:db8:1:2:3:4:5:6")).not.toBe(networkOf("2001:db8:1:3:3:4:5:6"));
    expect(networkOf("192.0.2.1")).toBe("192.0.2.1");
    expect(networkOf("::ffff:192.0.2.1")).toBe("::ffff:192.0.2.1");
  });
});
