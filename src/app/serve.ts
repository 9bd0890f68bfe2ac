import type { AddressInfo, Server } from "node:net";
import { compose, type Registry } from "./compose.js";
import type { Config } from "../config/config.js";
import type { MetricsListener } from "../adapters/metrics.js";
import { firstAdminToken } from "../services/accounts/accounts.js";
import type { Log } from "../services/log.js";

/** A registry that answers requests. */
export interface Running {
  /** Address without a slash at the end. */
  url: string;
  registry: Registry;
  /** Where /metrics is answered; absent unless METRICS_PORT says so. */
  metricsUrl: string | undefined;
  /** Made at the first start of an installation only. */
  adminToken: string | undefined;
  /**
   * Takes no new connections, lets requests and work in progress end within SHUTDOWN_GRACE, closes
   * every store.
   */
  stop(): Promise<void>;
}

/**
 * Starts a registry: stores, doors, background work.
 * @param announceAdminToken shows the one-time token of a new installation to whoever started it
 * @throws ConfigError, ServiceError `STORE_UNAVAILABLE` (the data folder is in use, or damaged), or
 * the error of listening
 */
export async function serve(
  config: Config,
  log: Log,
  announceAdminToken?: (token: string) => void,
): Promise<Running> {
  let url = config.BASE_URL ?? "";
  // Most of a start is loading modules: those of the doors are loaded while the threads of the
  // stores start.
  const composing = compose(config, log, () => url);
  const [openDoors, registry] = await Promise.all([doorsOf(config.ROLE), composing]);
  let scrapes: MetricsListener | undefined;
  try {
    if (config.METRICS_PORT !== null)
      scrapes = await (
        await import("../adapters/metrics.js")
      ).listenForScrapes(registry.deps, config.METRICS_PORT, config.METRICS_HOST);
    const {
      server,
      endStreams,
      stop: stopDoors,
    } = await openDoors(registry.deps, scrapes?.metrics);
    const address = await listen(server, config);
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
    const local = `http://${["0.0.0.0", "[::]"].includes(host) ? "localhost" : host}:${address.port}`;
    url = config.BASE_URL ?? local;
    const adminToken = await firstAdminToken(registry.deps, announceAdminToken);
    await registry.start();
    return {
      url: local,
      registry,
      metricsUrl: scrapes?.url,
      adminToken,
      async stop() {
        // No new connections, and those that would stay open for ever are ended: then the rest can
        // end by itself.
        const closed = closeServer(server, config.SHUTDOWN_GRACE);
        await endStreams();
        await closed;
        await stopDoors();
        await registry.close(config.SHUTDOWN_GRACE / 2);
        await scrapes?.close();
      },
    };
  } catch (error) {
    await scrapes?.close();
    await registry.close(0);
    throw error;
  }
}

/** A worker answers nobody's requests, and does not load what would. */
const doorsOf = async (
  role: Config["ROLE"],
): Promise<typeof import("./http-listener.js").httpDoors> =>
  role === "worker"
    ? import("./worker-listener.js").then(
        ({ workerDoor }) =>
          async (deps) =>
            workerDoor(deps),
      )
    : (await import("./http-listener.js")).httpDoors;

function listen(server: Server, config: Config): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.PORT, config.HOST, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

async function closeServer(
  server: Server & { closeIdleConnections?(): void; closeAllConnections?(): void },
  grace: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections?.();
  // A connection whose last answer ends now would be kept for the next request otherwise.
  const idle = setInterval(() => server.closeIdleConnections?.(), 50);
  const timer = setTimeout(() => server.closeAllConnections?.(), grace / 2);
  await closed;
  clearInterval(idle);
  clearTimeout(timer);
}
