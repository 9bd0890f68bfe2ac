/** Documents in the registry's own context become N-Quads without a JSON-LD processor. */
import { type Ark, parseArk, referencedArk } from "../identifiers/ark.js";
import { expandCurie, type JsonObject, type JsonValue } from "../model/field.js";
import type { KindName, Link } from "../model/kind.js";
import { ANY_SUBJECT, inferredGraph, SUPPORTED_BY } from "../model/provenance.js";
import {
  canonicalJson,
  FALLBACK_VOCABULARY,
  iriTerm,
  isAbsoluteIri,
  Lines,
  literalTerm,
  nativeTerm,
  nodeIri,
  type Predicate,
  type Properties,
  type Property,
  predicateOf,
  RDF,
  safeIri,
  safeTerm,
} from "./terms.js";

/**
 * The document cannot be read as JSON-LD (a malformed `@context`, a wrong keyword); names the
 * fault.
 */
export class JsonLdError extends Error {
  /** @param entity index of the entity of a crate that cannot be read */
  constructor(
    message: string,
    readonly entity?: number,
  ) {
    super(message);
    this.name = "JsonLdError";
  }
}

/** A node, value or list object of expanded JSON-LD. */
export type Expanded = { [key: string]: unknown };
const TYPE = predicateOf(`${RDF}type`);
const FIRST = `${RDF}first`;
const REST = predicateOf(`${RDF}rest`);
const SUPPORT = predicateOf(SUPPORTED_BY);
const LICENSE = expandCurie("schema:license");
const ACTION = new RegExp(
  String.raw`^https:\/\/schema\.org\/\w*Action$|^https:\/\/w3id\.org\/EVI#(?:Computation|Experiment)$` +
    String.raw`|^http:\/\/www\.w3\.org\/ns\/prov#Activity$|^https:\/\/bioschemas\.org\/LabProcess$`,
);

/** The data of a record that the emitter needs besides its statements. */
interface EmitOptions {
  ark: string;
  /** IRI of the node that stands for the record: its ARK, or its URL in a crate. */
  subject: string;
  properties: Properties;
  /** The record is an activity: schema.org's `object`, `result` … count as provenance. */
  activity: boolean;
  /** As in {@link import("./emit.js").GraphInput}. */
  known?: Ark | undefined;
}

/**
 * Expanded JSON-LD → canonical N-Quads of one record. Nodes without a name become `<ark#genid-N>`
 * (skolem IRIs, RDF 1.1 Concepts section 3.5), so that a record's statements compare line by line;
 * provenance, however it was written, also becomes EVI and PROV-O statements, and support edges in
 * the inferred graph.
 */
export class Emitter {
  readonly #lines = new Lines();
  readonly #links = new Map<string, Link>();
  readonly #blanks = new Map<string, string>();
  /** By IRI: provenance names one target in several statements. */
  readonly #arks = new Map<string, Ark | undefined>();
  #genid = 0;
  readonly lostTerms = new Set<string>();
  /** The end of a line: the graph. */
  readonly #end: string;
  readonly #inferredEnd: string;

  readonly #options: EmitOptions;

  constructor(options: EmitOptions) {
    this.#options = options;

    this.#end = `${iriTerm(options.ark)} .`;
    this.#inferredEnd = `${iriTerm(inferredGraph(options.ark))} .`;
    if (options.known) this.#arks.set(options.known.stored, options.known);
  }

