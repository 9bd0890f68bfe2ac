import type { JsonObject, JsonValue } from "../model/field.js";
import { isBundled } from "./contexts.js";
import { FALLBACK_VOCABULARY } from "./iri.js";

const FALLBACK: JsonObject = { "@vocab": FALLBACK_VOCABULARY };

/**
 * A context under which no term is dropped. A context may take the meaning of a term away (`null` as the whole
 * context, as `@vocab`, or as a term; JSON-LD 1.1, section 4.1), and the processor then leaves out whatever uses
 * the term. Those terms get the fallback vocabulary; a context that takes nothing away is answered as it is.
 * A remote context that is not bundled is left out: nothing is fetched, and it explains nothing here.
 */
export function keepContext(context: JsonValue): JsonValue {
  if (context === null) return [null, FALLBACK];
  if (Array.isArray(context)) {
    const kept = context.map(keepContext);
    return kept.some((part, index) => part !== context[index]) ? kept.flat() : context;
  }
  if (typeof context === "string") return isBundled(context) ? context : [];
  if (typeof context !== "object") return context;
  let changed = false;
  const entries = Object.entries(context).flatMap(([term, definition]): [string, JsonValue][] => {
    const isLost = term === "@import" && typeof definition === "string" && !isBundled(definition);
    const kept = isLost ? undefined : keepDefinition(term, definition);
    changed ||= kept !== definition;
    return kept === undefined ? [] : [[term, kept]];
  });
  return changed ? Object.fromEntries(entries) : context;
}

function keepDefinition(term: string, definition: JsonValue): JsonValue {
  // The processor reads a context inside a context, as a document of contexts has it.
  if (term === "@context") return typeof definition === "string" && !isBundled(definition) ? {} : keepContext(definition);
  if (term === "@vocab") return definition ?? FALLBACK_VOCABULARY;
  if (term.startsWith("@")) return definition;
  if (definition === null) return FALLBACK_VOCABULARY + term;
  if (typeof definition !== "object" || Array.isArray(definition)) return definition;
  const scoped = definition["@context"];
  const kept = scoped === undefined ? undefined : keepContext(scoped);
  if (definition["@id"] !== null && kept === scoped) return definition;
  return { ...definition, ...(definition["@id"] === null ? { "@id": FALLBACK_VOCABULARY + term } : {}), ...(kept === undefined ? {} : { "@context": kept }) };
}

/** Keywords that say something of a node or value (JSON-LD 1.1, section 9); the others belong into a context. */
const OF_NODES: ReadonlySet<string> = new Set(["@id", "@type", "@value", "@language", "@direction", "@index", "@list", "@set", "@reverse", "@graph", "@included", "@nest", "@context", "@none"]);
const KEYWORD = /^@[A-Za-z]+$/;

/** A key of a node as the processor keeps it: what has the form of a keyword and is none would be left out. */
export const keepKey = (key: string): string => (KEYWORD.test(key) && !OF_NODES.has(key) ? FALLBACK_VOCABULARY + key : key);
/** The same of a type. */
export const keepType = (type: string): string => (KEYWORD.test(type) && type !== "@json" ? FALLBACK_VOCABULARY + type : type);
