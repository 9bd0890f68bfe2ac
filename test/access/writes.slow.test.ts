import { writeTests } from "./writes.js";
import { STATES } from "./world.js";

writeTests({ by: "token", states: STATES });
