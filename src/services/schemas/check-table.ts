import { MessageChannel } from "node:worker_threads";
import type { Config } from "../../config/config.js";
import { invalid, ServiceError } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import { DEFAULT_LIMITS, type TableLimits } from "../../tabular/limits.js";
import { type CpuPool, OutOfMemory } from "../cpu-pool.js";
import type { Deps } from "../deps.js";
import type { IncomingFile } from "../records/stored-content.js";
import { findLive } from "../records/find.js";
import { parseDocument } from "../records/view.js";
import type { CheckedError, CheckInput, checkRows, TablePart } from "./check-rows.js";

/** The reason why the data could not be checked. */
class CheckRefused extends Error {
  constructor(
    readonly code: "SCHEMA" | "DATA" | "LIMIT" | "MEMORY",
    message: string,
  ) {
    super(message);
  }
}

const JOB = { module: "src/services/schemas/check-rows", name: "checkRows" };

/**
 * Runs one check in a thread. The thread requests data as it consumes them, so that neither side
 * holds more than a part of them.
 * @param memory most bytes of the thread's heap
 * @throws CheckRefused; any error of the data; the signal's reason
 */
async function runCheck(
  cpu: CpuPool,
  input: Omit<CheckInput, "data">,
  data: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  memory: number,
): Promise<CheckedError[]> {
  const { port1: ours, port2: theirs } = new MessageChannel();
  const failed = new AbortController();
  const parts = data[Symbol.asyncIterator]();
  const feed = async (): Promise<void> => {
    const { done, value } = await parts.next();
    // A separate copy: a part may be a view of a larger buffer, all of which would be sent.
    const part: TablePart = done === true ? null : new Uint8Array(value);
    ours.postMessage(part, part ? [part.buffer as ArrayBuffer] : []);
  };
  ours.on("message", () => void feed().catch((error: unknown) => failed.abort(error)));
  try {
    const answer = await cpu.run<typeof checkRows>(
      JOB,
      { ...input, data: theirs },
      { memory, signal: AbortSignal.any([signal, failed.signal]), transfer: [theirs] },
    );
    if ("refused" in answer) throw new CheckRefused(answer.refused.code, answer.refused.message);
    return answer.errors;
  } catch (error) {
    if (error instanceof OutOfMemory)
      throw new CheckRefused(
        "MEMORY",
        `it needs more than ${memory} bytes of memory to be checked`,
      );
    throw error;
  } finally {
    ours.close();
  }
}

/** Result of a check of a table. */
export interface TableCheckAnswer {
  conforms: boolean;
  /** Parsing errors by row, then validation errors by row. */
  errors: CheckedError[];
  /** True when there are more: the check ended with the last error within the limit. */
  truncated: boolean;
}

/**
 * Checks a table, while it arrives, against a stored schema; any caller may do so. Nothing of the
 * table is stored.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `SCHEMA_UNUSABLE`, `TOO_LARGE`,
 * `QUERY_TIMEOUT`, `SHUTTING_DOWN`; ValidationError for a file that is not a table; the error of
 * the stream when the client disconnects
 */
export async function checkTable(
  deps: Deps,
  asked: Ark,
  { stream }: IncomingFile,
): Promise<TableCheckAnswer> {
  const { config } = deps;
  const { ark, document } = await findLive(deps, asked, "schema");
  const ended = new AbortController();
  const timer = setTimeout(
    () =>
      ended.abort(
        new ServiceError(
          "QUERY_TIMEOUT",
          `The check took longer than ${config.TABLE_TIMEOUT} ms (TABLE_TIMEOUT): send a ` +
            "smaller table, or check it with arkgraph schema validate.",
        ),
      ),
    config.TABLE_TIMEOUT,
  );
  // Also while the check is queued and nobody reads from the stream.
  stream.once("error", (error) => ended.abort(error));
  try {
    const most = config.TABLE_MAX_ERRORS;
    const found = await deps.tableLimit.run(ended.signal, (either) =>
      runCheck(
        deps.cpu,
        { schema: parseDocument(document), limits: limitsOf(config), maxErrors: most + 1 },
        counted(stream, config.MAX_TABLE_BYTES),
        either,
        config.TABLE_MEMORY,
      ),
    );
    const errors = found.slice(0, most);
    return {
      conforms: errors.length === 0,
      errors: [...errors.filter(isParsing), ...errors.filter((error) => !isParsing(error))],
      truncated: found.length > most,
    };
  } catch (error) {
    throw error instanceof CheckRefused ? refusal(ark, error) : error;
  } finally {
    clearTimeout(timer);
    // The rest of the form is read and discarded.
    stream.resume();
  }
}

const isParsing = ({ error_type }: CheckedError): boolean => error_type === "ParsingError";

function limitsOf(config: Config): TableLimits {
  return {
    ...DEFAULT_LIMITS,
    maxText: config.TABLE_MAX_TEXT,
    maxCell: config.TABLE_MAX_CELL,
    maxRow: config.TABLE_MAX_ROW,
    maxColumns: config.TABLE_MAX_COLUMNS,
    names: {
      ...DEFAULT_LIMITS.names,
      maxText: "TABLE_MAX_TEXT",
      maxCell: "--max-cell of arkgraph schema validate",
      maxRow: "--max-row of arkgraph schema validate",
      maxColumns: "--max-columns of arkgraph schema validate",
      encoding: undefined,
    },
  };
}

async function* counted(stream: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const part of stream) {
    size += part.length;
    if (size > limit)
      throw new ServiceError(
        "TOO_LARGE",
        `The table is larger than ${limit} bytes (MAX_TABLE_BYTES).`,
      );
    yield part;
  }
}

function refusal(ark: string, { code, message }: CheckRefused): Error {
  if (code === "SCHEMA")
    return new ServiceError("SCHEMA_UNUSABLE", `${ark} cannot be applied to a table: ${message}.`);
  return invalid(["body", "file"], `Value error, the table cannot be checked: ${message}`);
}
