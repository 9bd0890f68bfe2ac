import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import {
  ATTR_DB_COLLECTION_NAME,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_NETWORK_PROTOCOL_VERSION,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
  ATTR_URL_SCHEME,
} from "@opentelemetry/semantic-conventions";
import {
  ATTR_MESSAGING_DESTINATION_NAME,
  ATTR_MESSAGING_MESSAGE_ID,
  ATTR_MESSAGING_OPERATION_NAME,
  ATTR_MESSAGING_OPERATION_TYPE,
  ATTR_MESSAGING_SYSTEM,
  ATTR_SERVICE_INSTANCE_ID,
} from "@opentelemetry/semantic-conventions/incubating";
import { requestIdOf } from "../../config/client.js";
import type { Job, JobHandler } from "../../jobs/port.js";
import type { StoreCall, Tracing, TracingOptions } from "./port.js";

/** The methods of the conventions; any other method of a client is `_OTHER`. */
const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "PATCH",
  "TRACE",
  "CONNECT",
]);
const QUEUE = "submissions";
/** Stores in other processes: calls to them are spans of kind client. */
const REMOTE: ReadonlySet<string> = new Set(["postgresql", "sparql", "s3"]);

/**
 * Spans after the semantic conventions of OpenTelemetry, for HTTP servers, databases and messaging.
 */
class SpanTracing implements Tracing {
  readonly #active = new AsyncLocalStorage<Context>();

  readonly #tracer: Tracer;
  readonly #queueSystem: string;

  constructor(
    tracer: Tracer,
    queueSystem: string,
    readonly close: () => Promise<void>,
  ) {
    this.#tracer = tracer;
    this.#queueSystem = queueSystem;
  }

  request(
    req: IncomingMessage,
    res: ServerResponse,
    routeOf: () => string | undefined,
    handle: () => void,
  ): void {
    const method = req.method !== undefined && METHODS.has(req.method) ? req.method : "_OTHER";
    const parent = contextOf(req.headers["traceparent"]);
    // Neither url.path nor url.query, nor the caller: only text of the contract becomes an
    // attribute.
    const span = this.#tracer.startSpan(
      method,
      {
        kind: SpanKind.SERVER,
        attributes: {
          [ATTR_HTTP_REQUEST_METHOD]: method,
          [ATTR_URL_SCHEME]: "http",
          [ATTR_NETWORK_PROTOCOL_VERSION]: req.httpVersion,
          "arkgraph.request_id": requestIdOf(req),
        },
      },
      parent,
    );
    res.once("close", () => {
      const route = routeOf();
      if (route !== undefined)
        span.setAttribute(ATTR_HTTP_ROUTE, route).updateName(`${method} ${route}`);
      if (res.headersSent) span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, res.statusCode);
      if (!res.writableFinished) span.setAttribute(ATTR_ERROR_TYPE, "gone");
      else if (res.statusCode >= 500)
        span
          .setAttribute(ATTR_ERROR_TYPE, String(res.statusCode))
          .setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    this.#active.run(trace.setSpan(parent, span), handle);
  }

