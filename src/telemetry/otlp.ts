import { randomUUID } from "node:crypto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from "@opentelemetry/semantic-conventions";
import { ATTR_SERVICE_INSTANCE_ID } from "@opentelemetry/semantic-conventions/incubating";
import type { Tracing, TracingOptions } from "./port.js";
import { SpanTracing } from "./spans.js";

/** Most spans of one sending. */
const BATCH = 512;
/** How long a stop waits for the last sending, ms. */
const FAREWELL = 1000;
/** A collector that is away is told of once in so many ms. */
const SILENCE = 60_000;

/** Spans by OpenTelemetry's SDK to a collector, as OTLP in JSON over HTTP. Nothing is registered globally. */
export function openTracing(options: TracingOptions): Tracing {
  const { endpoint, headers, timeout, delay, queue, ratio, serviceName, version } = options;
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers: { ...headers }, timeoutMillis: timeout });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ [ATTR_SERVICE_NAME]: serviceName, [ATTR_SERVICE_VERSION]: version, [ATTR_SERVICE_INSTANCE_ID]: randomUUID() }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor(told(exporter, options.onLost), { scheduledDelayMillis: delay, exportTimeoutMillis: timeout, maxQueueSize: queue, maxExportBatchSize: Math.min(BATCH, queue) })],
  });
  return new SpanTracing(provider.getTracer("arkgraph", version), options.queueSystem, async () => {
    let clock: NodeJS.Timeout | undefined;
    await Promise.race([provider.shutdown().catch(() => {}), new Promise((resolve) => (clock = setTimeout(resolve, FAREWELL)))]);
    clearTimeout(clock);
  });
}

/** The exporter, which says when it fails; the SDK itself would keep silent. */
function told(exporter: SpanExporter, onLost: (reason: string) => void): SpanExporter {
  let last = -Infinity;
  return {
    export: (spans, done) => exporter.export(spans, (result) => {
      if (result.error && performance.now() - last > SILENCE) {
        last = performance.now();
        onLost(result.error.message);
      }
      done(result);
    }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
