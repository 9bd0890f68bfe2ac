import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openFileObjects, replaceFile } from "../../../src/storage/objects/files/store.js";
import { objectStoreConformance } from "../../conformance/object-store.js";

objectStoreConformance("files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "objects-"));
  return {
    store: await openFileObjects(folder),
    staged: async () => (await readdir(join(folder, "staging"))).length,
    damage: (sha256, bytes) =>
      writeFile(join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256), bytes),
    close: () => rm(folder, { recursive: true }),
  };
});

it("spreads objects over folders named by the first digits of the key", async () => {
  const folder = await mkdtemp(join(tmpdir(), "objects-"));
  const store = await openFileObjects(folder);
  const staged = await store.stage(Readable.from(["hello"]));
  await staged.publish();
  expect(await readdir(join(folder, staged.sha256.slice(0, 2), staged.sha256.slice(2, 4)))).toEqual(
    [staged.sha256],
  );
  await rm(folder, { recursive: true });
});

it("reports a folder that cannot be used", async () => {
  const folder = await mkdtemp(join(tmpdir(), "objects-"));
  await writeFile(join(folder, "file"), "");
  await expect(openFileObjects(join(folder, "file"))).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
  const store = await openFileObjects(join(folder, "store"));
  await rm(join(folder, "store"), { recursive: true });
  await expect(store.health()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await expect(store.stage(Readable.from(["x"]))).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
  await rm(folder, { recursive: true });
});

describe("renaming a staged file into its place", () => {
  const held = Object.assign(new Error("operation not permitted, rename"), { code: "EPERM" });
  const files = async (existing?: string) => {
    const folder = await mkdtemp(join(tmpdir(), "objects-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    await writeFile(from, "new");
    if (existing !== undefined) await writeFile(to, existing);
    return { folder, from, to };
  };

  it("is repeated on Windows until nothing else has the file open", async () => {
    const { folder, from, to } = await files("old");
    const move = vi.fn(rename).mockRejectedValueOnce(held).mockRejectedValueOnce(held);
    await replaceFile(from, to, { platform: "win32", move, pause: 1 });
    expect(move).toHaveBeenCalledTimes(3);
    expect([await readdir(folder), await readFile(to, "utf8")]).toEqual([["to"], "new"]);
  });

  it("preserves the equal object when a reader holds it open on Windows", async () => {
    const { folder, from, to } = await files("old");
    const move = vi.fn(rename).mockRejectedValue(held);
    await replaceFile(from, to, { platform: "win32", move, pause: 1 });
    expect([await readdir(folder), await readFile(to, "utf8")]).toEqual([["to"], "old"]);
  });

  it("fails when there is no equal object, and at once on other systems", async () => {
    const { from, to } = await files();
    const move = vi.fn(rename).mockRejectedValue(held);
    await expect(replaceFile(from, to, { platform: "win32", move, pause: 1 })).rejects.toBe(held);
    const calls = move.mock.calls.length;
    await expect(replaceFile(from, to, { platform: "linux", move, pause: 1 })).rejects.toBe(held);
    expect(move).toHaveBeenCalledTimes(calls + 1);
  });
});
