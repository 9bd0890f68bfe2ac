import { TRANSFER, type TransferTable, type TransferType } from "../../transfer-port.js";
import { type Statement, statement } from "../statement.js";

/** Columns that PostgreSQL's own words keep from having the name that they are sent under. */
const NAMED: Partial<Record<TransferTable, Readonly<Record<string, string>>>> = {
  account: { user: "person" },
  submission: { user: "person" },
  object_ref: { until: "ended" },
};
const LIST: Readonly<Record<TransferType, string>> = { integer: "bigint", text: "text", boolean: "int", bytes: "bytea" };

export interface Column { name: string; type: TransferType }

export const columnsOf = (table: TransferTable): Column[] =>
  Object.entries<TransferType>(TRANSFER[table].columns).map(([name, type]) => ({ name: NAMED[table]?.[name] ?? name, type }));

/** All rows of a table, by its key. */
export function selectOf(table: TransferTable): string {
  if (table === "text") {
    return "SELECT r.id, t.name, t.description, t.keywords, t.other, t.words FROM record AS r JOIN text AS t ON t.state = r.state WHERE r.deleted_at IS NULL ORDER BY r.id";
  }
  return `SELECT ${columnsOf(table).map(({ name }) => name).join(", ")} FROM ${table} ORDER BY ${TRANSFER[table].key.map((name) => NAMED[table]?.[name] ?? name).join(", ")}`;
}

/** Adds rows, each column as one list; booleans as 0 and 1. @param more columns that are made of those that are sent */
export function insertOf(table: TransferTable, more: readonly Column[] = []): Statement {
  const columns = [...columnsOf(table), ...more];
  const names = columns.map(({ name }) => name).join(", ");
  const values = columns.map(({ name, type }) => (type === "boolean" ? `v.${name} = 1` : `v.${name}`)).join(", ");
  return statement(`INSERT INTO ${table} (${names}) SELECT ${values} FROM unnest(${columns.map(({ type }, index) => `$${index + 1}::${LIST[type]}[]`).join(", ")}) AS v (${names})`);
}
