export { moveRegistry, type Moved, type Side } from "./migrate.js";
export { copyObjects, type ObjectFigures } from "./objects.js";
export type { TruthFigures } from "./digest.js";
