#!/usr/bin/env node
// CommonJS, like what it starts (see package.json beside it): the loader of ES modules takes longer than the command.
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const main = join(__dirname, "..", "dist", "cli", "arkgraph.cjs");
if (!existsSync(main)) {
  process.stderr.write("arkgraph: it is not built yet: run npm run build in its folder\n");
  process.exitCode = 1;
} else {
  require(main);
}
