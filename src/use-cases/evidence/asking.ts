import type { QueryEngine, QueryOptions, Row } from "../../stores/queries/port.js";
import { iriTerm } from "../../stores/queries/iri.js";

/** IRIs written into one query: large enough to be quick, small enough for any parser. */
const CHUNK = 5_000;

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
      const values = bindings.slice(start, start + CHUNK).map((tuple) => `(${tuple.map(iriTerm).join(" ")})`).join(" ");
      parts.push(await this.rows(query(values)));
    }
    return parts.length === 1 ? parts[0]! : parts.flat();
  }
}
