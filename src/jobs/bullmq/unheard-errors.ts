import type { EventEmitter } from "node:events";
import type { Queue, QueueEvents, QueueEventsProducer, Worker } from "bullmq";

/**
 * Keeps an error of BullMQ's own connections from ending the process. A connection that Redis never
 * accepted, for example because of a wrong password, fails when it is closed, after BullMQ has
 * removed its listeners. Node.js would then print the error with the password.
 */
export function ignoreUnheardErrors(of: Queue | QueueEvents | QueueEventsProducer | Worker): void {
  const { connection, blockingConnection } = of as unknown as {
    connection: EventEmitter;
    blockingConnection?: EventEmitter;
  };
  for (const each of [connection, blockingConnection]) {
    if (!each) continue;
    const emit = each.emit.bind(each);
    each.emit = (event: string | symbol, ...args: unknown[]) =>
      event === "error" && each.listenerCount("error") === 0 ? false : emit(event, ...args);
  }
}
