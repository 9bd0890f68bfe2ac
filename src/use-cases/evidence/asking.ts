import type { QueryEngine, QueryOptions, Row } from "../../stores/queries/port.js";
import { iriTerm } from "../../stores/queries/iri.js";
import { rowsIn } from "../../stores/queries/tsv.js";

/** IRIs written into one query: large enough to be quick, small enough for any parser. */
const CHUNK = 5_000;
/** The same where each brings several rows. Of small lots nearly all is garbage before it has to be moved: of larger ones the heap grows. */
const LOT = 100;

/** Asks the engine and remembers which commits the answers were as of. */
export class Asking {
  oldest = Number.POSITIVE_INFINITY;
  newest = 0;

  constructor(readonly engine: QueryEngine, private readonly options: QueryOptions) {}

  /** True when all answers were as of one commit. */
  get consistent(): boolean {
    return this.newest <= this.oldest;
  }

  async rows(query: string): Promise<Row[]> {
    return (await this.answer(query)).rows;
  }

  async answer(query: string): Promise<{ rows: Row[]; sequence: number }> {
    const answer = await this.engine.select(query, this.options);
    this.note(answer.sequence);
    return answer;
  }

  /** Rows of a query as TSV. */
  async table(question: string | Question): Promise<string> {
    const { query, most = Number.POSITIVE_INFINITY, otherwise = "" } = typeof question === "string" ? { query: question } : question;
    const { tsv, sequence } = await this.engine.table(most < Number.POSITIVE_INFINITY ? `${query} LIMIT ${most + 1}` : query, this.options);
    this.note(sequence);
    return tsv.length > most && rowsIn(tsv) > most ? this.table(otherwise) : tsv;
  }

  /** Takes into account what is known as of a commit. */
  note(sequence: number): void {
    this.oldest = Math.min(this.oldest, sequence);
    this.newest = Math.max(this.newest, sequence);
  }

  /**
   * One query for many bindings, in as many parts as needed.
   * @param bindings one tuple of IRIs a row
   * @param query makes the query from the rows of a VALUES block
   */
  async each(bindings: readonly (readonly string[])[], query: (values: string) => string): Promise<Row[]> {
    const parts: Row[][] = [];
    for (let start = 0; start < bindings.length; start += CHUNK) {
      parts.push(await this.rows(query(valuesOf(bindings.slice(start, start + CHUNK)))));
    }
    return parts.length === 1 ? parts[0]! : parts.flat();
  }

  /** The same as tables, one after the other: the engine works on the next while one is read. */
  async *tables(bindings: readonly Binding[], query: (values: string, count: number) => string | Question): AsyncGenerator<string, void, undefined> {
    const ask = (start: number): Promise<string> | undefined => {
      if (start >= bindings.length) return undefined;
      const lot = bindings.slice(start, start + LOT);
      const answer = this.table(query(valuesOf(lot), lot.length));
      // Who stops reading leaves the next one unread.
      answer.catch(() => {});
      return answer;
    };
    let next = ask(0);
    for (let start = LOT; next; start += LOT) {
      const answer: Promise<string> = next;
      next = ask(start);
      yield await answer;
    }
  }
}

/** A query that may answer many more rows than what it is about; past `most` of them another one is asked. */
export interface Question { query: string; most: number; otherwise: string }

/** One IRI, or one for each variable. */
type Binding = string | readonly string[];

const valuesOf = (bindings: readonly Binding[]): string => bindings.map((each) => `(${typeof each === "string" ? iriTerm(each) : each.map(iriTerm).join(" ")})`).join(" ");
