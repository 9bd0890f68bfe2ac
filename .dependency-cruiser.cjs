/**
 * The layers of the code base, and what each may import; imports of types count. `npm run layers`
 * checks the table. Each file belongs to one layer; imports within a layer are free.
 */

// dependency-cruiser has swc parse TypeScript, but no JSX in it.
const swc = require("@swc/core");
const parseFile = swc.parseFileSync.bind(swc);
swc.parseFileSync = (name, options) => parseFile(name, { ...options, tsx: name.endsWith(".tsx") });

/** Errors, the log, memory figures and the folder of the package: each layer may import them. */
const BASE = "^src/[^/]+\\.ts$";

const DOMAIN = ["identifiers", "model", "rdf"];
const STORES = "records/(sqlite|postgres)|graph/(oxigraph|endpoint)|objects/(files|s3)";
const REDIS = "(redis|shared/redis)\\.ts$";
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
  storage: { path: `^src/storage/(?!(${STORES})/|${REDIS})`, imports: DOMAIN },
  jobs: { path: "^src/jobs/[^/]+$", imports: ["model", "storage"] },
  adapters: { path: "^src/adapters/[^/]+/port\\.ts$", imports: ["jobs"] },

  // Adapters. None imports one of another port, nor what uses it.
  sqlite: { path: "^src/storage/records/sqlite/", imports: [...DOMAIN, "storage"] },
  postgres: { path: "^src/storage/records/postgres/", imports: [...DOMAIN, "storage"] },
  oxigraph: { path: "^src/storage/graph/oxigraph/", imports: [...DOMAIN, "storage"] },
  endpoint: { path: "^src/storage/graph/endpoint/", imports: [...DOMAIN, "storage"] },
  files: { path: "^src/storage/objects/files/", imports: ["storage"] },
  s3: { path: "^src/storage/objects/s3/", imports: ["storage"] },
  redis: { path: `^src/storage/${REDIS}`, imports: ["storage"] },
  inProcess: { path: "^src/jobs/in-process/", imports: ["jobs", "storage"] },
  bullmq: { path: "^src/jobs/bullmq/", imports: ["jobs", "storage", "redis", "config"] },
  containers: { path: "^src/adapters/containers/(?!port\\.ts)", imports: ["adapters"] },
  embeddings: { path: "^src/adapters/embeddings/(?!port\\.ts)", imports: ["adapters", "storage"] },
  doi: { path: "^src/adapters/doi/(?!port\\.ts)", imports: ["adapters", "storage"] },
  signIn: { path: "^src/adapters/sign-in/(?!port\\.ts)", imports: ["adapters", "config"] },
  telemetry: {
    path: "^src/adapters/telemetry/(?!port\\.ts)",
    imports: ["adapters", "jobs", "config"],
  },
  log: { path: "^src/adapters/log\\.ts$", imports: [] },

  // The use cases know the ports, not the adapters.
  services: {
    path: "^src/services/",
    imports: [...DOMAIN, "tabular", "config", "storage", "jobs", "adapters"],
    never: [...SERVERS, ...CLIENTS, "type-graphql"],
  },

  // What clients reach. REST calls the resolvers that GraphQL calls. All know types of the ports;
  // only services call a store. Pages use what the interfaces share, which knows no page.
  http: { path: "^src/http/", imports: ["model", "config", "services"], never: CLIENTS },
  web: {
    path: "^src/web/",
    imports: ["identifiers", "model", "config", "services", "storage", "http"],
    never: CLIENTS,
  },
  resolvers: {
    path: "^src/graphql/resolvers/",
    imports: ["identifiers", "model", "config", "services", "storage"],
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
 * The folders of services, lowest first: a folder imports those of lines above its own, and none
 * beside it.
 */
const SERVICES = [
  "access|objects|sparql|vectors",
  "accounts|migration",
  "records",
  "administration|crates|documents|files|lineage|publication|schemas|search",
  "computations|evidence|previews|scoring|validation",
  "formats",
  "doi|harvest",
];

/**
 * Single imports beside the table, each with its reason.
 * @type {{ from: string, to: string, because: string }[]}
 */
const EXCEPTIONS = [
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
    from: "src/storage/graph/endpoint/(digest|spell).ts",
    to: "src/storage/graph/oxigraph/(graph-store|open/answer).ts",
    because: "the service's own engine knows how literals and graphs are written",
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

const services = SERVICES.map((folders, index) => ({
  name: `services-${index + 1}`,
  comment: "Imports between the folders of services go one way.",
  severity: "error",
  from: { path: `^src/services/(${folders})/` },
  to: {
    path: `^src/services/(${SERVICES.slice(index).join("|")})/`,
    pathNot: "^src/services/$1/",
  },
}));

module.exports = {
  forbidden: [
    ...rules,
    ...exceptions,
    ...services,
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
      name: "no-service",
      comment: "A folder that the list of services doesn't know: add it.",
      severity: "error",
      from: { path: "^src/services/[^/]+/", pathNot: `^src/services/(${SERVICES.join("|")})/` },
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
