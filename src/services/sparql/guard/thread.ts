/**
 * Parses untrusted queries, one at a time: a query that takes too long, or crashes the parser,
 * affects this thread only.
 */
import { parentPort, workerData } from "node:worker_threads";
import { ServiceError } from "../../../errors.js";
import { check, type GuardData, type GuardReply, type GuardRequest } from "./check.js";

const port = parentPort!;
const { hidden, ...limits } = workerData as GuardData;

port.on("message", ({ text, base }: GuardRequest) => {
  let reply: GuardReply;
  try {
    reply = { checked: check(text, base, limits, hidden) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    reply = { refusal: { code: error.code, message: error.message, extra: { ...error.extra } } };
  }
  port.postMessage(reply);
});
