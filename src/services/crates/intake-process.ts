import { writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { threadModule } from "../../package-root.js";
import type { FromThread, ToThread } from "./run/protocol.js";
import { OUT_OF_MEMORY, threadOptions, type ProcessInput } from "./run/thread.js";

// A process of its own for a crate whose work ran when a process ended: passes on what its thread
// and the service say. If it dies, it was the crate, and the service lives on; if the service dies,
// it was something else.
const send = (message: FromThread, then: () => void = () => {}) =>
  void (process.connected && process.send!(message, undefined, undefined, then));

// The service decides when this ends, also where a stop is sent to all processes of a group.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.once("disconnect", () => process.exit(0));
try {
  // Where memory runs out, the kernel is to end this process and not the service (Linux).
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Another system, or not allowed.
}

process.once("message", ({ input, memory }: ProcessInput) => {
  const worker = new Worker(
    threadModule("src/services/crates/intake-thread"),
    threadOptions(input, memory),
  );
  worker.on("message", (message: FromThread) => send(message));
  worker.on("error", (error: NodeJS.ErrnoException) =>
    send(
      error.code === OUT_OF_MEMORY
        ? { type: "outOfMemory" }
        : { type: "fault", message: error.stack ?? error.message },
    ),
  );
  // What was sent before has been passed on by then.
  worker.on("exit", (code) =>
    send({ type: "fault", message: `the intake thread ended with code ${code}` }, () =>
      process.exit(0),
    ),
  );
  process.on("message", (message: ToThread) => worker.postMessage(message));
});
