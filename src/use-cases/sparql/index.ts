export { answerQuery, type SparqlRequest } from "./answer.js";
export type { Checked } from "./guard/check.js";
export { QueryGuard } from "./guard/index.js";
export { Penalties } from "./penalties.js";
