import { ServiceError } from "../errors.js";
import type { Deps } from "./deps.js";
import { recordsAreDamaged, reportDamage } from "../log.js";
import { getOrInsert } from "../get-or-insert.js";

/** The part of every answer about the state of a node. */
interface State {
  checks: {
    records: string;
    index: string;
    objects: string;
    jobs: string;
    /** Present where this node runs computations. */ containers?: string;
    /** The embeddings server, where there is one. */ embeddings?: string;
  };
  /** Commits that the graph index has yet to apply; null when the record store does not answer. */
  lag: number | null;
  /** What the operator should set, where this node's graph has outgrown its engine. */
  advice?: string;
}
interface Health extends State {
  status: "healthy" | "unhealthy";
}
interface Readiness extends State {
  status: "ready" | "not ready";
}

/** Parts that a healthy node can do without temporarily. */
const OPTIONAL: ReadonlySet<string> = new Set(["containers", "embeddings"]);

/**
 * Parts that failed at the last check: probes arrive every few seconds, and an outage is logged
 * once.
 */
const failing = new WeakMap<object, Set<string>>();

/**
 * Checks one part, no longer than HEALTH_TIMEOUT. The error goes to the log: it may name folders
 * and hosts.
 */
async function check(deps: Deps, name: string, ask: () => Promise<unknown>): Promise<string> {
  const known = getOrInsert(failing, deps.shared, () => new Set<string>());
  try {
    await within(deps.config.HEALTH_TIMEOUT, ask());
    if (known.delete(name)) deps.log.info({ check: name }, "a store is available again");
    return "ok";
  } catch (err) {
    if (err instanceof ServiceError && err.code === "STORE_DAMAGED") {
      reportDamage(deps.log, err);
      return "damaged";
    }
    if (!known.has(name)) deps.log.error({ err, check: name }, "a store is unavailable");
    known.add(name);
    return "failed";
  }
}

async function stateOf(deps: Deps): Promise<State> {
  const { records, queries, objects, jobs, embedder, config } = deps;
  // A node that only answers requests never uses the engine, and may not even reach it.
  const containers = config.ROLE === "api" ? undefined : deps.containers;
  const applied = queries.state();
  let latest: number | undefined;
  const [recordsCheck, index, objectsCheck, jobsCheck, containersCheck, embeddingsCheck] =
    await Promise.all([
      check(deps, "records", async () => {
        await records.health();
        latest = await records.sequence();
      }).then((answer) => (answer === "ok" && recordsAreDamaged(deps.log) ? "damaged" : answer)),
      // Checked also while it loads: an endpoint that is unavailable never finishes loading.
      check(deps, "index", () => queries.health()).then((answer) =>
        answer === "ok" && applied.state === "loading" ? "loading" : answer,
      ),
      check(deps, "objects", () => objects.health()).then((answer) =>
        answer === "ok" && deps.damage.count > 0 ? "damaged" : answer,
      ),
      check(deps, "jobs", () => jobs.health()),
      containers && check(deps, "containers", () => containers.health()),
      embedder && check(deps, "embeddings", () => embedder.health()),
    ]);
  return {
    checks: {
      records: recordsCheck,
      index,
      objects: objectsCheck,
      jobs: jobsCheck,
      ...(containersCheck !== undefined && { containers: containersCheck }),
      ...(embeddingsCheck !== undefined && { embeddings: embeddingsCheck }),
    },
    lag: latest === undefined ? null : Math.max(0, latest - applied.sequence),
    ...(applied.advice !== undefined && { advice: applied.advice }),
  };
}

/**
 * Checks whether every store works. A loading index is healthy: records are served meanwhile; so is
 * a node whose container engine or embeddings server is unavailable: computations wait for the
 * engine, and searches use words only. Damaged objects are refused one by one, and no other node
 * has better ones.
 */
export async function health(deps: Deps): Promise<Health> {
  const state = await stateOf(deps);
  return {
    status: Object.entries(state.checks).every(
      ([name, check]) =>
        check === "ok" ||
        check === "loading" ||
        OPTIONAL.has(name) ||
        (name === "objects" && check === "damaged"),
    )
      ? "healthy"
      : "unhealthy",
    ...state,
  };
}

/**
 * Whether this node should get requests: without its record store it can answer nearly none; with
 * damaged records it answers the requests that do not need them. If any other part is unavailable,
 * the requests that need it fail, as they would on every other node.
 */
export async function readiness(deps: Deps): Promise<Readiness> {
  const state = await stateOf(deps);
  return {
    status:
      state.checks.records === "ok" || state.checks.records === "damaged" ? "ready" : "not ready",
    ...state,
  };
}

/** @throws Error when the work takes longer */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let clock: NodeJS.Timeout | undefined;
  await Promise.race([
    work,
    new Promise(
      (_, reject) =>
        (clock = setTimeout(
          () => reject(new Error(`no answer within HEALTH_TIMEOUT (${ms} ms)`)),
          ms,
        )),
    ),
  ]).finally(() => clearTimeout(clock));
}
