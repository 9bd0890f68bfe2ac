import { execFile } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";

/** A file of each layer, and a file or package that the layer must not import. */
const PLANTED: Readonly<Record<string, readonly [file: string, imported: string]>> = {
  base: ["src/errors.ts", "src/model/kinds.ts"],
  identifiers: ["src/identifiers/ark.ts", "src/model/kinds.ts"],
  model: ["src/model/kinds.ts", "src/rdf/graph.ts"],
  rdf: ["src/rdf/graph.ts", "src/storage/records/port.ts"],
  tabular: ["src/tabular/limits.ts", "src/model/kinds.ts"],
  config: ["src/config/config.ts", "src/services/deps.ts"],
  storage: ["src/storage/records/port.ts", "src/storage/records/sqlite/index.ts"],
  jobs: ["src/jobs/port.ts", "src/jobs/bullmq/job-queue.ts"],
  adapters: ["src/adapters/embeddings/port.ts", "src/adapters/embeddings/endpoint.ts"],
  sqlite: ["src/storage/records/sqlite/index.ts", "src/storage/records/postgres/index.ts"],
  postgres: ["src/storage/records/postgres/index.ts", "src/services/deps.ts"],
  oxigraph: ["src/storage/graph/oxigraph/index.ts", "src/storage/records/sqlite/index.ts"],
  endpoint: ["src/storage/graph/endpoint/index.ts", "src/storage/graph/oxigraph/index.ts"],
  files: ["src/storage/objects/files/store.ts", "src/storage/objects/s3/store.ts"],
  s3: ["src/storage/objects/s3/store.ts", "src/http/reply.ts"],
  redis: ["src/storage/redis.ts", "src/config/config.ts"],
  inProcess: ["src/jobs/in-process/job-queue.ts", "src/jobs/bullmq/job-queue.ts"],
  bullmq: ["src/jobs/bullmq/job-queue.ts", "src/services/deps.ts"],
  containers: ["src/adapters/containers/docker-engine.ts", "src/services/deps.ts"],
  embeddings: ["src/adapters/embeddings/endpoint.ts", "src/adapters/containers/tar.ts"],
  doi: ["src/adapters/doi/datacite.ts", "src/services/deps.ts"],
  signIn: ["src/adapters/sign-in/oidc.ts", "src/services/deps.ts"],
  telemetry: ["src/adapters/telemetry/planted.ts", "src/rest/router.ts"],
  log: ["src/adapters/log.ts", "src/app/compose.ts"],
  services: ["src/services/search/search.ts", "src/storage/records/sqlite/index.ts"],
  "services-1": ["src/services/access/rules.ts", "src/services/accounts/accounts.ts"],
  "services-2": ["src/services/accounts/accounts.ts", "src/services/records/find.ts"],
  "services-3": ["src/services/records/read.ts", "src/services/crates/findings.ts"],
  "services-4": ["src/services/crates/plan.ts", "src/services/evidence/types.ts"],
  "services-5": ["src/services/evidence/types.ts", "src/services/scoring/score.ts"],
  "services-6": ["src/services/formats/facts.ts", "src/services/harvest/catalog.ts"],
  "services-7": ["src/services/harvest/catalog.ts", "src/services/doi/doi.ts"],
  "no-service": ["src/services/planted/planted.ts", "src/errors.ts"],
  http: ["src/http/reply.ts", "src/web/assets.ts"],
  web: ["src/web/site.tsx", "src/graphql/resolvers/context.ts"],
  resolvers: ["src/graphql/resolvers/context.ts", "src/rest/router.ts"],
  graphql: ["src/graphql/server.ts", "src/rest/router.ts"],
  rest: ["src/rest/router.ts", "src/graphql/server.ts"],
  "no-layer": ["src/planted/planted.ts", "src/errors.ts"],
  "no-circle": ["src/config/config.ts", "src/app/serve.ts"],
  unresolved: ["src/http/reply.ts", "src/http/planted.ts"],
  "identifiers-without-net": ["src/identifiers/ark.ts", "node:net"],
  "model-without-fs": ["src/model/kinds.ts", "node:fs/promises"],
  "services-without-express": ["src/services/search/search.ts", "express"],
  "services-without-@apollo-server": ["src/services/search/search.ts", "@apollo/server"],
  "services-without-type-graphql": ["src/services/search/search.ts", "type-graphql"],
  "http-without-ioredis": ["src/http/reply.ts", "ioredis"],
  "web-without-libsql": ["src/web/site.tsx", "libsql"],
  "resolvers-without-express": ["src/graphql/resolvers/context.ts", "express"],
  "graphql-without-pg": ["src/graphql/server.ts", "pg"],
  "rest-without-oxigraph": ["src/rest/router.ts", "oxigraph"],
};
/** What the files of single exceptions must not import either. */
const BEYOND_EXCEPTIONS = "src/app/serve.ts";

