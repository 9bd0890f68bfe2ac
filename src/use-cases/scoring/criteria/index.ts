import type { Criteria } from "../criterion.js";
import { characterization } from "./characterization.js";
import { computability } from "./computability.js";
import { ethics } from "./ethics.js";
import { fairness } from "./fairness.js";
import { preModelExplainability } from "./pre-model-explainability.js";
import { provenance } from "./provenance.js";
import { sustainability } from "./sustainability.js";

/** Every criterion once, by category and name, in the order of the answer (after the Bridge2AI recommendations, PMC11526931). */
export const CATEGORIES = {
  fairness, provenance, characterization, pre_model_explainability: preModelExplainability, ethics, sustainability, computability,
} as const satisfies Record<string, Criteria>;

export type CategoryName = keyof typeof CATEGORIES;
export const CATEGORY_NAMES = Object.keys(CATEGORIES) as CategoryName[];
