import type { ContainerEngine } from "../adapters/containers/port.js";
import type { Embedder } from "../adapters/embeddings/port.js";
import type { Tracing } from "../adapters/telemetry/port.js";
import type { Config } from "../config/config.js";
import type { JobQueue } from "../jobs/port.js";
import type { OpenQueries, QueryEngine } from "../storage/graph/port.js";
import type { ObjectsLocation } from "../storage/objects/location.js";
import type { ObjectStore } from "../storage/objects/port.js";
import type { RecordStore } from "../storage/records/port.js";
import type { SharedMemory } from "../storage/shared/port.js";
import type { DocumentThread } from "./documents/run-documents.js";
import type { Log } from "./log.js";
import type { KnownDamage } from "./objects/damage.js";
import type { Penalties } from "./sparql/answer.js";
import type { QueryGuard } from "./sparql/guard/guard.js";
import type { Turns } from "./turns.js";
import type { Nearness } from "./vectors/nearness.js";

/** All that use cases work with; put together in one place, `compose.ts`. */
export interface Deps {
  readonly config: Config;
  readonly records: RecordStore;
  readonly queries: QueryEngine;
  /** Answers queries of strangers, behind the guard. */
  readonly openQueries: OpenQueries;
  readonly guard: QueryGuard;
  readonly penalties: Penalties;
  readonly objects: ObjectStore;
  /** Where {@link objects} is, for threads. */
  readonly objectsLocation: ObjectsLocation;
  /** Objects that were found damaged. */
  readonly damage: KnownDamage;
  readonly jobs: JobQueue;
  /** Runs computations; absent unless CONTAINER_HOST is set. */
  readonly containers?: ContainerEngine;
  /**
   * Makes vectors of texts; absent unless EMBEDDINGS_URL is set, and so is what searches know of
   * nearness.
   */
  readonly embedder?: Embedder;
  readonly nearness?: Nearness;
  /** Reads and expands large documents. */
  readonly documents: DocumentThread;
  /** What limits go by, over all nodes. */
  readonly shared: SharedMemory;
  /** Crates that are looked at without being taken in wait here for their turn. */
  readonly planTurns: Turns;
  /** Checks by shapes. */
  readonly shapeTurns: Turns;
  /** Tables that are checked by a schema. */
  readonly tableTurns: Turns;
  /** Scores that requests ask for. */
  readonly scoreTurns: Turns;
  readonly log: Log;
  /** Absent unless OTEL_EXPORTER_OTLP_ENDPOINT is set. */
  readonly tracing?: Tracing;
  /** Public address without a slash at the end. Known once the server listens. */
  readonly baseUrl: () => string;
  /** Issuer and audience of tokens. */
  readonly installation: string;
  /** Key that signs tokens. */
  readonly jwtSecret: string;
}
