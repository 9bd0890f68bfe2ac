import { expandCurie } from "../model/field.js";
import { ACTIVITY_SUBJECT, ANY_SUBJECT, PROVENANCE, type ProvenanceName, type ProvenanceTerm } from "../model/provenance.js";
import { FALLBACK_VOCABULARY } from "./iri.js";
import { Known } from "./known.js";
import { RDF, compactIri, iriTerm } from "./nquads.js";

/** A predicate as lines and links name it. */
export interface Predicate {
  /** `<iri>` of N-Quads. */
  readonly term: string;
  /** What a link is kept under, a CURIE where there is one. None: statements with it make no links. */
  readonly link: string | undefined;
}

/** A property of expanded JSON-LD, and what comes of a statement with it. */
export interface Property {
  /** What it is stated with: `schema:usedDataset` and the like are no terms of schema.org, and the EVI one stands in their place. */
  readonly predicate: Predicate;
  /** Provenance, or another relation between records: text values are references when they are ARKs. */
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
const predicates = new Known<Predicate>((iri) => ({ term: iriTerm(iri), link: iri === RDF_TYPE || iri.startsWith(PROV) ? undefined : compactIri(iri) }));

/** @param iri safe in N-Quads */
export const predicateOf = (iri: string): Predicate => predicates.of(iri);

/** The properties of records; each is worked out once. */
export class Properties {
  readonly #anywhere = new Known((iri) => this.#make(iri, false));
  readonly #onActivities = new Known((iri) => this.#make(iri, true));

  /** @param references properties besides those of provenance whose text values are references when they are ARKs */
  constructor(private readonly references: ReadonlySet<string>) {}

  /** @param activity of an activity, whose `schema:object`, `schema:result` … count as provenance */
  of(iri: string, activity: boolean): Property {
    return (activity ? this.#onActivities : this.#anywhere).of(iri);
  }

  #make(iri: string, activity: boolean): Property {
    const name = provenanceOf(iri, activity);
    if (name === undefined) return { predicate: predicateOf(iri), refers: this.references.has(iri) };
    const { evi, prov, support }: ProvenanceTerm = PROVENANCE[name];
    const isEviTerm = (iri.startsWith(SCHEMA) || iri.startsWith(FALLBACK_VOCABULARY)) && !ACTIVITY_SUBJECT.has(iri) && iri !== BASED_ON;
    const canonical = [evi, ...(prov === undefined ? [] : [prov])].map((curie) => predicateOf(expandCurie(curie)));
    return { predicate: isEviTerm ? canonical[0]! : predicateOf(iri), refers: true, provenance: { canonical, support } };
  }
}

/** A name that no context explains counts as the plain name that it is. */
function provenanceOf(iri: string, activity: boolean): ProvenanceName | undefined {
  const known = iri.startsWith(FALLBACK_VOCABULARY) ? SCHEMA + iri.slice(FALLBACK_VOCABULARY.length) : iri;
  return ANY_SUBJECT.get(known) ?? (activity ? ACTIVITY_SUBJECT.get(known) : undefined);
}
