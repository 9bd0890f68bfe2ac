import { ServiceError } from "../errors.js";
import type { Deps } from "./deps.js";
import { recordsAreDamaged, reportDamage } from "./log.js";

/** What every answer about the state of a node tells. */
interface State {
  checks: {
    records: string;
    index: string;
    objects: string;
    jobs: string;
    /** Where this node runs computations. */ containers?: string;
    /** The server that makes vectors, where there is one. */ embeddings?: string;
  };
  /** Commits that the graph index has yet to apply; null when the records cannot be asked. */
  lag: number | null;
}
interface Health extends State {
  status: "healthy" | "unhealthy";
}
interface Readiness extends State {
  status: "ready" | "not ready";
}

/** Parts that a healthy node can do without for a while. */
const OPTIONAL: ReadonlySet<string> = new Set(["containers", "embeddings"]);

/**
 * What failed when it was last asked: probes come every few seconds, and an outage is told once.
 */
const failing = new WeakMap<Deps, Set<string>>();

/**
 * Asks one part, no longer than HEALTH_TIMEOUT. What went wrong is for the log: it may name folders
 * and hosts.
 */
async function check(deps: Deps, name: string, ask: () => Promise<unknown>): Promise<string> {
  let known = failing.get(deps);
  if (!known) failing.set(deps, (known = new Set()));
  try {
    await within(deps.config.HEALTH_TIMEOUT, ask());
    if (known.delete(name)) deps.log.info({ check: name }, "a store works again");
    return "ok";
  } catch (err) {
    if (err instanceof ServiceError && err.code === "STORE_DAMAGED") {
      reportDamage(deps.log, err);
      return "damaged";
    }
    if (!known.has(name)) deps.log.error({ err, check: name }, "a store does not work");
    known.add(name);
    return "failed";
  }
}

async function stateOf(deps: Deps): Promise<State> {
  const { records, queries, objects, jobs, embedder, config } = deps;
  // A node that only answers requests never asks the engine, and may not even reach it.
  const containers = config.ROLE === "api" ? undefined : deps.containers;
  const applied = queries.state();
  let latest: number | undefined;
  const [recordsCheck, index, objectsCheck, jobsCheck, containersCheck, embeddingsCheck] =
    await Promise.all([
      check(deps, "records", async () => {
        await records.health();
        latest = await records.sequence();
      }).then((answer) => (answer === "ok" && recordsAreDamaged(deps.log) ? "damaged" : answer)),
      // Asked also while it loads: an endpoint that is away never will have.
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
  };
}

/**
 * Asks every store whether it works. A loading index is healthy: records are served meanwhile; and
 * so is a node whose container engine or embeddings server is away: computations wait for the one,
 * searches go by words without the other. Damaged objects are refused one by one, and no other node
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
 * Whether this node should be sent requests: without its records it can answer nearly none; with
 * damaged ones it answers those that do not need them. Whatever else is away fails the requests
 * that need it, and would fail them on every other node as well.
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
