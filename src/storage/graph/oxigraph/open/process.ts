/**
 * The process for users' queries: it passes messages on between its thread, which holds the graph,
 * and the registry, which ends it. It answers however long a query computes.
 */
import { writeFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { MessageChannel, Worker } from "node:worker_threads";
import { threadModule } from "../../../../package-root.js";
import type { FeedRequest } from "../../../records/port.js";
import type { FromProcess, ProcessData, ToProcess } from "./engine-process.js";
import type { ThreadData, ThreadReply } from "../thread-handle.js";

/** How much nicer than the registry: a third of what it gets, where both want all. */
const NICER = 5;
/** ms between two looks at the memory. */
const EACH = 25;

const send = (message: FromProcess): void => void (process.connected && process.send!(message));

// The registry decides when this process ends, also where a stop signal reaches a whole group. Where
// the registry is gone, nobody waits for an answer.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
// The registry may have been started with a low priority, which it may not raise for this process.
setPriority(Math.min(getPriority() + NICER, constants.priority.PRIORITY_LOW));
try {
  // When memory runs out, the kernel should end this process and not the registry (Linux).
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Another operating system, or no permission.
}

process.once("message", ({ pageSize, memory }: ProcessData) => {
  const { port1: registry, port2: feed } = new MessageChannel();
  const worker = new Worker(threadModule("src/storage/graph/oxigraph/open/thread"), {
    workerData: { feed, pageSize } satisfies ThreadData,
    transferList: [feed],
    name: "sparql",
    env: {},
    resourceLimits: { stackSizeMb: 8, maxOldGenerationSizeMb: Math.floor(memory / 2 ** 20) },
  });
  worker.on("message", (reply: ThreadReply) => send({ reply }));
  worker.on("error", ({ message, code }: NodeJS.ErrnoException) =>
    send({ error: { message, ...(code !== undefined && { code }) } }),
  );
  worker.on("exit", (code) => send({ error: { message: `its thread ended with code ${code}` } }));
  registry.on("message", (question: FeedRequest) => send({ question }));
  process.on("message", (message: ToProcess) => {
    if ("request" in message) worker.postMessage(message.request);
    else if (message.answer) registry.postMessage(message.answer);
    else registry.close();
  });
  setInterval(() => {
    const resident = process.memoryUsage.rss();
    if (resident > memory) send({ resident });
  }, EACH);
});
