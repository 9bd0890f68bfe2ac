import { accessTests } from "./differential.js";
import { STATES } from "./world.js";

// The same rules and answers for browsers that have signed in as for programs with a token.
accessTests({ by: "session", states: STATES });
