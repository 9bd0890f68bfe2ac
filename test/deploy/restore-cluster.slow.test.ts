import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { packageRoot } from "../../src/package-root.js";
import { RegistryProcess } from "../support/registry-process.js";
import { clientOf, keysOf } from "../support/servers/s3-makes.js";
import { clusterInstalled, SharedServers } from "../support/topology.js";

const missing = ["pg_dump", "pg_restore"].filter(
  (program) => spawnSync(program, ["--version"]).status !== 0,
);
if (missing.length > 0)
  process.stderr.write(
    `\n!! SKIPPED: the restore drill of a cluster needs ${missing.join(", ")} (apt-get ` +
      `install -y postgresql-client)\n\n`,
  );

const run = promisify(execFile);

/** What `aws s3 sync` does: what is there stays, nothing is removed. */
async function syncObjects(from: SharedServers, to: SharedServers): Promise<number> {
  const [source, target] = [clientOf(from.s3), clientOf(to.s3)];
  const there = new Set(await keysOf(to.s3, to.location));
  let copied = 0;
  for (const key of await keysOf(from.s3, from.location)) {
    if (there.has(key) || !key.includes("/objects/")) continue;
    const chunks: Buffer[] = [];
    for await (const chunk of await source.getObject(from.location.bucket, key))
      chunks.push(chunk as Buffer);
    await target.putObject(to.location.bucket, key, Buffer.concat(chunks));
    copied++;
  }
  return copied;
}

async function sha256(registry: RegistryProcess, path: string, token: string): Promise<string> {
  const response = await fetch(registry.url + path, {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect([path, response.status]).toEqual([path, 200]);
  return createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex");
}

describe.skipIf(!clusterInstalled || missing.length > 0)("the restore drill of a cluster", () => {
  let folder: string;
  let lost: SharedServers;
  let fresh: SharedServers;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-drill-"));
    [lost, fresh] = await Promise.all([SharedServers.start(), SharedServers.start()]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([lost?.stop(), fresh?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  test("a dump of PostgreSQL and a copy of the objects restore everything in new servers", async () => {
    const node = await RegistryProcess.start({ env: { ...lost.env } });
    const ada = await node.user("Ada");
    const crate = await node.take(await buildDemoCrate(), ada.token);
    const archive = `/rocrate/archived/download/${crate["rocrateIdentifier"] as string}`;
    const before = {
      archive: await sha256(node, archive, ada.token),
      records: await node.recordCount(),
    };

    // Objects, records, objects again, while the node works.
    const late: string[] = [];
    let writing = true;
    const writer = (async () => {
      for (let count = 0; writing; count++) {
        const answer = await node.ask("/dataset", {
          token: ada.token,
          body: {
            "@type": "evi:Dataset",
            name: `n${count}`,
            description: "Made while a backup ran.",
            owner: ada.ark,
          },
        });
        if (answer.status === 200)
          late.push((answer.body["dataset"]?.["@id"] ?? answer.body["@id"]) as string);
      }
    })();
    await syncObjects(lost, fresh);
    const sure = [...late];
    await run("pg_dump", [
      "--format=custom",
      "--file",
      join(folder, "records.dump"),
      lost.env["DATABASE_URL"]!,
    ]);
    await syncObjects(lost, fresh);
    writing = false;
    await writer;
    await node.stop();

    await run("pg_restore", [
      "--dbname",
      fresh.env["DATABASE_URL"]!,
      "--no-owner",
      "--exit-on-error",
      join(folder, "records.dump"),
    ]);
    const { stdout } = await run(
      process.execPath,
      [join(packageRoot, "bin/arkgraph.js"), "check"],
      { env: { PATH: process.env["PATH"], ...fresh.env } },
    );
    expect(stdout).toMatch(/^result +the index agrees with the records$/m);
    const restored = await RegistryProcess.start({ env: { ...fresh.env } });
    expect(await sha256(restored, archive, ada.token)).toBe(before.archive);
    expect(await restored.recordCount()).toBeGreaterThanOrEqual(before.records);
    for (const id of sure) expect([id, (await restored.ask(`/${id}`)).status]).toEqual([id, 200]);
    expect((await restored.ask("/user", { token: ada.token })).status).toBe(200);
    // It goes on: numbers are not given twice.
    expect(
      (await restored.take(await buildDemoCrate(), (await restored.user("Bob")).token))["success"],
    ).toBe(true);
    await restored.stop();
  }, 600_000);
});
