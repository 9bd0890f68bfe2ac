import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LiveRegistry } from "../support/live-registry.js";
import { scrape, seriesValue } from "../support/metrics.js";
import { crate } from "../support/crates.js";
import type { User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start({ METRICS_PORT: "0" });
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

describe("GET /metrics, on its own port", () => {
  it("counts requests by operation and status, over all interfaces", async () => {
    await registry.ask("/healthz");
    await registry.ask("/ark:99999/nothing-is-here");
    await registry.ask("/no/such/path");
    await registry.graphql("{ __typename }");
    await expect
      .poll(async () =>
        seriesValue(
          await scrape(registry),
          'arkgraph_requests_total{operation="graphql",status="200"}',
        ),
      )
      .toBe(1);
    const text = await scrape(registry);
    expect(seriesValue(text, 'arkgraph_requests_total{operation="health",status="200"}')).toBe(1);
    expect(seriesValue(text, 'arkgraph_requests_total{operation="resolve_ark",status="404"}')).toBe(
      1,
    );
    expect(seriesValue(text, 'arkgraph_requests_total{operation="other",status="404"}')).toBe(1);
    expect(seriesValue(text, 'arkgraph_request_duration_seconds_count{operation="health"}')).toBe(
      1,
    );
  });

  it("reports submissions, the index, the concurrency limits and the process", async () => {
    expect(await registry.take(await crate([]), ada.token)).toMatchObject({ status: "finished" });
    await expect
      .poll(async () => seriesValue(await scrape(registry), "arkgraph_index_lag_commits"))
      .toBe(0);
    const text = await scrape(registry);
    expect(seriesValue(text, 'arkgraph_submissions{status="queued"}')).toBe(0);
    expect(seriesValue(text, "arkgraph_commits")).toBeGreaterThan(0);
    expect(seriesValue(text, "arkgraph_index_ready")).toBe(1);
    expect(seriesValue(text, "arkgraph_objects_damaged")).toBe(0);
    expect(seriesValue(text, "arkgraph_objects_scrubbed_total")).toBe(0);
    expect(seriesValue(text, "arkgraph_objects_scrubbed_bytes_total")).toBe(0);
    expect(seriesValue(text, 'arkgraph_turns{work="plans",state="running"}')).toBe(0);
    expect(seriesValue(text, "process_resident_memory_bytes")).toBeGreaterThan(0);
  });

  it("contains no identifier, address or text of a user", async () => {
    await registry.ask(`/${ada.ark}?secret=hunter2`, { token: ada.token });
    await registry.ask("/dataset/hunter2/../../hunter2");
    const text = await scrape(registry);
    for (const hidden of [ada.ark, ada.email, ada.token, "hunter2", "127.0.0.1"])
      expect(text).not.toContain(hidden);
  });

  it("omits the figures of an unavailable store, and reports the rest", async () => {
    const { sequence } = registry.deps.records;
    registry.deps.records.sequence = () => Promise.reject(new Error("away"));
    const text = await scrape(registry).finally(() => {
      registry.deps.records.sequence = sequence;
    });
    expect(seriesValue(text, "arkgraph_commits")).toBeNaN();
    expect(seriesValue(text, "arkgraph_index_ready")).toBe(1);
    expect(seriesValue(text, "arkgraph_objects_damaged")).toBe(0);
    expect(seriesValue(text, "arkgraph_objects_scrubbed_total")).toBe(0);
    expect(seriesValue(text, "arkgraph_objects_scrubbed_bytes_total")).toBe(0);
  });

  it("serves nothing else, and is not served at the port of the API", async () => {
    expect((await fetch(`${registry.running.metricsUrl}/healthz`)).status).toBe(404);
    expect((await fetch(`${registry.running.metricsUrl}/metrics`, { method: "POST" })).status).toBe(
      404,
    );
    expect((await registry.ask("/metrics")).status).toBe(404);
    const quiet = await LiveRegistry.start();
    expect(quiet.running.metricsUrl).toBeUndefined();
    await quiet.stop();
  });
});
