import type { Ark } from "../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import type { KindName, Link } from "../model/kind.js";
import type { Expanded } from "./emit.js";

const VOCABULARY = "https://schema.org/";
const EVI = "https://w3id.org/EVI#";
const WORD = /^[A-Za-z][A-Za-z0-9_]*$/;
const TYPE = /^(?:(evi|EVI):)?([A-Za-z][A-Za-z0-9_]*)$/;

type Scalar = string | number | boolean;
const isScalar = (value: JsonValue): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** True for the contexts that the registry itself fills in. */
function isOwnContext(context: JsonValue | undefined): context is JsonObject {
  if (
    context === null ||
    typeof context !== "object" ||
    Array.isArray(context) ||
    context["@vocab"] !== VOCABULARY
  )
    return false;
  return Object.entries(context).every(
    ([name, value]) => name === "@vocab" || ((name === "evi" || name === "EVI") && value === EVI),
  );
}

/**
 * The expansion of a plain record under one of the registry's own contexts: words as keys, scalars
 * and lists of them as values. Most clients send such records, and the JSON-LD processor spends
 * four fifths of a small write on one. `undefined` for any other document, which the processor
 * expands; a property test compares the two.
 * @param document its `@id` is ignored
 * @param terms declared fields of the kind: name → term definition
 */
export function plainExpansion(document: JsonObject, terms: JsonObject): Expanded | undefined {
  const context = document["@context"];
  if (!isOwnContext(context)) return undefined;
  const node: Record<string, unknown> = {};
  // In the processor's order, which is that of links.
  for (const name of Object.keys(document).sort()) {
    if (name === "@id" || name === "@context") continue;
    const value = document[name]!;
    if (name === "@type") {
      const types = typesOf(value, context, terms);
      if (!types) return undefined;
      node["@type"] = types;
      continue;
    }
    if (!WORD.test(name) || Object.hasOwn(context, name)) return undefined;
    const definition = Object.hasOwn(terms, name)
      ? (terms[name] as { "@id": string; "@type"?: string })
      : undefined;
    if (definition?.["@type"] !== undefined) return undefined;
    const values = Array.isArray(value) ? value : [value];
    if (!values.every((item) => item === null || isScalar(item))) return undefined;
    const iri = definition?.["@id"] ?? VOCABULARY + name;
    const expanded = (node[iri] ??= []) as Expanded[];
    // A loop: a spread would put each value on the stack.
    for (const item of values) if (item !== null) expanded.push({ "@value": item });
  }
  return node;
}

function typesOf(value: JsonValue, context: JsonObject, terms: JsonObject): string[] | undefined {
  const types: string[] = [];
  for (const type of Array.isArray(value) ? value : [value]) {
    const match =
      typeof type === "string" && !Object.hasOwn(terms, type) && !Object.hasOwn(context, type)
        ? TYPE.exec(type)
        : null;
    if (!match || (match[1] !== undefined && !Object.hasOwn(context, match[1]))) return undefined;
    types.push((match[1] === undefined ? VOCABULARY : EVI) + match[2]!);
  }
  return types;
}

/** The part of a record that goes into the graph. */
export interface GraphInput {
  ark: string;
  kind: KindName;
  /** The document as answered to clients; its ids of records are ARKs in any spelling. */
  document: JsonObject;
  /**
   * IRI that the statements are about, when it is not the ARK: a crate entity known by its URL. The
   * ARK then names it by `schema:sameAs`.
   */
  subject?: string;
  /**
   * The document comes from a crate: its own context alone defines its terms. Otherwise the model
   * defines declared fields.
   */
  fromCrate?: boolean;
  /** An identifier in the document that was parsed before: that of its owner. */
  known?: Ark | undefined;
}
export interface RecordGraph {
  /** Canonical N-Quads (sorted lines): the record's graph, and its inferred graph. */
  quads: string;
  links: Link[];
  /** Terms that no context explains; stored under the fallback vocabulary. */
  lostTerms: string[];
}
