import { ConfigError, readConfig } from "./config.js";
import { ServiceError } from "./errors.js";
import { openLog } from "./log.js";
import { serve, type Running } from "./serve.js";

/** Past this a stop is no longer graceful: the process ends as it is, and the next start picks up. */
const LAST_RESORT = 9_500;

function fail(message: string): never {
  process.stderr.write(`arkgraph: ${message}\n`);
  process.exit(1);
}

function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ConfigError || error instanceof ServiceError) return message;
  if (code === "EADDRINUSE") return `the address is in use: set PORT to another one (${message})`;
  if (code === "EACCES" || code === "EROFS" || code === "ENOTDIR") return `the data folder or the port may not be used: ${message}`;
  return (error as Error).stack ?? message;
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = openLog(config.LOG_LEVEL);
  const running: Running = await serve(config, log);
  process.stdout.write(`Arkgraph listens at ${running.url}\n`);
  if (running.adminToken) process.stdout.write(`First start. Send this once as "adminToken" in POST or PUT /user to become administrator: ${running.adminToken}\n`);

  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), LAST_RESORT).unref();
    running.stop().then(() => process.exit(0), (error: unknown) => fail(explain(error)));
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
}

main().catch((error: unknown) => fail(explain(error)));
