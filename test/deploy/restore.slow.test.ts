import { execFile, execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { packageRoot } from "../../src/package-root.js";
import { RegistryProcess } from "../support/registry-process.js";

const missing = ["rsync", "sqlite3", "bash"].filter(
  (program) => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0,
);
if (missing.length > 0)
  process.stderr.write(
    `\n!! SKIPPED: the restore drill needs ${missing.join(", ")}; install them to run these ` +
      `tests.\n\n`,
  );

const page = await readFile(join(packageRoot, "docs/deployment.md"), "utf8");
const lines = (name: string) =>
  new RegExp(`^\`\`\`sh ${name}\\n([\\s\\S]*?)^\`\`\``, "m").exec(page)![1]!;

describe.skipIf(missing.length > 0)("the restore drill of docs/deployment.md", () => {
  let folder: string;
  let registry: RegistryProcess | undefined;
  let restored: RegistryProcess | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-drill-"));
    await mkdir(join(folder, "bin"));
    await writeFile(
      join(folder, "bin", "arkgraph"),
      `#!/bin/sh\nexec "${process.execPath}" "${join(packageRoot, "bin/arkgraph.js")}" "$@"\n`,
      { mode: 0o755 },
    );
  });
  afterEach(async () => {
    await registry?.stop();
    await restored?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (name: string, data: string) =>
    promisify(execFile)("bash", ["-euo", "pipefail", "-c", lines(name)], {
      cwd: folder,
      env: {
        PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
        HOME: folder,
        DATA: data,
        BACKUP: join(folder, "backup"),
      },
      timeout: 60_000,
    });

  test(
    "restores every record, file and token, though records and crates were written " +
      "during the copy",
    async () => {
      registry = await RegistryProcess.start({
        env: { SWEEP_INTERVAL: "50ms", INTENT_LIFETIME: "10s" },
      });
      const ada = await registry.user("Ada");
      const crate = await registry.take(await buildDemoCrate(), ada.token);
      const archive = `/rocrate/archived/download/${crate["rocrateIdentifier"] as string}`;
      const before = await sha256(registry, archive, ada.token);

      const made: string[] = [];
      let writing = true;
      const write = async (worker: number) => {
        for (let count = 0; writing; count++) {
          const answer = await registry!.ask("/dataset", {
            token: ada.token,
            body: {
              "@type": "evi:Dataset",
              name: `${worker}-${count}`,
              description: "Made while a backup ran.",
              owner: ada.ark,
            },
          });
          if (answer.status === 200)
            made.push((answer.body["dataset"]?.["@id"] ?? answer.body["@id"]) as string);
        }
      };
      const writers = [write(1), write(2)];
      const crates = (async () => {
        for (let count = 0; writing && count < 3; count++)
          await registry.take(await buildDemoCrate(), ada.token).catch(() => undefined);
      })();
      while (made.length < 20) await new Promise((resolve) => setTimeout(resolve, 10));
      const sure = [...made];
      await run("backup", registry.dataDir);
      const atTheEnd = made.length;
      writing = false;
      await Promise.all([...writers, crates]);
      expect(atTheEnd).toBeGreaterThan(sure.length);
      await registry.kill();

      const data = join(folder, "restored");
      const { stdout } = await run("restore", data);
      expect(stdout).toMatch(/^result +the index agrees with the records$/m);
      restored = await RegistryProcess.start({ dataDir: data });
      expect(await sha256(restored, archive, ada.token)).toBe(before);
      for (const id of sure) expect([id, (await restored.ask(`/${id}`)).status]).toEqual([id, 200]);
      // The token of before is good, and every file that a record names is there.
      expect((await restored.ask("/user", { token: ada.token })).status).toBe(200);
      const named = execFileSync(
        "sqlite3",
        [
          join(data, "records.db"),
          ".mode list",
          "SELECT DISTINCT sha256 FROM object_ref WHERE dropped = 0",
        ],
        { encoding: "utf8" },
      )
        .split("\n")
        .filter(Boolean);
      const kept = new Set(
        (await readdir(join(data, "objects"), { recursive: true })).map((path) =>
          path.split("/").at(-1)!,
        ),
      );
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((hash) => !kept.has(hash))).toEqual([]);
    },
  );

  test("reports a file that has changed", async () => {
    registry = await RegistryProcess.start();
    await registry.take(await buildDemoCrate(), (await registry.user("Ada")).token);
    await run("backup", registry.dataDir);
    const objects = join(folder, "backup", "objects");
    const file = (await readdir(objects, { recursive: true, withFileTypes: true })).find((entry) =>
      entry.isFile(),
    )!;
    await writeFile(join(file.parentPath, file.name), "bit rot");
    await expect(run("restore", join(folder, "restored"))).rejects.toThrow(/FAILED|did NOT match/);
  });
});

async function sha256(registry: RegistryProcess, path: string, token: string): Promise<string> {
  const response = await fetch(registry.url + path, {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(200);
  return createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex");
}
