export { VECTOR_CODES } from "./findings.js";
export { requestVectors, vectorsAreBehind, vectorsHandler } from "./handler.js";
export { Nearness } from "./nearness.js";
