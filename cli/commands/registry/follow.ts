import { Interruptible } from "../../interrupt.js";
import { followSubmission, resumeHint, type Submission } from "../../registry/submission.js";
import type { Registry } from "../../registry/registry.js";
import { terminalProgress } from "../../render/terminal-progress.js";

/** Waits for the end of a submission with a bar on a terminal. */
export async function follow(registry: Registry, id: string, interruptible: Interruptible): Promise<Submission> {
  interruptible.hint = `no longer waiting; the registry goes on with it: ${resumeHint(id)}`;
  const progress = await terminalProgress("Processing");
  try {
    return await followSubmission(registry, id, (state) => {
      if ("away" in state) return progress.update(0, null, `${state.away}; trying again`);
      const { done, total, unit } = state.progress ?? { done: 0, total: null, unit: "" };
      progress.update(done, total, `${state.stage ?? state.status}${total === null ? "" : ` ${done} of ${total} ${unit}`}`);
    }, interruptible.signal);
  } finally {
    progress.stop();
  }
}
