import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.js";
import { packageRoot } from "../package-root.js";
import type { Deps } from "../services/deps.js";
import type { Log } from "../log.js";
import type { ObjectStore, StagedObject } from "../storage/objects/port.js";
import type { RecordStore } from "../storage/records/port.js";
import type { StoreCall, Tracing } from "../adapters/telemetry/port.js";

/**
 * Spans for the collector that OTEL_EXPORTER_OTLP_ENDPOINT names; without one no code of
 * OpenTelemetry is loaded.
 */
export async function tracingOf(config: Config, log: Log): Promise<Tracing | undefined> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === null) return undefined;
  const { openTracing } = await import("../adapters/telemetry/otlp.js");
  const { version } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as {
    version: string;
  };
  return openTracing({
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: config.OTEL_SERVICE_NAME,
    version,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    timeout: config.OTEL_EXPORTER_OTLP_TIMEOUT,
    queueSystem: config.REDIS_URL === null ? "in_process" : "bullmq",
    onLost: (reason) =>
      log.warn({ reason }, "spans could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT"),
  });
}

/**
 * The record store's operations for requests and jobs; bookkeeping in the background is left out.
 */
const RECORD_CALLS: readonly (keyof RecordStore)[] = [
  "find",
  "findMany",
  "select",
  "countSelected",
  "atRevision",
  "history",
  "linksFrom",
  "linksTo",
  "countLinks",
  "quads",
  "changes",
  "search",
  "commit",
  "submit",
  "submission",
  "submissionsOf",
  "countSubmissions",
  "closeSubmission",
  "accountByEmail",
  "accountOf",
  "credential",
  "askForAccess",
  "accessRequest",
  "accessGrants",
  "accessRequests",
  "decideAccess",
  "objectsOf",
  "filesOf",
  "intend",
  "release",
  "usesOf",
  "usedElsewhere",
  "closedMembers",
  "embargoes",
  "danglingLinks",
  "stateOfCrate",
  "holders",
  "storedScore",
  "storeScore",
];

/**
 * The same stores and queue, with their calls traced. Without tracing this is not called, and the
 * calls are direct.
 */
export function tracedDeps<
  D extends Pick<Deps, "config" | "records" | "objects" | "queries" | "openQueries" | "jobs">,
>(deps: D, tracing: Tracing): D {
  const { config, jobs } = deps;
  const reported =
    (call: Omit<StoreCall, "operation">) => (operation: string) => (work: () => Promise<unknown>) =>
      tracing.store({ ...call, operation }, work);
  const records = reported({
    store: "records",
    system: config.DATABASE_URL === null ? "sqlite" : "postgresql",
  });
  const graph = reported({
    store: "graph",
    system: config.SPARQL_QUERY_URL === null ? "oxigraph" : "sparql",
  });
  return {
    ...deps,
    records: wrapped(
      deps.records,
      Object.fromEntries(RECORD_CALLS.map((name) => [name, records(name)])),
    ),
    queries: wrapped(deps.queries, { table: graph("select") }),
    openQueries: wrapped(deps.openQueries, { ask: graph("query") }),
    objects: tracedObjects(deps.objects, config, reported),
    jobs: wrapped(jobs, {
      enqueue: (work, submission) => tracing.queued(submission as string, work),
    }),
  };
}

/** `stage` receives bytes; `publish` of its result puts them in their place. */
function tracedObjects(
  objects: ObjectStore,
  config: Config,
  reported: (call: Omit<StoreCall, "operation">) => (operation: string) => Around,
): ObjectStore {
  const call = reported({ store: "objects", system: config.S3_ENDPOINT === null ? "files" : "s3" });
  const [receive, put] = [call("receive"), call("put")];
  return wrapped(objects, {
    stage: async (work) => wrapped((await receive(work)) as StagedObject, { publish: put }),
    open: call("get"),
    reader: call("get"),
    size: call("head"),
  });
}

/** Called instead of a method, with a function that calls the method, and its first argument. */
type Around = (work: () => Promise<unknown>, first?: unknown) => Promise<unknown>;

/**
 * A port with a wrapper around some of its methods. The others, and the methods' `this`, stay
 * unchanged.
 */
function wrapped<P extends object>(port: P, arounds: Readonly<Record<string, Around>>): P {
  return new Proxy(port, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name, target);
      if (typeof own !== "function") return own;
      const around =
        typeof name === "string" && Object.hasOwn(arounds, name) ? arounds[name] : undefined;
      return around
        ? (...given: unknown[]) =>
            around(() => own.apply(target, given) as Promise<unknown>, given[0])
        : own.bind(target);
    },
  });
}
