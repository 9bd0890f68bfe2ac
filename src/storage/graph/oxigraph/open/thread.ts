/**
 * The thread for users' queries: like the service's own, with a memory cap and a lower CPU
 * priority.
 */
import { setPriority } from "node:os";
import { workerData } from "node:worker_threads";
import { capMemory } from "../memory.js";
import type { ThreadData } from "../thread-handle.js";

/** Of 19: a third of what other threads get, where they want all. */
const NICENESS = 5;

capMemory((workerData as ThreadData).memory!);
// On Linux it is the calling thread's own (setpriority(2)); elsewhere it would be that of the whole
// process.
if (process.platform === "linux") setPriority(0, NICENESS);
// Only now: importing it makes the engine's instance. All of it before the graph: the time of a
// query is its own.
await import("./answer.js");
await import("../thread.js");
