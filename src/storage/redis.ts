import { type AbstractConnector, Redis, type RedisOptions, SentinelConnector } from "ioredis";
import { StandaloneConnector } from "ioredis/built/connectors/index.js";
import { ServiceError } from "../errors.js";

type Connecting = AbstractConnector["connect"];

/**
 * ioredis listens for the first error of a socket only. Over TLS there may be a second, such as the
 * server's alert after a certificate that is not trusted, and without a listener that would end the
 * process.
 */
async function guarded(connecting: ReturnType<Connecting>): ReturnType<Connecting> {
  const stream = await connecting;
  stream.on("error", () => {});
  return stream;
}

/** Connects to one Redis. */
class OneRedis extends StandaloneConnector {
  override connect(announce: Parameters<Connecting>[0]): ReturnType<Connecting> {
    return guarded(super.connect(announce));
  }
}

/** The part of ioredis' connector that it does not export: how sentinels are asked. */
const Sentinels = SentinelConnector as unknown as new (options: unknown) => {
  connect(announce: Parameters<Connecting>[0]): ReturnType<Connecting>;
  connectToSentinel(endpoint: unknown, options?: RedisOptions): Redis;
};

/**
 * Connects to the master that sentinels name. One unavailable sentinel is no fault: the others are
 * asked.
 */
class MasterOfSentinels extends Sentinels {
  override connect(announce: Parameters<Connecting>[0]): ReturnType<Connecting> {
    return guarded(super.connect(announce));
  }

  override connectToSentinel(endpoint: unknown, options: RedisOptions = {}): Redis {
    return super
      .connectToSentinel(endpoint, {
        ...options,
        Connector: OneRedis as NonNullable<RedisOptions["Connector"]>,
      })
      .on("error", () => {});
  }
}

/** The logger, in the shape of pino's. */
export interface LinkLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

interface LinkOptions {
  /** Setting REDIS_URL. */
  url: string;
  /**
   * Setting REDIS_SENTINELS: they return the address of the master, whose name is the host in the
   * URL.
   */
  sentinels?: readonly { host: string; port: number }[] | null;
  /** Setting REDIS_PREFIX. */
  prefix: string;
  /** Bound REDIS_TIMEOUT, ms. */
  timeout: number;
  log: LinkLog;
}

/** Longest pause between two tries to reach Redis, ms. */
export const MAX_PAUSE_MS = 1000;
/** Pause between two polls whether Redis answers again, ms. */
const LOOK = 500;
/** How often a refusal by Redis itself is logged, ms. */
const REMINDER = 60_000;

/**
 * The connections to one Redis. An outage of Redis is a normal state: it is logged once when it
 * begins and once when it ends, connections come back by themselves, and {@link commands} fail at
 * once meanwhile.
 */
export class RedisLink {
  /**
   * For requests with a waiting caller: nothing is queued while Redis is unavailable, and no answer
   * is waited for longer than the time-out.
   */
  readonly commands: Redis;
  readonly #opened: Redis[] = [];
  readonly #returned: (() => void)[] = [];
  #unavailable = false;
  #closed = false;
  #refusedAt = Number.NEGATIVE_INFINITY;

  readonly #options: LinkOptions;

  constructor(options: LinkOptions) {
    this.#options = options;

    this.commands = this.#open({
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: options.timeout,
    });
    // A Redis that is started again at once is found empty without an error before.
    this.commands.on("close", () => this.failed(new Error("the connection was closed")));
  }

  /** True when commands can be sent; false also while a Redis that is connected does not answer. */
  get ready(): boolean {
    return !this.#unavailable && this.commands.status === "ready";
  }

  /**
   * A connection that waits for Redis as long as it takes: for workers and subscribers. It is
   * closed with the link, and so are its duplicates.
   */
  retrying(): Redis {
    return this.#open({ maxRetriesPerRequest: null });
  }

  /** All keys lie in one slot of a Redis cluster: hence the braces. */
  key(...parts: string[]): string {
    return [`{${this.#options.prefix}}`, ...parts].join(":");
  }

  /**
   * Waits for the first connection, no longer than the time-out; false when Redis is unavailable.
   */
  async reached(): Promise<boolean> {
    if (this.ready || this.#unavailable) return this.ready;
    const { commands } = this;
    await new Promise<void>((resolve) => {
      const clock = setTimeout(done, this.#options.timeout);
      function done(): void {
        clearTimeout(clock);
        commands.off("ready", done).off("close", done);
        resolve();
      }
      commands.once("ready", done).once("close", done);
    });
    return this.ready;
  }

  /** @throws ServiceError `STORE_UNAVAILABLE` */
  async health(): Promise<void> {
    try {
      await this.commands.ping();
    } catch (cause) {
      throw new ServiceError(
        "STORE_UNAVAILABLE",
        `Redis does not answer: ${(cause as Error).message}`,
      );
    }
  }

  /**
   * Redis did not carry out a command; the caller decides what follows. The error itself is not
   * logged: it carries the command that failed, and that one may be AUTH.
   */
  failed(error: unknown): void {
    const { name, message: reason } = error as Error;
    if (this.#closed || this.#unavailable) return;
    if (name === "ReplyError") {
      if (Date.now() - this.#refusedAt < REMINDER) return;
      this.#refusedAt = Date.now();
      this.#options.log.warn({ reason }, "Redis refused a command");
      return;
    }
    this.#unavailable = true;
    this.#options.log.warn(
      { reason },
      "Redis is unavailable: submissions are accepted, and start when it is available again",
    );
    this.#lookAgain();
  }

  /** Called when Redis is back after an outage. */
  onReturn(announce: () => void): void {
    this.#returned.push(announce);
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#opened) connection.disconnect();
  }

  /** A connection that hangs does not report its end. */
  #lookAgain(): void {
    setTimeout(() => {
      this.commands.ping().then(
        () => {
          this.#unavailable = false;
          this.#options.log.info({}, "Redis is available again");
          for (const announce of this.#returned) announce();
        },
        () => {
          if (!this.#closed) this.#lookAgain();
        },
      );
    }, LOOK).unref();
  }

  #open(options: RedisOptions): Redis {
    const { url, sentinels } = this.#options;
    const connection = new Redis(url, {
      ...options,
      ...(sentinels
        ? { ...throughSentinels(url), sentinels: [...sentinels] }
        : { Connector: OneRedis as NonNullable<RedisOptions["Connector"]> }),
      connectTimeout: this.#options.timeout,
      retryStrategy: (times) =>
        Math.min(50 * 2 ** Math.min(times, 10), MAX_PAUSE_MS) * (0.75 + Math.random() / 2),
    });
    return this.#track(connection);
  }

  #track(connection: Redis): Redis {
    // Without a listener an error event would end the process.
    connection.on("error", (error: Error) => this.failed(error));
    this.#opened.push(connection);
    const duplicate = connection.duplicate.bind(connection);
    connection.duplicate = (override) => this.#track(duplicate(override));
    return connection;
  }
}

/**
 * With `rediss://` the sentinels are asked over TLS too. The failover detector of ioredis stays
 * off: a change of the master that meets a connection which is being made ends that one for good.
 */
const throughSentinels = (url: string): RedisOptions => ({
  Connector: MasterOfSentinels as unknown as NonNullable<RedisOptions["Connector"]>,
  name: new URL(url).hostname,
  enableTLSForSentinelMode: true,
  ...(url.startsWith("rediss:") && { sentinelTLS: {} }),
});
