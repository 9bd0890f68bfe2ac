import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { packageRoot } from "../../src/package-root.js";
import { openSqliteRecordStore } from "../../src/storage/records/sqlite/index.js";
import { COMPILE_LESS } from "../support/compile-less.js";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";
import { newBucket } from "../support/servers/s3-makes.js";
import { clusterInstalled, SharedServers } from "../support/topology.js";

interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** @param onStart may end the process */
function migrate(
  args: string[],
  env: Record<string, string> = {},
  onStart: (kill: (signal: NodeJS.Signals) => void) => void = () => {},
): Promise<Ended> {
  const child = spawn(
    process.execPath,
    [...COMPILE_LESS, join(packageRoot, "bin/arkgraph.js"), "migrate", ...args],
    { env: { PATH: process.env["PATH"], ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  onStart((signal) => child.kill(signal));
  return new Promise((resolve) =>
    child.on("close", (status, signal) => resolve({ status, signal, ...output })),
  );
}

const filesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/\.lock$|-shm$|-wal$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
const hashesOf = async (folder: string) =>
  Promise.all(
    (await filesOf(folder)).map(async (file) => [
      file,
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex"),
    ]),
  );

async function sha256(registry: RegistryProcess, path: string, token: string): Promise<string> {
  const response = await fetch(registry.url + path, {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect([path, response.status]).toEqual([path, 200]);
  return createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex");
}

describe("arkgraph migrate", () => {
  let folder: string;
  let source: string;
  let ada: User;
  let archive: string;
  let before: string;
  let bob: User;
  let waiting: string;
  let records: number;
  const running: RegistryProcess[] = [];
  const started = async (
    dataDir: string,
    env: Record<string, string> = {},
  ): Promise<RegistryProcess> => {
    running.push(await RegistryProcess.start({ dataDir, env }));
    return running.at(-1)!;
  };

  /** A registry that was stopped amid a crate. */
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-migrate-"));
    source = join(folder, "source");
    const registry = await RegistryProcess.start({ dataDir: source });
    ada = await registry.user("Ada");
    const crate = await registry.take(await buildDemoCrate(), ada.token);
    archive = `/rocrate/archived/download/${crate["rocrateIdentifier"] as string}`;
    before = await sha256(registry, archive, ada.token);
    records = await registry.recordCount();
    await registry.terminate();
    // It takes the crate in no more: its input is there, and its work is to be done.
    const again = await RegistryProcess.start({ dataDir: source, env: { JOB_CONCURRENCY: "1" } });
    bob = await again.user("Bob");
    waiting = (await again.upload(await buildDemoCrate(), bob.token)).body[
      "submissionUUID"
    ] as string;
    await again.kill();
    // What the power cut left in the log goes into the file, as at any start: from here on nothing
    // may change it.
    await (await openSqliteRecordStore({ file: join(source, "records.db") })).close();
  }, 60_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));
  afterEach(async () => {
    for (const registry of running.splice(0)) if (registry.alive) await registry.terminate();
  });

  const check = async (registry: RegistryProcess): Promise<void> => {
    expect(await sha256(registry, archive, ada.token)).toBe(before);
    expect((await registry.ask("/user", { token: ada.token })).status).toBe(200);
    expect((await registry.login(ada.email, ada.password)).length).toBeGreaterThan(20);
    expect(await registry.recordCount()).toBeGreaterThanOrEqual(records);
  };

  test("refuses invalid options in one line, and changes nothing", async () => {
    const hashes = await hashesOf(source);
    for (const [args, status, expected] of [
      [["--from", source], 2, /--to/],
      [["--from", source, "--to", `${source}/`], 1, /same place/],
      [
        ["--from", join(folder, "nothing"), "--to", join(folder, "x")],
        1,
        /nothing\/records.db is not there/,
      ],
      [["--from", source, "--to", "cluster"], 1, /DATABASE_URL/],
    ] as const) {
      const ended = await migrate([...args]);
      expect([args, ended.status, ended.stdout]).toEqual([args, status, ""]);
      expect(ended.stderr).toMatch(expected);
    }
    const registry = await started(join(folder, "busy"));
    expect(await migrate(["--from", registry.dataDir, "--to", join(folder, "x")])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/is in use by process \d+/) as string,
    });
    expect(await migrate(["--from", source, "--to", registry.dataDir])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/is in use/) as string,
    });
    expect(await hashesOf(source)).toEqual(hashes);
  });

  test("reports damaged or missing objects, and never stores damaged bytes under their name", async () => {
    const from = join(folder, "damaged");
    await cp(source, from, { recursive: true });
    const [damaged, missing] = (await filesOf(join(from, "objects"))).filter(
      (file) => !file.includes("staging"),
    );
    await writeFile(damaged!, Buffer.alloc((await readFile(damaged!)).byteLength, "x"));
    await rm(missing!);
    const to = join(folder, "of-damaged");
    const ended = await migrate(["--from", from, "--to", to]);
    expect(ended.status).toBe(1);
    expect(ended.stdout).toContain(
      `object ${damaged!.split("/").at(-1)}: its bytes in the source are damaged`,
    );
    expect(ended.stdout).toContain(
      `object ${missing!.split("/").at(-1)}: it is missing in the source`,
    );
    expect(
      (await filesOf(join(to, "objects"))).filter((file) =>
        file.endsWith(damaged!.split("/").at(-1)!),
      ),
    ).toEqual([]);
  });

  describe.skipIf(!clusterInstalled)("with the stores of a cluster", () => {
    let servers: SharedServers;
    beforeAll(async () => {
      servers = await SharedServers.start();
    }, 60_000);
    afterAll(() => servers?.stop());
    /** Settings of a cluster without records. */
    let cluster: Record<string, string>;
    beforeEach(async () => {
      cluster = {
        ...servers.env,
        DATABASE_URL: await servers.postgres.database(),
        S3_BUCKET: (await newBucket(servers.s3)).bucket,
      };
    });

    test("moves a registry into a cluster and back: records, files, tokens, and unfinished jobs", async () => {
      const hashes = await hashesOf(source);
      const there = await migrate(["--from", source, "--to", "cluster"], cluster);
      expect([there.status, there.stderr]).toEqual([
        0,
        expect.stringContaining("set JWT_SECRET of the target"),
      ]);
      expect(there.stdout).toMatch(/Result: source and target agree\.\n$/);
      expect(there.stdout).not.toContain("DIFFER");
      const key = (await readFile(join(source, "jwt-secret"), "utf8")).trim();
      expect(there.stdout + there.stderr).not.toContain(key);
      expect(await hashesOf(source)).toEqual(hashes);
      expect(await migrate(["--from", source, "--to", "cluster"], cluster)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("only to an empty target") as string,
      });

      const secret = await migrate(
        ["--from", source, "--to", "cluster", "--verify", "--show-jwt-secret"],
        cluster,
      );
      expect([secret.status, secret.stdout.includes(`\nJWT_SECRET=${key}\n`)]).toEqual([0, true]);
      const node = await started(join(folder, "node"), { ...cluster, JWT_SECRET: key });
      await check(node);
      expect(await node.settled(waiting, bob.token)).toMatchObject({ success: true });
      const made = await node.ask("/dataset", {
        token: ada.token,
        body: {
          "@type": "evi:Dataset",
          name: "Made there",
          description: "After the move.",
          owner: ada.ark,
        },
      });
      expect(made.status).toBe(200);
      expect(
        (await migrate(["--from", source, "--to", "cluster", "--verify"], cluster)).stdout,
      ).toContain("DIFFER");
      await node.terminate();

      const data = join(folder, "back");
      const back = await migrate(["--from", "cluster", "--to", data], {
        ...cluster,
        JWT_SECRET: key,
      });
      expect([back.status, back.stderr]).toEqual([
        0,
        expect.stringContaining("stop all nodes of the source first"),
      ]);
      const again = await started(data, { JWT_SECRET: key });
      await check(again);
      expect(
        (await again.ask(`/${(made.body["dataset"]?.["@id"] ?? made.body["@id"]) as string}`))
          .status,
      ).toBe(200);
    }, 60_000);

    test(
      "may be killed at any time: the target is empty or complete, and repeating it " +
        "completes it",
      async () => {
        for (const after of [300, 700, 1100])
          await migrate(["--from", source, "--to", "cluster"], cluster, (kill) =>
            setTimeout(() => kill("SIGKILL"), after),
          );
        const verified = await migrate(["--from", source, "--to", "cluster", "--verify"], cluster);
        if (verified.status !== 0)
          expect((await migrate(["--from", source, "--to", "cluster"], cluster)).status).toBe(0);
        expect(
          (await migrate(["--from", source, "--to", "cluster", "--verify"], cluster)).status,
        ).toBe(0);
      },
      60_000,
    );

    test("reports that the source changed during the migration", async () => {
      expect((await migrate(["--from", source, "--to", "cluster"], cluster)).status).toBe(0);
      const node = await started(join(folder, "writing"), cluster);
      const token = await node.login(ada.email, ada.password);
      let writing = true;
      const writer = (async () => {
        for (let count = 0; writing; count++)
          await node.ask("/dataset", {
            token,
            body: {
              "@type": "evi:Dataset",
              name: `n${count}`,
              description: "Written meanwhile.",
              owner: ada.ark,
            },
          });
      })();
      const ended = await migrate(["--from", "cluster", "--to", join(folder, "late")], cluster);
      writing = false;
      await writer;
      expect([ended.status, ended.signal, ended.stderr]).toEqual([
        1,
        null,
        expect.stringContaining("changed during the move"),
      ]);
      expect(ended.stdout).toContain("Result: the source changed meanwhile");
    }, 60_000);

    test("moves objects alone, for records that stay in place", async () => {
      const s3 = Object.fromEntries(
        Object.entries(cluster).filter(([name]) => name.startsWith("S3_")),
      );
      const ended = await migrate(["--from", source, "--to", "cluster", "--objects-only"], s3);
      expect([ended.status, ended.stdout]).toEqual([
        0,
        expect.stringContaining("every object that the records need is in the target"),
      ]);
      expect(
        (await migrate(["--from", source, "--to", "cluster", "--objects-only"], s3)).stdout,
      ).toMatch(/^0 of \d+ objects copied/);
      const data = join(folder, "on-s3");
      await cp(source, data, { recursive: true, filter: (path) => !path.endsWith("/objects") });
      await check(await started(data, s3));
    }, 60_000);
  });
});
