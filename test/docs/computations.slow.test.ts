import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SETTINGS } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";
import { RUN_CODES } from "../../src/services/computations/findings.js";
import { LiveRegistry } from "../support/live-registry.js";
import { IMAGE, PodmanServer, podmanInstalled } from "../support/servers/podman.js";

const page = readFileSync(join(packageRoot, "docs", "computations.md"), "utf8");
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(page)![1]!;

describe("docs/computations.md", () => {
  it("lists every code with its meaning", () => {
    const listed = Object.fromEntries(
      [...page.matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \|$/gm)].map(([, code, meaning]) => [
        code,
        meaning,
      ]),
    );
    expect(listed).toEqual(RUN_CODES);
  });

  it("names existing settings", () => {
    const named = [...page.matchAll(/`((?:EXECUTION|CONTAINER)_[A-Z_]+)`/g)].map(
      ([, name]) => name!,
    );
    expect(named.filter((name) => !(name in SETTINGS))).toEqual([]);
    expect(named).toEqual(
      expect.arrayContaining(
        Object.keys(SETTINGS).filter(
          (name) => name.startsWith("EXECUTION_") && name !== "EXECUTION_CONCURRENCY",
        ),
      ),
    );
  });
});

describe.skipIf(!podmanInstalled || spawnSync("jq", ["--version"]).status !== 0)(
  "the examples of docs/computations.md",
  () => {
    let podman: PodmanServer;
    let registry: LiveRegistry;
    beforeAll(async () => {
      podman = await PodmanServer.start();
      registry = await LiveRegistry.start({ CONTAINER_HOST: podman.host });
    });
    afterAll(async () => {
      await registry?.stop();
      await podman?.stop();
    });

    it("run as printed", async () => {
      const ada = await registry.user("Ada");
      const folder = mkdtempSync(join(tmpdir(), "arkgraph-docs-"));
      try {
        const { stdout } = await promisify(execFile)(
          "bash",
          ["-euo", "pipefail", "-c", `${block("sh")}\necho run $RUN`],
          {
            cwd: folder,
            env: {
              PATH: process.env["PATH"],
              BASE: registry.url,
              TOKEN: ada.token,
              ME: ada.ark,
              IMAGE,
            },
          },
        );
        expect(stdout).toMatch(/^true\na,1\nb,2\n/);
        expect(stdout).toContain("Computation");
        const ark = /^run (.*)$/m.exec(stdout)![1]!;
        const { body } = await registry.graphql(block("graphql"), { id: ark }, ada.token);
        expect(body["data"].executeComputation).toMatchObject({
          submission: { record: { id: ark } },
        });
        expect(
          await registry.settled(
            body["data"].executeComputation.submission.id as string,
            ada.token,
          ),
        ).toMatchObject({ status: "finished" });
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  },
);
