import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { get } from "node:http";
import {
  closeSync,
  openSync,
  readFileSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EXAMPLES } from "../../src/model/examples.js";
import { packageRoot } from "../../src/package-root.js";
import { crate } from "../support/crates.js";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";

const NAME = "The dataset whose page will be damaged";

let dataDir: string;
let registry: RegistryProcess | undefined;
let ada: User;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "arkgraph-damage-"));
  registry = await RegistryProcess.start({ dataDir });
  ada = await registry.user();
});
afterEach(async () => {
  if (registry?.alive) await registry.terminate();
  await rm(dataDir, { recursive: true, force: true });
});

const check = (...options: string[]) =>
  spawnSync(
    process.execPath,
    [join(packageRoot, "bin/arkgraph.js"), "check", "--data", dataDir, ...options],
    { encoding: "utf8", env: { PATH: process.env["PATH"] } },
  );

async function restarted(env: Record<string, string> = {}): Promise<RegistryProcess> {
  if (registry!.alive) await registry!.terminate();
  return (registry = await RegistryProcess.start({ dataDir, env }));
}

/** Writes bytes over a text wherever it stands in the records. */
function overwrite(text: string, by: Uint8Array): void {
  const file = join(dataDir, "records.db");
  const bytes = readFileSync(file);
  const descriptor = openSync(file, "r+");
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1), count++)
    writeSync(descriptor, by, 0, by.length, at);
  closeSync(descriptor);
  expect(count).toBeGreaterThan(0);
}

/** What came of a download, whether or not it came to an end. */
function download(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; bytes: number; whole: boolean }> {
  return new Promise((resolve, reject) => {
    const request = get(
      new URL(path, registry!.url),
      { headers: { Authorization: `Bearer ${ada.token}`, ...headers }, timeout: 10_000 },
      (response) => {
        let bytes = 0;
        response.on("data", (chunk: Buffer) => (bytes += chunk.byteLength));
        response.on("error", () => {});
        response.on("close", () =>
          resolve({ status: response.statusCode!, bytes, whole: response.complete }),
        );
      },
    );
    request.on("timeout", () => request.destroy(new Error("the download hangs")));
    request.on("error", reject);
  });
}

async function register(
  bytes: Uint8Array,
): Promise<{ id: string; path: string; file: string; sha256: string }> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const form = new FormData();
  form.set(
    "download",
    JSON.stringify({
      ...EXAMPLES.datadownload,
      "@id": `ark:99999/cells-${sha256.slice(0, 12)}`,
      name: "Cells",
      owner: ada.ark,
      encodingFormat: "application/octet-stream",
      contentUrl: null,
      contentSize: null,
      sha256: null,
    }),
  );
  form.set("file", new Blob([new Uint8Array(bytes)]), "cells.bin");
  const { status, body, text } = await registry!.ask("/register", { token: ada.token, body: form });
  if (status !== 200) throw new Error(text);
  const id = body["@id"] as string;
  return {
    id,
    path: `/datadownload/${id}/download`,
    sha256,
    file: join(dataDir, "objects", sha256.slice(0, 2), sha256.slice(2, 4), sha256),
  };
}

describe("damaged records", () => {
  test(
    "are refused with 503 and one log line while others are served, and listed by " +
      "arkgraph check",
    { timeout: 60_000 },
    async () => {
      const made = async (name: string) =>
        (
          await registry!.ask("/dataset", {
            token: ada.token,
            body: {
              "@type": "evi:Dataset",
              name,
              description: "d".repeat(50),
              owner: ada.ark,
              keywords: ["k"],
            },
          })
        ).body["@id"] as string;
      const [damaged, fine] = [await made(NAME), await made("Another dataset")];
      await registry!.terminate();
      expect(check()).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("every record can be read") as string,
      });
      overwrite(NAME, Buffer.from([0xff, 0xfe, 0xfd]));
      const running = await restarted();
      for (let again = 0; again < 3; again++) {
        for (const path of [`/${damaged}`, `/dataset/${damaged}`])
          expect(await running.ask(path, { token: ada.token }), path).toMatchObject({
            status: 503,
            body: { code: "STORE_DAMAGED" },
          });
        expect(
          (await running.graphql(`{ record(id: "${damaged}") { id } }`, {}, ada.token)).text,
        ).toContain("STORE_DAMAGED");
        expect(await running.ask(`/${fine}`)).toMatchObject({ status: 200 });
      }
      expect(await running.ask("/healthz")).toMatchObject({
        status: 503,
        body: { status: "unhealthy", checks: { records: "damaged" } },
      });
      expect(await running.ask("/readyz")).toMatchObject({ status: 200 });
      expect(
        await running.ask("/dataset", {
          token: ada.token,
          body: {
            "@type": "evi:Dataset",
            name: "Later",
            description: "After the damage.",
            owner: ada.ark,
          },
        }),
      ).toMatchObject({ status: 200 });
      expect(
        running.log.split("\n").filter((line) => line.includes("the records are damaged")),
      ).toEqual([expect.stringContaining("restore records.db")]);
      await running.terminate();
      const { status, stdout } = check();
      expect({ status, stdout }).toMatchObject({
        status: 1,
        stdout: expect.stringContaining(`record ${damaged}`) as string,
      });
    },
  );
});

