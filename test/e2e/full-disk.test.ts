import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";

const mount = (...args: string[]): boolean => spawnSync("mount", args).status === 0;

describe("a disk that is full", () => {
  let folder: string;
  let registry: RegistryProcess | undefined;
  let ada: User;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-full-"));
    if (!mount("-t", "tmpfs", "-o", "size=12m", "tmpfs", folder)) return void process.emitWarning("the test of a full disk is left out: only root may mount a small file system");
    registry = await RegistryProcess.start({ dataDir: join(folder, "data") });
    ada = await registry.user("Ada");
  });
  afterAll(async () => {
    if (registry?.alive) await registry.terminate();
    spawnSync("umount", [folder]);
    await rm(folder, { recursive: true, force: true });
  });

  test("refuses writes and keeps what it answered; with space again it goes on by itself", async () => {
    if (!registry) return;
    const create = (name: string) => registry!.ask("/dataset", { token: ada.token, body: { "@type": "evi:Dataset", name, description: name.padEnd(3000, "."), owner: ada.ark } });
    const stored: string[] = [];
    for (;;) {
      const { status, body } = await create(`Dataset ${stored.length}`);
      if (status === 200) stored.push(body["@id"] as string);
      else {
        expect([status, body["code"]]).toEqual([503, "STORE_UNAVAILABLE"]);
        break;
      }
      expect(stored.length).toBeLessThan(5000);
    }
    const { status, body } = await registry.upload(Buffer.alloc(20_000_000), ada.token);
    expect([status, body["code"]]).toEqual([503, "STORE_UNAVAILABLE"]);
    expect(await readdir(join(folder, "data", "objects", "staging"))).toEqual([]);
    for (const ark of stored) expect((await registry.ask(`/${ark}`)).status, ark).toBe(200);
    expect((await registry.ask("/healthz")).body).toMatchObject({ status: "unhealthy", checks: { objects: "failed" } });

    expect(mount("-o", "remount,size=60m", folder)).toBe(true);
    expect((await create("With space again")).status).toBe(200);
    for (const ark of stored) expect((await registry.ask(`/${ark}`)).status, ark).toBe(200);
    expect((await registry.terminate()).status).toBe(0);
  }, 120_000);
});
