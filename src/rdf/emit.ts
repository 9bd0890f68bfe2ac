import { arkKey, parseArk, referencedArk } from "../identifiers/ark.js";
import { expandCurie } from "../model/field.js";
import type { Link } from "../model/link.js";
import { ACTIVITY_SUBJECT, ANY_SUBJECT, PROVENANCE, SUPPORTED_BY, inferredGraph, type ProvenanceName } from "../model/provenance.js";
import { JsonLdError } from "./json-ld-error.js";
import { FALLBACK_VOCABULARY, isAbsoluteIri, nodeIri, safeIri, safeTerm } from "./iri.js";
import { RDF, canonicalJson, canonicalLines, compactIri, iriTerm, literalTerm, nativeTerm } from "./nquads.js";

/** A node, value or list object of expanded JSON-LD. */
export type Expanded = { [key: string]: unknown };
const RDF_TYPE = `${RDF}type`;
const ACTION = /^https:\/\/schema\.org\/\w*Action$|^https:\/\/w3id\.org\/EVI#(?:Computation|Experiment)$|^http:\/\/www\.w3\.org\/ns\/prov#Activity$/;

const EVI_IRI = new Map((Object.keys(PROVENANCE) as ProvenanceName[]).map((name) => [name, expandCurie(PROVENANCE[name].evi)]));
const PROV_IRI = new Map((Object.keys(PROVENANCE) as ProvenanceName[]).flatMap((name) => {
  const term: { prov?: string } = PROVENANCE[name];
  return term.prov ? [[name, expandCurie(term.prov)] as const] : [];
}));

/** What the emitter must know of a record besides its statements. */
export interface EmitOptions {
  ark: string;
  /** IRI of the node that stands for the record: its ARK, or the URL that a crate knows it by. */
  subject: string;
  /** Properties whose text values are references when they are ARKs. */
  references: ReadonlySet<string>;
  /** The record is an activity: schema.org's `object`, `result` … count as provenance. */
  activity: boolean;
}

/**
 * Expanded JSON-LD → canonical N-Quads of one record. Nodes without a name become `<ark#genid-N>` (skolem
 * IRIs, RDF 1.1 Concepts section 3.5), so that a record's statements compare line by line; provenance,
 * however it was written, also becomes EVI and PROV-O statements, and support edges in the inferred graph.
 */
export class Emitter {
  private readonly lines: string[] = [];
  private readonly links = new Map<string, Link>();
  private readonly blanks = new Map<string, string>();
  private genid = 0;
  readonly lostTerms = new Set<string>();
  private readonly graph: string;
  private readonly inferred: string;

  constructor(private readonly options: EmitOptions) {
    this.graph = iriTerm(options.ark);
    this.inferred = iriTerm(inferredGraph(options.ark));
  }

  result(): { quads: string; links: Link[]; lostTerms: string[] } {
    return { quads: canonicalLines(this.lines), links: [...this.links.values()], lostTerms: [...this.lostTerms] };
  }

  /** States one triple with an IRI object. */
  state(subject: string, property: string, object: string): void {
    this.lines.push(`${iriTerm(subject)} ${iriTerm(property)} ${iriTerm(object)} ${this.graph} .`);
    if (subject === this.options.subject || subject === this.options.ark) this.link(property, object);
  }

  private literal(subject: string, property: string, term: string): void {
    this.lines.push(`${iriTerm(subject)} ${iriTerm(property)} ${term} ${this.graph} .`);
  }

  private link(property: string, object: string): void {
    const target = property === RDF_TYPE ? undefined : parseArk(object);
    if (!target || object === this.options.ark || property.startsWith("http://www.w3.org/ns/prov#")) return;
    const predicate = compactIri(property);
    this.links.set(`${predicate} ${object}`, { predicate, target: target.stored, targetKey: arkKey(target.stored) });
  }

  /** Emits a node with all it says and holds; answers its IRI. */
  node(node: Expanded): string {
    const subject = this.iriOf(node);
    const types = ((node["@type"] as string[] | undefined) ?? []).map((type) => this.term(type));
    for (const type of types) this.state(subject, RDF_TYPE, type);
    const activity = types.some((type) => ACTION.test(type)) || (this.options.activity && subject === this.options.subject);
    for (const [property, values] of Object.entries(node)) {
      if (property === "@graph" || property === "@included") for (const inner of values as Expanded[]) this.node(inner);
      else if (property === "@reverse") this.reverse(subject, values as Record<string, Expanded[]>);
      else if (!property.startsWith("@")) {
        const iri = this.term(property);
        for (const value of values as Expanded[]) this.value(subject, iri, value, activity);
      }
    }
    return subject;
  }

  private reverse(subject: string, reversed: Record<string, Expanded[]>): void {
    for (const [property, nodes] of Object.entries(reversed)) {
      for (const node of nodes) this.relate(this.node(node), this.term(property), subject, false);
    }
  }

