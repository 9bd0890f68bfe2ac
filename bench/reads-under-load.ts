import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { packageRoot } from "../src/package-root.js";
import type { Bench, Figure } from "./bench.js";
import { Client } from "./support/client.js";
import { crateMetadata, zipped } from "./support/crate.js";
import { sendHostile } from "./support/hostile-load.js";
import { largeCrate } from "./support/hostile-requests.js";
import { writeLargeArchive } from "./support/large-archive.js";
import { median, percentile } from "./support/measure.js";
import { reads } from "./support/reads.js";
import { registryEnv, startRegistry, untilLoaded, type Server } from "./support/server.js";
import { uploadFile } from "./support/upload.js";

const run = promisify(execFile);

/** Hostile requests that are under way at a time. */
const AT_ONCE = 8;
/** The crate of large graphs and a record of megabytes, which hostile requests ask for. */
const LARGE = { members: 5_000, bytes: 5_600_000 };
/** Files that `check --objects` and a backup read. */
const FILES = { name: "Files", many: 200, giant: 0, giantStored: false, zip64: false };
const ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p }";

/**
 * How long a reader waits for a record: on a quiet registry, during many concurrent creates, while
 * the registry ingests a large crate, during a backup and while `check --objects` reads it, during a
 * SPARQL query without an end, and during hostile requests (large, deep, wide, slow, repeated, with
 * and without a token).
 */
export const readsUnderLoad: Bench = async ({ sizes, folder, load, say }) => {
  const { rounds, readSeconds, writers, entities } = sizes;
  const servers: Server[] = [];
  const registry = async (settings: Record<string, string> = {}) => {
    const data = await folder();
    const server = await startRegistry(data, settings);
    servers.push(server);
    await untilLoaded(server);
    const client = await Client.register(server);
    const body = JSON.parse(client.creating().body) as object;
    const record = (await client.create("/dataset", body))["@id"];
    return { client, record, path: `${server.url}/${record}`, pid: server.pid, data };
  };
  try {
    const busy = await registry({
      SPARQL_TIMEOUT: `${readSeconds * 1000}ms`,
      SPARQL_PENALTY: "1ms",
    });
    // Hostile requests meet the limits as they are by default.
    const attacked = await registry();
    const large = "ark:99999/hostile-crate";
    const stored = await fetch(`${attacked.client.url}/rocrate/metadata`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${attacked.client.token}`,
      },
      body: JSON.stringify(largeCrate(large, LARGE.members, LARGE.bytes)),
    });
    if (!stored.ok) throw new Error(`the large crate was answered ${stored.status}`);
    const creating = busy.client.creating();
    await load.run({ ...creating, connections: writers, seconds: sizes.warmUp });
    const archive = join(await folder(), "files.zip");
    await writeLargeArchive(archive, { ...FILES, manyBytes: sizes.objectBytes / 5 / FILES.many });
    await uploadFile(busy.client, archive);
    const backup = await backupTo(busy.data, await folder());
    if (!backup) say("rsync or sqlite3 is not installed: no backup, and none to check");
    const copy = await backup?.();
    // Made before anything is timed: this process is also the reader.
    const archives = await Promise.all(
      Array.from({ length: rounds }, (_, index) =>
        zipped(crateMetadata(entities, `Crate ${index}`)),
      ),
    );
    let seed = 0;
    const hostile = async () => {
      const { record, client } = attacked;
      const { url, token, user } = client;
      const from = { url, token, user, record, large, seed: ++seed };
      const { faults } = await sendHostile({ ...from, count: sizes.hostile, atOnce: AT_ONCE });
      if (faults.length > 0)
        throw new Error(`hostile requests ended in faults: ${faults.join("; ")}`);
    };
    const during = (work: () => Promise<unknown>) => () => reads(busy.path, work);
    const loads: Record<string, () => Promise<number[]>> = {
      quiet: during(() => pause(readSeconds * 1000)),
      [`${writers} creates at a time`]: during(() =>
        load.run({ ...creating, connections: writers, seconds: readSeconds }),
      ),
      [`a crate of ${entities} entities`]: during(() => busy.client.upload(archives.pop()!)),
      ...(backup && copy !== undefined
        ? {
            "a backup": during(() => repeated(readSeconds, backup)),
            "check --objects of a backup": during(() => repeated(readSeconds, () => check(copy))),
          }
        : {}),
      "a SPARQL query without an end": during(async () => {
        const { status } = await fetch(`${busy.client.url}/sparql`, {
          method: "POST",
          headers: { "Content-Type": "application/sparql-query" },
          body: ENDLESS,
        });
        if (status !== 503) throw new Error(`the query without an end was answered ${status}`);
      }),
      // What the senders take of the cores, clients on machines of their own would not take.
      [`${sizes.hostile} hostile requests, without waits for a core`]: () =>
        reads(attacked.path, hostile, attacked.pid),
    };
    const times: Record<string, number[]> = {};
    for (let round = 0; round < rounds; round++)
      for (const [name, measure] of Object.entries(loads))
        (times[name] ??= []).push(...(await measure()));
    const { quiet, ...others } = times;
    return Object.entries(others).map(([name, all]): Figure => ({
      name: `p99 of reads during ${name}`,
      value: percentile(all, 0.99),
      unit: "ms",
      baseline: { name: "quiet", value: percentile(quiet!, 0.99) },
      wanted: { below: name.includes("crate of") ? 100 : 50 },
      note:
        `median ${median(all).toFixed(1)} ms, longest ` +
        `${percentile(all, 1).toFixed(1)} ms of ${all.length} reads`,
    }));
  } finally {
    for (const server of servers) await server.stop();
  }
};

/** At least once, and until the seconds are over. */
async function repeated(seconds: number, work: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + seconds * 1000;
  do await work();
  while (performance.now() < end);
}

/** Data of a running registry cannot be checked where they are. */
const check = (data: string): Promise<unknown> =>
  run(process.execPath, [join(packageRoot, "bin/arkgraph.js"), "check", "--objects"], {
    env: { ...process.env, ...registryEnv(data) },
  });

/**
 * Makes a backup by the lines of docs/deployment.md, in a folder of its own; undefined where its
 * programs are not installed.
 */
async function backupTo(
  data: string,
  folder: string,
): Promise<(() => Promise<string>) | undefined> {
  const page = await readFile(join(packageRoot, "docs/deployment.md"), "utf8");
  const lines = /^```sh backup\n([\s\S]*?)^```/m.exec(page)?.[1];
  if (lines === undefined) throw new Error("docs/deployment.md has no lines for a backup");
  try {
    await run("sh", ["-c", "command -v rsync && command -v sqlite3"]);
  } catch {
    return undefined;
  }
  // The second one in the same folder would copy no file.
  let count = 0;
  return async () => {
    const made = join(folder, String(count++));
    await run("sh", ["-euc", lines], { env: { ...process.env, DATA: data, BACKUP: made } });
    return made;
  };
}
