import { ConfigError, type Config } from "../config.js";
import type { Embedder } from "../embeddings/port.js";

/**
 * What makes vectors of texts; `undefined` where EMBEDDINGS_URL is not set. It is not asked anything yet: a server that is away must
 * not keep the registry from starting.
 * @throws ConfigError when the settings name half of it
 */
export async function embedderOf(config: Config): Promise<Embedder | undefined> {
  const { EMBEDDINGS_URL: url, EMBEDDINGS_MODEL: model, EMBEDDINGS_KEY: key } = config;
  if (url === null && model === null) return undefined;
  if (url === null || model === null) throw new ConfigError(`${url === null ? "EMBEDDINGS_URL" : "EMBEDDINGS_MODEL"} is missing: an embeddings server needs both EMBEDDINGS_URL and EMBEDDINGS_MODEL`);
  const { EndpointEmbedder } = await import("../embeddings/endpoint/index.js");
  return new EndpointEmbedder({
    url, model, queryModel: config.EMBEDDINGS_QUERY_MODEL ?? model, ...(key !== null && { key }),
    queryPrefix: config.EMBEDDINGS_QUERY_PREFIX, passagePrefix: config.EMBEDDINGS_PASSAGE_PREFIX, maxText: config.EMBEDDINGS_MAX_TEXT,
    batch: config.EMBEDDINGS_BATCH, pool: config.EMBEDDINGS_POOL,
    timeout: config.EMBEDDINGS_TIMEOUT, queryTimeout: config.EMBEDDINGS_QUERY_TIMEOUT, healthTimeout: config.HEALTH_TIMEOUT,
  });
}
