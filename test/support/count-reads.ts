import type { RecordStore } from "../../src/storage/records/port.js";

const READS = [
  "find",
  "findMany",
  "select",
  "countSelected",
  "statistics",
  "atRevision",
  "history",
  "linksFrom",
  "linksTo",
  "countLinks",
  "quads",
  "accountOf",
  "objectsOf",
] as const satisfies readonly (keyof RecordStore)[];

/** Runs a function and returns how often it called each read of the store. */
export async function countReads<T>(
  records: RecordStore,
  run: () => Promise<T>,
): Promise<{ answer: T; reads: Record<string, number>; total: number }> {
  const store = records as unknown as Record<string, (...args: unknown[]) => unknown>;
  const originals = READS.map((name) => [name, store[name]!] as const);
  const reads: Record<string, number> = {};
  for (const [name, original] of originals) {
    store[name] = (...args) => {
      reads[name] = (reads[name] ?? 0) + 1;
      return original(...args);
    };
  }
  try {
    const answer = await run();
    return { answer, reads, total: Object.values(reads).reduce((sum, count) => sum + count, 0) };
  } finally {
    for (const [name, original] of originals) store[name] = original;
  }
}
