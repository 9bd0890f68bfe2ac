import { PREFIXES, type Field, type JsonObject, type JsonValue } from "./field.js";
import type { Kind } from "./kind.js";
import { KINDS } from "./kinds/index.js";
import { PROVENANCE } from "./provenance.js";

/**
 * The JSON-LD 1.1 context of every declared term, for those who read records with a JSON-LD processor of their
 * own. ARK fields are references. Where a name is an ARK in one kind and free text in another, only the kinds
 * that say ARK make it one, by a context scoped to their type (JSON-LD 1.1, 4.1.7); text stays text elsewhere.
 */
export function jsonLdContext(): JsonObject {
  const terms = declaredTerms();
  const context: JsonObject = { "@version": 1.1, "@vocab": PREFIXES.schema, ...PREFIXES };
  for (const [name, uses] of terms) context[name] = definition(uses.map(({ field }) => field), Object.hasOwn(PROVENANCE, name));
  for (const [name, term] of Object.entries(PROVENANCE)) context[name] ??= { "@id": term.evi, "@type": "@id" };
  // Software says its type by this name; as an alias it also brings the scoped context of its type in.
  context["metadataType"] = "@type";
  return { "@context": { ...context, ...scopedByType(terms) } };
}

interface Use { kind: Kind; field: Field }

/** Every public name with the kinds that declare it, in the contract's order. */
function declaredTerms(): Map<string, Use[]> {
  const terms = new Map<string, Use[]>();
  for (const kind of Object.values(KINDS)) {
    for (const [name, field] of Object.entries(kind.fields)) {
      if (name.startsWith("@") || field.secret) continue;
      const uses = terms.get(name) ?? [];
      if (uses[0] && uses[0].field.term !== field.term) throw new Error(`${name} means ${uses[0].field.term} and, in ${kind.name}, ${field.term}`);
      terms.set(name, [...uses, { kind, field }]);
    }
  }
  return terms;
}

function definition(fields: readonly Field[], provenance: boolean): JsonValue {
  const term = fields[0]!.term;
  if (provenance || fields.every((field) => field.ark)) return { "@id": term, "@type": "@id" };
  if (fields.every((field) => isJson(field))) return { "@id": term, "@type": "@json" };
  return term;
}

/** Values kept whole as one JSON literal: their members are no statements about the record. */
export const isJson = (field: Field): boolean => field.json === "object" || field.json === "stringMap" || field.json === "list";

function scopedByType(terms: ReadonlyMap<string, readonly Use[]>): JsonObject {
  const scoped: Record<string, { "@id": string; "@context": JsonObject }> = {};
  for (const [name, uses] of terms) {
    if (Object.hasOwn(PROVENANCE, name) || uses.every(({ field }) => field.ark)) continue;
    for (const { kind, field } of uses) {
      const declared = kind.fields["@type"] ?? kind.fields["metadataType"];
      const type = declared?.const ?? declared?.default;
      if (!field.ark || typeof type !== "string") continue;
      const scope = (scoped[type] ??= { "@id": type.includes(":") ? type : `schema:${type}`, "@context": {} });
      scope["@context"][name] = { "@id": field.term, "@type": "@id" };
    }
  }
  return scoped;
}
