import type { SearchQuery } from "../../search-port.js";
import { HeldVectors, type VectorRow } from "../../vectors/held.js";
import type { Near } from "../../vectors/matrix.js";
import type { Connection } from "../statement.js";

/** The vectors of the model that is asked for, brought up to date before each look. */
export class NearReads {
  readonly #held;
  readonly #run;
  readonly #rows;

  /** @param memory bytes that the vectors may have */
  constructor(connection: Connection, memory: number) {
    this.#held = new HeldVectors(memory);
    this.#run = connection.prepare<[era: string, step: number]>("SELECT era, step FROM vector_reach WHERE model = ?");
    this.#rows = connection.prepare<VectorRow>("SELECT step, record, kind, vector FROM vector WHERE model = ? AND (step, record) > (?, ?) ORDER BY step, record LIMIT ?");
  }

  /** To be asked within the transaction that reads the rest. @throws ServiceError `QUERY_MEMORY` */
  nearest({ model, vector }: NonNullable<SearchQuery["near"]>, kind: string | undefined): Near[] {
    const row = this.#run.get([model]);
    const run = row && { era: row[0], step: row[1] };
    for (let from = this.#held.begin(model, run); run && from; from = this.#held.begin(model, run)) {
      const limit = this.#held.pageRows;
      const rows = this.#rows.all([model, from.step, from.record, limit]);
      this.#held.take(rows);
      if (rows.length < limit) this.#held.done(run);
    }
    return this.#held.nearest(vector, kind);
  }
}
