import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { crate, realCrates } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import { askTools, maySkip, toolsMissing } from "../support/servers/judges.js";
import { sharedData } from "../support/shared-data.js";

const SOURCE = sharedData("judges/fuji-3.5.1.tar.xz");
/** Percent of the points of F-UJI's metrics. */
const WANTED = 90;

interface Assessed {
  records: Record<string, { score: number; metrics: Record<string, [number, number]> }>;
  /** Hosts outside the loopback that F-UJI would have asked. */
  refused: string[];
}

describe.skipIf(!SOURCE || (maySkip && toolsMissing("fuji")))("F-UJI", () => {
  let folder: string;
  let registry: LiveRegistry;
  let assessed: Assessed;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-fuji-"));
    // Without the times of the archive: F-UJI renews lists that are older than a day.
    await promisify(execFile)("tar", ["-xJmf", SOURCE!, "-C", folder]);
    registry = await LiveRegistry.start();
    const { token } = await registry.user("Ada");
    const published = async (archive: Uint8Array): Promise<string> => {
      const submission = await registry.take(archive, token);
      const id = submission["rocrateIdentifier"] as string;
      await registry.publish(id, token);
      return `${registry.url}/${id}`;
    };
    const records: Record<string, string> = {
      demo: await published(await buildDemoCrate()),
      bare: await published(await crate([], {}, { license: [], description: "" })),
    };
    for (const [name, archive] of await realCrates()) records[name] = await published(archive);
    assessed = await askTools("assess.py", { source: folder, records }, "fuji");
  }, 300_000);
  afterAll(async () => {
    await registry?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("gives published crates at least 90 %, and an empty crate less", () => {
    const { bare, ...described } = assessed.records;
    expect(Object.keys(described)).toContain("demo");
    for (const [name, { score, metrics }] of Object.entries(described))
      expect(score, `${name}: ${JSON.stringify(metrics)}`).toBeGreaterThanOrEqual(WANTED);
    expect(bare!.score).toBeLessThan(WANTED);
  });

  it("was kept from asking other hosts", () => {
    expect(assessed.refused).toContain("publicsuffix.org");
  });
});
