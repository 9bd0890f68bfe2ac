import { arkKey } from "../../../identifiers/ark.js";
import { unpackQuads } from "../codecs.js";
import { storedJson } from "../refusals.js";
import {
  TRANSFER,
  TRANSFER_TABLES,
  type TransferChunk,
  TransferRefused,
  type TransferRow,
  type TransferTable,
  type TransferValue,
} from "../transfer-port.js";

/** Where a chunk of rows ends, independent of how many rows the store reads at a time. */
const MOST_ROWS = 1000;
const MOST_BYTES = 2 ** 20;

const sizeOf = (value: TransferValue): number =>
  value instanceof Uint8Array ? value.byteLength : typeof value === "string" ? value.length : 8;

/** Makes an export of the rows of all tables, which a store reads by their keys. */
export async function* chunksOf(
  sequence: number,
  rowsOf: (table: TransferTable) => AsyncIterable<TransferRow> | Iterable<TransferRow>,
): AsyncGenerator<TransferChunk, void, undefined> {
  yield { begin: { format: 1, sequence } };
  let sent = 0;
  for (const table of TRANSFER_TABLES) {
    let rows: TransferRow[] = [];
    let bytes = 0;
    for await (const row of rowsOf(table)) {
      rows.push(row);
      sent++;
      for (const value of row) bytes += sizeOf(value);
      if (rows.length < MOST_ROWS && bytes < MOST_BYTES) continue;
      yield { table, rows };
      rows = [];
      bytes = 0;
    }
    if (rows.length > 0) yield { table, rows };
  }
  yield { end: { rows: sent } };
}

const isOf = { integer: "number", text: "string", boolean: "boolean" } as const;

function check(table: TransferTable, rows: readonly TransferRow[]): void {
  const types = Object.values(TRANSFER[table].columns);
  for (const row of rows) {
    const fits =
      row.length === types.length &&
      row.every((value, column) => {
        const type = types[column]!;
        return (
          value === null ||
          (type === "bytes" ? value instanceof Uint8Array : typeof value === isOf[type])
        );
      });
    if (!fits) throw new TransferRefused(`The export contains an invalid row of ${table}`);
  }
}

/**
 * Reads an export, and checks it as a whole.
 * @throws TransferRefused when its format is not known, or it has no end
 */
export async function receive(
  chunks: AsyncIterable<TransferChunk>,
  put: (table: TransferTable, rows: readonly TransferRow[]) => Promise<void> | void,
): Promise<void> {
  let state: "none" | "begun" | "ended" = "none";
  let taken = 0;
  let at = 0;
  for await (const chunk of chunks) {
    if ("begin" in chunk) {
      if (state !== "none" || chunk.begin.format !== 1)
        throw new TransferRefused(
          "The export does not begin with a header that this version reads",
        );
      state = "begun";
    } else if (state !== "begun")
      throw new TransferRefused("The export has no header, or continues after its end");
    else if ("end" in chunk) {
      if (chunk.end.rows !== taken)
        throw new TransferRefused(
          `The export is incomplete: ${taken} of ${chunk.end.rows} rows came`,
        );
      state = "ended";
    } else {
      const place = TRANSFER_TABLES.indexOf(chunk.table);
      if (place < at) throw new TransferRefused("The export's tables are not in their order");
      at = place;
      check(chunk.table, chunk.rows);
      taken += chunk.rows.length;
      await put(chunk.table, chunk.rows);
    }
  }
  if (state !== "ended") throw new TransferRefused("The export is incomplete: its end is missing");
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Why the values of one row cannot be those written; `undefined` for a row that can be decoded. */
export function rowDamage(table: TransferTable, row: TransferRow): string | undefined {
  const value = (column: string): unknown =>
    row[Object.keys(TRANSFER[table].columns).indexOf(column)];
  try {
    switch (table) {
      case "state":
        storedJson(decoder.decode(value("document") as Uint8Array), "the document");
        for (const column of ["quads", "projected"])
          if (value(column) !== null) unpackQuads(value(column) as Uint8Array);
        return undefined;
      case "record":
        return arkKey(value("ark") as string) === value("key")
          ? undefined
          : "the identifier and the key by which it is found differ";
      case "submission":
        for (const column of ["error", "warnings", "input"])
          if (value(column) !== null) storedJson(value(column) as string, column);
        return undefined;
      case "revision":
        if (value("changed") !== null)
          storedJson(value("changed") as string, "the list of changes");
        return undefined;
      default:
        return undefined;
    }
  } catch (error) {
    return (error as Error).message;
  }
}
