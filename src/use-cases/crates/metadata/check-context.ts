import type { JsonValue } from "../../../model/field.js";
import { eachUnknownContext } from "../../../rdf/contexts.js";
import { quoted, type Findings } from "../findings.js";
import type { CrateDescription } from "../layout/description.js";

/** Warns of remote contexts that are not bundled, once each: the terms that only they explain have no meaning here. */
export function checkContexts({ context, entities, file }: CrateDescription, findings: Findings): void {
  const warned = new Set<string>();
  const check = (value: JsonValue, start: string) => eachUnknownContext(value, (url, pointer) => {
    if (warned.has(url)) return;
    warned.add(url);
    findings.warn(
      "UNKNOWN_CONTEXT",
      `The context <${quoted(url)}> is not known here and is not fetched: terms that only it explains are stored without a meaning. Write those terms into @context.`,
      { file, pointer },
    );
  }, start);
  if (context !== undefined) check({ "@context": context }, "");
  for (const { value, pointer, embedded } of entities) if (!embedded) check(value, pointer);
}
