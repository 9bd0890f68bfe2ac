import { ValidationError, invalid } from "../../errors.js";
import { parseArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { boundsForDocuments } from "../../rdf/bounded-contexts.js";
import { boundedGraphs } from "../../rdf/graph.js";
import { kindOfTypes, typeNames } from "../crates/kinds.js";
import { isObject, listOf } from "../crates/json-path.js";
import type { Judged } from "./report.js";

/** @throws ValidationError naming the first that is none, or that there is none */
function entitiesOf(graph: JsonValue | undefined): JsonObject[] {
  const entities = listOf(graph);
  const odd = entities.findIndex((entity) => !isObject(entity));
  if (odd >= 0) throw invalid(["body", "@graph", odd], "Input should be a valid dictionary or object to extract fields from", "model_attributes_type");
  if (entities.length === 0) throw invalid(["body", "@graph"], "List should have at least 1 item after validation, not 0", "too_short");
  return entities as JsonObject[];
}

/** Entities expanded together: the context is processed once for all of them. */
const BATCH = 250;
const DESCRIPTOR = /(?:^|\/)ro-crate-metadata\.json(?:ld)?$/;

/**
 * The entities of a crate's metadata document, each as the record it would be. Its identifier is the one the crate
 * gives it; the descriptor is no record.
 * @throws ValidationError when an entity is no valid JSON-LD
 */
export async function* entitiesToJudge(document: JsonObject): AsyncGenerator<Judged[]> {
  const context = document["@context"];
  const entities = entitiesOf(document["@graph"]);
  const isDescriptor = (entity: JsonObject): boolean => typeof entity["@id"] === "string" && DESCRIPTOR.test(entity["@id"]);
  const roots = new Set(entities.filter(isDescriptor).flatMap((entity) => listOf(entity["about"]).map((about) => (isObject(about) ? about["@id"] : about))));
  const graphsOf = boundedGraphs(boundsForDocuments());
  const records = entities.filter((entity) => !isDescriptor(entity));
  for (let start = 0; start < records.length; start += BATCH) {
    const batch = records.slice(start, start + BATCH).map((entity, index) => {
      const id = entity["@id"];
      const ark = (typeof id === "string" ? parseArk(id)?.stored : undefined) ?? `ark:99999/entity-${start + index}`;
      const kind = roots.has(id as JsonValue) ? "rocrate" as const : kindOfTypes(typeNames(entity, context));
      return { ark, kind, id: typeof id === "string" ? id : ark, document: entity };
    });
    const graphs = await graphsOf(context, batch.map(({ ark, kind, document: entity }) => ({ ark, kind, document: entity, fromCrate: true as const }))).catch((error: Error) => {
      if (!["JsonLdError", "ContextLimit"].includes(error.name)) throw error;
      const { entity } = error as { entity?: number };
      throw new ValidationError([{ loc: entity === undefined ? ["body", "@context"] : ["body", "@graph", entities.indexOf(records[start + entity]!)], msg: `Value error, ${error.message}`, type: "value_error" }]);
    });
    yield batch.map(({ ark, kind, id }, index) => ({ ark, kind, quads: graphs[index]!.quads, shownAs: id }));
  }
}
