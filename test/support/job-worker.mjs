// A worker node in a process of its own. The process that started it holds the record store, and
// decides the result of each attempt.
import { parseArgs } from "node:util";
import { BullMqJobQueue } from "../../dist/src/jobs/bullmq/job-queue.js";
import { RedisLink } from "../../dist/src/storage/redis.js";

const { url, prefix, stalled } = parseArgs({
  options: { url: { type: "string" }, prefix: { type: "string" }, stalled: { type: "string" } },
}).values;
const waiting = new Map();
let count = 0;
const ask = (method, input) =>
  new Promise((resolve, reject) => {
    waiting.set(++count, { resolve, reject });
    process.send({ id: count, method, input });
  });
process.on("message", ({ id, answer, error, close }) => {
  if (close !== undefined) return void queue.close(close).then(() => process.exit(0));
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) resolve(answer);
  else reject(new Error(error));
});
process.on("disconnect", () => process.exit(1));

const methods = [
  "submission",
  "unfinished",
  "beginAttempt",
  "yieldAttempt",
  "setStage",
  "closeSubmission",
  "cancelSubmission",
];
const store = Object.fromEntries(
  methods.map((method) => [method, (...input) => ask(method, input)]),
);
const log = {
  info() {},
  warn: (fields, message) => process.stderr.write(`worker: ${message} ${fields.reason ?? ""}\n`),
};
const link = new RedisLink({ url, prefix, timeout: 2000, log });
const queue = new BullMqJobQueue({
  store,
  link,
  maxAttempts: 5,
  concurrency: 1,
  backOff: () => 50,
  stalledInterval: Number(stalled),
  reconcileInterval: 1000,
  log,
});
await queue.start(async ({ submission, signal, report }) => {
  report({ stage: "working", done: 0, total: null, unit: "steps" });
  const { id, attempt } = submission;
  const aborted = new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason)),
  );
  // The record store decides about attempts that run at the same time: its answer says whether
  // anything was stored.
  await Promise.race([ask("work", [id, attempt]), aborted]);
  await ask("closeSubmission", [{ id, attempt, status: "finished" }, 1]);
});
await ask("started", []);
