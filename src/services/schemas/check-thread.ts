import { parentPort, workerData } from "node:worker_threads";
import { TabularError } from "../../tabular/limits.js";
import { readSchema } from "../../tabular/schema/table-schema.js";
import { validateTable } from "../../tabular/validate.js";
import type { CheckedError, CheckInput, FromCheck, ToCheck } from "./check-table.js";

/** One check of a table: parsing and patterns would block the serving thread. */

const port = parentPort!;
const { schema, limits, maxErrors } = workerData as CheckInput;
const send = (message: FromCheck): void => port.postMessage(message);

/** The data as they are sent: a part is requested when the previous one is consumed. */
async function* data(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const next = new Promise<ToCheck>((resolve) => port.once("message", resolve));
    send({ more: true });
    const message = await next;
    if ("end" in message) return;
    yield message.part;
  }
}

async function check(): Promise<FromCheck> {
  const errors: CheckedError[] = [];
  try {
    for await (const { row, kind, message } of validateTable(data(), readSchema(schema), {
      patterns: "linear",
      maxErrors,
      limits,
    })) {
      errors.push({ row, error_type: kind.type, failed_keyword: kind.keyword, message });
    }
    return { errors };
  } catch (error) {
    if (error instanceof TabularError)
      return { refused: { code: error.code, message: error.message } };
    return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

send(await check());
port.close();
