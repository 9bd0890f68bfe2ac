/**
 * For processes of tests, whose code mostly runs a few times only: optimising it, in each thread
 * anew, took a third of the time. V8 of Node 22 and later has no such option, and a cheaper
 * compiler before the one that optimises.
 */
export const COMPILE_LESS: readonly string[] =
  Number(process.versions.node.split(".")[0]) < 22 ? ["--interrupt-budget=600000"] : [];
