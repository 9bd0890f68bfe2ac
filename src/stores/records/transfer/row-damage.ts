import { arkKey } from "../../../identifiers/ark.js";
import { unpackQuads } from "../quads-codec.js";
import { TRANSFER, type TransferRow, type TransferTable } from "../transfer-port.js";
import { storedJson } from "../unavailable.js";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Why the values of one row cannot be what was written; `undefined` for a row that can be decoded. */
export function rowDamage(table: TransferTable, row: TransferRow): string | undefined {
  const value = (column: string): unknown => row[Object.keys(TRANSFER[table].columns).indexOf(column)];
  try {
    switch (table) {
      case "state":
        storedJson(decoder.decode(value("document") as Uint8Array), "the document");
        for (const column of ["quads", "projected"]) if (value(column) !== null) unpackQuads(value(column) as Uint8Array);
        return undefined;
      case "record":
        return arkKey(value("ark") as string) === value("key") ? undefined : "the identifier and the key by which it is found differ";
      case "submission":
        for (const column of ["error", "warnings", "input"]) if (value(column) !== null) storedJson(value(column) as string, column);
        return undefined;
      case "revision":
        if (value("changed") !== null) storedJson(value("changed") as string, "the list of changes");
        return undefined;
      default:
        return undefined;
    }
  } catch (error) {
    return (error as Error).message;
  }
}
