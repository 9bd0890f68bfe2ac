import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../config.js";
import { packageRoot } from "../package-root.js";
import type { Log } from "../use-cases/deps.js";
import type { Tracing } from "./port.js";

/** Spans for the collector that OTEL_EXPORTER_OTLP_ENDPOINT names; without one nothing of OpenTelemetry is loaded. */
export async function tracingOf(config: Config, log: Log): Promise<Tracing | undefined> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === null) return undefined;
  // One file with the SDK in it, made by the build: an installation has none of its packages.
  const { openTracing } = (await import(pathToFileURL(join(packageRoot, "dist/otlp.js")).href)) as typeof import("./otlp.js");
  const { version } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as { version: string };
  return openTracing({
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT, headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {}, serviceName: config.OTEL_SERVICE_NAME, version, ratio: config.OTEL_TRACES_SAMPLER_ARG,
    delay: config.OTEL_BSP_SCHEDULE_DELAY, timeout: config.OTEL_EXPORTER_OTLP_TIMEOUT, queue: config.OTEL_BSP_MAX_QUEUE_SIZE,
    queueSystem: config.REDIS_URL === null ? "in_process" : "bullmq",
    onLost: (reason) => log.warn({ reason }, "spans could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT"),
  });
}
