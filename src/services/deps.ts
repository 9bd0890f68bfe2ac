import type { ContainerEngine } from "../adapters/containers/port.js";
import type { DoiService } from "../adapters/doi/port.js";
import type { Embedder } from "../adapters/embeddings/port.js";
import type { Issuer } from "../adapters/sign-in/port.js";
import type { Tracing } from "../adapters/telemetry/port.js";
import type { Config } from "../config/config.js";
import type { JobQueue } from "../jobs/port.js";
import type { OpenQueries, QueryEngine } from "../storage/graph/port.js";
import type { ObjectsLocation } from "../storage/objects/location.js";
import type { ObjectStore } from "../storage/objects/port.js";
import type { RecordStore } from "../storage/records/port.js";
import type { SharedMemory } from "../storage/shared/port.js";
import type { Review } from "./access/review.js";
import type { CpuPool } from "./cpu-pool.js";
import type { DocumentThread } from "./documents/run-documents.js";
import type { ConcurrencyLimit } from "./limits.js";
import type { Log } from "../log.js";
import type { KnownDamage } from "./objects/damage.js";
import type { Penalties, QueryGuard } from "./sparql/answer.js";
import type { Nearness } from "./vectors/nearness.js";

/** Everything that use cases depend on; composed in one place, `compose.ts`. */
export interface Deps {
  readonly config: Config;
  readonly records: RecordStore;
  readonly queries: QueryEngine;
  /** Answers untrusted queries, behind the guard. */
  readonly openQueries: OpenQueries;
  readonly guard: QueryGuard;
  readonly penalties: Penalties;
  readonly objects: ObjectStore;
  /** Where {@link objects} is, for threads. */
  readonly objectsLocation: ObjectsLocation;
  /** Objects that are known to be damaged. */
  readonly damage: KnownDamage;
  readonly jobs: JobQueue;
  /** Runs computations; absent unless CONTAINER_HOST is set. */
  readonly containers?: ContainerEngine;
  /** Computes vectors of texts; absent, like search by vectors, unless EMBEDDINGS_URL is set. */
  readonly embedder?: Embedder;
  readonly nearness?: Nearness;
  /** Registers DOIs; absent unless DATACITE_URL is set. */
  readonly dois?: DoiService;
  /** People sign in with them; none unless OIDC_ISSUERS is set. */
  readonly issuers: readonly Issuer[];
  /** Threads for work that would keep the serving thread busy. */
  readonly cpu: CpuPool;
  /** Parses and expands large documents. */
  readonly documents: DocumentThread;
  /** State of rate and other limits, shared by all nodes. */
  readonly shared: SharedMemory;
  /** Concurrency limit and queue for dry runs of crates. */
  readonly planLimit: ConcurrencyLimit;
  /** Concurrency limit and queue for validation by shapes. */
  readonly shapeLimit: ConcurrencyLimit;
  /** Concurrency limit and queue for checks of tables by a schema. */
  readonly tableLimit: ConcurrencyLimit;
  /** Concurrency limit and queue for scores that requests ask for. */
  readonly scoreLimit: ConcurrencyLimit;
  readonly log: Log;
  /** Absent unless OTEL_EXPORTER_OTLP_ENDPOINT is set. */
  readonly tracing?: Tracing;
  /** Address of the client whose request this is; absent in the background. */
  readonly client?: string;
  /** Public address without a slash at the end. Known once the server listens. */
  readonly baseUrl: () => string;
  /** Issuer and audience of tokens. */
  readonly installation: string;
  /** The reviewer's link by which a request reads; absent for all others. */
  readonly review?: Review | undefined;
  /** Key that signs tokens. */
  readonly jwtSecret: string;
}
