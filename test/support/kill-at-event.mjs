// Imported by a registry under test (NODE_OPTIONS): ends it as a power cut would at the event that a file names.
import { readFileSync, unlinkSync } from "node:fs";
import { subscribe } from "node:diagnostics_channel";
import { isMainThread } from "node:worker_threads";

const file = process.env["KILL_AT"];
/** Nothing once another process has died of it. */
function wantedNow() {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return {};
  }
}
/** Of several processes that a file is for one dies. */
function isMine() {
  try {
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

if (isMainThread) {
  // Submissions of before: what others see of their end comes before their last event.
  const earlier = new Set();
  subscribe("arkgraph.submission", ({ submission, event, done = 0 }) => {
    const wanted = wantedNow();
    if (wanted.event === undefined) earlier.add(submission);
    if (earlier.has(submission) || wanted.event !== event || done < (wanted.done ?? 0) || !isMine())
      return;
    // Synchronous unless the event is one inside another thread's work, which goes on meanwhile.
    if (wanted.after === undefined) process.kill(process.pid, "SIGKILL");
    else setTimeout(() => process.kill(process.pid, "SIGKILL"), wanted.after);
  });
}
