import { createHash, type Hash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { TRANSFER, TRANSFER_TABLES, type TransferChunk, type TransferRow, type TransferTable } from "../../stores/records/transfer-port.js";

/** What a truth held when it was read: of each table how many rows, and the SHA-256 of all they say. */
export interface TruthFigures {
  sequence: number;
  tables: Record<TransferTable, { rows: number; sha256: string }>;
  /** Live records by kind. */
  kinds: Record<string, number>;
}

const place = (column: string): number => Object.keys(TRANSFER.record.columns).indexOf(column);
const [KIND, DELETED_AT] = [place("kind"), place("deleted_at")];

/** Counts and hashes an export as it passes. */
export class TruthDigest {
  #sequence = 0;
  /** Rows so far, for progress. */
  rows = 0;
  readonly #hashes = Object.fromEntries(TRANSFER_TABLES.map((table) => [table, { rows: 0, hash: createHash("sha256") }])) as Record<TransferTable, { rows: number; hash: Hash }>;
  readonly #kinds = new Map<string, number>();

  add(chunk: TransferChunk): void {
    if ("begin" in chunk) this.#sequence = chunk.begin.sequence;
    else if ("table" in chunk) this.#addRows(chunk.table, chunk.rows);
  }

  /** The same chunks, looked at. */
  async *over(chunks: AsyncIterable<TransferChunk>, progress: (rows: number) => void = () => {}): AsyncGenerator<TransferChunk, void, undefined> {
    for await (const chunk of chunks) {
      this.add(chunk);
      progress(this.rows);
      // A store that is near never waits: others, and Ctrl+C, get their turn.
      await turn();
      yield chunk;
    }
  }

  /** Once, at the end. */
  figures(): TruthFigures {
    const tables = Object.fromEntries(TRANSFER_TABLES.map((table) => [table, { rows: this.#hashes[table].rows, sha256: this.#hashes[table].hash.digest("hex") }])) as TruthFigures["tables"];
    return { sequence: this.#sequence, tables, kinds: Object.fromEntries([...this.#kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))) };
  }

  #addRows(table: TransferTable, rows: readonly TransferRow[]): void {
    const of = this.#hashes[table];
    of.rows += rows.length;
    this.rows += rows.length;
    for (const row of rows) {
      // Lengths stand in the line, so that no two rows are the same bytes.
      of.hash.update(`${JSON.stringify(row.map((value) => (value instanceof Uint8Array ? { bytes: value.byteLength } : value)))}\n`);
      for (const value of row) if (value instanceof Uint8Array) of.hash.update(value);
      if (table === "record" && row[DELETED_AT] === null) this.#kinds.set(row[KIND] as string, (this.#kinds.get(row[KIND] as string) ?? 0) + 1);
    }
  }
}

/** Reads a whole truth. */
export async function figuresOf(truth: { export(): AsyncIterable<TransferChunk> }, progress?: (rows: number) => void): Promise<TruthFigures> {
  const digest = new TruthDigest();
  for await (const chunk of digest.over(truth.export(), progress)) void chunk;
  return digest.figures();
}

/**
 * Tables that say something else in one than in the other. Leases are left out: their fences may have come further
 * where nodes run, or ran.
 */
export const differing = (a: TruthFigures, b: TruthFigures): TransferTable[] =>
  TRANSFER_TABLES.filter((table) => table !== "lease" && (a.tables[table].rows !== b.tables[table].rows || a.tables[table].sha256 !== b.tables[table].sha256));