interface Rule {
  name: string;
  from: { path: string };
  to: { pathNot: string[] };
}
interface Violation {
  from: string;
  to: string;
  rule: { name: string };
}
interface Cruise {
  modules: { source: string; dependencies: { resolved: string }[] }[];
  summary: { violations: Violation[] };
}
const { forbidden } = createRequire(import.meta.url)(
  join(packageRoot, ".dependency-cruiser.cjs"),
) as { forbidden: Rule[] };
/** Patterns of the files that an exception is for, and of those that they may import with it. */
const EXCEPTIONS = forbidden
  .filter(({ name }) => name.startsWith("exception-"))
  .map(({ from, to }) => ({ from: from.path, to: to.pathNot.at(-1)! }));

const tool = (name: string) => join(packageRoot, "node_modules", ".bin", name);

/** Runs a program to its end, whatever its exit status. */
const output = (program: string, args: string[], cwd: string): Promise<string> =>
  new Promise((resolve, reject) =>
    execFile(program, args, { cwd, maxBuffer: 2 ** 28 }, (error, stdout) =>
      error && typeof error.code !== "number" ? reject(error) : resolve(stdout),
    ),
  );

async function cruise(folder: string): Promise<Cruise> {
  const args = ["--config", ".dependency-cruiser.cjs", "--output-type", "json", "src", "cli"];
  return JSON.parse(await output(tool("depcruise"), args, folder)) as Cruise;
}

/** Appends an import of a type to a file, which is made where there is none. */
function plant(root: string, file: string, imported: string): void {
  const path = join(root, file);
  const target = relative(dirname(file), imported).replace(/\.ts$/, ".js");
  const specifier = imported.endsWith(".ts") ? target.replace(/^(?!\.)/, "./") : imported;
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `\nimport type * as planted${imported.length} from "${specifier}";\n`);
}

/** The first of the files that an exception is for. */
const firstOf = (pattern: string): string =>
  pattern.replaceAll(/\(([^|)]+)[^)]*\)/g, "$1").replaceAll(/[\\^$]/g, "");
const matches = (pattern: string, path: string): boolean => new RegExp(pattern).test(path);

