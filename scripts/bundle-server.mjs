// Bundles the service into few files: finding and reading some thousand small modules was most of a start. What
// only some registries load is a file of its own. Threads run their own modules from dist/src/, and packages with
// native parts stay in node_modules.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

// Bundled CommonJS packages expect these names; a module has none of them.
const banner = [
  'import { createRequire as arkgraphRequire } from "node:module";',
  'import { fileURLToPath as arkgraphPath } from "node:url";',
  "const require = arkgraphRequire(import.meta.url);",
  "const __filename = arkgraphPath(import.meta.url);",
  'const __dirname = arkgraphPath(new URL(".", import.meta.url));',
].join("\n");

// Their names carry what is in them: those of an earlier build would stay for ever.
rmSync(`${root}/dist/chunks`, { recursive: true, force: true });
await build({
  // What tsc made: its output carries the types of decorated methods, which esbuild's own would not.
  entryPoints: [`${root}/dist/src/main.js`],
  outdir: `${root}/dist`,
  entryNames: "server",
  chunkNames: "chunks/[name]-[hash]",
  splitting: true,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: true,
  keepNames: true,
  logLevel: "warning",
  external: ["libsql", "oxigraph", "@node-rs/*", "swagger-ui-dist", "class-validator", "bufferutil", "utf-8-validate", "pg-native"],
  banner: { js: banner },
});
