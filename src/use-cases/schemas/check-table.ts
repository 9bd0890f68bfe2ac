import { ServiceError, invalid } from "../../errors.js";
import type { Config } from "../../config.js";
import { DEFAULT_LIMITS, type TableLimits } from "../../tabular/limits.js";
import type { Deps } from "../deps.js";
import type { IncomingFile } from "../files/staged-file.js";
import { findLive } from "../records/find.js";
import { parseDocument } from "../records/view.js";
import type { CheckedError } from "./protocol.js";
import { CheckRefused, runCheck } from "./run-check.js";

/** What a check of a table came to. */
export interface TableCheckAnswer {
  conforms: boolean;
  /** Parsing errors by row, then validation errors by row. */
  errors: CheckedError[];
  /** True when there are more: the check ended with the last one it had room for. */
  truncated: boolean;
}

/**
 * Checks a table, while it arrives, against a stored schema; anyone may. Nothing of it is kept.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `SCHEMA_UNUSABLE`, `TOO_LARGE`, `QUERY_TIMEOUT`, `SHUTTING_DOWN`; ValidationError for
 * what is no table; what the stream fails with when the client hangs up
 */
export async function checkTable(deps: Deps, id: string, { stream }: IncomingFile): Promise<TableCheckAnswer> {
  const { config } = deps;
  const { ark, document } = await findLive(deps, id, "schema");
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(new ServiceError("QUERY_TIMEOUT", `The check took longer than ${config.TABLE_TIMEOUT} ms (TABLE_TIMEOUT): send a smaller table, or check it with arkgraph schema validate.`)), config.TABLE_TIMEOUT);
  // Also while the check waits for its turn and nobody reads from the stream.
  stream.once("error", (error) => ended.abort(error));
  try {
    const most = config.TABLE_MAX_ERRORS;
    const found = await deps.tableTurns.run(ended.signal, (either) =>
      runCheck({ schema: parseDocument(document), limits: limitsOf(config), maxErrors: most + 1 }, counted(stream, config.MAX_TABLE_BYTES), either, config.TABLE_MEMORY));
    const errors = found.slice(0, most);
    return { conforms: errors.length === 0, errors: [...errors.filter(isParsing), ...errors.filter((error) => !isParsing(error))], truncated: found.length > most };
  } catch (error) {
    throw error instanceof CheckRefused ? refusal(ark, error) : error;
  } finally {
    clearTimeout(timer);
    // What is left of the form is read over.
    stream.resume();
  }
}

const isParsing = ({ error_type }: CheckedError): boolean => error_type === "ParsingError";

function limitsOf(config: Config): TableLimits {
  return {
    ...DEFAULT_LIMITS, maxText: config.TABLE_MAX_TEXT, maxCell: config.TABLE_MAX_CELL, maxRow: config.TABLE_MAX_ROW, maxColumns: config.TABLE_MAX_COLUMNS,
    names: { ...DEFAULT_LIMITS.names, maxText: "TABLE_MAX_TEXT", maxCell: "TABLE_MAX_CELL", maxRow: "TABLE_MAX_ROW", maxColumns: "TABLE_MAX_COLUMNS" },
  };
}

async function* counted(stream: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const part of stream) {
    size += part.length;
    if (size > limit) throw new ServiceError("TOO_LARGE", `The table is larger than ${limit} bytes (MAX_TABLE_BYTES).`);
    yield part;
  }
}

function refusal(ark: string, { code, message }: CheckRefused): Error {
  if (code === "SCHEMA") return new ServiceError("SCHEMA_UNUSABLE", `${ark} cannot be applied to a table: ${message}.`);
  return invalid(["body", "file"], `Value error, the table cannot be checked: ${message}`);
}
