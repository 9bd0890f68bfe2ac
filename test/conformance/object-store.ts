import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ObjectStore } from "../../src/storage/objects/port.js";

export interface OpenedObjects {
  store: ObjectStore;
  /** How many temporary places exist, where the adapter can tell. */
  staged?: () => Promise<number>;
  /** What the store's clock can tell apart, in ms; 20 unless said. */
  tick?: number;
  /** Puts other bytes under a key, behind the store's back. */
  damage: (sha256: string, bytes: Uint8Array) => Promise<void>;
  close: () => Promise<void>;
}

const hash = (name: string, bytes: Uint8Array) => createHash(name).update(bytes).digest("hex");
const bytesOf = async (stream: Readable) => Buffer.concat((await stream.toArray()) as Buffer[]);

/** Large buffers are compared by these: `toEqual` takes a second of CPU for each megabyte. */
const sumsOf = (bytes: Uint8Array) => ({ size: bytes.byteLength, sha256: hash("sha256", bytes) });

async function keysOf(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list()) keys.push(key);
  return keys;
}

/** What every object store must do; run by each adapter. */
export function objectStoreConformance(name: string, open: () => Promise<OpenedObjects>): void {
  describe(`object store: ${name}`, () => {
    let opened: OpenedObjects;
    let store: ObjectStore;
    beforeAll(async () => {
      opened = await open();
      store = opened.store;
    });
    afterAll(() => opened.close());
    const put = async (bytes: Uint8Array) => {
      const staged = await store.stage(Readable.from([bytes]));
      await staged.publish();
      return staged.sha256;
    };
    const nothingStaged = async () => {
      if (opened.staged) expect(await opened.staged()).toBe(0);
    };

    it("stores bytes under their SHA-256 and returns them", async () => {
      const bytes = randomBytes(300_000);
      const staged = await store.stage(
        Readable.from([bytes.subarray(0, 1), bytes.subarray(1, 200_000), bytes.subarray(200_000)]),
        { digests: ["md5", "sha512"] },
      );
      expect(staged).toMatchObject({
        sha256: hash("sha256", bytes),
        size: 300_000,
        digests: { md5: hash("md5", bytes), sha512: hash("sha512", bytes) },
      });
      expect(await store.size(staged.sha256)).toBeUndefined();
      await staged.publish();
      expect(await store.size(staged.sha256)).toBe(300_000);
      expect(sumsOf(await bytesOf(await store.open(staged.sha256)))).toEqual(sumsOf(bytes));
      await nothingStaged();
    });

    it("refuses an object of another size than recorded, before it returns a byte", async () => {
      const bytes = randomBytes(200_000);
      const sha256 = await put(bytes);
      expect(sumsOf(await bytesOf(await store.open(sha256, undefined, { size: 200_000 })))).toEqual(
        sumsOf(bytes),
      );
      for (const found of [
        bytes.subarray(0, 150_000),
        Buffer.concat([bytes, bytes]),
        Buffer.alloc(0),
      ]) {
        await opened.damage(sha256, found);
        await expect(store.open(sha256, undefined, { size: 200_000 })).rejects.toMatchObject({
          code: "CONTENT_DAMAGED",
          status: 503,
          extra: { sha256 },
        });
        if (found.byteLength > 10)
          await expect(
            store.open(sha256, { start: 0, end: 9 }, { size: 200_000 }),
          ).rejects.toMatchObject({ code: "CONTENT_DAMAGED" });
      }
    });

    it("never returns the whole of an object with a flipped bit", async () => {
      for (const size of [1, 70_000, 900_000]) {
        const bytes = randomBytes(size);
        const sha256 = await put(bytes);
        const flipped = Buffer.from(bytes);
        flipped[size >> 1]! ^= 4;
        await opened.damage(sha256, flipped);
        const stream = await store.open(sha256, undefined, { size });
        let came = 0;
        await expect(
          (async () => {
            for await (const chunk of stream as AsyncIterable<Buffer>) came += chunk.byteLength;
          })(),
        ).rejects.toMatchObject({ code: "CONTENT_DAMAGED" });
        expect(came).toBeLessThan(size);
        // Asked not to hash, it gives what is there.
        expect(
          sumsOf(await bytesOf(await store.open(sha256, undefined, { size, hash: false }))),
        ).toEqual(sumsOf(flipped));
      }
    });

    it("has another version once the same bytes are written again, which repairs them", async () => {
      const bytes = randomBytes(5000);
      const sha256 = await put(bytes);
      await opened.damage(sha256, bytes.subarray(0, 100));
      const damaged = await store.version(sha256);
      expect(damaged).toBe(await store.version(sha256));
      await put(bytes);
      expect(await store.version(sha256)).not.toBe(damaged);
      expect(await bytesOf(await store.open(sha256, undefined, { size: 5000 }))).toEqual(bytes);
      expect(await store.version("0".repeat(64))).toBeUndefined();
    });

    it("lets staged bytes be read before they are published, and not after they are discarded", async () => {
      const bytes = randomBytes(70_000);
      const staged = await store.stage(Readable.from([bytes]));
      const reader = await store.readStaged(staged.place);
      const part = Buffer.alloc(10);
      expect(reader.size).toBe(70_000);
      expect(await reader.read(part, 69_995)).toBe(5);
      expect(part.subarray(0, 5)).toEqual(bytes.subarray(69_995));
      await reader.close();
      await staged.discard();
      await expect(store.readStaged(staged.place)).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(store.readStaged("../../x")).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect(await store.size(staged.sha256)).toBeUndefined();
      await nothingStaged();
    });

    it("accepts an async iterable as well, and the empty object", async () => {
      const staged = await store.stage((async function* () {})());
      await staged.publish();
      expect(staged.sha256).toBe(hash("sha256", Buffer.alloc(0)));
      expect(await bytesOf(await store.open(staged.sha256))).toHaveLength(0);
    });

    it("stores the same bytes once, also when they arrive concurrently", async () => {
      const bytes = randomBytes(1000);
      const keys = await Promise.all(Array.from({ length: 8 }, () => put(bytes)));
      expect(new Set(keys).size).toBe(1);
      expect((await keysOf(store)).filter((key) => key === keys[0])).toHaveLength(1);
      await nothingStaged();
    });

    it("refuses bytes beyond the limit, names the setting, and stores nothing", async () => {
      const refused = store.stage(Readable.from([randomBytes(60), randomBytes(60)]), {
        limit: 100,
        limitName: "MAX_UPLOAD_BYTES",
      });
      await expect(refused).rejects.toMatchObject({
        code: "TOO_LARGE",
        message: expect.stringContaining("MAX_UPLOAD_BYTES=100"),
      });
      await nothingStaged();
      const exact = await store.stage(Readable.from([randomBytes(100)]), { limit: 100 });
      await exact.discard();
      await nothingStaged();
    });

    it("stores nothing of a source that fails, ends early or is aborted", async () => {
      const failing = Readable.from(
        (async function* () {
          yield randomBytes(10);
          throw new Error("line is dead");
        })(),
      );
      await expect(store.stage(failing)).rejects.toThrow("line is dead");
      const early = new Readable({ read() {} });
      early.push(randomBytes(10));
      const cut = store.stage(early);
      setTimeout(() => early.destroy(), 20);
      await expect(cut).rejects.toThrow();
      const silent = new Readable({ read() {} });
      const given = new AbortController();
      const waiting = store.stage(silent, { signal: given.signal });
      setTimeout(() => given.abort(new Error("no longer wanted")), 20);
      await expect(waiting).rejects.toThrow("no longer wanted");
      expect(silent.destroyed).toBe(true);
      await nothingStaged();
    });

    it("returns a range of bytes, both ends included, and refuses one outside", async () => {
      const bytes = randomBytes(1000);
      const key = await put(bytes);
      expect(await bytesOf(await store.open(key, { start: 10, end: 19 }))).toEqual(
        bytes.subarray(10, 20),
      );
      expect(await bytesOf(await store.open(key, { start: 990, end: 5000 }))).toEqual(
        bytes.subarray(990),
      );
      await expect(store.open(key, { start: 1000, end: 1001 })).rejects.toMatchObject({
        code: "RANGE_NOT_SATISFIABLE",
      });
    });

    it("reads from any offset of an object", async () => {
      const bytes = randomBytes(5000);
      const reader = await store.reader(await put(bytes));
      expect(reader.size).toBe(5000);
      const buffer = new Uint8Array(100);
      expect(await reader.read(buffer, 4000)).toBe(100);
      expect(Buffer.from(buffer)).toEqual(bytes.subarray(4000, 4100));
      expect(await reader.read(buffer, 4950)).toBe(50);
      expect(await reader.read(buffer, 6000)).toBe(0);
      await reader.close();
    });

    it("reports that nothing is stored under an unknown or malformed key", async () => {
      for (const key of ["0".repeat(64), "../../etc/passwd", "", "A".repeat(64)]) {
        expect(await store.size(key)).toBeUndefined();
        await expect(store.open(key)).rejects.toMatchObject({ code: "NOT_FOUND" });
        await expect(store.reader(key)).rejects.toMatchObject({ code: "NOT_FOUND" });
        await store.remove(key);
      }
    });

    it("lists every key, without removed ones", async () => {
      const keys = await Promise.all([1, 2, 3].map(() => put(randomBytes(20))));
      expect(await keysOf(store)).toEqual(expect.arrayContaining(keys));
      await store.remove(keys[0]!);
      expect(await keysOf(store)).not.toContain(keys[0]);
      expect(await store.size(keys[0]!)).toBeUndefined();
    });

    it("removes the remains of a dead process, not an upload that is still running", async () => {
      const left = await store.stage(Readable.from([randomBytes(10)]));
      expect(await store.removeStale(60_000)).toBe(0);
      await pause(opened.tick ?? 20);
      expect(await store.removeStale(1)).toBeGreaterThanOrEqual(opened.staged ? 1 : 0);
      await left.discard();
      await nothingStaged();
    });

    it("is healthy when it is writable", async () => {
      await store.health();
    });
  });
}
