/**
 * A process of its own that runs the registry with any settings, also such as no profile has: one
 * part is measured apart from the others.
 */
import { readConfig } from "../../src/config/config.js";
import { openLog } from "../../src/adapters/log.js";
import { surviveFaults } from "../../src/app/faults.js";
import { serve } from "../../src/app/serve.js";

const config = readConfig(process.env);
const log = openLog(config.LOG_LEVEL);
const running = await serve(config, log);
// As the service does: a connection to Redis over TLS may fail once more while it is closed.
surviveFaults(log);
process.once("SIGTERM", () => void running.stop().then(() => process.exit(0)));
process.stdout.write(`Arkgraph listens at ${running.url}\n`);
