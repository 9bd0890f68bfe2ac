import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";

const read = (...path: string[]): string => readFileSync(join(packageRoot, ...path), "utf8");

/**
 * What must be set before the process begins stands in each place that begins one (decision
 * 34).
 */
test.each([
  ["the image", () => read("Dockerfile")],
  ["the unit for systemd", () => read("deploy", "systemd", "arkgraph@.service")],
  ["the benches", () => read("bench", "support", "server.ts")],
])(
  "%s starts the registry with two arenas and as many of V8's threads as there are cores",
  (_, text) => {
    expect(text()).toMatch(/MALLOC_ARENA_MAX(=2|: "2")/);
    expect(text()).toContain("--v8-pool-size=0");
  },
);
