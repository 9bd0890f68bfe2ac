import {
  type QueryEngine,
  type QueryOptions,
  textIn,
  tsvRows,
} from "../../src/storage/graph/port.js";

/** Rows that a SELECT finds, each by the order of its variables, as texts without datatypes. */
export async function select(
  engine: Pick<QueryEngine, "table">,
  query: string,
  options?: QueryOptions,
): Promise<{ rows: string[][]; sequence: number }> {
  const { tsv, sequence } = await engine.table(query, options);
  return { rows: [...tsvRows(tsv)].map((cells) => cells.map(textIn)), sequence };
}
