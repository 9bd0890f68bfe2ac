import type { JsonObject } from "../../../model/field.js";
import type { Findings } from "../findings.js";
import { fromCroissant, isCroissant } from "./croissant.js";
import { fromDataPackage, isDataPackage } from "./data-package.js";
import type { Converted } from "./graph.js";

/**
 * RO-Crate metadata from a Croissant document or a Frictionless Data Package; undefined for
 * anything else. Nothing is fetched: addresses in the document stay references.
 */
export function converted(
  document: JsonObject,
  file: string,
  findings: Findings,
): Converted | undefined {
  if (isCroissant(document)) return fromCroissant(document, file, findings);
  if (isDataPackage(document)) return fromDataPackage(document, file, findings);
  return undefined;
}
