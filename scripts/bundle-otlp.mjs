// Bundles what is used of OpenTelemetry's SDK into one file, which is loaded only where a collector is named, by the
// bundled service and by `arkgraph serve` alike. Its packages, which are a hundred times as large,
// need not be installed.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @returns paths of the modules that were bundled */
export async function bundleOtlp() {
  const { metafile } = await build({
    entryPoints: [`${root}/dist/src/adapters/telemetry/otlp.js`],
    outfile: `${root}/dist/otlp.js`,
    bundle: true,
    platform: "node",
    // Of their modules, unlike of their CommonJS files, what nobody uses is left out.
    mainFields: ["module", "main"],
    format: "esm",
    target: "node20",
    sourcemap: true,
    keepNames: true,
    minify: true,
    logLevel: "warning",
    banner: {
      js: 'import { createRequire as arkgraphRequire } from "node:module";\nconst require = arkgraphRequire(import.meta.url);',
    },
    metafile: true,
  });
  return Object.keys(metafile.inputs);
}
