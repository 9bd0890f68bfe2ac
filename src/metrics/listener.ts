import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Deps } from "../use-cases/deps.js";
import { Metrics } from "./metrics.js";

export interface MetricsListener { metrics: Metrics; /** Address without a slash at the end. */ url: string; close(): Promise<void> }

/**
 * Answers `GET /metrics` on a port of its own, which no proxy in front of the doors leads to: what it tells is for
 * operators, and there is no token that a scraper could hold.
 * @throws the error of listening
 */
export async function listenForScrapes(deps: Deps, port: number, host: string): Promise<MetricsListener> {
  const metrics = new Metrics(deps);
  const server: Server = createServer((req, res) => {
    if (req.url !== "/metrics" || (req.method !== "GET" && req.method !== "HEAD")) return void res.writeHead(404).end();
    metrics.text().then(({ type, text }) => res.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store" }).end(req.method === "HEAD" ? undefined : text), (err: unknown) => {
      deps.log.error({ err }, "metrics could not be gathered");
      res.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  const { port: got, family } = server.address() as AddressInfo;
  return {
    metrics, url: `http://${family === "IPv6" ? `[${host}]` : host}:${got}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
