// Bundles the command line into one CommonJS file: reading a hundred small modules took longer than most commands.
// Commands that need the registry are loaded when they run.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

const { version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));

/** @returns paths of the modules that were bundled */
export async function bundleCli() {
  const { metafile } = await build({
    stdin: {
      contents: 'import { run } from "./cli/program.js"; void run(process.argv.slice(2));',
      resolveDir: root,
      sourcefile: "bundle-entry.ts",
      loader: "ts",
    },
    outfile: `${root}/dist/cli/arkgraph.cjs`,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    define: { ARKGRAPH_VERSION: JSON.stringify(version) },
    minify: true,
    keepNames: true,
    sourcemap: true,
    logLevel: "warning",
    // What program.ts loads when a command runs.
    external: ["./commands/serve.js", "./commands/data.js", "./demo/*"],
    metafile: true,
  });
  return Object.keys(metafile.inputs);
}