  traceparent(): string | undefined {
    const context = spanOf(this.#active.getStore())?.spanContext();
    return (
      context &&
      `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, "0")}`
    );
  }

  queued<T>(submission: string, enqueue: () => Promise<T>): Promise<T> {
    return this.#child(
      () => [`send ${QUEUE}`, SpanKind.PRODUCER, this.#message("send", submission)],
      enqueue,
    );
  }

  job(
    handler: JobHandler,
    statusOf: (submission: string) => Promise<string | undefined>,
  ): JobHandler {
    return async (job) => {
      const { id, type, attempt, input } = job.submission;
      const parent = contextOf(input["trace"]);
      const span = this.#tracer.startSpan(
        `process ${QUEUE}`,
        {
          kind: SpanKind.CONSUMER,
          attributes: {
            ...this.#message("process", id),
            "arkgraph.submission.type": type,
            "arkgraph.submission.attempt": attempt,
            ...(typeof input["request"] === "string"
              ? { "arkgraph.request_id": input["request"] }
              : {}),
          },
        },
        parent,
      );
      await this.#active.run(trace.setSpan(parent, span), () =>
        ending(span, async () => {
          await handler(withStages(job, span));
          const status = span.isRecording() ? await statusOf(id).catch(() => undefined) : undefined;
          if (status !== undefined) span.setAttribute("arkgraph.submission.status", status);
        }),
      );
    };
  }

  store<T>(call: StoreCall, work: () => Promise<T>): Promise<T> {
    return this.#child(
      () => [
        `${call.operation} ${call.store}`,
        REMOTE.has(call.system) ? SpanKind.CLIENT : SpanKind.INTERNAL,
        storeAttributes(call),
      ],
      work,
    );
  }

  #message(operation: "send" | "process", submission: string): Attributes {
    return {
      [ATTR_MESSAGING_SYSTEM]: this.#queueSystem,
      [ATTR_MESSAGING_DESTINATION_NAME]: QUEUE,
      [ATTR_MESSAGING_OPERATION_TYPE]: operation,
      [ATTR_MESSAGING_OPERATION_NAME]: operation,
      [ATTR_MESSAGING_MESSAGE_ID]: submission,
    };
  }

  /** In a span only where one is active: the service's own background work makes no traces. */
  #child<T>(named: () => [string, SpanKind, Attributes], work: () => Promise<T>): Promise<T> {
    const parent = this.#active.getStore();
    if (!parent || spanOf(parent)?.isRecording() !== true) return work();
    const [name, kind, attributes] = named();
    const span = this.#tracer.startSpan(name, { kind, attributes }, parent);
    return this.#active.run(trace.setSpan(parent, span), () => ending(span, work));
  }
}

const spanOf = (context: Context | undefined): Span | undefined =>
  context && trace.getSpan(context);

/**
 * The parent of a trace. Only `traceparent` is accepted: a caller's `tracestate` and `baggage` are
 * not passed on.
 */
function contextOf(traceparent: unknown): Context {
  const parent = typeof traceparent === "string" ? parseTraceParent(traceparent) : null;
  return parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
}

/** Objects are not in a database: their spans have our own name for the store. */
function storeAttributes({ store, system, operation }: StoreCall): Attributes {
  if (store === "objects")
    return { "arkgraph.objects.system": system, "arkgraph.objects.operation": operation };
  return {
    [ATTR_DB_SYSTEM_NAME]: system,
    [ATTR_DB_OPERATION_NAME]: operation,
    [ATTR_DB_COLLECTION_NAME]: store,
  };
}

/** Each stage is an event of the span, reported once. */
function withStages(job: Job, span: Span): Job {
  let stage: string | undefined;
  return {
    ...job,
    report: (progress) => {
      if (progress.stage !== stage) span.addEvent((stage = progress.stage));
      job.report(progress);
    },
  };
}

async function ending<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.setAttribute(ATTR_ERROR_TYPE, typeOf(error)).setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** The code of an error or its class: its text may hold private data. */
function typeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  for (const type of [code, name])
    if (typeof type === "string" && /^\w{1,60}$/.test(type)) return type;
  return "_OTHER";
}

/** How long a stop waits for the last sending, ms. */
const FAREWELL = 1000;
/** ms between two warnings about an unavailable collector. */
const SILENCE = 60_000;

/**
 * Spans by OpenTelemetry's SDK to a collector, as OTLP in JSON over HTTP. Nothing is registered
 * globally.
 */
export function openTracing(options: TracingOptions): Tracing {
  const { endpoint, headers, timeout, ratio, serviceName, version } = options;
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: timeout,
  });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      [ATTR_SERVICE_NAME]: serviceName,
      [ATTR_SERVICE_VERSION]: version,
      [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor(reported(exporter, options.onLost), {
        exportTimeoutMillis: timeout,
      }),
    ],
  });
  return new SpanTracing(provider.getTracer("arkgraph", version), options.queueSystem, async () => {
    let clock: NodeJS.Timeout | undefined;
    await Promise.race([
      provider.shutdown().catch(() => {}),
      new Promise((resolve) => (clock = setTimeout(resolve, FAREWELL))),
    ]);
    clearTimeout(clock);
  });
}

/** The exporter, which reports when it fails; the SDK itself would be silent. */
function reported(exporter: SpanExporter, onLost: (reason: string) => void): SpanExporter {
  let last = -Infinity;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
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
