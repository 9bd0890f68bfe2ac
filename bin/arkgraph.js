#!/usr/bin/env node
import { existsSync } from "node:fs";

const main = new URL("../dist/cli/arkgraph.cjs", import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write("arkgraph: it is not built yet: run npm run build in its folder\n");
  process.exitCode = 1;
}
