import { setImmediate as turn } from "node:timers/promises";
import { packQuads } from "../../quads-codec.js";
import type { Commit, RecordState, RecordWrite, SearchText } from "../../port.js";
import { keywordsOf, searchedTextOf } from "../../searched-text.js";
import type { Analyzer } from "../search/analyzer.js";
import { type Database, statement } from "../statement.js";

/** Records that are prepared in one turn of the event loop; about 10 ms. */
const AT_ONCE = 50;
const BYTES_AT_ONCE = 64 * 2 ** 10;
/** Numbers of states taken from the database at a time; those left over at a stop are never used. */
const LOT = 1000;

const NEXT_LOT = statement<[lot: number]>("SELECT nextval('state_lot')");

/** What is stored of one state of a record, made before anyone waits for it. */
export interface Prepared {
  /** Number of its row. */
  state: number;
  kind: string;
  document: Uint8Array;
  quads: Uint8Array;
  text: SearchText;
  vector: string;
  stems: string[];
  keywords: string[];
}

type Stating = Extract<RecordWrite, RecordState>;

/** How many of the writes are prepared together, by their number and by how much there is to do. */
function endOfTurn(writes: readonly Stating[], from: number): number {
  let bytes = 0;
  let at = from;
  while (at < writes.length && at - from < AT_ONCE && (at === from || bytes < BYTES_AT_ONCE)) bytes += writes[at++]!.document.length;
  return at;
}

/** Whether a write may store a new state. */
export const states = (write: RecordWrite): write is Stating => write.op === "create" || (write.op === "replace" && (write.changed.length > 0 || write.revive === true));

/** Packs and indexes records before the transaction that stores them. */
export class Preparation {
  #next = 1;
  #end = 0;

  constructor(private readonly database: Database, private readonly analyzer: Analyzer) {}

  /** By the write that states it. @throws StatementError when the database is away */
  async of(commits: readonly Commit[]): Promise<Map<RecordWrite, Prepared>> {
    const writes = commits.flatMap(({ records }) => records).filter(states);
    const numbers = await this.#numbers(writes.length);
    const prepared = new Map<RecordWrite, Prepared>();
    for (let at = 0, next = 0; at < writes.length; at = next) {
      if (at > 0) await turn();
      next = endOfTurn(writes, at);
      const some = writes.slice(at, next);
      const texts = some.map(searchedTextOf);
      for (const [index, analysis] of this.analyzer.analyze(texts).entries()) {
        const write = some[index]!;
        prepared.set(write, { state: numbers[at + index]!, kind: write.kind, document: write.document, quads: packQuads(write.quads), text: texts[index]!, ...analysis, keywords: keywordsOf(write) });
      }
    }
    return prepared;
  }

  async #numbers(count: number): Promise<number[]> {
    const numbers: number[] = [];
    while (numbers.length < count) {
      if (this.#next > this.#end) {
        const lot = (await this.database.query(NEXT_LOT))[0]![0];
        this.#next = lot * LOT;
        this.#end = this.#next + LOT - 1;
      }
      while (numbers.length < count && this.#next <= this.#end) numbers.push(this.#next++);
    }
    return numbers;
  }
}
