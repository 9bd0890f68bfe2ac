import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { FeedAnswer, FeedGraph, FeedRequest } from "../../src/storage/records/port.js";

interface Entry {
  position: number;
  changed: number;
  nquads: string | null;
}

/** A record store in memory that speaks the feed's protocol, with handles to be slow or to fail. */
export class MemoryFeed {
  sequence = 0;
  opened = 0;
  asked = 0;
  /** ms before each answer. */
  delay = 0;
  /** Questions left to be answered with an error. */
  failures = 0;
  readonly #entries = new Map<string, Entry>();
  readonly #ports = new Set<MessagePort>();
  #positions = 0;

  /** One commit; `null` deletes. Answers its sequence. */
  commit(graphs: Record<string, string | null>): number {
    this.sequence++;
    for (const [ark, nquads] of Object.entries(graphs)) {
      const position = this.#entries.get(ark)?.position ?? ++this.#positions;
      this.#entries.set(ark, { position, changed: this.sequence, nquads });
    }
    return this.sequence;
  }

  readonly open = (): MessagePort => {
    this.opened++;
    const { port1, port2 } = new MessageChannel();
    this.#ports.add(port2);
    port2.on("message", (request: FeedRequest) => {
      this.asked++;
      if (this.delay > 0) setTimeout(() => port2.postMessage(this.#answer(request)), this.delay);
      else port2.postMessage(this.#answer(request));
    });
    port2.unref();
    return port1;
  };

  /** Cuts every open feed, as a store that became unavailable would. */
  cut(): void {
    for (const port of this.#ports) port.close();
    this.#ports.clear();
  }

  #answer(request: FeedRequest): FeedAnswer {
    if (this.failures > 0) {
      this.failures--;
      return { id: request.id, error: "the store is busy", graphs: [], sequence: 0 };
    }
    return "all" in request
      ? this.#all(request.id, request.all)
      : this.#since(request.id, request.since);
  }

  #all(id: number, { after, limit }: { after: number; limit: number }): FeedAnswer {
    const live = [...this.#entries]
      .filter(([, entry]) => entry.nquads !== null)
      .sort((a, b) => a[1].position - b[1].position);
    const page = live.filter(([, entry]) => entry.position > after);
    const graphs = page.slice(0, limit).map(([ark, { nquads }]): FeedGraph => ({ ark, nquads }));
    const answer: FeedAnswer = { id, graphs, sequence: this.sequence, total: live.length };
    return page.length > limit ? { ...answer, next: page[limit - 1]![1].position } : answer;
  }

  /** Whole commits only: a reader must never see half of one. */
  #since(id: number, { sequence, limit }: { sequence: number; limit: number }): FeedAnswer {
    const changed = [...this.#entries]
      .filter(([, entry]) => entry.changed > sequence)
      .sort((a, b) => a[1].changed - b[1].changed);
    const end = changed[limit - 1]?.[1].changed ?? this.sequence;
    const graphs = changed
      .filter(([, entry]) => entry.changed <= end)
      .map(([ark, { nquads }]): FeedGraph => ({ ark, nquads }));
    return { id, graphs, sequence: end, more: end < this.sequence };
  }
}
