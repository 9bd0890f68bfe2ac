import type { ServerResponse } from "node:http";
import { ServiceError } from "../errors.js";
import { SAFE_HEADERS, drained } from "./reply.js";

/** One event (HTML Standard, section 9.2): `data` without line breaks. */
export interface ServerEvent {
  event: string;
  id: string;
  data: string;
}

export interface StreamLimits {
  /** Setting MAX_EVENT_STREAMS. */
  most: number;
  /** Setting EVENT_HEARTBEAT in ms. */
  heartbeat: number;
}

/** Open streams of server-sent events of one server. */
export class EventStreams {
  readonly #open = new Set<() => void>();

  /** Number of open streams. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Sends events until there are no more, the client leaves, or {@link close} is called; then the
   * source is ended. The source waits for a slow client, and heartbeats distinguish a silent source
   * from a dead connection.
   * @throws ServiceError `TOO_MANY_REQUESTS` before anything is sent
   */
  async send(
    res: ServerResponse,
    source: AsyncIterable<ServerEvent>,
    { most, heartbeat }: StreamLimits,
  ): Promise<void> {
    const events = source[Symbol.asyncIterator]();
    if (this.#open.size >= most) {
      await events.return?.();
      throw new ServiceError(
        "TOO_MANY_REQUESTS",
        `Too many event streams are open (${most}, MAX_EVENT_STREAMS). Poll instead, or ` +
          "retry later.",
        {},
        { "Retry-After": "10" },
      );
    }
    const end = () => void events.return?.();
    this.#open.add(end);
    res.once("close", end);
    const beat = setInterval(() => {
      if (!res.writableNeedDrain) res.write(":\n\n");
    }, heartbeat);
    try {
      res.writeHead(200, {
        ...SAFE_HEADERS,
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-store",
        "X-Accel-Buffering": "no",
      });
      res.flushHeaders();
      for (
        let next = await events.next();
        !next.done && !res.destroyed;
        next = await events.next()
      ) {
        const { event, id, data } = next.value;
        if (!res.write(`event: ${event}\nid: ${id}\ndata: ${data}\n\n`)) await drained(res);
      }
    } finally {
      clearInterval(beat);
      this.#open.delete(end);
      res.off("close", end);
      await events.return?.();
    }
    res.end();
  }

  /** Ends every stream when the service stops. */
  close(): void {
    for (const end of this.#open) end();
  }
}
