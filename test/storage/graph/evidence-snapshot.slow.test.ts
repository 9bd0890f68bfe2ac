import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readSnapshot, writeSnapshot } from "../../../src/storage/graph/evidence/snapshot.js";
import { EvidenceStore } from "../../../src/storage/graph/evidence/store.js";
import {
  EvidenceEngine,
  type OxigraphOptions,
  type SnapshotPlace,
} from "../../../src/storage/graph/oxigraph/index.js";
import type { EvidenceQuestion } from "../../../src/storage/graph/port.js";
import { MemoryFeed } from "../../support/memory-feed.js";
import { ark, quadsOf } from "../../support/quads.js";

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "arkgraph-snapshot-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${++files}.snapshot`);

const nameOf = (index: number): string => `it${index}`;
/** A chain in which every record has a name with letters of two, three and four bytes. */
const graphOf = (index: number, name = `Größe ${index} ☃ 🧬`) => ({
  ark: ark(nameOf(index)),
  nquads: quadsOf(nameOf(index), {
    name,
    ...(index > 0 && { edges: { derivedFrom: [nameOf(index - 1)] } }),
  }),
});
const graphs = (count: number) => Array.from({ length: count }, (_, index) => graphOf(index));

/** Everything that evidence asks, of a chain of that many records. */
function questions(count: number): EvidenceQuestion[] {
  const nodes = Array.from({ length: count }, (_, index) => ark(nameOf(index)));
  const arms = [{ name: "derivedFrom", forward: true }] as const;
  return [
    { ask: "properties" },
    { ask: "selves", of: { nodes } },
    { ask: "nodes", of: { from: nodes.at(-1)!, way: "upstream" } },
    { ask: "nodes", of: { from: nodes[0]!, way: "downstream" } },
    { ask: "edges", of: { from: nodes.at(-1)!, way: "upstream" }, arms },
    { ask: "parts", of: nodes[0]! },
  ];
}
const answers = (store: EvidenceStore, count: number): string[] =>
  questions(count).map((question) => store.answer(question));

