import { cp } from "node:fs/promises";
import { join } from "node:path";
import { openSqliteRecordStore } from "../../src/storage/records/sqlite/index.js";
import { ownerRecord, recordMaker } from "./documents.js";
import { timed } from "./measure.js";

/** Records of one commit: enough to make the disk's share small. */
const COMMIT = 5_000;

/**
 * Data folders with a given number of records, filled once a run; a larger one begins as a copy of
 * a smaller.
 */
export class FilledStores {
  readonly #folders = new Map<number, string>();

  readonly #folder: () => Promise<string>;
  readonly #say: (line: string) => void;

  constructor(folder: () => Promise<string>, say: (line: string) => void) {
    this.#folder = folder;
    this.#say = say;
  }

  /** A folder to read from; a bench that writes takes a {@link copy}. */
  async of(records: number): Promise<string> {
    const known = this.#folders.get(records);
    if (known !== undefined) return known;
    const smaller = Math.max(0, ...[...this.#folders.keys()].filter((count) => count < records));
    const folder = smaller > 0 ? await this.copy(smaller) : await this.#folder();
    const ms = await timed(() => fill(folder, smaller, records));
    this.#say(`  filled a store with ${records} records in ${(ms / 1000).toFixed(1)} s`);
    this.#folders.set(records, folder);
    return folder;
  }

  async copy(records: number): Promise<string> {
    const from = await this.of(records);
    const folder = await this.#folder();
    // Closed stores have all data in their file; SQLite may remove its other files at any time.
    await cp(from, folder, { recursive: true, filter: (source) => !/-(?:shm|wal)$/.test(source) });
    return folder;
  }
}

async function fill(folder: string, from: number, to: number): Promise<void> {
  const make = await recordMaker();
  const store = await openSqliteRecordStore({ file: join(folder, "records.db") });
  try {
    for (let start = from; start < to; start += COMMIT) {
      const end = Math.min(start + COMMIT, to);
      const records = Array.from({ length: end - start }, (_, offset) => make(start + offset));
      const owners = [];
      for (let thousand = Math.ceil(start / 1000); thousand * 1000 < end; thousand++)
        owners.push(await ownerRecord(thousand));
      await store.commit({ by: null, at: Date.now(), records: [...owners, ...records] });
    }
  } finally {
    await store.close();
  }
}
