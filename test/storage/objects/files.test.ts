import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { openFileObjects } from "../../../src/storage/objects/files/store.js";
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

it("says so when the folder cannot be used", async () => {
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
