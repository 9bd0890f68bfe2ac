/** Searches all vectors in a thread of its own: the serving thread holds none of them. */
import { parentPort, workerData } from "node:worker_threads";
import type { SearchQuery } from "../../port.js";
import { asSent } from "../../refusals.js";
import type { SqlValue } from "../../selection.js";
import type { AskedThreadAnswer, AskedThreadMessage } from "../../threads.js";
import { type Compared, type Near, type VectorRow, VectorsInMemory } from "../../vectors.js";
import { asStoreError, Database, type DatabaseOptions, statement } from "../statement.js";

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
class NearReads {
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

/** The nearest records, among those that are named where not all are compared. */
export interface NearQuestion {
  near: NonNullable<SearchQuery["near"]>;
  among: ComparedBy | undefined;
}

const { vectorsMemory, ...options } = workerData as Omit<DatabaseOptions, "pool" | "log"> & {
  vectorsMemory: number;
};
/** One connection: one question is asked at a time. */
const database = new Database({ ...options, pool: 1, log: () => {} });
const reads = new NearReads(database, vectorsMemory);

async function answered({ near, among }: NearQuestion): Promise<AskedThreadAnswer<Near[]>> {
  try {
    return { answer: await reads.nearest(near, among) };
  } catch (error) {
    return { error: asSent(error, asStoreError) };
  }
}

parentPort!.on("message", (message: AskedThreadMessage<NearQuestion>) => {
  if ("close" in message) {
    parentPort!.close();
    void database.close();
    return;
  }
  void answered(message.ask).then((answer) => parentPort!.postMessage(answer));
});
