import { spawnSync } from "node:child_process";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { openFileObjects } from "../../src/stores/objects/files/store.js";
import { openSqliteRecordStore } from "../../src/stores/records/sqlite/index.js";
import { sweepObjects } from "../../src/use-cases/objects/sweep.js";
import { largeCrate } from "../support/large-crate.js";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";

/** Enough for several batches of records. */
const ENTITIES = 300;
const FILES = ENTITIES / 20;

/** Where a submission is killed, in the order it gets there; `accepted` when its end must follow by itself. */
interface Death { moment: string; done?: number; after?: number; accepted: boolean }
const WALK: readonly Death[] = [
  { moment: "archive received", accepted: false },
  { moment: "archive announced", accepted: false },
  { moment: "archive stored", accepted: false },
  { moment: "submission accepted", accepted: true },
  { moment: "attempt begun", accepted: true },
  { moment: "reading archive", accepted: true },
  { moment: "reading metadata", accepted: true },
  { moment: "storing files", accepted: true },
  { moment: "files announced", accepted: true },
  { moment: "storing files", done: 1, accepted: true },
  { moment: "building records", done: 250, accepted: true },
  { moment: "committing", accepted: true },
  { moment: "committing", after: 20, accepted: true },
  { moment: "committed", accepted: true },
];

let registry: RegistryProcess | undefined;
let ada: User;
let folder: string;
/** In one step: a submission of before may read it at this moment, and half a file would end the registry too early. */
async function killAt(death: Partial<Death>): Promise<void> {
  await writeFile(join(folder, "next.json"), JSON.stringify(death));
  await rename(join(folder, "next.json"), join(folder, "kill-at.json"));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-walk-"));
  await killAt({});
});
afterAll(async () => {
  if (registry?.alive) await registry.kill();
  await registry?.remove();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<RegistryProcess> {
  const env = { NODE_OPTIONS: `--import ${pathToFileURL(join(packageRoot, "test/support/kill-at-moment.mjs"))}`, KILL_AT: join(folder, "kill-at.json") };
  return (registry = await RegistryProcess.start({ env, ...(registry ? { dataDir: registry.dataDir } : {}) }));
}

/** Sends half of an archive and leaves the request open. */
async function halfSent(at: RegistryProcess, archive: Buffer): Promise<Socket> {
  const { hostname, port } = new URL(at.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(`POST /rocrate/upload-async HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${archive.length + 500}\r\n\r\n`);
  socket.write('--b\r\nContent-Disposition: form-data; name="file"; filename="crate.zip"\r\nContent-Type: application/zip\r\n\r\n');
  socket.write(archive.subarray(0, archive.length / 2));
  for (let look = 0; look < 500 && (await at.staging()).length === 0; look++) await sleep(10);
  expect(await at.staging()).not.toEqual([]);
  return socket;
}

/** The caller's submissions, ended. */
async function ended(at: RegistryProcess): Promise<Record<string, unknown>[]> {
  const { body, text } = await at.graphql("{ submissions(first: 100) { nodes { submissionUUID } } }", {}, ada.token);
  expect(body, text).toHaveProperty("data");
  const ids = (body["data"].submissions.nodes as { submissionUUID: string }[]).map(({ submissionUUID }) => submissionUUID);
  return Promise.all(ids.map((id) => at.settled(id, ada.token)));
}

describe("a process killed at every stage of a submission", () => {
  test("ends the submission after the next start, with the whole crate or nothing of it", async () => {
    let running = await start();
    ada = await running.user("Ada");
    const socket = await halfSent(running, await largeCrate("half sent", ENTITIES));
    await running.kill();
    socket.destroy();

    let crates = 0;
    for (const [index, death] of WALK.entries()) {
      await killAt({});
      running = await start();
      const name = `${index}: ${death.moment}`;
      const archive = await largeCrate(name, ENTITIES);
      // What the death before left behind comes to its end first.
      for (const { status, error } of await ended(running)) expect(status, `before ${name}: ${JSON.stringify(error)}`).toBe("finished");
      await killAt(death);
      await Promise.all([running.upload(archive, ada.token).catch(() => undefined), running.ended()]);
      if (death.accepted) crates++;
    }

    await killAt({});
    running = await start();
    const states = await ended(running);
    expect(states.map(({ status }) => status)).toEqual(Array.from({ length: crates }, () => "finished"));
    const { body } = await running.graphql("{ roCrates { totalCount } dataDownloads { totalCount } datasets { totalCount } }");
    expect(body["data"]).toEqual({ roCrates: { totalCount: crates }, dataDownloads: { totalCount: crates * FILES }, datasets: { totalCount: crates * (ENTITIES - FILES) } });
    expect((await running.terminate()).status).toBe(0);

    const check = spawnSync(process.execPath, [join(packageRoot, "bin/arkgraph.js"), "check", "--data", running.dataDir], { encoding: "utf8", env: { PATH: process.env["PATH"] } });
    expect(check).toMatchObject({ status: 0, stdout: expect.stringContaining("the index agrees with the records"), stderr: "" });
    await everyObjectIsReferred(running.dataDir);
  }, 180_000);
});

/** Sweeps as the service does, with every intent expired: what is stored then is what records refer to. */
async function everyObjectIsReferred(dataDir: string): Promise<void> {
  const records = await openSqliteRecordStore({ file: join(dataDir, "records.db") });
  try {
    const objects = await openFileObjects(join(dataDir, "objects"));
    const { removed, stale } = await sweepObjects({ objects, records, intentLifetime: 0, now: () => Date.now() + 1000 });
    // The uploads that were never accepted.
    expect(removed).toBeGreaterThan(0);
    expect(stale).toBeGreaterThan(0);
    const stored: string[] = [];
    for await (const sha256 of objects.list()) stored.push(sha256);
    const { items, next } = await records.referenced({ limit: 100_000 });
    expect(next).toBeUndefined();
    expect(stored.toSorted()).toEqual(items.toSorted());
  } finally {
    await records.close();
  }
}
