/** Predicates, IRIs and literals, and N-Quads that are made of them. */
import { Parser, type Quad } from "n3";
import { eventLoop } from "../event-loop-budget.js";
import { parseArk } from "../identifiers/ark.js";
import { expandCurie, FALLBACK_VOCABULARY, PREFIXES } from "../model/field.js";
import {
  ACTIVITY_SUBJECT,
  ANY_SUBJECT,
  PROVENANCE,
  type ProvenanceName,
  type ProvenanceTerm,
} from "../model/provenance.js";

const XSD = PREFIXES.xsd;
export const RDF = PREFIXES.rdf;
const LANGUAGE = /^[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*$/;
// eslint-disable-next-line no-control-regex
const ESCAPED = /[\u0000-\u001f"\\\u007f]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/** `<iri>` of N-Quads; the IRI must be safe ({@link import("./terms.js").safeIri}). */
export const iriTerm = (iri: string): string => `<${iri}>`;

const escaped = (character: string): string =>
  ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/**
 * A literal in the canonical form of RDF 1.1 N-Quads (RDFC-1.0, section 5): only characters that
 * must be escaped are escaped.
 */
export function literalTerm(value: string, datatype?: string, language?: string): string {
  const body = `"${value.replace(ESCAPED, escaped)}"`;
  if (language !== undefined && LANGUAGE.test(language)) return `${body}@${language.toLowerCase()}`;
  return datatype === undefined || datatype === `${XSD}string` ? body : `${body}^^<${datatype}>`;
}

/**
 * A JSON number, boolean or string value as RDF (JSON-LD 1.1 API, section 8.6, data round
 * tripping).
 */
export function nativeTerm(value: string | number | boolean, datatype?: string): string {
  if (typeof value === "boolean") return literalTerm(String(value), datatype ?? `${XSD}boolean`);
  if (typeof value === "string") return literalTerm(value, datatype);
  const isDouble =
    !Number.isInteger(value) || Math.abs(value) >= 1e21 || datatype === `${XSD}double`;
  if (isDouble)
    return literalTerm(
      value.toExponential(15).replace(/(\d)0*e\+?/, "$1E"),
      datatype ?? `${XSD}double`,
    );
  return literalTerm(Object.is(value, -0) ? "0" : value.toFixed(0), datatype ?? `${XSD}integer`);
}

/** JSON Canonicalization Scheme (RFC 8785) for values of `@type: @json`. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.keys(value)
      .sort()
      .map(
        (key) => `${JSON.stringify(key)}:${canonicalJson((value as Record<string, unknown>)[key])}`,
      );
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

const NAMESPACES = Object.entries(PREFIXES);

/** CURIE of a property IRI where one of the product's prefixes fits, else the IRI itself. */
function compactIri(iri: string): string {
  for (const [prefix, namespace] of NAMESPACES)
    if (iri.startsWith(namespace)) return `${prefix}:${iri.slice(namespace.length)}`;
  return iri;
}

/**
 * Statements by subject, for their canonical text: sorted lines without duplicates. Those of one
 * subject are compared by the text after it; whole lines share so much at their beginning that
 * sorting them took most of the time of making them.
 */
export class Lines {
  readonly #bySubject = new Map<string, string[]>();
  #subject: string | undefined;
  #remainders: string[] = [];

  /**
   * @param subject safe IRI; @param rest the text after its term: `<predicate> object <graph> .`
   */
  add(subject: string, rest: string): void {
    if (subject !== this.#subject) {
      this.#subject = subject;
      this.#remainders = this.#of(`${iriTerm(subject)} `);
    }
    this.#remainders.push(rest);
  }

  /** Canonical N-Quads (RDFC-1.0, section 5). */
  text(): string {
    let text = "";
    // With the blank behind it, a subject that another one begins with comes where its whole lines
    // would.
    for (const [subject, remainders] of [...this.#bySubject].sort(([a], [b]) => (a < b ? -1 : 1))) {
      let before: string | undefined;
      for (const remainder of remainders.sort()) {
        if (remainder !== before) text += `${subject}${remainder}\n`;
        before = remainder;
      }
    }
    return text;
  }

  #of(subject: string): string[] {
    let remainders = this.#bySubject.get(subject);
    if (remainders === undefined) this.#bySubject.set(subject, (remainders = []));
    return remainders;
  }
}

/** Canonical N-Quads text as quads. */
function parseNQuads(text: string): Quad[] {
  return new Parser({ format: "N-Quads" }).parse(text);
}

/** Characters of N-Quads that are parsed in one turn of the event loop: about 5 ms. */
const MAX_CHARS_PER_TURN = 64 * 2 ** 10;

/**
 * The same for lines of N-Quads without blank nodes, in parts between which the event loop serves
 * others: a record may have megabytes of them.
 */
export async function* parseNQuadsInParts(
  lines: readonly string[],
): AsyncGenerator<Quad[], void, undefined> {
  let part: string[] = [];
  let size = 0;
  for (const line of lines) {
    part.push(line);
    size += line.length;
    if (size < MAX_CHARS_PER_TURN) continue;
    yield parseNQuads(part.join("\n"));
    part = [];
    size = 0;
    await eventLoop.nextTurn();
  }
  if (part.length > 0) yield parseNQuads(part.join("\n"));
}

/**
 * Crates bring terms of their own: results for more than these are computed each time, and so are
 * those for long ones.
 */
const MAX_KNOWN = 2000;
const MAX_KNOWN_TERM_CHARS = 200;

/** Results for IRIs of vocabularies, cached: few come again and again. */
class Known<T> {
  readonly #known = new Map<string, T>();

  readonly #make: (iri: string) => T;

  constructor(make: (iri: string) => T) {
    this.#make = make;
  }

  of(iri: string): T {
    const known = this.#known.get(iri);
    if (known !== undefined) return known;
    const made = this.#make(iri);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    if (iri.length <= MAX_KNOWN_TERM_CHARS) this.#known.set(iri, made);
    return made;
  }
}

const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
/** Characters an IRI never holds (RFC 3987), and `%` that begins no escape. */
// eslint-disable-next-line no-control-regex
const NOT_IN_IRI = new RegExp(
  '[\\u0000-\\u0020\\u007f-\\u009f<>"{}|\\\\^`\\ud800-\\udfff\\ue000-\\uf8ff\\ufdd0-\\ufdef\\ufff0-' +
    String.raw`\uffff]|[\u{1fffe}\u{1ffff}\u{2fffe}\u{2ffff}\u{3fffe}\u{3ffff}\u{4fffe}\u{4ffff}` +
    String.raw`\u{5fffe}\u{5ffff}\u{6fffe}\u{6ffff}\u{7fffe}\u{7ffff}\u{8fffe}\u{8ffff}\u{9fffe}` +
    String.raw`\u{9ffff}\u{afffe}\u{affff}\u{bfffe}\u{bffff}\u{cfffe}\u{cffff}\u{dfffe}\u{dffff}` +
    String.raw`\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]|%(?![0-9A-Fa-f]{2})`,
  "gu",
);
/** `scheme://authority/path?query#fragment` with an authority that every RDF parser reads. */
const HIERARCHICAL = new RegExp(
  String.raw`^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/(?:[^/?#[\]@:]*(?::[^/?#[\]@]*)?@)?(?:\[[0-9a-fA-F:.]+\]|[^` +
    String.raw`/?#[\]@:]*)(?::[0-9]*)?(?:[/?#]|$)`,
);

export { FALLBACK_VOCABULARY };

function encode(character: string): string {
  return character === "%"
    ? "%25"
    : character.isWellFormed()
      ? encodeURIComponent(character)
      : "%EF%BF%BD";
}

/**
 * Namespaces and terms that crates and queries write in several ways, and the one that the graph
 * has. schema.org has https (RO-Crate's contexts have http), EVI capitals and https, PROV http
 * (EVI's own file has https). The others differ between versions of RO-Crate's context; Bioschemas
 * has every term at several addresses, of which the shortest is stored.
 */
const SPELLINGS: readonly (readonly [pattern: RegExp, stored: string])[] = [
  [/^http:\/\/schema\.org\//, "https://schema.org/"],
  [/^https:\/\/www\.w3\.org\/ns\/prov#/, "http://www.w3.org/ns/prov#"],
  [/^https?:\/\/w3id\.org\/evi#/i, "https://w3id.org/EVI#"],
  [
    // Not what lies deeper: pages of profiles, and of versions of a type.
    /^https?:\/\/bioschemas\.org\/(?:(?:terms|properties|types)\/|ComputationalWorkflow#)?(?=[^/]*$)/,
    "https://bioschemas.org/",
  ],
  [
    /^https:\/\/www\.w3\.org\/ns\/iana\/link-relations\/relation#/,
    "http://www.iana.org/assignments/relation/",
  ],
  [/^http:\/\/pcdm\.org\/models#object$/, "http://pcdm.org/models#Object"],
  [/^https:\/\/w3id\.org\/ro\/terms\/workflow-run#sha256$/, "https://schema.org/sha256"],
];

/** The IRI, or the namespace, as the graph spells it. */
export function oneSpelling(iri: string): string {
  if (!/^http/i.test(iri)) return iri;
  const [pattern, stored] = SPELLINGS.find(([former]) => former.test(iri)) ?? [];
  return pattern && stored !== undefined ? iri.replace(pattern, stored) : iri;
}

/** Found in quads that a version stored which knew the first three of {@link SPELLINGS} only. */
const FORMER = new RegExp(
  String.raw`bioschemas\.org\/(?:(?:terms|properties|types)\/|ComputationalWorkflow#)` +
    String.raw`|link-relations\/relation#|pcdm\.org\/models#object>|workflow-run#sha256>`,
);

/** Canonical N-Quads, whenever they were stored, with the IRIs as the graph spells them now. */
export const inOneSpelling = (nquads: string): string =>
  FORMER.test(nquads) ? respelled(nquads, oneSpelling, oneSpelling) : nquads;

/** The predicate of a link, whenever it was stored, as links have it now. */
export const linkPredicate = (stored: string): string => compactIri(oneSpelling(stored));

/** True when the text begins with a scheme. */
export function isAbsoluteIri(text: string): boolean {
  return SCHEME.test(text);
}

/**
 * An IRI that every RDF parser accepts, for any absolute text: characters that an IRI cannot hold
 * are percent-encoded; text that cannot be repaired so is wrapped as `urn:arkgraph:iri:…`.
 * Vocabularies with two spellings get one.
 */
export function safeIri(text: string): string {
  let iri = oneSpelling(text);
  if (/^evi:/i.test(iri) && !iri.startsWith("evi:/")) iri = `https://w3id.org/EVI#${iri.slice(4)}`;
  iri = iri.replace(NOT_IN_IRI, encode);
  if (!SCHEME.test(iri)) return `urn:arkgraph:iri:${encodeURIComponent(iri)}`;
  const hash = iri.indexOf("#");
  if (hash >= 0 && iri.indexOf("#", hash + 1) >= 0)
    iri = iri.slice(0, hash + 1) + iri.slice(hash + 1).replaceAll("#", "%23");
  if (!/[[\]]/.test(iri) && !iri.includes("//")) return iri;
  const colon = iri.indexOf(":");
  if (!iri.startsWith("//", colon + 1)) return iri.replace(/[[\]]/g, encodeURIComponent);
  if (!HIERARCHICAL.test(iri)) return `urn:arkgraph:iri:${encodeURIComponent(iri)}`;
  const end = iri.slice(colon + 3).search(/[/?#]/);
  if (end < 0) return iri;
  const path = colon + 3 + end;
  return iri.slice(0, path) + iri.slice(path).replace(/[[\]]/g, encodeURIComponent);
}

const terms = new Known(safeIri);
/** {@link safeIri} of terms of vocabularies. */
export const safeTerm = (iri: string): string => terms.of(iri);

/**
 * IRI of a node: the stored form of an ARK in any spelling, else {@link safeIri}; relative ids are
 * below `base`.
 */
export function nodeIri(id: string, base: string): string {
  const ark = parseArk(id);
  if (ark) return ark.stored;
  return isAbsoluteIri(id) ? safeIri(id) : safeIri(`${base}/${id.replace(/^(?:\.?\/)+/, "")}`);
}

/** A predicate as lines and links name it. */
export interface Predicate {
  /** `<iri>` of N-Quads. */
  readonly term: string;
  /**
   * The stored name of a link, a CURIE where one exists. None: statements with it make no links.
   */
  readonly link: string | undefined;
}

/** A property of expanded JSON-LD, and the result of a statement with it. */
export interface Property {
  /**
   * Its predicate: `schema:usedDataset` and the like are no terms of schema.org, and the EVI one
   * stands in their place.
   */
  readonly predicate: Predicate;
  /**
   * Provenance, or another relation between records: text values are references when they are ARKs.
   */
  readonly refers: boolean;
  readonly provenance?: {
    /** Its canonical terms, of EVI and of PROV-O, which are stated too. */
    readonly canonical: readonly Predicate[];
    readonly support: ProvenanceTerm["support"];
  };
}

const SCHEMA = "https://schema.org/";
const PROV = expandCurie("prov:");
const RDF_TYPE = `${RDF}type`;
const BASED_ON = `${SCHEMA}isBasedOn`;
const predicates = new Known<Predicate>((iri) => ({
  term: iriTerm(iri),
  link: iri === RDF_TYPE || iri.startsWith(PROV) ? undefined : compactIri(iri),
}));

/** @param iri safe in N-Quads */
export const predicateOf = (iri: string): Predicate => predicates.of(iri);

/** The properties of records; each is worked out once. */
export class Properties {
  readonly #anywhere = new Known((iri) => this.#make(iri, false));
  readonly #onActivities = new Known((iri) => this.#make(iri, true));

  readonly #references: ReadonlySet<string>;

  /**
   * @param references properties besides those of provenance whose text values are references when
   * they are ARKs
   */
  constructor(references: ReadonlySet<string>) {
    this.#references = references;
  }

  /**
   * @param activity of an activity, whose `schema:object`, `schema:result` … count as provenance
   */
  of(iri: string, activity: boolean): Property {
    return (activity ? this.#onActivities : this.#anywhere).of(iri);
  }

  #make(iri: string, activity: boolean): Property {
    const name = provenanceOf(iri, activity);
    if (name === undefined)
      return { predicate: predicateOf(iri), refers: this.#references.has(iri) };
    const { evi, prov, support }: ProvenanceTerm = PROVENANCE[name];
    const isEviTerm =
      (iri.startsWith(SCHEMA) || iri.startsWith(FALLBACK_VOCABULARY)) &&
      !ACTIVITY_SUBJECT.has(iri) &&
      iri !== BASED_ON;
    const own = predicateOf(expandCurie(evi));
    const canonical = prov === undefined ? [own] : [own, predicateOf(expandCurie(prov))];
    return {
      predicate: isEviTerm ? own : predicateOf(iri),
      refers: true,
      provenance: { canonical, support },
    };
  }
}

/** A name that no context explains counts as the plain name that it is. */
function provenanceOf(iri: string, activity: boolean): ProvenanceName | undefined {
  const known = iri.startsWith(FALLBACK_VOCABULARY)
    ? SCHEMA + iri.slice(FALLBACK_VOCABULARY.length)
    : iri;
  return ANY_SUBJECT.get(known) ?? (activity ? ACTIVITY_SUBJECT.get(known) : undefined);
}

/**
 * Spells IRIs of records as the records that own their keys spell them, in subject and object
 * position of canonical N-Quads; literals and graph names stay. Lines stay sorted, and two that
 * become equal become one.
 *
 * @param quads canonical N-Quads: one statement a line, terms separated by single blanks, lines
 * sorted
 * @param spelling IRI as written → IRI as owned
 */
export const respell = (quads: string, spelling: ReadonlyMap<string, string>): string =>
  spelling.size === 0 || quads === "" ? quads : respelled(quads, (iri) => spelling.get(iri) ?? iri);

type Spell = (iri: string) => string;

/** @param spellPredicate the same for predicates; they stay without it */
function respelled(quads: string, spell: Spell, spellPredicate?: Spell): string {
  let changed = false;
  const lines = quads.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const [i, line] of lines.entries()) {
    const respelt = respellLine(line, spell, spellPredicate);
    if (respelt === line) continue;
    lines[i] = respelt;
    changed = true;
  }
  if (!changed) return quads;
  return [...new Set(lines)].toSorted().join("\n") + "\n";
}

/**
 * `<s> <p> <o> <g> .`: no IRI or blank node holds a blank, so the first two end the subject and
 * predicate.
 */
function respellLine(line: string, spell: Spell, spellPredicate?: Spell): string {
  const afterSubject = line.indexOf(" ");
  const afterPredicate = line.indexOf(" ", afterSubject + 1);
  if (afterSubject < 0 || afterPredicate < 0) return line;
  const subject = spelled(line.slice(0, afterSubject), spell);
  const stated = line.slice(afterSubject + 1, afterPredicate);
  const predicate = spellPredicate ? spelled(stated, spellPredicate) : stated;
  const rest = line.slice(afterPredicate + 1);
  if (rest[0] !== "<") return `${subject} ${predicate} ${rest}`;
  const afterObject = rest.indexOf(" ");
  const object = spelled(rest.slice(0, afterObject), spell);
  return `${subject} ${predicate} ${object}${rest.slice(afterObject)}`;
}

const spelled = (term: string, spell: Spell): string =>
  term[0] === "<" ? `<${spell(term.slice(1, -1))}>` : term;
