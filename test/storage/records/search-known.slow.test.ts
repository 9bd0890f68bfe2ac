import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arkOf, ownerRecord, recordMaker } from "../../../bench/support/documents.js";
import type { RecordStore, RecordWrite } from "../../../src/storage/records/port.js";
import { openSqliteRecordStore } from "../../../src/storage/records/sqlite/index.js";

let folder: string;
let store: RecordStore;
let make: Awaited<ReturnType<typeof recordMaker>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-search-"));
  store = await openSqliteRecordStore({ file: join(folder, "records.db") });
  make = await recordMaker();
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});
const commit = (records: RecordWrite[]) => store.commit({ by: null, at: Date.now(), records });
const found = async (text: string, match: "all" | "related" = "all") => {
  const { total, hits } = await store.search({ text, match, offset: 0, limit: 100 });
  return { total, arks: hits.map(({ ark }) => ark).toSorted() };
};

describe("a search for the same words", () => {
  it("finds what was committed since: new, deleted and changed records", async () => {
    const records = Array.from({ length: 40 }, (_, index) => make(index));
    await commit([await ownerRecord(0), ...records.slice(0, 20)]);
    for (let round = 0; round < 3; round++) {
      expect((await found("microscope")).total).toBe(20);
      expect((await found("microscope spinning", "related")).total).toBe(20);
    }

    await commit(records.slice(20));
    const all = await found("microscope");
    expect(all.total).toBe(40);
    expect(all.arks).toEqual(records.map(({ ark }) => ark).toSorted());
    expect((await found("microscope spinning", "related")).total).toBe(40);

    await commit([{ op: "delete", ark: arkOf(7), ifRevision: 1 }]);
    expect((await found("microscope")).arks).toEqual(all.arks.filter((ark) => ark !== arkOf(7)));

    const { op: _op, key: _key, ...state } = make(8);
    const text = { name: "Renamed", description: "", keywords: "", other: "" };
    await commit([{ ...state, op: "replace", ifRevision: 1, changed: ["/name"], text }]);
    expect((await found("microscope")).total).toBe(38);
    expect((await found("renamed")).arks).toEqual([arkOf(8)]);
  });

  it("is not answered with what a filter counted, nor the other way round", async () => {
    const whole = await found("microscope");
    const filter = { kinds: ["computation" as const] };
    const { total } = await store.search({
      text: "microscope",
      match: "all",
      offset: 0,
      limit: 5,
      filter,
    });
    expect(total).toBeGreaterThan(0);
    expect(total).toBeLessThan(whole.total);
    expect(await found("microscope")).toEqual(whole);
  });

  it("answers alike after hundreds of searches for other words", async () => {
    for (let word = 0; word < 450; word++) await found(`microscope w${word}`);
    expect((await found("microscope")).total).toBe(38);
  });
});
