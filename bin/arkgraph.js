#!/usr/bin/env node
// CommonJS, like what it starts (see package.json beside it): the loader of ES modules takes longer than the command.
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const args = process.argv.slice(2);
const main = join(__dirname, "..", "dist", "cli", "arkgraph.cjs");
if (!existsSync(main)) {
  process.stderr.write("arkgraph: it is not built yet: run npm run build in its folder\n");
  process.exitCode = 1;
} else if (
  !["serve", "demo"].includes(args[0]) ||
  !require("./launch.js").launch(__filename, args)
) {
  require(main);
}
