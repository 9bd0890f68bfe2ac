import { accessTests } from "./differential.js";

// One state of each kind that is written to; differential.slow.test.ts has all.
accessTests({ by: "token", states: ["draft", "crate", "computation", "group"], read: [] });
