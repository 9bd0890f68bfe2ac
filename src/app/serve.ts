import type { AddressInfo, Server } from "node:net";
import { compose, type Registry } from "./compose.js";
import type { Config } from "../config/config.js";
import type { MetricsListener } from "./metrics.js";
import { firstAdminToken } from "../services/accounts/user-account.js";
import type { Log } from "../log.js";

/** A registry that answers requests. */
export interface Running {
  /** Address without a slash at the end. */
  url: string;
  registry: Registry;
  /** The address of /metrics; absent unless METRICS_PORT is set. */
  metricsUrl: string | undefined;
  /** Created only at the first start of an installation. */
  adminToken: string | undefined;
  /**
   * Accepts no new connections, lets running requests and jobs end within SHUTDOWN_GRACE, then
   * closes every store.
   */
  stop(): Promise<void>;
}

/**
 * Starts a registry: stores, HTTP server and background jobs.
 * @param announceAdminToken shows the one-time token of a new installation to the operator, and
 * where it is used
 * @throws ConfigError, ServiceError `STORE_UNAVAILABLE` (the data folder is in use, or damaged), or
 * the error of listening
 */
export async function serve(
  config: Config,
  log: Log,
  announceAdminToken?: (token: string, address: string) => void,
): Promise<Running> {
  let url = config.BASE_URL ?? "";
  // Most of the start is spent on loading modules. The modules of the HTTP layer are loaded while
  // the threads of the stores start.
  const composing = compose(config, log, () => url);
  const [openInterface, registry] = await Promise.all([interfaceOf(config.ROLE), composing]);
  let scrapes: MetricsListener | undefined;
  try {
    if (config.METRICS_PORT !== null)
      scrapes = await (
        await import("./metrics.js")
      ).listenForScrapes(registry.deps, config.METRICS_PORT, config.METRICS_HOST);
    const {
      server,
      endStreams,
      stop: stopInterface,
    } = await openInterface(registry.deps, scrapes?.metrics);
    const address = await listen(server, config);
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
    const local = `http://${["0.0.0.0", "[::]"].includes(host) ? "localhost" : host}:${address.port}`;
    url = config.BASE_URL ?? local;
    const adminToken = await firstAdminToken(registry.deps, (token) =>
      announceAdminToken?.(token, `${url}/signup?admin=${token}`),
    );
    await registry.start();
    return {
      url: local,
      registry,
      metricsUrl: scrapes?.url,
      adminToken,
      async stop() {
        // Accept no new connections, and end those that would stay open forever. The other
        // connections then end by themselves.
        const closed = closeServer(server, config.SHUTDOWN_GRACE);
        await endStreams();
        await closed;
        await stopInterface();
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

/** A worker serves no client requests, and does not load the code for them. */
const interfaceOf = async (
  role: Config["ROLE"],
): Promise<typeof import("./http-listener.js").openHttpInterface> =>
  role === "worker"
    ? import("./worker-listener.js").then(
        ({ openWorkerInterface }) =>
          async (deps) =>
            openWorkerInterface(deps),
      )
    : (await import("./http-listener.js")).openHttpInterface;

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
  // Otherwise a connection whose last response ends now would stay open for the next request.
  const idle = setInterval(() => server.closeIdleConnections?.(), 50);
  const timer = setTimeout(() => server.closeAllConnections?.(), grace / 2);
  await closed;
  clearInterval(idle);
  clearTimeout(timer);
}
