import { ConfigError, readConfig } from "./config.js";
import { ServiceError } from "./errors.js";
import { openLog } from "./log.js";
import type { Running } from "./serve.js";

/** Past this a stop is no longer graceful: the process ends as it is, and the next start picks up. */
const LAST_RESORT = 9_500;

/** One line that says why a start or stop failed; the stack only for what is a fault of the service. */
export function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ConfigError || error instanceof ServiceError) return message;
  if (code === "EADDRINUSE") return `the address is in use: set PORT to another one (${message})`;
  if (code === "EACCES" || code === "EROFS" || code === "ENOTDIR") return `the data folder or the port may not be used: ${message}`;
  return (error as Error).stack ?? message;
}

/**
 * Runs the registry as this process: settings from the environment, until SIGTERM or SIGINT, which end the
 * process with status 0. Resolves once it listens and has said where.
 * @throws as `serve`; {@link explain} turns it into a line
 */
export async function runService(): Promise<void> {
  const config = readConfig(process.env);
  const log = openLog(config.LOG_LEVEL);
  // Loaded only now: a wrong setting is told at once.
  const { serve } = await import("./serve.js");
  const running: Running = await serve(config, log);
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), LAST_RESORT).unref();
    running.stop().then(() => process.exit(0), (error: unknown) => {
      process.stderr.write(`arkgraph: ${explain(error)}\n`);
      process.exit(1);
    });
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
  // Only now: who reads that it listens may tell it to stop in the same moment.
  process.stdout.write(`Arkgraph listens at ${running.url}\n`);
  if (running.adminToken) process.stdout.write(`First start. Send this once as "adminToken" in POST or PUT /user to become administrator: ${running.adminToken}\n`);
}
