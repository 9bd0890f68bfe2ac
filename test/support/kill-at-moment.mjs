// Imported by a registry under test (NODE_OPTIONS): ends it as a power cut would at the moment that a file names.
import { readFileSync } from "node:fs";
import { subscribe } from "node:diagnostics_channel";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  // Submissions of before: what others see of their end comes before their last moment.
  const earlier = new Set();
  subscribe("arkgraph.submission", ({ submission, moment, done = 0 }) => {
    const wanted = JSON.parse(readFileSync(process.env["KILL_AT"], "utf8"));
    if (wanted.moment === undefined) earlier.add(submission);
    if (earlier.has(submission) || wanted.moment !== moment || done < (wanted.done ?? 0)) return;
    // Synchronous unless the moment is one inside another thread's work, which goes on meanwhile.
    if (wanted.after === undefined) process.kill(process.pid, "SIGKILL");
    else setTimeout(() => process.kill(process.pid, "SIGKILL"), wanted.after);
  });
}
