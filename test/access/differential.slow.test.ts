import { accessTests } from "./differential.js";
import { STATES } from "./world.js";

accessTests({ by: "token", states: STATES });