describe("damaged objects", () => {
  const size = 3_000_000;

  test(
    "are not served when truncated, and are restored when the file is uploaded again",
    { timeout: 60_000 },
    async () => {
      const bytes = randomBytes(size);
      const { path, file, id, sha256 } = await register(bytes);
      expect(await download(path)).toEqual({ status: 200, bytes: size, whole: true });
      truncateSync(file, 1_000_000);
      expect(await registry!.ask(path, { token: ada.token })).toMatchObject({
        status: 503,
        body: { code: "CONTENT_DAMAGED", sha256 },
      });
      expect(await download(path, { Range: "bytes=0-99" })).toMatchObject({ status: 503 });
      unlinkSync(file);
      expect(await registry!.ask(path, { token: ada.token })).toMatchObject({
        status: 503,
        body: { code: "CONTENT_DAMAGED" },
      });
      expect(await registry!.ask("/healthz")).toMatchObject({
        status: 200,
        body: { status: "healthy", checks: { objects: "damaged" } },
      });
      const form = new FormData();
      form.set("file", new Blob([bytes]), "cells.bin");
      expect(
        await registry!.ask(`/datadownload/${id}/upload`, { token: ada.token, body: form }),
      ).toMatchObject({ status: 200 });
      expect(await download(path)).toEqual({ status: 200, bytes: size, whole: true });
      expect(await registry!.ask("/healthz")).toMatchObject({
        body: { checks: { objects: "ok" } },
      });
      expect(
        registry!.log.split("\n").filter((line) => line.includes("a stored object is damaged")),
      ).toHaveLength(1);
    },
  );

  test(
    "are cut off before their end when a bit is flipped, and refused afterwards, also " +
      "after a restart",
    { timeout: 60_000 },
    async () => {
      const bytes = randomBytes(size);
      const { path, file } = await register(bytes);
      bytes[size - 1]! ^= 1;
      writeFileSync(file, bytes);
      const first = await download(path);
      expect(first).toMatchObject({ status: 200, whole: false });
      expect(first.bytes).toBeLessThan(size);
      await expect.poll(async () => (await download(path)).status).toBe(503);
      expect(await download(path, { Range: "bytes=0-9" })).toMatchObject({ status: 503 });
      await restarted();
      expect(await download(path)).toMatchObject({ status: 503 });
    },
  );

  test("are left out of the archive of their crate, and named", { timeout: 60_000 }, async () => {
    const bytes = randomBytes(size);
    const ark = "ark:99999/crate-to-be-damaged";
    const archive = await crate(
      [{ "@id": "data.bin", "@type": "File", name: "Data" }],
      { "data.bin": bytes },
      { "@id": ark, name: "A crate" },
    );
    expect(await registry!.take(archive, ada.token)).toMatchObject({ status: "finished" });
    const path = `/rocrate/${ark}?format=zip`;
    expect(await download(path)).toMatchObject({ status: 200, whole: true });
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const file = join(dataDir, "objects", sha256.slice(0, 2), sha256.slice(2, 4), sha256);
    const expectLeftOut = async (): Promise<void> => {
      const answer = await fetch(new URL(path, registry!.url));
      const zipped = Buffer.from(await answer.arrayBuffer());
      // Names of members are not compressed.
      expect([zipped.includes("NOT-INCLUDED.txt"), zipped.includes("data.bin")]).toEqual([
        true,
        false,
      ]);
    };
    bytes[7]! ^= 1;
    writeFileSync(file, bytes);
    // Bytes that changed show at the end of the file, when its header was sent: cut, never whole.
    const came = await download(path);
    expect(came.status === 503 || !came.whole, JSON.stringify(came)).toBe(true);
    await expectLeftOut();
    truncateSync(file, 10);
    await expectLeftOut();
    bytes[7]! ^= 1;
    writeFileSync(file, bytes);
    expect(await download(path)).toMatchObject({ status: 200, whole: true });
    expect(
      registry!.log.split("\n").filter((line) => line.includes("a stored object is damaged")),
    ).toHaveLength(1);
  });

  test(
    "are listed by arkgraph check --objects, with the records that need them",
    { timeout: 60_000 },
    async () => {
      const [flipped, short, gone, whole] = [
        await register(randomBytes(200_000)),
        await register(randomBytes(1000)),
        await register(randomBytes(1001)),
        await register(randomBytes(1002)),
      ];
      await registry!.terminate();
      expect(check("--objects")).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(
          /every object is intact \(4 objects, 203003 bytes\)/,
        ) as string,
      });
      const bytes = readFileSync(flipped.file);
      bytes[5]! ^= 1;
      writeFileSync(flipped.file, bytes);
      truncateSync(short.file, 10);
      unlinkSync(gone.file);
      const { status, stdout } = check("--objects");
      expect(status).toBe(1);
      for (const { id, sha256 } of [flipped, short, gone])
        expect(stdout).toMatch(new RegExp(`damaged: object ${sha256}: .*needed by ${id}`));
      expect(stdout).not.toContain(whole.sha256);
      expect(stdout).toContain("3 of 4 objects are damaged or missing");
      expect(check().status).toBe(0);
    },
  );
});
