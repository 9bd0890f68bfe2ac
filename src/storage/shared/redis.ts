import { createHash } from "node:crypto";
import type { Options } from "express-rate-limit";
import { RedisStore, type RedisReply } from "rate-limit-redis";
import type { RedisLink } from "../redis.js";
import { LocalMemory, type Count, type SharedMemory } from "./port.js";

/** Memory of all nodes in Redis; while Redis is unavailable each node counts by itself. */
export class RedisMemory implements SharedMemory {
  readonly #alone = new LocalMemory();
  readonly #counters = new Map<number, Promise<RedisStore>>();

  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async count(key: string, window: number): Promise<Count> {
    // Counted here as well, so that a limit that was reached holds on this node when Redis becomes
    // unavailable.
    const alone = await this.#alone.count(key, window);
    if (!this.#link.ready) return alone;
    try {
      const { totalHits, resetTime } = await (await this.#counter(window)).increment(hidden(key));
      return { count: totalHits, left: Math.max(0, Number(resetTime) - Date.now()) };
    } catch (error) {
      // The library treats a script that could not be loaded as failed for ever.
      this.#counters.delete(window);
      this.#link.failed(error);
      return alone;
    }
  }

  async recall(key: string): Promise<string | null> {
    if (!this.#link.ready) return null;
    return this.#link.commands.get(this.#noteKey(key)).catch((error: unknown) => {
      this.#link.failed(error);
      return null;
    });
  }

  async remember(key: string, value: string, lifetime: number): Promise<void> {
    if (!this.#link.ready) return;
    await this.#link.commands
      .set(this.#noteKey(key), value, "PX", Math.ceil(lifetime))
      .catch((error: unknown) => this.#link.failed(error));
  }

  #counter(window: number): Promise<RedisStore> {
    let counter = this.#counters.get(window);
    if (!counter) {
      const [command, prefix] = [
        (name: string, ...input: string[]) =>
          this.#link.commands.call(name, ...input) as Promise<RedisReply>,
        this.#link.key("count", ""),
      ];
      const store = new RedisStore({
        prefix,
        // oxlint-disable-next-line arkgraph/spread-into-call -- arguments of the rate limiter's commands
        sendCommand: (...all: string[]) => command(...(all as [string, ...string[]])),
      });
      counter = store.init({ windowMs: window } as Options).then(() => store);
      this.#counters.set(window, counter);
    }
    return counter;
  }

  #noteKey(key: string): string {
    return this.#link.key("note", hidden(key));
  }
}

/** Addresses and accounts do not lie in Redis as they are. */
const hidden = (key: string): string => createHash("sha256").update(key).digest("base64url");
