import type { JsonObject, JsonValue } from "../../../model/field.js";
import { bundledTerms } from "../../../rdf/contexts.js";
import { FALLBACK_VOCABULARY, oneSpelling } from "../../../rdf/iri.js";
import { isObject, listOf } from "../json-path.js";

/** Prefixes of prefixes; more is a loop. */
const DEEPEST = 5;
/** Members of a term's definition that mean the same in every context, once the IRIs in them are written out. */
const PORTABLE = new Set(["@id", "@type", "@container", "@language", "@direction", "@prefix"]);
const COMPACT = /^([^:/?#@][^:/?#]*):(?!\/\/)/;
/** The prefix of `prefix:name`; undefined for a plain term and for a URL. */
export const prefixOf = (term: string): string | undefined => COMPACT.exec(term)?.[1];

/**
 * What the terms of a context mean (JSON-LD 1.1, section 4.1), so far as two contexts can be compared by it:
 * equal texts mean the same. The schemes of schema.org and the spelling of EVI make no difference here.
 */
export class TermMeanings {
  private readonly parts: readonly JsonObject[];
  private readonly known = new Map<string, string>();

  /** @throws UnknownContext */
  constructor(context: JsonValue | undefined) {
    this.parts = partsOf(context).toReversed();
  }

  of(term: string): string {
    let meaning = this.known.get(term);
    if (meaning === undefined) this.known.set(term, meaning = this.define(term, 0));
    return meaning;
  }

  /** Whether the context itself has a definition of the term; a vocabulary is none. */
  defines(term: string): boolean {
    return this.part(term) !== undefined;
  }

  /** A keyword that bears on all values: `@language`, `@base`. */
  setting(keyword: string): string {
    const part = this.part(keyword);
    return part ? JSON.stringify(part[keyword]) : "";
  }

  /** A definition that gives the term its meaning in any context; undefined where there is none. */
  definition(term: string): JsonValue | undefined {
    // Of `prefix:name` the prefix is what needs a definition.
    if (prefixOf(term) !== undefined) return undefined;
    const stated = this.part(term)?.[term];
    if (isObject(stated)) {
      if (typeof stated["@id"] !== "string" || Object.keys(stated).some((key) => !PORTABLE.has(key))) return undefined;
      return { ...this.resolved(stated), "@id": this.iri(stated["@id"], 0) };
    }
    if (stated === null) return null;
    const iri = this.iriOf(term, 0);
    return iri.startsWith(FALLBACK_VOCABULARY) ? undefined : iri;
  }

  private part(term: string): JsonObject | undefined {
    return this.parts.find((candidate) => Object.hasOwn(candidate, term));
  }

  private define(term: string, depth: number): string {
    const stated = this.part(term)?.[term];
    if (!isObject(stated)) return oneSpelling(stated === null ? "" : this.iriOf(term, depth));
    const { "@id": id, ...rest } = this.resolved(stated);
    const iri = oneSpelling(typeof id === "string" ? this.iri(id, depth) : term);
    return Object.keys(rest).length === 0 ? iri : `${iri} ${JSON.stringify(rest)}`;
  }

  /** With the type of values written out. */
  private resolved(stated: JsonObject): JsonObject {
    const type = stated["@type"];
    return typeof type === "string" && !type.startsWith("@") ? { ...stated, "@type": this.iri(type, 1) } : stated;
  }

  private iriOf(term: string, depth: number): string {
    const part = this.part(term);
    const stated = part?.[term];
    const id = isObject(stated) ? stated["@id"] : stated;
    if (typeof id === "string" && depth <= DEEPEST) return this.iri(id, depth);
    return part ? (isObject(stated) ? term : "") : this.undefinedTerm(term, depth);
  }

  private iri(text: string, depth: number): string {
    if (depth > DEEPEST) return text;
    return text.includes(":") ? this.undefinedTerm(text, depth) : this.iriOf(text, depth + 1);
  }

  private undefinedTerm(text: string, depth: number): string {
    const colon = text.indexOf(":");
    if (colon < 0) {
      const vocabulary = this.part("@vocab")?.["@vocab"];
      return (typeof vocabulary === "string" ? vocabulary : FALLBACK_VOCABULARY) + text;
    }
    const prefix = text.slice(0, colon);
    const isDefined = !text.startsWith("//", colon + 1) && this.part(prefix) !== undefined;
    if (isDefined && depth <= DEEPEST) return this.iriOf(prefix, depth + 1) + text.slice(colon + 1);
    return /^evi:/i.test(text) ? `https://w3id.org/EVI#${text.slice(4)}` : text;
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
