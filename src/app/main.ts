import { explain, runService } from "./service.js";

runService().catch((error: unknown) => {
  process.stderr.write(`arkgraph: ${explain(error)}\n`);
  process.exit(1);
});
