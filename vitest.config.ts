import { defineConfig } from "vitest/config";
import { COMPILE_LESS } from "./test/support/compile-less.js";
import LongestFirst from "./test/support/sequencer.js";

export default defineConfig({
  // Vite would pick graphql's ES module build for our files while Apollo and type-graphql get the
  // CommonJS one; two copies of graphql refuse each other's types.
  resolve: { alias: [{ find: /^graphql$/, replacement: "graphql/index.js" }] },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    pool: "forks",
    // Loading the service anew for each of 150 files would take a third of the time. What a file starts it also ends.
    isolate: false,
    setupFiles: ["test/support/keep-compiled.ts"],
    execArgv: [...COMPILE_LESS],
    sequence: { sequencer: LongestFirst },
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
