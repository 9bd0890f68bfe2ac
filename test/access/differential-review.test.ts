import { accessTests } from "./differential.js";
import { REVIEWERS } from "./world.js";

// Those who read the private crate by a link.
accessTests({ by: "token", states: [], read: ["private", "privateCrate"], actors: REVIEWERS });
