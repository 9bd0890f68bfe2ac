import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Scrubber } from "../../../src/app/upkeep.js";
import { configWithBounds } from "../../support/config.js";
import { KnownDamage, scrubObjects } from "../../../src/services/objects/damage.js";
import { openFileObjects } from "../../../src/storage/objects/files/store.js";
import { contentDamaged, type ObjectStore } from "../../../src/storage/objects/port.js";
import type { RecordStore } from "../../../src/storage/records/port.js";
import { openSqliteRecordStore } from "../../../src/storage/records/sqlite/index.js";
import { create, write } from "../../conformance/records/fixtures.js";

const OBJECTS = 12;

describe("the scrub", () => {
  let folder: string;
  let records: RecordStore;
  let objects: ObjectStore;
  let hashes: string[];
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  beforeEach(async () => {
    vi.clearAllMocks();
    folder = await mkdtemp(join(tmpdir(), "arkgraph-scrub-"));
    records = await openSqliteRecordStore({ file: join(folder, "records.db") });
    objects = await openFileObjects(join(folder, "objects"));
    hashes = [];
    for (let index = 0; index < OBJECTS; index++) {
      const staged = await objects.stage(Readable.from([randomBytes(100_000)]));
      await staged.publish();
      await write(
        records,
        create(
          `ark:99999/file-${index}`,
          {},
          {
            objects: [
              {
                sha256: staged.sha256,
                size: staged.size,
                mediaType: "application/octet-stream",
                name: "x",
                role: "content",
              },
            ],
          },
        ),
      );
      hashes.push(staged.sha256);
    }
    hashes.sort();
  });
  afterEach(async () => {
    await records.close();
    await rm(folder, { recursive: true });
  });

  const fileOf = (sha256: string): string =>
    join(folder, "objects", sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  async function flip(sha256: string): Promise<() => Promise<void>> {
    const bytes = await readFile(fileOf(sha256));
    const damaged = Buffer.from(bytes);
    damaged[77_777]! ^= 2;
    await writeFile(fileOf(sha256), damaged);
    return () => writeFile(fileOf(sha256), bytes);
  }
  const damageOf = () => new KnownDamage({ records, objects, log });
  const scrubber = (damage: KnownDamage, env: Record<string, string> = {}) =>
    new Scrubber({
      config: configWithBounds({ SCRUB_RATE: "1024GiB", ...env }),
      records,
      objects,
      damage,
      log,
    });
  const lease = "scrub";

  test(
    "finds a flipped bit, logs it once with the fix, and remembers it over a restart " +
      "until it is repaired",
    async () => {
      const repair = await flip(hashes[5]!);
      const damage = damageOf();
      for (let round = 0; round < 2; round++)
        await scrubber(damage, { SCRUB_INTERVAL: "0ms" }).look();
      expect(damage).toMatchObject({ count: 1, scrubbed: { objects: 2 * OBJECTS } });
      expect(log.error.mock.calls).toEqual([
        [
          expect.objectContaining({ sha256: hashes[5] }),
          expect.stringContaining("restore it from the backup"),
        ],
      ]);
      const later = damageOf();
      await later.refresh();
      await expect(later.assertIntact(hashes[5]!)).rejects.toMatchObject({
        code: "CONTENT_DAMAGED",
        status: 503,
      });
      await later.assertIntact(hashes[4]!);
      await repair();
      await later.assertIntact(hashes[5]!);
      await later.refresh();
      expect(later.count).toBe(0);
      expect(await records.setting("damaged-objects")).toBeUndefined();
    },
  );

  test("forgets a missing object once no record needs it, and no sooner", async () => {
    const damage = damageOf();
    const other = "ab".repeat(32);
    await objects.remove(hashes[0]!);
    for (const sha256 of [hashes[0]!, other])
      await damage.found(sha256, contentDamaged(sha256, "it is missing"));
    expect(damage.count).toBe(2);
    await damage.refresh();
    expect(damage.count).toBe(1);
    await expect(damage.assertIntact(hashes[0]!)).rejects.toMatchObject({
      code: "CONTENT_DAMAGED",
    });
  });

  test("resumes where it was stopped", async () => {
    const damage = damageOf();
    const first = scrubber(damage);
    const opened = vi.spyOn(objects, "open");
    const enough = new Promise<void>((resolve) =>
      opened.mockImplementation(async (sha256) => {
        if (opened.mock.calls.length === 5) resolve();
        return Readable.from([Buffer.from(sha256)]);
      }),
    );
    const looking = first.look();
    await enough;
    await first.close();
    await looking;
    opened.mockClear();
    await scrubber(damage).look();
    const seen = opened.mock.calls.map(([sha256]) => sha256);
    // The fifth was being read when it was stopped, and the one before it may have been the last
    // that ended.
    expect(seen.length).toBeGreaterThanOrEqual(OBJECTS - 5);
    expect(seen.length).toBeLessThanOrEqual(OBJECTS - 3);
    expect(seen.at(-1)).toBe(hashes.at(-1));
    opened.mockRestore();
  });

  test(
    "starts no further round before SCRUB_INTERVAL, none when it is off, and none while " +
      "another node scrubs",
    async () => {
      const damage = damageOf();
      await scrubber(damage, { SCRUB_RATE: "off" }).look();
      expect(damage.scrubbed.objects).toBe(0);
      await records.lease(lease, "another node", 60_000);
      await scrubber(damage).look();
      expect(damage.scrubbed.objects).toBe(0);
      await records.releaseLease(lease, "another node");
      await scrubber(damage).look();
      await scrubber(damage).look();
      expect(damage.scrubbed.objects).toBe(OBJECTS);
    },
  );

  test("reads no faster than its rate", async () => {
    const began = performance.now();
    const damage = damageOf();
    await scrubObjects({
      objects,
      records,
      damage,
      rate: OBJECTS * 100_000 * 2,
      signal: new AbortController().signal,
      done: () => true,
    });
    expect(performance.now() - began).toBeGreaterThan(350);
    expect(damage.scrubbed).toEqual({ objects: OBJECTS, bytes: OBJECTS * 100_000 });
  });

  test("ends at once when it is stopped, also within a large object", async () => {
    // At this rate the objects take hours.
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    expect(
      await scrubObjects({
        objects,
        records,
        damage: damageOf(),
        rate: 1024,
        signal: stop.signal,
        done: () => true,
      }),
    ).toBe(false);
  });
});
