import { writeTests } from "./writes.js";

// One state of each kind that is written to; writes.slow.test.ts has all.
writeTests({ by: "token", states: ["draft", "crate", "computation", "group"] });
