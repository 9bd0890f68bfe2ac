import { defineConfig } from "vitest/config";
import { COMPILE_LESS } from "./test/support/compile-less.js";
import LongestFirst from "./test/support/sequencer.js";

const SLOW = "test/**/*.slow.test.ts";

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
    expect: { poll: { timeout: 100_000 } },
    globalSetup: ["test/support/build.ts"],
    setupFiles: ["test/support/keep-compiled.ts"],
    // `npm run test:cluster`. A variable in front of the command is no command for Windows.
    env: mode === "cluster" ? { TEST_TOPOLOGY: "cluster" } : {},
    coverage: {
      provider: "v8",
      include: ["src/**", "cli/**"],
      reporter: ["text-summary", "html", "lcov"],
    },
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: [SLOW],
          // One more than the cores that CI has: many tests wait for a clock, a disk or a process.
          maxWorkers: mode === "test" ? 3 : 2,
          // Coverage and clusters take more.
          setupFiles: mode === "test" ? ["test/support/cpu-limit.ts"] : [],
        },
      },
      // Not at the same time: projects with other numbers of workers run one after the other.
      { extends: true, test: { name: "slow", include: [SLOW], sequence: { groupOrder: 1 } } },
    ],
  },
}));
