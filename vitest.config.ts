import { defineConfig } from "vitest/config";
import { COMPILE_LESS } from "./test/support/compile-less.js";
import LongestFirst from "./test/support/sequencer.js";

/**
 * Tests that need neither the build nor a server. All others run the built code: the threads of the
 * service are loaded from `dist`.
 */
const UNIT = [
  "test/{config,identifiers,lint,model,rdf,tabular}/**/*.test.ts",
  "test/profile.test.ts",
  "test/services/{computations,previews,records}/**/*.test.ts",
  "test/services/{byte-cache,concurrency-limit}.test.ts",
  "test/services/crates/{fuzz,identifiers,odd-crates,prepare,wild-crates,zip}.test.ts",
  "test/services/crates/{rules,records}/**/*.test.ts",
  "test/services/evidence/{formats,picture,tree}.test.ts",
  "test/services/scoring/any-document.test.ts",
  "test/services/sparql/{order,penalties,written}.test.ts",
  "test/storage/graph/{announcements,fair-line,iri,plain-lines,tsv}.test.ts",
  "test/storage/records/{links-codec,quads-codec,search-words,vectors/*}.test.ts",
];
const ALL = "test/**/*.test.ts";

export default defineConfig(({ mode }) => ({
  // Vite would pick graphql's ES module build for our files while Apollo and type-graphql get the
  // CommonJS one; two copies of graphql refuse each other's types.
  resolve: { alias: [{ find: /^graphql$/, replacement: "graphql/index.js" }] },
  test: {
    pool: "forks",
    // Loading the service anew for each of 150 files would take a third of the time. What a file
    // starts it also ends.
    isolate: false,
    execArgv: [...COMPILE_LESS],
    sequence: { sequencer: LongestFirst },
    maxWorkers: 2,
    // They end a test that hangs, and say nothing about speed: a loaded core is many times slower.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // `npm run test:cluster`. A variable in front of the command is no command for Windows.
    env: mode === "cluster" ? { TEST_TOPOLOGY: "cluster" } : {},
    coverage: {
      provider: "v8",
      include: ["src/**", "cli/**"],
      reporter: ["text-summary", "html", "lcov"],
    },
    projects: [
      { extends: true, test: { name: "unit", include: UNIT } },
      {
        extends: true,
        test: {
          name: "integration",
          include: [ALL],
          exclude: UNIT,
          globalSetup: ["test/support/build.ts"],
          setupFiles: ["test/support/keep-compiled.ts"],
        },
      },
    ],
  },
}));
