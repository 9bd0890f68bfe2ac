import type { JsonObject, JsonValue } from "../../../model/field.js";
import { bundledTerms } from "../../../rdf/contexts.js";
import { FALLBACK_VOCABULARY } from "../../../rdf/iri.js";
import { isObject, listOf } from "../json-path.js";

/** Prefixes of prefixes; more is a loop. */
const DEEPEST = 5;

/**
 * What the terms of a context mean (JSON-LD 1.1, section 4.1), so far as two contexts can be compared by it:
 * equal texts mean the same. The schemes of schema.org and the spelling of EVI make no difference here.
 */
export class TermMeanings {
  private readonly parts: readonly JsonObject[];
  private readonly known = new Map<string, string>();

  constructor(context: JsonValue | undefined) {
    this.parts = partsOf(context).toReversed();
  }

  of(term: string): string {
    let meaning = this.known.get(term);
    if (meaning === undefined) this.known.set(term, meaning = this.define(term, 0));
    return meaning;
  }

  /** A keyword that bears on all values: `@language`, `@base`. */
  setting(keyword: string): string {
    const part = this.parts.find((candidate) => Object.hasOwn(candidate, keyword));
    return part ? JSON.stringify(part[keyword]) : "";
  }

  private define(term: string, depth: number): string {
    const part = this.parts.find((candidate) => Object.hasOwn(candidate, term));
    const definition = part?.[term];
    if (isObject(definition)) {
      const { "@id": id, ...rest } = definition;
      const iri = typeof id === "string" ? this.expand(id, depth) : term;
      return Object.keys(rest).length === 0 ? iri : `${iri} ${JSON.stringify(rest)}`;
    }
    return typeof definition === "string" ? this.expand(definition, depth) : part ? "" : this.undefinedTerm(term, depth);
  }

  private expand(text: string, depth: number): string {
    if (depth > DEEPEST) return text;
    return text.includes(":") ? this.undefinedTerm(text, depth) : this.define(text, depth + 1);
  }

  private undefinedTerm(text: string, depth: number): string {
    const colon = text.indexOf(":");
    if (colon < 0) {
      const vocabulary = this.parts.find((candidate) => Object.hasOwn(candidate, "@vocab"))?.["@vocab"];
      return normal((typeof vocabulary === "string" ? vocabulary : FALLBACK_VOCABULARY) + text);
    }
    const prefix = text.slice(0, colon);
    const isDefined = !text.startsWith("//", colon + 1) && this.parts.some((candidate) => Object.hasOwn(candidate, prefix));
    return normal(isDefined && depth <= DEEPEST ? this.define(prefix, depth + 1) + text.slice(colon + 1) : text);
  }
}

/** The objects that a context consists of, remote ones from their bundled copies; `null` takes back what was before. */
function partsOf(context: JsonValue | undefined): JsonObject[] {
  let parts: JsonObject[] = [];
  for (const part of Array.isArray(context) ? context : [context]) {
    if (part === null) parts = [];
    else if (typeof part === "string") parts.push(...partsOf(bundledTerms(part)));
    else if (isObject(part)) parts.push(part);
  }
  return parts;
}

const normal = (iri: string): string => iri.replace(/^http:\/\/schema\.org\//, "https://schema.org/").replace(/^(?:https:\/\/w3id\.org\/evi#|evi:)/i, "https://w3id.org/EVI#");

/** Every term of an entity: keys and types, at any depth. */
export function termsOf(value: JsonValue, found: Set<string> = new Set()): Set<string> {
  if (Array.isArray(value)) for (const item of value) termsOf(item, found);
  else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (!key.startsWith("@")) found.add(key);
      if (key === "@type") for (const type of listOf(inner)) if (typeof type === "string") found.add(type);
      if (key !== "@context" && key !== "@value") termsOf(inner, found);
    }
  }
  return found;
}