  private value(subject: string, property: string, value: Expanded, activity: boolean): void {
    if ("@list" in value) {
      // A list of references is that many relations: who used what does not depend on the order it is told in.
      if (this.refers(property, activity)) for (const item of value["@list"] as Expanded[]) this.value(subject, property, item, activity);
      else this.relate(subject, property, this.list(value["@list"] as Expanded[]), activity);
    } else if ("@value" in value) {
      const reference = this.reference(property, value, activity);
      if (reference !== undefined) this.relate(subject, property, reference, activity);
      else if (value["@value"] !== null) this.literal(subject, this.canonicalProperty(property, activity), this.literalOf(property, value));
    } else {
      this.relate(subject, property, this.node(value), activity);
    }
  }

  /** IRI that a text value refers to, where the property is one of references. */
  private reference(property: string, value: Expanded, activity: boolean): string | undefined {
    const text = value["@value"];
    if (typeof text !== "string") return undefined;
    if (!this.refers(property, activity)) return undefined;
    return referencedArk(text) ?? (this.provenanceOf(property, activity) !== undefined && /^https?:\/\/[^\s]+$/.test(text) ? safeIri(text) : undefined);
  }

  private literalOf(property: string, value: Expanded): string {
    const raw = value["@value"];
    const type = value["@type"] as string | string[] | undefined;
    // An invalid typed value (JSON-LD 1.1 API, 5.1.2, step 14), which the processor lets pass.
    if (Array.isArray(type)) throw new JsonLdError("The document is not valid JSON-LD: a value has one @type, and not several.");
    if (type === "@json") return literalTerm(canonicalJson(raw), `${RDF}JSON`);
    const datatype = type === undefined ? undefined : safeIri(type);
    if (typeof raw === "string") {
      const text = property === "https://schema.org/license" ? raw.trim() : raw;
      return literalTerm(text.toWellFormed(), datatype, value["@language"] as string | undefined);
    }
    return nativeTerm(raw as number | boolean, datatype);
  }

  /** `schema:usedDataset` and the like are no terms of schema.org: the EVI one stands in their place. */
  private canonicalProperty(property: string, activity: boolean): string {
    const name = this.provenanceOf(property, activity);
    return name && (property.startsWith("https://schema.org/") || property.startsWith(FALLBACK_VOCABULARY)) && !ACTIVITY_SUBJECT.has(property) && property !== "https://schema.org/isBasedOn"
      ? EVI_IRI.get(name)! : property;
  }

  /** Provenance, or another relation between records. */
  private refers(property: string, activity: boolean): boolean {
    return this.options.references.has(property) || this.provenanceOf(property, activity) !== undefined;
  }

  /** A name that no context explains counts as the plain name that it is. */
  private provenanceOf(property: string, activity: boolean): ProvenanceName | undefined {
    const known = property.startsWith(FALLBACK_VOCABULARY) ? `https://schema.org/${property.slice(FALLBACK_VOCABULARY.length)}` : property;
    return ANY_SUBJECT.get(known) ?? (activity ? ACTIVITY_SUBJECT.get(known) : undefined);
  }

  /** States a relation and what follows from it when it is provenance. */
  private relate(subject: string, property: string, object: string, activity: boolean): void {
    this.state(subject, this.canonicalProperty(property, activity), object);
    const name = this.provenanceOf(property, activity);
    if (!name) return;
    this.state(subject, EVI_IRI.get(name)!, object);
    const prov = PROV_IRI.get(name);
    if (prov) this.state(subject, prov, object);
    const [supported, supporting] = PROVENANCE[name].support === "object" ? [subject, object] : [object, subject];
    if (supported !== supporting) this.lines.push(`${iriTerm(supported)} ${iriTerm(SUPPORTED_BY)} ${iriTerm(supporting)} ${this.inferred} .`);
  }

  private list(items: Expanded[]): string {
    let rest = `${RDF}nil`;
    for (const item of items.toReversed()) {
      const cell = this.fresh();
      this.value(cell, `${RDF}first`, item, false);
      this.state(cell, `${RDF}rest`, rest);
      rest = cell;
    }
    return rest;
  }

  private iriOf(node: Expanded): string {
    const id = node["@id"];
    if (typeof id !== "string") return this.fresh();
    if (!id.startsWith("_:")) return nodeIri(id, this.options.ark);
    let iri = this.blanks.get(id);
    if (iri === undefined) this.blanks.set(id, (iri = this.fresh()));
    return iri;
  }

  private fresh(): string {
    return `${this.options.ark}#genid-${this.genid++}`;
  }

  private term(iri: string): string {
    if (iri.startsWith(FALLBACK_VOCABULARY)) {
      const name = iri.slice(FALLBACK_VOCABULARY.length).replace(/%(?:09|0A|0D|20)/g, decodeURIComponent);
      if (!ANY_SUBJECT.has(`https://schema.org/${name}`)) this.lostTerms.add(name);
      return FALLBACK_VOCABULARY + encodeURIComponent(name);
    }
    if (isAbsoluteIri(iri)) return safeTerm(iri);
    this.lostTerms.add(iri);
    return FALLBACK_VOCABULARY + encodeURIComponent(iri);
  }
}
