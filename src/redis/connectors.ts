import { SentinelConnector, type AbstractConnector, type Redis, type RedisOptions } from "ioredis";
import { StandaloneConnector } from "ioredis/built/connectors/index.js";

type Connecting = AbstractConnector["connect"];

/**
 * ioredis listens for the first error of a socket only. Over TLS there may be a second, such as the server's alert after a
 * certificate that is not trusted, and without a listener that would end the process.
 */
async function guarded(connecting: ReturnType<Connecting>): ReturnType<Connecting> {
  const stream = await connecting;
  stream.on("error", () => {});
  return stream;
}

/** Connects to one Redis. */
export class OneRedis extends StandaloneConnector {
  override connect(tell: Parameters<Connecting>[0]): ReturnType<Connecting> {
    return guarded(super.connect(tell));
  }
}

/** What ioredis keeps to itself of its connector: how sentinels are asked. */
const Sentinels = SentinelConnector as unknown as new (options: unknown) => {
  connect(tell: Parameters<Connecting>[0]): ReturnType<Connecting>;
  connectToSentinel(endpoint: unknown, options?: RedisOptions): Redis;
};

/** Connects to the master that sentinels name. That one of them is away is no fault: the others are asked. */
export class MasterOfSentinels extends Sentinels {
  override connect(tell: Parameters<Connecting>[0]): ReturnType<Connecting> {
    return guarded(super.connect(tell));
  }

  override connectToSentinel(endpoint: unknown, options: RedisOptions = {}): Redis {
    return super.connectToSentinel(endpoint, { ...options, Connector: OneRedis as NonNullable<RedisOptions["Connector"]> }).on("error", () => {});
  }
}
