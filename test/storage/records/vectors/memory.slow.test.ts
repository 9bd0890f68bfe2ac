import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { RecordStore } from "../../../../src/storage/records/port.js";
import { openPostgresRecordStore } from "../../../../src/storage/records/postgres/index.js";
import { openSqliteRecordStore } from "../../../../src/storage/records/sqlite/index.js";
import { BLOCK_ROWS, VectorsInMemory } from "../../../../src/storage/records/vectors.js";
import { create, write } from "../../../conformance/records/fixtures.js";
import { hasPostgres, PostgresServer } from "../../../support/servers/postgres.js";

/** One block of vectors of two numbers, not two. */
const MEMORY = 1.5 * BLOCK_ROWS * (2 * 4 + 64);
const REFUSED = { code: "QUERY_MEMORY", message: expect.stringMatching(/VECTORS_MEMORY/) };
const EAST = Float32Array.of(1, 0);

async function isBounded(store: RecordStore): Promise<void> {
  const names = Array.from({ length: BLOCK_ROWS + 1 }, (_, i) => `ark:99999/r${i}`);
  await write(store, ...names.map((ark) => create(ark, { name: "plate" })));
  const keep = (after: string, to: string, arks: readonly string[]) =>
    store.storeVectors("m", {
      after,
      to,
      vectors: arks.map((ark) => ({ ark, digest: new Uint8Array(1), vector: EAST })),
    });
  const ask = (model: string) =>
    store.search({
      text: "plate",
      match: "related",
      offset: 0,
      limit: 1,
      near: { model, vector: EAST },
    });
  expect(await keep("", "1/1", names.slice(1))).toBe(true);
  expect((await ask("m")).hits[0]!.score).toBeGreaterThan(1);
  expect(await keep("1/1", "1/2", names)).toBe(true);
  for (let time = 0; time < 2; time++) await expect(ask("m")).rejects.toMatchObject(REFUSED);
  // Nothing else suffers.
  expect((await store.search({ text: "plate", match: "related", offset: 0, limit: 1 })).total).toBe(
    names.length,
  );
  expect((await ask("other")).total).toBe(names.length);
}

describe("the memory of vectors", () => {
  const bytes = new Uint8Array(EAST.buffer);
  /** As many rows as fit and one more. */
  const tooMany = Array.from(
    { length: BLOCK_ROWS + 1 },
    (_, i) => [1, i + 1, "dataset", bytes] as const,
  );
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  test("is not filled again at once after a failure, but after some time, or for another model", () => {
    const held = new VectorsInMemory(MEMORY);
    const run = { era: "e", step: 1 };
    expect(held.begin("m", run)).toEqual({ step: 0, record: 0 });
    expect(() => held.take(tooMany)).toThrow(expect.objectContaining(REFUSED));
    expect(() => held.begin("m", run)).toThrow(expect.objectContaining(REFUSED));
    vi.advanceTimersByTime(599_000);
    expect(() => held.begin("m", { era: "e", step: 9 })).toThrow(expect.objectContaining(REFUSED));
    vi.advanceTimersByTime(2_000);
    expect(held.begin("m", run)).toEqual({ step: 0, record: 0 });
    expect(() => held.take(tooMany)).toThrow(expect.objectContaining(REFUSED));
    expect(held.begin("n", run)).toEqual({ step: 0, record: 0 });
    held.take(tooMany.slice(1));
    expect(held.nearest(EAST, { kind: "dataset" })).toHaveLength(100);
  });

  test("contains a model's vectors up to the last complete step, and those of one run alone", () => {
    const held = new VectorsInMemory(MEMORY);
    const run = { era: "e", step: 2 };
    held.begin("m", run);
    held.take([
      [1, 7, "dataset", bytes],
      [2, 3, "dataset", bytes],
    ]);
    // There may be more of the last step.
    expect(held.begin("m", run)).toEqual({ step: 2, record: 3 });
    held.take([[2, 4, "dataset", bytes]]);
    held.done(run);
    expect(held.begin("m", run)).toBeUndefined();
    expect(held.begin("m", { era: "e", step: 3 })).toMatchObject({ step: 2 });
    expect(held.nearest(EAST, undefined).map(({ id }) => id)).toEqual([3, 4, 7]);
    expect(held.begin("m", { era: "f", step: 2 })).toEqual({ step: 0, record: 0 });
    expect(held.nearest(EAST, undefined)).toEqual([]);
    expect(held.begin("m", undefined)).toBeUndefined();
  });
});