  result(): { quads: string; links: Link[]; lostTerms: string[] } {
    return {
      quads: this.#lines.text(),
      links: [...this.#links.values()],
      lostTerms: [...this.lostTerms],
    };
  }

  /** States one triple with an IRI object. */
  state(subject: string, predicate: Predicate, object: string): void {
    this.#lines.add(subject, `${predicate.term} ${iriTerm(object)} ${this.#end}`);
    if (
      predicate.link !== undefined &&
      (subject === this.#options.subject || subject === this.#options.ark)
    )
      this.#link(predicate.link, object);
  }

  #link(predicate: string, object: string): void {
    if (object === this.#options.ark) return;
    if (!this.#arks.has(object)) this.#arks.set(object, parseArk(object));
    const ark = this.#arks.get(object);
    if (ark)
      this.#links.set(`${predicate} ${object}`, {
        predicate,
        target: ark.stored,
        targetKey: ark.key,
      });
  }

  /** Emits a node with all its properties and nested nodes; returns its IRI. */
  node(node: Expanded): string {
    const subject = this.#iriOf(node);
    // The processor makes null of a type that has the form of a keyword.
    const types = ((node["@type"] as (string | null)[] | undefined) ?? [])
      .filter((type) => type !== null)
      .map((type) => this.#term(type));
    for (const type of types) this.state(subject, TYPE, type);
    const activity =
      types.some((type) => ACTION.test(type)) ||
      (this.#options.activity && subject === this.#options.subject);
    for (const [property, values] of Object.entries(node)) {
      if (property === "@graph" || property === "@included")
        for (const inner of values as Expanded[]) this.node(inner);
      else if (property === "@reverse")
        this.#reverse(subject, values as Record<string, Expanded[]>);
      else if (!property.startsWith("@")) {
        const iri = this.#term(property);
        const known = this.#options.properties.of(iri, activity);
        for (const value of values as Expanded[]) this.#value(subject, iri, known, value);
      }
    }
    return subject;
  }

  #reverse(subject: string, reversed: Record<string, Expanded[]>): void {
    for (const [property, nodes] of Object.entries(reversed)) {
      for (const node of nodes)
        this.#relate(
          this.node(node),
          this.#options.properties.of(this.#term(property), false),
          subject,
        );
    }
  }

  #value(subject: string, iri: string, property: Property, value: Expanded): void {
    if ("@list" in value) {
      // A list of references is that many relations: which record used which does not depend on the
      // order of the list.
      if (property.refers)
        for (const item of value["@list"] as Expanded[]) this.#value(subject, iri, property, item);
      else this.#relate(subject, property, this.#list(value["@list"] as Expanded[]));
    } else if ("@value" in value) {
      const reference = property.refers ? this.#reference(property, value["@value"]) : undefined;
      if (reference !== undefined) this.#relate(subject, property, reference);
      else if (value["@value"] !== null || value["@type"] === "@json")
        this.#lines.add(
          subject,
          `${property.predicate.term} ${this.#literalOf(iri, value)} ${this.#end}`,
        );
    } else {
      this.#relate(subject, property, this.node(value));
    }
  }

  /** IRI that a text value refers to. */
  #reference({ provenance }: Property, text: unknown): string | undefined {
    if (typeof text !== "string") return undefined;
    const ark = this.#arks.get(text) ?? referencedArk(text);
    if (ark) {
      this.#arks.set(ark.stored, ark);
      return ark.stored;
    }
    return provenance !== undefined && /^https?:\/\/[^\s]+$/.test(text) ? safeIri(text) : undefined;
  }

  #literalOf(iri: string, value: Expanded): string {
    const raw = value["@value"];
    const type = (value["@type"] ?? undefined) as string | string[] | undefined;
    // An invalid typed value (JSON-LD 1.1 API, 5.1.2, step 14), which the processor lets pass.
    if (Array.isArray(type))
      throw new JsonLdError(
        "The document is not valid JSON-LD: a value must have one @type, not several.",
      );
    if (type === "@json") return literalTerm(canonicalJson(raw), `${RDF}JSON`);
    const datatype = type === undefined ? undefined : safeIri(type);
    if (typeof raw === "string") {
      const text = iri === LICENSE ? raw.trim() : raw;
      return literalTerm(text.toWellFormed(), datatype, value["@language"] as string | undefined);
    }
    return nativeTerm(raw as number | boolean, datatype);
  }

  /** States a relation and the statements that follow from it when it is provenance. */
  #relate(subject: string, { predicate, provenance }: Property, object: string): void {
    this.state(subject, predicate, object);
    if (!provenance) return;
    for (const canonical of provenance.canonical)
      if (canonical !== predicate) this.state(subject, canonical, object);
    const [supported, supporting] =
      provenance.support === "object" ? [subject, object] : [object, subject];
    if (supported !== supporting)
      this.#lines.add(supported, `${SUPPORT.term} ${iriTerm(supporting)} ${this.#inferredEnd}`);
  }

  #list(items: Expanded[]): string {
    let rest = `${RDF}nil`;
    for (const item of items.toReversed()) {
      const cell = this.#fresh();
      this.#value(cell, FIRST, this.#options.properties.of(FIRST, false), item);
      this.state(cell, REST, rest);
      rest = cell;
    }
    return rest;
  }

  #iriOf(node: Expanded): string {
    const id = node["@id"];
    if (typeof id !== "string") return this.#fresh();
    if (id === this.#options.ark) return id;
    if (!id.startsWith("_:")) return nodeIri(id, this.#options.ark);
    let iri = this.#blanks.get(id);
    if (iri === undefined) this.#blanks.set(id, (iri = this.#fresh()));
    return iri;
  }

  #fresh(): string {
    return `${this.#options.ark}#genid-${this.#genid++}`;
  }

  #term(iri: string): string {
    if (iri.startsWith(FALLBACK_VOCABULARY)) {
      const name = iri
        .slice(FALLBACK_VOCABULARY.length)
        .replace(/%(?:09|0A|0D|20)/g, decodeURIComponent);
      if (!ANY_SUBJECT.has(`https://schema.org/${name}`)) this.lostTerms.add(name);
      return FALLBACK_VOCABULARY + encodeURIComponent(name);
    }
    if (isAbsoluteIri(iri)) return safeTerm(iri);
    this.lostTerms.add(iri);
    return FALLBACK_VOCABULARY + encodeURIComponent(iri);
  }
}

const VOCABULARY = "https://schema.org/";
const EVI = "https://w3id.org/EVI#";
const WORD = /^[A-Za-z][A-Za-z0-9_]*$/;
const TYPE_NAME = /^(?:(evi|EVI):)?([A-Za-z][A-Za-z0-9_]*)$/;

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
  for (const [name, value] of Object.entries(document).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (name === "@id" || name === "@context") continue;
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
    const [, prefix, name] =
      (typeof type === "string" && !Object.hasOwn(terms, type) && !Object.hasOwn(context, type)
        ? TYPE_NAME.exec(type)
        : null) ?? [];
    if (name === undefined || (prefix !== undefined && !Object.hasOwn(context, prefix)))
      return undefined;
    types.push((prefix === undefined ? VOCABULARY : EVI) + name);
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
