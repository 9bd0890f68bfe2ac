import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { REAL_CRATES, realCrates } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import { askTools, maySkip, toolsMissing } from "../support/servers/judges.js";

/** Crates of others that ro-crate-py opens as they were given. */
const OPENED = ["run-profile-ex-process", "fs-nf-fanout"];
/**
 * The metadata document names the root by its ARK, which means the same with a slash at its end.
 * Archives have the slash that RO-Crate 1.1 requires.
 */
const BY_DECISION = "ro-crate-1.1_10.1";

interface Found {
  citeAs: string;
  metadata: string[];
  archive: string[];
}
interface Checked {
  profiles: string[];
  /** Checks that find a requirement broken. */
  checks: string[];
}
interface Loaded {
  root: string;
  name: string | null;
  entities: string[];
  validated: Checked;
  original: Checked;
}

const missing = toolsMissing() || toolsMissing("formats-judges");
describe.skipIf(maySkip && missing)("the address of a crate's ARK is enough for", () => {
  let folder: string;
  let registry: LiveRegistry;
  const ids: Record<string, string> = {};
  let found: Record<string, Found>;
  let loaded: Record<string, Loaded>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-retrieved-"));
    registry = await LiveRegistry.start();
    const { token } = await registry.user("Ada");
    const take = async (name: string, archive: Uint8Array): Promise<void> => {
      const submission = await registry.take(archive, token);
      const id = submission["rocrateIdentifier"] as string;
      await registry.publish(id, token);
      ids[name] = id;
    };
    const originals: Record<string, string> = { demo: join(folder, "demo") };
    const demo = await buildDemoCrate();
    await writeFile(join(folder, "demo.zip"), demo);
    await promisify(execFile)("unzip", ["-q", join(folder, "demo.zip"), "-d", originals["demo"]!]);
    await take("demo", demo);
    for (const [name, archive] of await realCrates(OPENED)) {
      originals[name] = join(REAL_CRATES, name);
      await take(name, archive);
    }
    const addresses = Object.entries(ids).map(([name, id]) => [name, `${registry.url}/${id}`]);
    found = await askTools(
      "find-crates.py",
      { crates: Object.fromEntries(addresses) },
      "formats-judges",
    );
    loaded = await askTools("load-crates.py", {
      crates: Object.fromEntries(
        Object.entries(found).map(([name, { metadata }]) => [
          name,
          { metadata: metadata[0], original: originals[name] },
        ]),
      ),
    });
  }, 300_000);
  afterAll(async () => {
    await registry?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("signposting, which finds one metadata document and one archive of each crate", async () => {
    expect(Object.keys(found)).toContain("demo");
    for (const [name, { citeAs, metadata, archive }] of Object.entries(found)) {
      const here = `${registry.url}/${ids[name]}`;
      expect([citeAs, metadata]).toEqual([here, [`${here}/ro-crate-metadata.json`]]);
      expect(archive.length, name).toBeGreaterThan(0);
      expect((await fetch(archive[0]!, { method: "HEAD" })).status, name).toBe(200);
    }
  });

  it("ro-crate-py, which reads the crate and its entities from there", () => {
    for (const [name, { root, entities }] of Object.entries(loaded)) {
      expect(root.replace(/\/$/, ""), name).toBe(ids[name]);
      expect(entities.length, name).toBeGreaterThan(5);
    }
    expect(loaded["demo"]!.name).toBe("Cells from images to clusters");
  });

  it("roc-validator, which finds no requirement broken that the original keeps", () => {
    for (const [name, { validated, original }] of Object.entries(loaded)) {
      expect(validated.profiles, name).toEqual(original.profiles);
      const more = validated.checks.filter((check) => !original.checks.includes(check));
      expect(
        more.filter((check) => check !== BY_DECISION),
        name,
      ).toEqual([]);
    }
    expect(loaded["demo"]!.original).toEqual({ profiles: ["ro-crate-1.1"], checks: [] });
  });
});
