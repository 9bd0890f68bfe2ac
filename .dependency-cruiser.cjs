/**
 * The layers of the code base, and what each may import; imports of types count. `npm run layers`
 * checks the table. Each file belongs to one layer; imports within a layer are free.
 */

// dependency-cruiser has swc parse TypeScript, but no JSX in it.
const swc = require("@swc/core");
const parseFile = swc.parseFileSync.bind(swc);
swc.parseFileSync = (name, options) => parseFile(name, { ...options, tsx: name.endsWith(".tsx") });

/** Errors, memory figures and the folder of the package: each layer may import them. */
const BASE = "^src/[^/]+\\.ts$";

const DOMAIN = ["identifiers", "model", "rdf"];
const STORES = "records/(sqlite|postgres)|graph/(oxigraph|endpoint)|objects/(files|s3)";
const INPUT_AND_OUTPUT = ["fs", "net", "http", "https", "tls", "worker_threads", "child_process"];
const SERVERS = [
  "express",
  "@apollo/server",
  "@as-integrations/express5",
  "graphql-upload",
  "graphql-ws",
  "graphql-sse",
];
const CLIENTS = ["libsql", "pg", "oxigraph", "minio", "ioredis", "bullmq"];

/**
 * `never`: packages and modules of Node that the layer doesn't import.
 * @type {Record<string, { path: string, imports: string[], never?: string[] }>}
 */
const LAYERS = {
  // The domain knows neither stores nor HTTP.
  identifiers: { path: "^src/identifiers/", imports: [], never: INPUT_AND_OUTPUT },
  model: { path: "^src/model/", imports: [], never: INPUT_AND_OUTPUT },
  rdf: { path: "^src/rdf/", imports: ["identifiers", "model"] },
  tabular: { path: "^src/tabular/", imports: [] },
  config: { path: "^src/config/", imports: [] },

  // Ports, with what their adapters share.
  storage: { path: `^src/storage/(?!(${STORES})/)`, imports: DOMAIN },
  jobs: { path: "^src/jobs/[^/]+$", imports: ["model", "storage"] },
  adapters: { path: "^src/adapters/[^/]+/port\\.ts$", imports: ["jobs"] },

  // Adapters. None imports one of another port, nor what uses it.
  sqlite: { path: "^src/storage/records/sqlite/", imports: [...DOMAIN, "storage"] },
  postgres: { path: "^src/storage/records/postgres/", imports: [...DOMAIN, "storage"] },
  oxigraph: { path: "^src/storage/graph/oxigraph/", imports: [...DOMAIN, "storage"] },
  endpoint: { path: "^src/storage/graph/endpoint/", imports: [...DOMAIN, "storage"] },
  files: { path: "^src/storage/objects/files/", imports: ["storage"] },
  s3: { path: "^src/storage/objects/s3/", imports: ["storage"] },
  redis: { path: "^src/adapters/redis\\.ts$", imports: [] },
  inProcess: { path: "^src/jobs/in-process/", imports: ["jobs", "storage"] },
  bullmq: { path: "^src/jobs/bullmq/", imports: ["jobs", "storage", "redis", "config"] },
  containers: { path: "^src/adapters/containers/(?!port\\.ts)", imports: ["adapters"] },
  embeddings: { path: "^src/adapters/embeddings/(?!port\\.ts)", imports: ["adapters", "storage"] },
  doi: { path: "^src/adapters/doi/(?!port\\.ts)", imports: ["adapters", "storage"] },
  telemetry: {
    path: "^src/adapters/telemetry/(?!port\\.ts)",
    imports: ["adapters", "jobs", "storage", "config"],
  },
  log: { path: "^src/adapters/(log|metrics)\\.ts$", imports: ["storage"] },

  // The use cases know the ports, not the adapters.
  services: {
    path: "^src/services/",
    imports: [...DOMAIN, "tabular", "config", "storage", "jobs", "adapters"],
    never: [...SERVERS, ...CLIENTS, "type-graphql"],
  },

  // What clients reach. REST calls the resolvers that GraphQL calls. All know types of the ports;
  // only services call a store. Pages use what the interfaces share, which knows no page.
  http: { path: "^src/http/", imports: ["model", "config", "services"], never: CLIENTS },
  web: { path: "^src/web/", imports: ["model", "services", "storage", "http"], never: CLIENTS },
  resolvers: {
    path: "^src/graphql/resolvers/",
    imports: ["identifiers", "model", "services", "storage"],
    never: ["express", "@apollo/server", ...CLIENTS],
  },
  graphql: {
    path: "^src/graphql/[^/]+$",
    imports: ["model", "config", "services", "http", "resolvers"],
    never: CLIENTS,
  },
  rest: {
    path: "^src/rest/",
    imports: [...DOMAIN, "config", "storage", "services", "http", "web", "resolvers"],
    never: CLIENTS,
  },

  // What puts all of it together: it imports every layer, and no layer above imports it.
  app: { path: "^src/app/", imports: ["*"] },
  cli: { path: "^cli/", imports: ["*"] },
  generate: { path: "^src/generate/", imports: ["*"] },
};

