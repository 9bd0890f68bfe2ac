import { setTimeout as sleep } from "node:timers/promises";
import { mayPass, Silence } from "./faults.js";

/** Pauses (ms) between tries: the first, doubled each time, and the longest. */
const FIRST = 100;
const LONGEST = 5000;

/**
 * Makes a call again while its fault may pass. A server that says nothing is waited for once more only: its connection
 * may have been dead.
 * @throws the last fault; the signal's reason when that ends it
 */
export async function retried<T>(call: () => Promise<T>, { retries, signal }: { retries: number; signal?: AbortSignal | undefined }): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await call();
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayPass(error) || failures >= (error instanceof Silence ? Math.min(1, retries) : retries)) throw error;
      await pause(failures, signal);
    }
  }
}

/** Waits before the next try, longer each time, and never as long as others do. */
export async function pause(failures: number, signal?: AbortSignal): Promise<void> {
  await sleep(Math.min(LONGEST, FIRST * 2 ** failures) * (0.5 + Math.random()), undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
}
