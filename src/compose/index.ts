import { mkdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Config } from "../config.js";
import { limitContexts } from "../rdf/bounded-contexts.js";
import { signingKey } from "../secret.js";
import { makePrivate } from "../stores/data-folder.js";
import { openObjects, prepareObjects } from "../stores/objects/location.js";
import { intakeHandler } from "../use-cases/crates/intake.js";
import type { JobHandler } from "../jobs/port.js";
import { installation } from "../use-cases/accounts/installation.js";
import type { Deps, Log } from "../use-cases/deps.js";
import { executionHandler } from "../use-cases/computations/handler.js";
import { buildHandler } from "../use-cases/evidence/stored/build.js";
import { scoreHandler } from "../use-cases/scoring/index.js";
import { tracingOf } from "../telemetry/open.js";
import { tracedDeps } from "../telemetry/stores.js";
import { Penalties } from "../use-cases/sparql/index.js";
import { KnownDamage } from "../use-cases/objects/known-damage.js";
import { DocumentThread } from "../use-cases/documents/run-documents.js";
import { Turns } from "../use-cases/turns.js";
import { Nearness, vectorsHandler } from "../use-cases/vectors/index.js";
import { containersOf } from "./containers.js";
import { embedderOf } from "./embeddings.js";
import { endpointAddress } from "./endpoint.js";
import { graphIndex } from "./graph-index.js";
import { queueOf, told } from "./jobs.js";
import { objectsOf } from "./objects.js";
import { openRecords } from "./records.js";
import { Scrubber } from "./scrubber.js";
import { Sweeper } from "./sweeper.js";
import { VectorsKeeper } from "./vectors-keeper.js";

/** A registry without doors: its stores, open, and what runs in the background. */
export interface Registry {
  deps: Deps;
  /** Begins background work: the graph index, and unless this node only answers requests unfinished submissions and the sweep. */
  start(): Promise<void>;
  /** Ends it all; work in progress has `grace` ms. Safe to call once. */
  close(grace: number): Promise<void>;
}

/** Chooses the adapters and puts them together; this folder is the only place that does. */
export async function compose(config: Config, log: Log, baseUrl: () => string): Promise<Registry> {
  limitContexts(config);
  // What is missing is told before anything is opened.
  endpointAddress(config);
  const objectsLocation = objectsOf(config);
  const tracing = await tracingOf(config, log);
  // A node of a cluster keeps nothing of its own, and may run where nothing can be written.
  if (config.DATABASE_URL === null || "files" in objectsLocation || config.JWT_SECRET === null) {
    await mkdir(config.DATA_DIR, { recursive: true, mode: 0o700 });
    await makePrivate(config.DATA_DIR, (message) => log.warn({}, message));
  }
  await prepareObjects(objectsLocation, { create: config.S3_CREATE_BUCKET === "yes" });
  const [jwtSecret, objects, records] = await Promise.all([
    signingKey(config.DATA_DIR, config.JWT_SECRET),
    openObjects(objectsLocation),
    openRecords(config, (message) => log.error({}, message)),
  ]);
  const issuer = await installation(records);
  const { queries, openQueries, guard } = await graphIndex(config, records, log);
  const containers = await containersOf(config, records);
  const embedder = await embedderOf(config);
  const nearness = embedder && new Nearness(embedder, log);
  const { jobs, shared } = await queueOf(config, records, log);
  const documents = new DocumentThread(config);
  const planTurns = new Turns(config.PLAN_CONCURRENCY);
  const shapeTurns = new Turns(config.VALIDATIONS_AT_ONCE, 8 * config.VALIDATIONS_AT_ONCE);
  const tableTurns = new Turns(config.TABLE_CONCURRENCY);
  const scoreTurns = new Turns(config.SCORES_AT_ONCE, 16 * config.SCORES_AT_ONCE);
  const penalties = new Penalties(config.SPARQL_PENALTY, shared);
  const untraced: Deps = { config, records, queries, openQueries, guard, penalties, objects, objectsLocation, damage: new KnownDamage({ records, objects, log }), jobs, ...(containers && { containers }), ...(embedder && nearness && { embedder, nearness }), documents, shared, planTurns, shapeTurns, tableTurns, scoreTurns, log, baseUrl, installation: issuer, jwtSecret };
  const deps: Deps = tracing ? { ...tracedDeps(untraced, tracing), tracing } : untraced;
  const sweeper = new Sweeper(deps);
  const scrubber = new Scrubber(deps);
  const vectors = embedder && new VectorsKeeper(deps, embedder);
  return {
    deps,
    async start() {
      // Not before the doors are open: its threads would take the cores that the start needs.
      queries.start();
      await untraced.damage.refresh();
      scrubber.start();
      if (config.ROLE === "api") return;
      const handlers = { crate: intakeHandler(deps, objectsLocation), evidence: buildHandler(deps), score: scoreHandler(deps), computation: executionHandler(deps), vectors: vectorsHandler(deps) };
      const handler: JobHandler = (job) => handlers[job.submission.type](job);
      await jobs.start(told(tracing ? tracing.job(handler, async (id) => (await records.submission(id))?.status) : handler, log));
      sweeper.start();
      vectors?.start();
    },
    async close(grace) {
      planTurns.close();
      shapeTurns.close();
      tableTurns.close();
      scoreTurns.close();
      await vectors?.close();
      await jobs.close(grace);
      // Uploads whose connections were closed: what was received of them is removed before the process ends.
      await Promise.race([objects.idle?.(), pause(grace, undefined, { ref: false })]);
      await scrubber.close();
      await sweeper.close();
      await embedder?.close();
      await documents.close();
      await guard.close();
      await openQueries.close();
      await queries.close();
      await records.close();
      await tracing?.close();
    },
  };
}
