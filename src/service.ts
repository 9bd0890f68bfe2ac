import { ConfigError, readConfig } from "./config.js";
import { ServiceError } from "./errors.js";
import { openLog } from "./log.js";
import { makeAllYoung } from "./memory.js";
import { checkProfile } from "./profile.js";
import type { Running } from "./serve.js";

/** So long (ms) after SHUTDOWN_GRACE a stop is no longer graceful: the process ends as it is, and the next start picks up. */
const LAST_RESORT = 1_500;

/** One line that says why a start or stop failed; the stack only for what is a fault of the service. */
export function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ConfigError || error instanceof ServiceError) return message;
  if (code === "EADDRINUSE") return `the address is in use: set PORT to another one (${message})`;
  if (code === "EACCES" || code === "EROFS" || code === "ENOTDIR") return `the data folder or the port may not be used: ${message}`;
  return (error as Error).stack ?? message;
}

/**
 * Runs the registry as this process until SIGTERM or SIGINT, which end the
 * process with status 0. Resolves once it listens and has said where.
 * @param env holds the settings
 * @throws as `serve`; {@link explain} turns it into a line
 */
export async function runService(env: Readonly<Record<string, string | undefined>> = process.env): Promise<void> {
  makeAllYoung();
  const config = readConfig(env);
  checkProfile(config);
  const log = openLog(config.LOG_LEVEL);
  let running: Running | undefined;
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    // Told to stop before it listens: nobody was promised anything yet, and the stores bear any end.
    if (!running) process.exit(0);
    setTimeout(() => process.exit(1), config.SHUTDOWN_GRACE + LAST_RESORT).unref();
    running.stop().then(() => process.exit(0), (error: unknown) => {
      process.stderr.write(`arkgraph: ${explain(error)}\n`);
      process.exit(1);
    });
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);

  // Loaded only now: a wrong setting is told at once.
  const { serve } = await import("./serve.js");
  running = await serve(config, log, (token) => {
    process.stdout.write(`First start. Send this once as "adminToken" in POST or PUT /user to become administrator: ${token}\n`);
  });
  process.stdout.write(`Arkgraph listens at ${running.url}\n`);
}
