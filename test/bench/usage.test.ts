import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { usage } from "../../bench/support/usage.js";

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "arkgraph-usage-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

it("is that of the process itself, whatever the process that started it has taken", async () => {
  const large = Buffer.alloc(400_000_000, 1);
  const used = await usage(["-e", "0"], 0, join(folder, "hook.cjs"));
  expect(large.at(-1)).toBe(1);
  expect(process.memoryUsage.rss() / 1e6).toBeGreaterThan(400);
  expect(used.memory).toBeGreaterThan(20);
  expect(used.memory).toBeLessThan(200);
  const larger = await usage(["-e", "Buffer.alloc(300_000_000, 1)"], 0, join(folder, "hook.cjs"));
  expect(larger.memory).toBeGreaterThan(300);
  expect(larger.cpu).toBeGreaterThan(0);
});
