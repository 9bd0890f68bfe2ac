import type { JsonObject, JsonValue } from "../../../model/field.js";
import { ContextLimit, checkContextList } from "../../../rdf/bounded-contexts.js";
import type { Findings } from "../findings.js";
import { isObject, listOf, step } from "../json-path.js";
import type { CrateLimits } from "../limits.js";

/**
 * Refuses metadata that costs more than its size shows, before anything is made of it: long lists of contexts, properties with
 * very many values, entities inside entities (each record repeats what is inside it). The first of a kind is reported.
 * @returns false when something was found
 */
export function checkBounds(metadata: JsonObject, file: string, limits: CrateLimits, findings: Findings): boolean {
  const found = new Set<string>();
  const report = (code: "TOO_MANY_REFERENCES" | "NESTED_ENTITIES", message: string, pointer: string) => {
    if (!found.has(code)) findings.error(code, message, { file, pointer });
    found.add(code);
  };
  const check = (value: JsonValue, pointer: string, inside: number): void => {
    if (Array.isArray(value)) {
      if (value.length > limits.MAX_CRATE_REFERENCES)
        report("TOO_MANY_REFERENCES", `The property has ${value.length} values; MAX_CRATE_REFERENCES=${limits.MAX_CRATE_REFERENCES}. Name fewer, by way of folders that have parts of their own.`, pointer);
      // Where values are many they are plain, as a rule: no pointer is made for each.
      for (let index = 0; index < value.length; index++) if (typeof value[index] === "object") check(value[index]!, pointer + step(index), inside);
    } else if (isObject(value)) {
      const within = isObject(value) && typeof value["@id"] === "string" ? inside + 1 : inside;
      if (within > limits.MAX_CRATE_NESTING)
        return report("NESTED_ENTITIES", `Entities stand inside one another more than MAX_CRATE_NESTING=${limits.MAX_CRATE_NESTING} levels deep; list them in @graph, and refer to them by @id.`, pointer);
      for (const key in value) if (key === "@context") checkContext(value[key], pointer); else if (typeof value[key] === "object" && value[key] !== null) check(value[key], pointer + step(key), within);
    }
  };
  const checkContext = (context: JsonValue | undefined, pointer: string) => {
    try {
      checkContextList(context, limits);
    } catch (error) {
      if (!(error instanceof ContextLimit)) throw error;
      if (!found.has(error.code)) findings.error(error.code, error.message, { file, pointer: `${pointer}/@context` });
      found.add(error.code);
    }
  };
  const { "@graph": graph, ...own } = metadata;
  // The older layout: the crate is what stands around the graph.
  check(own, "", -1);
  for (const [index, entity] of listOf(graph).entries()) if (typeof entity === "object" && entity !== null) check(entity, Array.isArray(graph) ? `/@graph${step(index)}` : "/@graph", -1);
  return found.size === 0;
}
