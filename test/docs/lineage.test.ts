import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { BOUNDS } from "../../src/config/bounds.js";
import { SETTINGS } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";
import { LiveRegistry } from "../support/live-registry.js";
import { hasTools } from "../support/shell-tools.js";

const page = readFileSync(join(packageRoot, "docs", "lineage.md"), "utf8");
const tools = hasTools("docs/lineage.md", "bash", "curl", "jq");

describe("docs/lineage.md", () => {
  it("names existing settings", () => {
    const named = [...page.matchAll(/`([A-Z]+_[A-Z_]+)`/g)].map(([, name]) => name!);
    expect(named.filter((name) => !(name in SETTINGS || name in BOUNDS))).toEqual([]);
  });

  // The example before it, with OpenLineage's own client, runs in test/judges/openlineage.slow.test.ts.
  it.skipIf(!tools)("has an example that runs as printed", async () => {
    const [, example] = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text]) => text!);
    const registry = await LiveRegistry.start();
    const folder = mkdtempSync(join(tmpdir(), "arkgraph-lineage-"));
    try {
      const ada = await registry.user("Ada");
      const { stdout } = await promisify(execFile)(
        "bash",
        ["-c", `set -euo pipefail\n${example}`],
        { cwd: folder, env: { ...process.env, BASE: registry.url, TOKEN: ada.token } },
      );
      expect(stdout).toMatch(/true\n$/);
      const events = JSON.parse(readFileSync(join(folder, "events.json"), "utf8")) as object[];
      const again = await registry.graphql(
        "mutation ($e: JSON!) { recordLineage(input: { events: $e }) { changes { change } } }",
        { e: events },
        ada.token,
      );
      expect(again.body["data"].recordLineage.changes).toEqual(
        Array.from({ length: 3 }, () => ({ change: "UNCHANGED" })),
      );
    } finally {
      await registry.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
