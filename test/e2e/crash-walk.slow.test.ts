import { spawnSync } from "node:child_process";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectsOf, openRecords } from "../../src/app/open-stores.js";
import { readConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";
import { sweepObjects } from "../../src/services/objects/damage.js";
import { openObjects } from "../../src/storage/objects/location.js";
import { largeCrate } from "../support/large-crate.js";
import { type Killable, startKillable } from "../support/killable.js";
import type { RegistryClient, User } from "../support/registry-client.js";

/** Enough for several batches of records. */
const ENTITIES = 300;
const FILES = ENTITIES / 20;
/**
 * ms: in a cluster another worker notices within five STALLED_INTERVAL; the rest is for a busy
 * machine.
 */
const PATIENCE = 60_000;

/**
 * Where a submission is killed, in the order it gets there; `accepted` when its end must follow by
 * itself.
 */
interface Death {
  event: string;
  done?: number;
  after?: number;
  accepted: boolean;
}
const WALK: readonly Death[] = [
  { event: "archive received", accepted: false },
  { event: "archive announced", accepted: false },
  { event: "archive stored", accepted: false },
  { event: "submission accepted", accepted: true },
  { event: "attempt started", accepted: true },
  { event: "reading archive", accepted: true },
  { event: "reading metadata", accepted: true },
  { event: "storing files", accepted: true },
  { event: "files announced", accepted: true },
  { event: "storing files", done: 1, accepted: true },
  { event: "building records", done: 250, accepted: true },
  { event: "committing", accepted: true },
  { event: "committing", after: 20, accepted: true },
  { event: "committed", accepted: true },
];

let registry: Killable;
let ada: User;
let folder: string;
/**
 * In one step: a submission of before may read it at this moment, and half a file would end the
 * registry too early.
 */
async function killAt(death: Partial<Death>): Promise<void> {
  await writeFile(join(folder, "next.json"), JSON.stringify(death));
  await rename(join(folder, "next.json"), join(folder, "kill-at.json"));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-walk-"));
  await killAt({});
  const env = {
    NODE_OPTIONS: `--import ${pathToFileURL(join(packageRoot, "test/support/kill-at-event.mjs"))}`,
    KILL_AT: join(folder, "kill-at.json"),
  };
  registry = await startKillable(env);
}, 600_000);
afterAll(async () => {
  await registry?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Sends half of an archive and leaves the request open. */
async function halfSent(at: RegistryClient, archive: Buffer): Promise<Socket> {
  const { hostname, port } = new URL(at.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(
    `POST /rocrate/upload-async HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ` +
      `${ada.token}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ` +
      `${archive.length + 500}\r\n\r\n`,
  );
  socket.write(
    '--b\r\nContent-Disposition: form-data; name="file"; filename="crate.zip"\r\n' +
      "Content-Type: application/zip\r\n\r\n",
  );
  socket.write(archive.subarray(0, archive.length / 2));
  await expect.poll(() => registry.staging(), { timeout: 10_000 }).not.toEqual([]);
  return socket;
}

/** The caller's submissions, ended. */
async function ended(at: RegistryClient): Promise<Record<string, unknown>[]> {
  const { body, text } = await at.graphql(
    "{ submissions(first: 100) { nodes { id } } }",
    {},
    ada.token,
  );
  expect(body, text).toHaveProperty("data");
  const ids = (body["data"].submissions.nodes as { id: string }[]).map(({ id }) => id);
  return Promise.all(ids.map((id) => at.settled(id, ada.token, PATIENCE)));
}

// Of a cluster one node of four dies at each; the others go on with what it was at before there is
// a new one.
describe("a process killed at every stage of a submission", () => {
  test("leaves the submission to the next process, which ingests the whole crate or nothing", async () => {
    let running = await registry.whole();
    ada = await running.user("Ada");
    const socket = await halfSent(running, await largeCrate("half sent", ENTITIES));
    await registry.kill();
    socket.destroy();

    let crates = 0;
    for (const [index, death] of WALK.entries()) {
      await killAt({});
      const name = `${index}: ${death.event}`;
      const archive = await largeCrate(name, ENTITIES);
      // What the death before left behind comes to its end first.
      for (const { status, error } of await ended(registry.survivors ?? (await registry.whole())))
        expect(status, `before ${name}: ${JSON.stringify(error)}`).toBe("finished");
      running = await registry.whole();
      const died = registry.death();
      await killAt(death);
      await Promise.all([running.upload(archive, ada.token).catch(() => undefined), died]);
      if (death.accepted) crates++;
    }

    await killAt({});
    const states = await ended(registry.survivors ?? (await registry.whole()));
    running = await registry.whole();
    expect(states.map(({ status }) => status)).toEqual(
      Array.from({ length: crates }, () => "finished"),
    );
    const { body } = await running.graphql(
      "{ roCrates { totalCount } dataDownloads { totalCount } datasets { totalCount } }",
    );
    expect(body["data"]).toEqual({
      roCrates: { totalCount: crates },
      dataDownloads: { totalCount: crates * FILES },
      datasets: { totalCount: crates * (ENTITIES - FILES) },
    });
    expect(new Set(await registry.terminate())).toEqual(new Set([0]));

    const check = spawnSync(process.execPath, [join(packageRoot, "bin/arkgraph.js"), "check"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], ...registry.stores },
    });
    expect(check).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("the index agrees with the records"),
      stderr: "",
    });
    await everyObjectIsReferred();
  }, 600_000);
});

/**
 * Sweeps as the service does, with every intent expired: what is stored then is what records refer
 * to.
 */
async function everyObjectIsReferred(): Promise<void> {
  const config = readConfig(registry.stores);
  const records = await openRecords(config, () => undefined);
  try {
    const objects = await openObjects(objectsOf(config));
    const { removed } = await sweepObjects({
      objects,
      records,
      intentLifetime: 0,
      now: () => Date.now() + 1000,
    });
    // The uploads that were never accepted. What a killed process was receiving is removed when it
    // starts again.
    expect(removed).toBeGreaterThan(0);
    const stored: string[] = [];
    for await (const sha256 of objects.list()) stored.push(sha256);
    const { items, next } = await records.referenced({ limit: 100_000 });
    expect(next).toBeUndefined();
    expect(stored.toSorted()).toEqual(items.toSorted());
  } finally {
    await records.close();
  }
}
