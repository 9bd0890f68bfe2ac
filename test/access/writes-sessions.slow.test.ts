import { writeTests } from "./writes.js";
import { STATES } from "./world.js";

// The same rules and answers for browsers that have signed in as for programs with a token.
writeTests({ by: "session", states: STATES });
