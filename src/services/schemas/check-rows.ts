import { once } from "node:events";
import type { MessagePort } from "node:worker_threads";
import { TabularError } from "../../tabular/limits.js";
import type { TableLimits } from "../../tabular/limits.js";
import { readSchema } from "../../tabular/schema/table-schema.js";
import { validateTable } from "../../tabular/validate.js";

export interface CheckInput {
  schema: unknown;
  limits: TableLimits;
  /** Most errors that are reported; the check ends with the last of them. */
  maxErrors: number;
  /** Where the data come from, part by part. */
  data: MessagePort;
}

/** One row of the contract's table of errors. */
export interface CheckedError {
  row: number;
  error_type: "ParsingError" | "ValidationError";
  failed_keyword: string | null;
  message: string;
}

/** A part of the data; `null` is their end. Each is the answer to an empty message. */
export type TablePart = Uint8Array | null;

type CheckAnswer =
  { errors: CheckedError[] } | { refused: { code: "SCHEMA" | "DATA" | "LIMIT"; message: string } };

/** The data as they are sent: a part is requested when the previous one is consumed. */
async function* partsFrom(port: MessagePort): AsyncGenerator<Uint8Array> {
  for (;;) {
    const next = once(port, "message");
    port.postMessage(null);
    const [part] = (await next) as [TablePart];
    if (part === null) return;
    yield part;
  }
}

/** Checks one table in a thread: parsing and patterns would block the serving thread. */
export async function checkRows(input: CheckInput): Promise<CheckAnswer> {
  const { schema, limits, maxErrors, data } = input;
  const errors: CheckedError[] = [];
  try {
    for await (const { row, kind, message } of validateTable(partsFrom(data), readSchema(schema), {
      patterns: "linear",
      maxErrors,
      limits,
    }))
      errors.push({ row, error_type: kind.type, failed_keyword: kind.keyword, message });
    return { errors };
  } catch (error) {
    if (error instanceof TabularError)
      return { refused: { code: error.code, message: error.message } };
    throw error;
  } finally {
    data.close();
  }
}
