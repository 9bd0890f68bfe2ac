/**
 * A process of its own that runs the registry with any settings, also such as no profile has: one
 * part is measured apart from the others.
 */
import { readConfig } from "../../src/config/config.js";
import { openLog } from "../../src/adapters/log.js";
import { serve } from "../../src/app/serve.js";

const config = readConfig(process.env);
const running = await serve(config, openLog(config.LOG_LEVEL));
process.once("SIGTERM", () => void running.stop().then(() => process.exit(0)));
process.stdout.write(`Arkgraph listens at ${running.url}\n`);