/**
 * Single imports beside the table, each with its reason.
 * @type {{ from: string, to: string, because: string }[]}
 */
const EXCEPTIONS = [
  {
    from: "src/config/setting-values.ts",
    to: "src/http/client.ts",
    because: "TRUSTED_PROXIES is parsed by what reads it later",
  },
  {
    from: "src/graphql/resolvers/query-resolver.ts",
    to: "src/http/client.ts",
    because: "anonymous callers share limits by network",
  },
  {
    from: "src/adapters/telemetry/otlp.ts",
    to: "src/http/client.ts",
    because: "a span names its request as the log does",
  },
  {
    from: "src/adapters/telemetry/open.ts",
    to: "src/services/(deps|log).ts",
    because: "it wraps the ports of the service in traced ones",
  },
  {
    from: "src/adapters/metrics.ts",
    to: "src/services/(deps|health|vectors/handler).ts",
    because: "its gauges ask the service",
  },
  {
    from: "src/storage/shared/redis.ts",
    to: "src/adapters/redis.ts",
    because: "the adapter of shared counters is one file next to its port",
  },
  {
    from: "src/storage/objects/location.ts",
    to: "src/storage/objects/(files/store|s3/location|s3/store).ts",
    because: "threads open the object store that a location names",
  },
  {
    from: "src/storage/records/search.ts",
    to: "src/storage/records/sqlite/statement.ts",
    because: "SQLite's tokenizer finds the words for both record stores",
  },
  {
    from: "src/storage/graph/endpoint/scratch-thread.ts",
    to: "src/storage/graph/oxigraph/(graph-store|open/answer).ts",
    because: "small graphs are queried in memory, by the same engine",
  },
  {
    from: "src/adapters/containers/port.ts",
    to: "src/adapters/containers/tar.ts",
    because: "inputs and outputs of a container are tar entries",
  },
  {
    from: "src/services/computations/inputs.ts",
    to: "src/adapters/containers/tar.ts",
    because: "inputs of a computation are packed where they are read",
  },
];

const THE_CODE = "^(src|cli)/";
const paths = Object.values(LAYERS).map(({ path }) => path);
const file = (path) => `^${path.replaceAll(".", "\\.")}$`;

/** What the files of a layer may import of the code base. */
const reachOf = ({ path, imports }) => [BASE, path, ...imports.map((name) => LAYERS[name].path)];

const rulesOf = (name, layer) => [
  {
    name,
    comment: `The layer ${name} may import: ${layer.imports.join(", ") || "no other layer"}.`,
    severity: "error",
    from: { path: layer.path, pathNot: EXCEPTIONS.map(({ from }) => file(from)) },
    to: { path: THE_CODE, pathNot: reachOf(layer) },
  },
  ...(layer.never ?? []).map((module) => ({
    name: `${name}-without-${module.replace("/", "-")}`,
    severity: "error",
    from: { path: layer.path },
    to: { path: [`^(node:)?${module}(/|$)`, `node_modules/(@types/)?${module}/`] },
  })),
];

const rules = Object.entries(LAYERS).flatMap(([name, layer]) =>
  layer.imports.includes("*") ? [] : rulesOf(name, layer),
);

const exceptions = EXCEPTIONS.map(({ from, to, because }, index) => {
  const layer = Object.values(LAYERS).find(({ path }) =>
    new RegExp(path).test(from.replaceAll(/\(([^|)]+)[^)]*\)/g, "$1")),
  );
  return {
    name: `exception-${index + 1}`,
    comment: because,
    severity: "error",
    from: { path: file(from) },
    to: { path: THE_CODE, pathNot: [...reachOf(layer), file(to)] },
  };
});

module.exports = {
  forbidden: [
    ...rules,
    ...exceptions,
    {
      name: "base",
      comment: "Files that each layer may import know no layer.",
      severity: "error",
      from: { path: BASE },
      to: { path: THE_CODE, pathNot: BASE },
    },
    {
      name: "no-layer",
      comment: "A folder that the table of layers doesn't know: add it.",
      severity: "error",
      from: { path: THE_CODE, pathNot: [BASE, ...paths] },
      to: {},
    },
    {
      name: "no-circle",
      comment: "Imports of types count.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "unresolved",
      comment: "A file or package that isn't there.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // TypeScript 7 has no JavaScript API to read sources with.
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^src/web/assets/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node"] },
  },
};
