import { Redis, type RedisOptions } from "ioredis";
import { ServiceError } from "../errors.js";

/** What is logged through: pino's shape. */
export interface LinkLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface LinkOptions {
  /** Setting REDIS_URL. */
  url: string;
  /** Setting REDIS_PREFIX. */
  prefix: string;
  /** Setting REDIS_TIMEOUT, ms. */
  timeout: number;
  log: LinkLog;
}

/** Longest pause between two tries to reach Redis, ms. */
const LONGEST_PAUSE = 2000;

/**
 * The way to one Redis. It being away is a state, not an accident: it is logged once when it begins and once
 * when it ends, connections come back by themselves, and {@link commands} fail at once meanwhile.
 */
export class RedisLink {
  /** For requests that somebody waits for: nothing is queued while Redis is away, and no answer is waited for longer than the time-out. */
  readonly commands: Redis;
  readonly #opened: Redis[] = [];
  #away = false;
  #closed = false;

  constructor(private readonly options: LinkOptions) {
    this.commands = this.#open({ enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: options.timeout });
    this.commands.on("ready", () => {
      if (this.#away) options.log.info({}, "Redis can be reached again");
      this.#away = false;
    });
  }

  /** True when commands can be sent. */
  get ready(): boolean {
    return this.commands.status === "ready";
  }

  /** A connection that waits for Redis as long as it takes: for workers and subscribers. It is closed with the link. */
  patient(): Redis {
    return this.#open({ maxRetriesPerRequest: null });
  }

  /** All keys lie in one slot of a Redis cluster: hence the braces. */
  key(...parts: string[]): string {
    return [`{${this.options.prefix}}`, ...parts].join(":");
  }

  /** Waits for the first connection, no longer than the time-out; false when Redis is away. */
  async reached(): Promise<boolean> {
    if (this.ready) return true;
    let clock: NodeJS.Timeout | undefined;
    let came = (): void => {};
    await new Promise<void>((resolve) => {
      clock = setTimeout(resolve, this.options.timeout);
      this.commands.once("ready", (came = resolve));
    });
    this.commands.off("ready", came);
    clearTimeout(clock);
    return this.ready;
  }

  /** @throws ServiceError `STORE_UNAVAILABLE` */
  async health(): Promise<void> {
    try {
      await this.commands.ping();
    } catch (cause) {
      throw new ServiceError("STORE_UNAVAILABLE", `Redis cannot be reached: ${(cause as Error).message}`);
    }
  }

  /** Redis did not do what it was asked; what follows from that is the caller's. */
  failed(err: unknown): void {
    if (this.#away || this.#closed) return;
    this.#away = true;
    // Not the error itself: it carries the command that failed, and that one may be AUTH.
    this.options.log.warn({ reason: (err as Error).message }, "Redis cannot be reached: submissions are accepted, and begun once it is back");
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#opened) connection.disconnect();
  }

  #open(options: RedisOptions): Redis {
    const connection = new Redis(this.options.url, {
      ...options,
      connectTimeout: this.options.timeout,
      retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), LONGEST_PAUSE) * (0.75 + Math.random() / 2),
    });
    // Without a listener an error event would end the process.
    connection.on("error", (error: Error) => this.failed(error));
    this.#opened.push(connection);
    return connection;
  }
}
