import { ConfigError, type Config, type SettingName } from "./config.js";

/** What nodes share; each needs all of it, and the same key for tokens. */
const OF_A_CLUSTER = ["DATABASE_URL", "REDIS_URL", "S3_ENDPOINT", "S3_ACCESS_KEY", "S3_SECRET_KEY", "S3_BUCKET", "SPARQL_QUERY_URL", "SPARQL_UPDATE_URL", "JWT_SECRET"] as const satisfies readonly SettingName[];
/** What only nodes of a cluster can use: one process has its own. */
const NOT_ALONE = ["DATABASE_URL", "REDIS_URL"] as const satisfies readonly SettingName[];

/**
 * Refuses settings that do not go together before anything is opened.
 * @throws ConfigError one line that names the profile and the settings
 */
export function checkProfile(config: Config): void {
  const list = (names: readonly string[]): string => names.join(", ");
  if (config.PROFILE === "cluster") {
    const missing = OF_A_CLUSTER.filter((name) => config[name] === null);
    if (missing.length > 0) throw new ConfigError(`PROFILE=cluster needs ${list(OF_A_CLUSTER)}; not set: ${list(missing)}`);
    return;
  }
  const unwanted = NOT_ALONE.filter((name) => config[name] !== null);
  if (unwanted.length > 0) throw new ConfigError(`PROFILE=single is one process that keeps its own records and queue: set PROFILE=cluster, or take away ${list(unwanted)}`);
  if (config.ROLE !== "all") throw new ConfigError(`ROLE=${config.ROLE} is for a node of a cluster: set PROFILE=cluster, or take away ROLE`);
}
