import type { EventEmitter } from "node:events";
import type { Queue, Worker } from "bullmq";

/**
 * Keeps an error of BullMQ's own connections from ending the process when nobody listens any more: one that Redis never
 * let in (a wrong password) fails for good when it is closed, after BullMQ has taken its listeners away. What would be
 * printed then has the password in it.
 */
export function ignoreUnheard(of: Queue | Worker): void {
  const { connection, blockingConnection } = of as unknown as { connection: EventEmitter; blockingConnection?: EventEmitter };
  for (const each of [connection, blockingConnection]) {
    if (!each) continue;
    const emit = each.emit.bind(each);
    each.emit = (event: string | symbol, ...args: unknown[]) => (event === "error" && each.listenerCount("error") === 0 ? false : emit(event, ...args));
  }
}
