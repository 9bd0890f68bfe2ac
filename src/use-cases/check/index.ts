export { checkIndex, type CheckedIndex } from "./check-index.js";
export { checkObjects } from "./check-objects.js";
