import { DEFAULT_LIMITS } from "../../src/tabular/limits.js";
import { Row, type RowFeed, RowGate, unguarded } from "../../src/tabular/reader/row.js";
import type { TableError, TableSummary } from "../../src/tabular/rules/check.js";
import { readSchema } from "../../src/tabular/schema/table-schema.js";
import { type CheckOptions, validateTable } from "../../src/tabular/validate.js";

/** Bytes as a source that hands them over in parts of a length. */
export async function* parts(bytes: Uint8Array, length = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** All data rows that a feed gives, with their numbers; or the message it fails with. */
export async function rowsOf(feed: RowFeed): Promise<[number, string[]][] | string> {
  const rows: [number, string[]][] = [];
  const row = new Row();
  const gate = new RowGate(false, row, {
    onRow: () => rows.push([row.number, row.cells()]),
    encoding: undefined,
    limits: DEFAULT_LIMITS,
  });
  try {
    for await (const _ of feed(row, () => gate.pass(), unguarded));
  } catch (error) {
    return (error as Error).message.replace(/\(line \d+\)/, "");
  }
  return rows;
}

/** A schema of these properties: text between commas, no header, unless said otherwise. */
export const schemaWith = (properties: Record<string, object>, rest: object = {}) =>
  readSchema({ properties, required: [], seperator: ",", header: false, ...rest });

/** Checks text; errors in the order of rows. */
export async function check(
  text: string | Uint8Array,
  schema: ReturnType<typeof schemaWith>,
  options: CheckOptions & { part?: number } = {},
): Promise<{ errors: TableError[]; summary: TableSummary }> {
  const run = validateTable(
    parts(typeof text === "string" ? Buffer.from(text) : text, options.part),
    schema,
    options,
  );
  const errors: TableError[] = [];
  for await (const error of run) errors.push(error);
  return { errors, summary: await run.summary() };
}

/** The errors as `row keyword message`. */
export const lines = (errors: readonly TableError[]): string[] =>
  errors.map(({ row, kind, message }) => `${row} ${kind.keyword ?? kind.type} ${message}`);

/** The messages about single cells of one column. */
export async function judge(property: object, ...cells: string[]): Promise<string[]> {
  const { errors } = await check(
    `${cells.join("\n")}\n`,
    schemaWith({ v: { index: 0, ...property } }, { seperator: "\t" }),
  );
  return errors.map(({ message }) => message);
}
