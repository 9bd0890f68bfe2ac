import { writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { threadModule } from "../../package-root.js";
import {
  type FromThread,
  OUT_OF_MEMORY,
  type ProcessInput,
  type ToThread,
  threadOptions,
} from "./run-intake.js";

// A separate process for a crate that was being ingested when a process ended: it forwards messages
// between its thread and the service. If this process dies, the crate was the cause, and the
// service survives; if the service dies, the cause was something else.
const send = (message: FromThread, then: () => void = () => {}) =>
  void (process.connected && process.send!(message, undefined, undefined, then));

// The service decides when this process ends, also where a stop signal reaches all processes of a
// group.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.once("disconnect", () => process.exit(0));
try {
  // When memory runs out, the kernel should end this process and not the service (Linux).
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Another operating system, or no permission.
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
  // Earlier messages have been forwarded by then.
  worker.on("exit", (code) =>
    send({ type: "fault", message: `the intake thread ended with code ${code}` }, () =>
      process.exit(0),
    ),
  );
  process.on("message", (message: ToThread) => worker.postMessage(message));
});
