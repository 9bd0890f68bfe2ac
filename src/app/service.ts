import { openLog } from "../adapters/log.js";
import { BOUNDS } from "../config/bounds.js";
import { type Config, ConfigError, readConfig, type SettingName } from "../config/config.js";
import { ServiceError } from "../errors.js";
import { collectAll } from "../memory.js";
import { surviveFaults } from "./faults.js";
import type { Running } from "./serve.js";

/** Settings that nodes share. Each node needs all of them, and the same key for tokens. */
const OF_A_CLUSTER = [
  "DATABASE_URL",
  "REDIS_URL",
  "S3_ENDPOINT",
  "S3_ACCESS_KEY",
  "S3_SECRET_KEY",
  "S3_BUCKET",
  "SPARQL_QUERY_URL",
  "SPARQL_UPDATE_URL",
  "JWT_SECRET",
] as const satisfies readonly SettingName[];
/** Settings that only nodes of a cluster can use: a single process has its own stores instead. */
const NOT_ALONE = ["DATABASE_URL", "REDIS_URL"] as const satisfies readonly SettingName[];

/**
 * Refuses contradicting settings before anything is opened.
 * @throws ConfigError one line that names the profile and the settings
 */
export function checkProfile(config: Config): void {
  const list = (names: readonly string[]): string => names.join(", ");
  if (config.PROFILE === "cluster") {
    const missing = OF_A_CLUSTER.filter((name) => config[name] === null);
    if (missing.length > 0)
      throw new ConfigError(
        `PROFILE=cluster needs ${list(OF_A_CLUSTER)}; not set: ${list(missing)}`,
      );
    return;
  }
  const unwanted = NOT_ALONE.filter((name) => config[name] !== null);
  if (unwanted.length > 0)
    throw new ConfigError(
      "PROFILE=single is one process with its own record store and queue: set " +
        `PROFILE=cluster, or unset ${list(unwanted)}`,
    );
  if (config.ROLE !== "all")
    throw new ConfigError(
      `ROLE=${config.ROLE} is for a node of a cluster: set PROFILE=cluster, or unset ROLE`,
    );
}

/**
 * The time (ms) after SHUTDOWN_GRACE at which a stop is no longer graceful: the process exits at
 * once, and the next start continues the unfinished jobs.
 */
const LAST_RESORT = 1_500;

/**
 * One line with the reason of a failed start or stop; a stack only for internal errors of the
 * service.
 */
export function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ConfigError || error instanceof ServiceError) return message;
  if (code === "EADDRINUSE") return `the address is in use: set PORT to another one (${message})`;
  if (code === "EACCES" || code === "EROFS" || code === "ENOTDIR")
    return `no permission to use the data folder or the port: ${message}`;
  return (error as Error).stack ?? message;
}

/**
 * Starts a registry in this process, for programs that use the published package (`index.d.ts`).
 * The environment and the signals of the process are left to the program.
 * @param settings by the names of docs/settings.md; DATA_DIR, PORT and others have defaults
 * @throws ConfigError, or as `serve`
 */
export async function start(
  settings: Settings = {},
): Promise<Pick<Running, "url" | "adminToken" | "stop">> {
  const config = readConfig(settings);
  checkProfile(config);
  const { serve } = await import("./serve.js");
  const { url, adminToken, stop } = await serve(config, openLog(config.LOG_LEVEL));
  return { url, adminToken, stop };
}

/**
 * Runs the registry as this process until SIGTERM or SIGINT, which end the process with status 0.
 * Resolves when it listens and has logged its address. A failed start ends the process with status
 * 1 and one line with the reason.
 * @param env holds the settings
 */
export const runService = (env: Settings = process.env): Promise<void> =>
  listenUntilSignal(env).catch((error: unknown) => {
    process.stderr.write(`arkgraph: ${explain(error)}\n`);
    process.exit(1);
  });

type Settings = Readonly<Record<string, string | undefined>>;

async function listenUntilSignal(env: Settings): Promise<void> {
  collectAll();
  const config = readConfig(env);
  checkProfile(config);
  const log = openLog(config.LOG_LEVEL);
  const withoutEffect = Object.keys(BOUNDS).filter((name) => env[name] !== undefined);
  if (withoutEffect.length > 0)
    log.warn(
      { names: withoutEffect },
      "these are not settings: their values are fixed, as docs/settings.md says",
    );
  let running: Running | undefined;
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    // A signal arrived before the server listens: no request was accepted yet, and the stores
    // survive an abrupt exit.
    if (!running) process.exit(0);
    setTimeout(() => process.exit(1), config.SHUTDOWN_GRACE + LAST_RESORT).unref();
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`arkgraph: ${explain(error)}\n`);
        process.exit(1);
      },
    );
  };
  // Windows sends SIGBREAK for Ctrl+Break; other systems have no such signal.
  process.on("SIGTERM", stop).on("SIGINT", stop).on("SIGBREAK", stop);

  // Loaded only now, so that a wrong setting is reported at once.
  const { serve } = await import("./serve.js");
  running = await serve(config, log, (token, address) => {
    process.stdout.write(
      `First start. Open ${address} to become administrator, ` +
        `or send this once as "adminToken" in POST or PUT /user: ${token}\n`,
    );
  });
  surviveFaults(log);
  process.stdout.write(`Arkgraph listens at ${running.url}\n`);
}