describe("a snapshot of the store of evidence", () => {
  it("holds what the store held, and later changes apply to it", async () => {
    const store = new EvidenceStore();
    store.apply(graphs(3_000));
    store.apply([graphOf(7, "Renamed"), { ark: ark(nameOf(8)), nquads: null }]);
    const file = newFile();
    await writeSnapshot(file, store, 12, "mine");
    const again = new EvidenceStore();
    expect(readSnapshot(file, again, "mine")).toBe(12);
    expect(answers(again, 3_000)).toEqual(answers(store, 3_000));
    expect([again.rewrites, again.statements]).toEqual([store.rewrites, store.statements]);
    for (const each of [store, again])
      each.apply([graphOf(8), graphOf(9, "Again"), ...graphs(3_500).slice(3_000)]);
    expect(answers(again, 3_500)).toEqual(answers(store, 3_500));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("is as of one commit, whatever is applied while it is written", async () => {
    const store = new EvidenceStore();
    store.apply(graphs(30_000));
    const before = answers(store, 30_000);
    const file = newFile();
    const writing = writeSnapshot(file, store, 1, "mine");
    for (let index = 0; index < 2_000; index++) {
      store.apply([graphOf(index, "Changed"), graphOf(30_000 + index)]);
      if (index % 100 === 0) await new Promise(setImmediate);
    }
    await writing;
    const again = new EvidenceStore();
    expect(readSnapshot(file, again, "mine")).toBe(1);
    expect(answers(again, 30_000)).toEqual(before);
  });

  it("holds no name or description that was removed before", async () => {
    const store = new EvidenceStore();
    store.apply([graphOf(0, "Secret Größe"), graphOf(1, "Old Größe"), graphOf(2, "Kept")]);
    const file = newFile();
    const inFile = async (): Promise<string[]> => {
      const bytes = await readFile(file);
      return ["Secret", "Old", "Größe", "Kept", "New"].filter((name) => bytes.includes(name));
    };
    await writeSnapshot(file, store, 1, "mine");
    expect(await inFile()).toEqual(["Secret", "Old", "Größe", "Kept"]);
    store.apply([{ ark: ark(nameOf(0)), nquads: null }, graphOf(1, "New")]);
    await writeSnapshot(file, store, 2, "mine");
    expect(await inFile()).toEqual(["Kept", "New"]);
    const again = new EvidenceStore();
    readSnapshot(file, again, "mine");
    expect(answers(again, 3)).toEqual(answers(store, 3));

    again.apply([{ ark: ark(nameOf(2)), nquads: null }]);
    await writeSnapshot(file, again, 3, "mine");
    expect(await inFile()).toEqual(["New"]);
  });

  it("is an error where there is one that cannot be opened", () => {
    expect(() => readSnapshot(folder, new EvidenceStore(), "mine")).toThrow(/EISDIR/);
    const store = new EvidenceStore();
    expect(() => readSnapshot(join(folder, "x".repeat(300)), store, "mine")).toThrow(
      /ENAMETOOLONG/,
    );
  });

  it("is not read under another token, and where there is none", async () => {
    const store = new EvidenceStore();
    store.apply(graphs(10));
    const file = newFile();
    await writeSnapshot(file, store, 1, "mine");
    expect(readSnapshot(file, new EvidenceStore(), "another")).toBeUndefined();
    expect(readSnapshot(newFile(), new EvidenceStore(), "mine")).toBeUndefined();
    const head = (await readFile(file)).toString("latin1");
    await writeFile(file, head.replace(EvidenceStore.reads, "0".repeat(64)), "latin1");
    expect(readSnapshot(file, new EvidenceStore(), "mine")).toBeUndefined();
  });

  it("is refused wherever one byte of it is changed, and cut at any place", async () => {
    const store = new EvidenceStore();
    store.apply(graphs(200));
    const file = newFile();
    await writeSnapshot(file, store, 1, "mine");
    const whole = await readFile(file);
    const read = () => readSnapshot(file, new EvidenceStore(), "mine");
    for (let step = 0; step < 100; step++) {
      const damaged = Buffer.from(whole);
      // The first bytes, which say what it is, and then all over the file.
      const at = step < 50 ? step * 7 : Math.floor(((step - 50) * (whole.length - 1)) / 49);
      damaged[at]! ^= 1;
      await writeFile(file, damaged);
      let found: number | undefined;
      try {
        found = read();
      } catch {
        continue;
      }
      expect(found, `byte ${at}`).toBeUndefined();
    }
    for (const length of [0, 10, 64 * 1024, whole.length - 1]) {
      await writeFile(file, whole);
      await truncate(file, length);
      expect(read, `${length} bytes`).toThrow();
    }
  });
});

describe("an index of evidence with a snapshot", () => {
  const feed = new MemoryFeed();
  const file = join(tmpdir(), `arkgraph-${process.pid}.snapshot`);
  afterAll(() => rm(file, { force: true }));
  const place: SnapshotPlace = {
    file,
    token: undefined,
    remember: async (token) => void (place.token = token),
    least: 1,
  };

  async function opened(options: Partial<OxigraphOptions> = {}, source = feed) {
    const warnings: string[] = [];
    const log = {
      info() {},
      warn: (_fields: object, message: string) => void warnings.push(message),
      error() {},
    };
    const engine = new EvidenceEngine({
      openFeed: source.open,
      pageSize: 20,
      snapshot: { ...place },
      log,
      ...options,
    });
    onTestFinished(() => engine.close());
    const before = source.asked;
    engine.start();
    await engine.reach(source.sequence, 20_000);
    return { engine, warnings, asked: source.asked - before };
  }
  const all = async (engine: EvidenceEngine, count: number): Promise<string[]> =>
    Promise.all(questions(count).map(async (question) => (await engine.evidence(question)).tsv));
  const commit = (some: readonly { ark: string; nquads: string | null }[]): number =>
    feed.commit(Object.fromEntries(some.map(({ ark, nquads }) => [ark, nquads])));

  it("is saved at the end; the next start reads only what changed since", async () => {
    commit(graphs(1_000));
    const first = await opened();
    expect(first.asked).toBeGreaterThan(50);
    await first.engine.close();
    expect(place.token).toBeDefined();

    commit([graphOf(5, "Meanwhile"), { ark: ark(nameOf(6)), nquads: null }, graphOf(1_000)]);
    const second = await opened();
    expect(second.asked).toBe(1);
    const fresh = await opened({ snapshot: undefined! });
    expect(await all(second.engine, 1_001)).toEqual(await all(fresh.engine, 1_001));
    expect((await all(second.engine, 1_001)).join()).toContain("Meanwhile");
  });

  it("reads all records where the file is damaged, says so, and writes it anew", async () => {
    const bytes = await readFile(file);
    bytes[bytes.length - 100]! ^= 1;
    await writeFile(file, bytes);
    const damaged = await opened();
    expect(damaged.warnings.join()).toContain("cannot be read");
    expect(damaged.asked).toBeGreaterThan(50);
    const fresh = await opened({ snapshot: undefined! });
    expect(await all(damaged.engine, 1_001)).toEqual(await all(fresh.engine, 1_001));
    await damaged.engine.close();
    expect((await opened()).asked).toBe(1);
  });

  it("ignores the file of another registry, or of records that were restored since", async () => {
    const other = await opened({ snapshot: { ...place, token: "of a backup" } });
    expect(other.warnings).toEqual([]);
    expect(other.asked).toBeGreaterThan(50);
  });

  it("goes on without one where it cannot be written", async () => {
    const nowhere = join(folder, "missing", "evidence.snapshot");
    const { engine, warnings } = await opened({
      snapshot: { ...place, file: nowhere, token: undefined },
    });
    await engine.close();
    expect(warnings.join()).toContain("could not be written");
  });

  it("tries again after a pause where it cannot be written, not with each commit", async () => {
    const large = new MemoryFeed();
    const add = (from: number, to: number): number =>
      large.commit(
        Object.fromEntries(
          graphs(to)
            .slice(from)
            .map(({ ark: name, nquads }) => [name, nquads]),
        ),
      );
    add(0, 21_000);
    const snapshot = {
      ...place,
      file: join(folder, "missing", "evidence.snapshot"),
      token: undefined,
      pause: 1_500,
    };
    const { engine, warnings } = await opened({ pageSize: 5_000, snapshot }, large);
    const commits = async (): Promise<void> => {
      for (let count = 0; count < 3; count++) {
        await engine.reach(add(0, 1), 20_000);
        await setTimeout(100);
      }
    };
    await commits();
    expect(warnings).toHaveLength(1);
    await setTimeout(1_500);
    await commits();
    expect(warnings).toHaveLength(2);
  }, 30_000);

  it("removes at the start what an earlier process did not finish to write", async () => {
    const unfinished = `${file}.new`;
    await writeFile(unfinished, "half");
    await opened();
    await expect(stat(unfinished)).rejects.toThrow("ENOENT");
  });
});
