import type { SearchQuery } from "../../port.js";
import type { SqlValue } from "../../selection.js";
import { VectorsInMemory, type VectorRow } from "../../vectors/held.js";
import type { Compared, Near } from "../../vectors/matrix.js";
import { type Database, statement } from "../statement.js";

const RUN = statement<[era: string, step: number]>(
  "SELECT era, step FROM vector_reach WHERE model = $1",
);
const ROWS = statement<VectorRow>(
  `SELECT step, record, kind, vector FROM vector
    WHERE model = $1 AND (step, record) > ($2::bigint, $3::bigint) ORDER BY step, record LIMIT $4`,
);

/** Whose vectors are compared: the records of a kind, or those whose numbers a statement returns. */
export type ComparedBy = { kind: string } | { text: string; values: SqlValue[] };

/** The vectors of the requested model, brought up to date before each search. */
export class NearReads {
  readonly #held;

  readonly #database: Database;

  /** @param memory bytes that the vectors may have */
  constructor(database: Database, memory: number) {
    this.#database = database;

    this.#held = new VectorsInMemory(memory);
  }

  /** Asked one at a time. @throws ServiceError `QUERY_MEMORY` */
  async nearest(
    { model, vector }: NonNullable<SearchQuery["near"]>,
    among: ComparedBy | undefined,
  ): Promise<Near[]> {
    const row = (await this.#database.query(RUN, [model]))[0];
    if (this.#held.begin(model, row && { era: row[0], step: row[1] })) await this.#readOn(model);
    return this.#held.nearest(vector, among && (await this.#compared(among)));
  }

  async #compared(among: ComparedBy): Promise<Compared> {
    if ("kind" in among) return among;
    const rows = await this.#database.query(
      statement<[id: number]>(among.text, { kept: false }),
      among.values,
    );
    return { ids: new Set(rows.map(([id]) => id)) };
  }

  /** In one view with the run that it is of. */
  #readOn(model: string): Promise<void> {
    return this.#database.snapshot(async (session) => {
      const row = (await session.query(RUN, [model]))[0];
      const run = row && { era: row[0], step: row[1] };
      for (
        let from = this.#held.begin(model, run);
        run && from;
        from = this.#held.begin(model, run)
      ) {
        const limit = this.#held.pageRows;
        const rows = await session.query(ROWS, [model, from.step, from.record, limit]);
        this.#held.take(rows);
        if (rows.length < limit) this.#held.done(run);
      }
    });
  }
}
