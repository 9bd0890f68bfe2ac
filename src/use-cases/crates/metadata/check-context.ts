import { bundledContext } from "../../../rdf/contexts.js";
import type { Findings } from "../findings.js";
import { listOf } from "../json-path.js";
import type { CrateDescription } from "../layout/description.js";

/** Tells of remote contexts that are not bundled, before any file is stored. */
export function checkContexts({ context, entities, file }: CrateDescription, findings: Findings): void {
  const told = new Set<string>();
  const check = (value: unknown, pointer: string) => {
    if (typeof value !== "string" || told.has(value)) return;
    try {
      bundledContext(value);
    } catch (error) {
      if ((error as Error).name !== "UnknownContext") throw error;
      told.add(value);
      findings.error("UNKNOWN_CONTEXT", (error as Error).message, { file, pointer });
    }
  };
  for (const part of listOf(context)) check(part, "/@context");
  for (const { value, pointer } of entities) for (const part of listOf(value["@context"])) check(part, `${pointer}/@context`);
}
