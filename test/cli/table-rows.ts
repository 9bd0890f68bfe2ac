import { openTable, type TableOptions } from "../../cli/commands/schema/open-table.js";
import { DEFAULT_LIMITS, type TableLimits } from "../../src/tabular/limits.js";
import { separatedBy } from "../../src/tabular/reader/dialect.js";
import { openSource } from "../../src/tabular/reader/open-source.js";
import { Row, unguarded } from "../../src/tabular/reader/row.js";
import { textFeed } from "../../src/tabular/reader/text-feed.js";

/** The rows of a data file, each with its line. */
export async function rowsOfFile(
  path: string,
  options: TableOptions = {},
  limits: Partial<TableLimits> = {},
): Promise<[line: number, ...cells: string[]][]> {
  const all = { ...DEFAULT_LIMITS, ...limits };
  const table = await openTable(path, options);
  const rows: [number, ...string[]][] = [];
  try {
    const row = new Row();
    const feed =
      table.cells?.feed(all, {}) ?? textFeed(openSource(table.bytes), separatedBy(","), all);
    for await (const _ of feed(row, () => rows.push([row.line, ...row.cells()]), unguarded));
    return rows;
  } finally {
    await table.close();
  }
}
