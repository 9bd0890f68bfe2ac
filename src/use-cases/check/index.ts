export { checkIndex, type CheckedIndex } from "./check-index.js";
