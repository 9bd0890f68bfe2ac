import type { Caller } from "../access/caller.js";
import type { Deps } from "../deps.js";
import { readSubmission, type SubmissionView } from "./submissions.js";

/** Progress that changes faster than this (ms) is told together. */
const INTERVAL = 100;

/**
 * A submission now and after each change, until it has ended or nobody listens any more (`return`).
 * @throws ServiceError `NOT_AUTHENTICATED`, `NOT_FOUND`, before anything is answered
 */
export async function followSubmission(deps: Deps, id: string, caller: Caller | null, interval = INTERVAL): Promise<AsyncIterable<SubmissionView>> {
  const { submissionUUID } = await readSubmission(deps, id, caller);
  const changes = deps.jobs.watch(submissionUUID)[Symbol.asyncIterator]();
  let told = "";
  let toldAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  // Not a generator: its `return` would wait for the next change.
  const iterator: AsyncIterator<SubmissionView> = {
    async next() {
      while (!stopped) {
        if ((await changes.next()).done) break;
        await pause(toldAt + interval - performance.now());
        if (stopped) break;
        const view = await readSubmission(deps, submissionUUID, caller);
        const text = JSON.stringify(view);
        if (text === told) continue;
        told = text;
        toldAt = performance.now();
        return { done: false, value: view };
      }
      return { done: true, value: undefined };
    },
    async return() {
      stopped = true;
      await changes.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

const pause = (ms: number): Promise<void> => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : Promise.resolve());
