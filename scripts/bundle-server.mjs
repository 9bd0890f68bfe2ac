// Bundles the service into few files: finding and reading some thousand small modules was most of a start, and is
// of a thread's. What only some registries load is a file of its own. Packages with native parts stay in node_modules.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

const { dependencies } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
/** Packages that others use where they are installed; they are not. */
const ABSENT = ["class-validator", "bufferutil", "utf-8-validate", "pg-native"];

/** What `threadModule` is asked for. */
const THREADS = [
  "src/storage/records/sqlite/writer-thread",
  "src/storage/records/sqlite/feed-thread",
  "src/storage/records/sqlite/search/search-thread",
  "src/storage/records/sqlite/selection-thread",
  "src/storage/records/postgres/feed-thread",
  "src/storage/records/postgres/search/near-thread",
  "src/storage/graph/oxigraph/thread",
  "src/storage/graph/oxigraph/evidence-thread",
  "src/storage/graph/oxigraph/open/thread",
  "src/storage/graph/oxigraph/records-digest-thread",
  "src/storage/graph/endpoint/projector/thread",
  "src/storage/graph/endpoint/scratch-thread",
  "src/services/crates/intake-thread",
  "src/services/crates/intake-process",
  "src/services/previews/thread",
  "src/services/schemas/check-thread",
  "src/services/sparql/guard/thread",
  "src/services/validation/thread",
  "src/services/documents/thread",
];
/** What `cli/program.ts` loads when a command runs. */
const COMMANDS = [
  "cli/commands/serve",
  "cli/commands/data",
  "cli/commands/data",
  "cli/commands/data",
  "cli/demo/crate",
  "cli/demo/demo",
];

// Bundled CommonJS packages expect these names; a module has none of them.
const banner = [
  'import { createRequire as arkgraphRequire } from "node:module";',
  'import { fileURLToPath as arkgraphPath } from "node:url";',
  "const require = arkgraphRequire(import.meta.url);",
  "const __filename = arkgraphPath(import.meta.url);",
  'const __dirname = arkgraphPath(new URL(".", import.meta.url));',
].join("\n");

/**
 * Apollo's hash looks for Node by its `module.require`, which a bundle does not have, and takes
 * one in JavaScript then: a thirtieth of a small query.
 */
const nodeHash = {
  name: "node-hash",
  setup({ onLoad }) {
    onLoad({ filter: /@apollo[/\\]utils\.createhash[/\\]dist[/\\]index\.js$/ }, () => ({
      contents: 'exports.createHash = require("node:crypto").createHash;',
      loader: "js",
    }));
  },
};

/**
 * jsonld.js brings an HTTP client to fetch contexts with, undici. The registry fetches none (`src/rdf/contexts.ts`).
 * Without the client and the unused parts of N3, a thread that ingests a small crate takes 110 ms of CPU time, not 155.
 */
const noRemoteContexts = {
  name: "no-remote-contexts",
  setup({ onLoad }) {
    onLoad({ filter: /jsonld[/\\]lib[/\\]documentLoaders[/\\]node\.js$/ }, () => ({
      contents:
        'module.exports = () => async (url) => { throw new Error("no context is fetched: " + url); };',
      loader: "js",
    }));
  },
};

/** N3 in its ES modules, of which esbuild takes the used ones, and with Node's streams instead of a copy of them. */
const partsOfN3 = {
  name: "parts-of-n3",
  setup({ onResolve, resolve: find }) {
    onResolve({ filter: /^n3$/ }, ({ resolveDir, kind }) =>
      find("n3/src/index.js", { resolveDir, kind }),
    );
    onResolve({ filter: /^readable-stream$/ }, ({ importer }) =>
      /[/\\]n3[/\\]src[/\\]/.test(importer) ? { path: "node:stream", external: true } : undefined,
    );
  },
};

const bundled = (modules) =>
  Object.fromEntries(modules.map((module) => [`bundled/${module}`, module]));

/** What esbuild makes of `keepNames`: called for each function, each time the code around it runs. */
const NAMING = /([\w$]+)=\(([\w$]+),([\w$]+)\)=>([\w$]+\(\2,"name",\{value:\3,configurable:!0\}\))/;

/**
 * Only classes and functions that may be ones keep their names, which the schema and errors show. To
 * name an arrow function takes 0.4 µs: a tenth of what it takes to prepare a record for the store.
 * @param {string[]} files
 */
function nameClassesOnly(files) {
  const found = files
    .filter((file) => file.endsWith(".js"))
    .filter((file) => {
      const text = readFileSync(file, "utf8");
      const cheap = text.replace(
        NAMING,
        (_, name, what, as, define) =>
          `${name}=(${what},${as})=>Object.hasOwn(${what},"prototype")?${define}:${what}`,
      );
      if (cheap !== text) writeFileSync(file, cheap);
      return cheap !== text;
    });
  if (found.length !== 1)
    throw new Error(
      `esbuild names functions in another way now: ${found.length} files instead of one`,
    );
}

/** @returns paths of the modules that were bundled */
export async function bundleServer() {
  // Names of chunks carry what is in them: those of an earlier build would stay for ever.
  for (const folder of ["bundled", "chunks"])
    rmSync(`${root}/dist/${folder}`, { recursive: true, force: true });
  // Threads share files with the service, so that each module is in the package once.
  const entries = {
    server: "src/app/main",
    // What the package exports.
    index: "src/app/service",
    ...bundled(COMMANDS),
    ...bundled(THREADS),
  };
  const { metafile } = await build({
    // What tsc made: its output carries the types of decorated methods, which esbuild's own would not.
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, module]) => [name, `${root}/dist/${module}.js`]),
    ),
    outdir: `${root}/dist`,
    chunkNames: "chunks/[name]-[hash]",
    splitting: true,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: true,
    minify: true,
    keepNames: true,
    logLevel: "warning",
    external: [...Object.keys(dependencies), ...ABSENT],
    // What checks during development cost: graphql-js looks at the realm of each type that it compares.
    define: { "process.env.NODE_ENV": '"production"' },
    banner: { js: banner },
    plugins: [nodeHash, noRemoteContexts, partsOfN3],
    metafile: true,
  });
  nameClassesOnly(Object.keys(metafile.outputs).map((file) => resolve(file)));
  return Object.keys(metafile.inputs);
}
