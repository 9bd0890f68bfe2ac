/** The thread for strangers' queries: that of the service, with a lid on its memory. */
import { workerData } from "node:worker_threads";
import type { ThreadData } from "../messages.js";
import { capMemory } from "./cap-memory.js";

capMemory((workerData as ThreadData).memory!);
// Only now: importing it makes the engine's instance. All of it before the graph: the time of a query is its own.
await import("./answer.js");
await import("../thread.js");
