import { randomUUID } from "node:crypto";
import { ConfigError, type Config } from "../config.js";
import type { EndpointAddress, EndpointOptions } from "../stores/queries/endpoint/index.js";
import type { EngineLog } from "../stores/queries/log.js";
import type { RecordStore } from "../stores/records/port.js";

/** The name of this truth, made once and kept with it. */
const TRUTH = "projection-truth";

/**
 * The endpoint that the settings name; `undefined` without one.
 * @throws ConfigError when they name half of it
 */
export function endpointAddress(config: Config): EndpointAddress | undefined {
  const { SPARQL_QUERY_URL: queryUrl, SPARQL_UPDATE_URL: updateUrl, SPARQL_USER: user, SPARQL_PASSWORD: password } = config;
  if (queryUrl === null && updateUrl === null) return undefined;
  if (queryUrl === null || updateUrl === null) throw new ConfigError(`${queryUrl === null ? "SPARQL_QUERY_URL" : "SPARQL_UPDATE_URL"} is missing: a SPARQL endpoint needs both SPARQL_QUERY_URL and SPARQL_UPDATE_URL`);
  return { queryUrl, updateUrl, ...(user !== null && { user }), ...(password !== null && { password }) };
}

/** How the engine on that endpoint is opened. @throws as {@link endpointAddress} */
export function endpointOptions(config: Config, records: RecordStore, log?: EngineLog): EndpointOptions | undefined {
  const address = endpointAddress(config);
  return address && {
    ...address,
    openFeed: () => records.openFeed(), leases: records, truth: async () => (await records.setSetting(TRUTH, randomUUID(), { ifAbsent: true }))!,
    batch: config.PROJECTION_BATCH, lease: config.PROJECTION_LEASE, poll: config.PROJECTION_POLL, timeout: config.PROJECTION_TIMEOUT,
    pool: config.SPARQL_POOL, indexWait: config.INDEX_WAIT, queryTimeout: config.QUERY_TIMEOUT, ...(log && { log }),
  };
}