describe("the layers", { timeout: 180_000 }, () => {
  const copy = mkdtempSync(join(tmpdir(), "arkgraph-layers-"));
  let clean: Cruise;
  let broken: Cruise;
  beforeAll(async () => {
    for (const name of ["src", "cli", "package.json", ".dependency-cruiser.cjs", ".oxlintrc.json"])
      cpSync(join(packageRoot, name), join(copy, name), { recursive: true });
    symlinkSync(join(packageRoot, "node_modules"), join(copy, "node_modules"), "junction");
    for (const [file, imported] of Object.values(PLANTED)) plant(copy, file, imported);
    for (const { from } of EXCEPTIONS) plant(copy, firstOf(from), BEYOND_EXCEPTIONS);
    clean = await cruise(packageRoot);
    broken = await cruise(copy);
  }, 180_000);
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it("hold for every import, with no circle", () => {
    expect(clean.modules.length).toBeGreaterThan(250);
    expect(
      clean.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} imports ${to}`),
    ).toEqual([]);
  });
  it("have a planted violation each", () => {
    const planted = new Set(Object.keys(PLANTED));
    expect(
      forbidden
        .map(({ name }) => name)
        .filter((name) => !/-without-|^exception-/.test(name) && !planted.has(name)),
    ).toEqual([]);
  });
  it.each(Object.entries(PLANTED))("fail for a planted import: %s", (rule, [file]) => {
    const found = broken.summary.violations.filter(({ rule: { name } }) => name === rule);
    expect(found.map(({ from }) => from)).toContain(file);
  });
  it("apply to the files of exceptions as well, except for the excepted imports", () => {
    const caught = broken.summary.violations
      .filter(({ rule, to }) => rule.name.startsWith("exception-") && to === BEYOND_EXCEPTIONS)
      .map(({ from }) => from);
    expect(caught.sort()).toEqual(EXCEPTIONS.map(({ from }) => firstOf(from)).sort());
  });
  it("have no unused exception", () => {
    const unused = EXCEPTIONS.filter(
      ({ from, to }) =>
        !clean.modules.some(
          ({ source, dependencies }) =>
            matches(from, source) && dependencies.some(({ resolved }) => matches(to, resolved)),
        ),
    );
    expect(unused).toEqual([]);
  });
});

describe("a database driver", () => {
  const ALLOWED = "src/storage/records/sqlite/statement.ts";
  it("is imported only by the module that checks parameters", async () => {
    const folders = readdirSync(packageRoot, { recursive: true, encoding: "utf8" })
      .filter((name) => /^(src|cli|test|bench)\/[^.]*$/.test(name))
      .filter((name) => !name.startsWith("src/web/assets"))
      .filter((name) => !name.startsWith("bench/baselines"));
    const root = mkdtempSync(join(tmpdir(), "arkgraph-drivers-"));
    try {
      for (const part of [".oxlintrc.json", "scripts/lint"])
        cpSync(join(packageRoot, part), join(root, part), { recursive: true });
      const files = [ALLOWED, ...folders.map((folder) => `${folder}/planted.ts`)];
      for (const file of files) {
        mkdirSync(dirname(join(root, file)), { recursive: true });
        writeFileSync(join(root, file), 'export { default } from "libsql";\nexport * from "pg";\n');
      }
      const { diagnostics } = JSON.parse(await output(tool("oxlint"), ["-f", "json"], root)) as {
        diagnostics: { code: string; filename: string }[];
      };
      const refused = diagnostics
        .filter(({ code }) => code.includes("no-restricted-imports"))
        .map(({ filename }) => filename);
      expect(refused.sort()).toEqual(
        files
          .slice(1)
          .flatMap((file) => [file, file])
          .sort(),
      );
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

/** Calls of a store or queue, and taking one out of the dependencies to call it later. */
const STORE = "(?:records|queries|openQueries|objects|jobs)";
const CALLS = new RegExp(
  `\\bdeps\\??\\.${STORE}\\b|\\{[^{}]*\\b${STORE}\\b[^{}]*\\}\\s*(?:=\\s*[\\w.]*\\bdeps\\b|:\\s*(?:Pick<\\s*)?Deps\\b)`,
  "g",
);

describe("stores and queues", () => {
  it("are called by services, not by REST, GraphQL or pages", () => {
    const calls = ["rest", "graphql", "web", "http"].flatMap((layer) =>
      readdirSync(join(packageRoot, "src", layer), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .flatMap((name) => {
          const source = readFileSync(join(packageRoot, "src", layer, name), "utf8");
          return [...source.matchAll(CALLS)].map(([call]) => `src/${layer}/${name}: ${call}`);
        }),
    );
    expect(calls, "move the call into a function of src/services").toEqual([]);
  });
  it("are found however they are called", () => {
    const calls = [
      "await context.deps.records.find(ark)",
      "this.deps.objects",
      "const { config, records } = context.deps;",
      "const { records: store } = deps;",
      'async function f({ records }: Pick<Deps, "records">) {}',
      "const f = ({ jobs }: Deps) => jobs;",
    ];
    expect(calls.filter((call) => call.match(CALLS) === null)).toEqual([]);
    const others = [
      "recordsOf(deps, arks)",
      "const { config } = deps;",
      'f(deps: Pick<Deps, "config" | "records">)',
      "page.records.length",
    ];
    expect(others.filter((other) => other.match(CALLS) !== null)).toEqual([]);
  });
});
