export { CATEGORIES, CATEGORY_NAMES, type CategoryName } from "./criteria/index.js";
export type { Criterion, Status } from "./criterion.js";
export { knownScore, readScore } from "./read-score.js";
export { requestScore, scoreHandler } from "./rescore.js";
export type { AiReadyScore, CategoryScore, CriterionScore } from "./score.js";
