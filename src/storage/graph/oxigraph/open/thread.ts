/**
 * The thread for users' queries: like the service's own, with a memory cap and a lower CPU
 * priority.
 */
import { constants, getPriority, setPriority } from "node:os";
import { workerData } from "node:worker_threads";
import { capMemory } from "../memory.js";
import type { ThreadData } from "../thread-handle.js";

/** How much nicer than the process: a third of what its other threads get, where they want all. */
const NICER = 5;

capMemory((workerData as ThreadData).memory!);
// On Linux it is the calling thread's own (setpriority(2)); elsewhere it would be that of the whole
// process. A process that was started with a low priority may not raise it for a thread.
if (process.platform === "linux")
  setPriority(0, Math.min(getPriority() + NICER, constants.priority.PRIORITY_LOW));
// Only now: importing it makes the engine's instance. All of it before the graph: the time of a
// query is its own.
await import("./answer.js");
await import("../thread.js");