test(
  "vectors that need more memory than allowed are refused by libSQL, and searches by " +
    "words are not",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-vectors-"));
    const store = await openSqliteRecordStore({
      file: join(folder, "records.db"),
      vectorsMemory: MEMORY,
    });
    try {
      await isBounded(store);
    } finally {
      await store.close();
      await rm(folder, { recursive: true });
    }
  },
);

describe.skipIf(!hasPostgres)("with PostgreSQL", () => {
  let server: PostgresServer;
  const options = { pool: 5, timeout: 20_000, connectTimeout: 3_000, poll: 50 };
  beforeAll(async () => {
    server = await PostgresServer.start(["fsync=off"]);
  });
  afterAll(() => server?.stop());

  test("vectors that need more memory than allowed are refused, and searches by words are not", async () => {
    const store = await openPostgresRecordStore({
      ...options,
      url: await server.schema(),
      vectorsMemory: MEMORY,
    });
    try {
      await isBounded(store);
    } finally {
      await store.close();
    }
  });

  test(
    "of two nodes that store vectors at one position exactly one does, and each finds " +
      "those of the other",
    async () => {
      const url = await server.schema();
      const stores = await Promise.all(
        Array.from({ length: 3 }, () => openPostgresRecordStore({ ...options, url })),
      );
      try {
        await write(
          stores[0]!,
          ...["a", "b", "c"].map((name) => create(`ark:99999/${name}`, { name })),
        );
        const vector = (node: number) => (node === 1 ? EAST : Float32Array.of(0, 1));
        let after = "";
        for (let round = 1; round <= 8; round++) {
          const to = `1/${round}`;
          const done = await Promise.all(
            stores.map((store, node) =>
              store.storeVectors("m", {
                after,
                to,
                vectors: ["a", "b", "c"].map((name, at) => ({
                  ark: `ark:99999/${name}`,
                  digest: new Uint8Array(1),
                  vector: vector(at === node ? 1 : 0),
                })),
              }),
            ),
          );
          expect(done.filter(Boolean)).toHaveLength(1);
          for (const store of stores) {
            expect(await store.vectorsReach("m")).toBe(to);
            const page = await store.search({
              text: "",
              match: "related",
              offset: 0,
              limit: 5,
              near: { model: "m", vector: EAST },
            });
            expect(page.hits.map(({ ark }) => ark)).toEqual([
              `ark:99999/${"abc"[done.indexOf(true)]}`,
            ]);
          }
          after = to;
        }
      } finally {
        await Promise.all(stores.map((store) => store.close()));
      }
    },
  );

  test("a search by vectors reports an unavailable database, and is answered when it is back", async () => {
    const store = await openPostgresRecordStore({ ...options, url: await server.schema() });
    const ask = () =>
      store.search({
        text: "",
        match: "related",
        offset: 0,
        limit: 5,
        near: { model: "m", vector: EAST },
      });
    try {
      await write(store, create("ark:99999/a"));
      await store.storeVectors("m", {
        after: "",
        to: "1/1",
        vectors: [{ ark: "ark:99999/a", digest: new Uint8Array(1), vector: EAST }],
      });
      expect((await ask()).total).toBe(1);
      await server.kill();
      await expect(ask()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      await expect(
        store.storeVectors("m", { after: "1/1", to: "1/2", vectors: [] }),
      ).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      await server.up();
      expect((await ask()).total).toBe(1);
      expect(await store.storeVectors("m", { after: "1/1", to: "1/2", vectors: [] })).toBe(true);
    } finally {
      await store.close();
    }
  });
});
