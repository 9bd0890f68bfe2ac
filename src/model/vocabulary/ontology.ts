import { DataFactory, type Quad_Object, Writer } from "n3";
import { expandCurie, type Field, PREFIXES } from "../field.js";
import { isPublic } from "../kind.js";
import { KINDS } from "../kinds.js";
import { PROVENANCE, type ProvenanceName } from "../provenance.js";

/** A class of the evidence vocabulary. */
interface VocabularyClass {
  readonly comment: string;
  /** CURIEs. */
  readonly subClassOf: readonly string[];
  /**
   * Classes of other vocabularies that mean about the same. Not an equivalence: not every
   * schema.org Dataset is evidence.
   */
  readonly close?: readonly string[];
}

const a = (comment: string, subClassOf: string, close?: readonly string[]): VocabularyClass => ({
  comment,
  subClassOf: [subClassOf],
  ...(close ? { close } : {}),
});

/**
 * By local name in the `evi:` namespace. Facts of EVI 1.5; our own terms are marked in their
 * comment.
 */
const CLASSES: Readonly<Record<string, VocabularyClass>> = {
  DigitalObject: a(
    "Something digital that may have an identifier: data, software, a document, a package of them.",
    "prov:Entity",
    ["schema:CreativeWork"],
  ),
  Dataset: a("Data, in one file or many.", "evi:DigitalObject", ["schema:Dataset"]),
  Image: a("A dataset that is a picture.", "evi:Dataset", ["schema:ImageObject"]),
  DataDownload: a(
    "A file that holds a dataset or software, with its address, size and checksum. Added by " +
      "this service.",
    "evi:DigitalObject",
    ["schema:DataDownload", "schema:MediaObject"],
  ),
  Software: a("A program, a script or a library.", "evi:DigitalObject", [
    "schema:SoftwareSourceCode",
    "schema:SoftwareApplication",
  ]),
  MLModel: a("A trained model.", "evi:DigitalObject", ["fair4ml:MLModel"]),
  Schema: a("A description of the properties and types of data.", "evi:DigitalObject"),
  Document: a("A text for readers.", "evi:DigitalObject", ["schema:DigitalDocument"]),
  Article: a("A published document.", "evi:Document", ["schema:Article"]),
  Annotation: a("A document about another object.", "evi:Document"),
  Claim: a("A statement that evidence supports or challenges.", "evi:DigitalObject", [
    "schema:Claim",
  ]),
  Reference: a("A pointer to a source.", "evi:DigitalObject"),
  Method: a("A description of how an activity is done.", "evi:DigitalObject"),
  Package: a("Objects that are kept together.", "evi:DigitalObject"),
  ROCrate: a("A package with RO-Crate metadata.", "evi:Package"),
  Container: a("A container image that software runs in.", "evi:DigitalObject"),
  EvidenceGraph: a("The support of one object, as a stored graph.", "evi:DigitalObject"),
  Computation: a("A run of software.", "prov:Activity", ["schema:CreateAction"]),
  Experiment: a("Work at the bench or in the field.", "prov:Activity"),
  Instrument: a("A device used in an experiment.", "prov:Entity"),
  Sample: a("A specimen used in an experiment.", "prov:Entity", ["bioschemas:BioSample"]),
  Reagent: a("A substance used in an experiment.", "prov:Entity"),
  Service: a("Software that acts for others over a network.", "prov:SoftwareAgent", [
    "schema:Service",
  ]),
};

/** A property of the evidence vocabulary that links two objects. CURIEs throughout. */
interface VocabularyProperty {
  readonly comment: string;
  readonly subPropertyOf?: readonly string[];
  /** Terms of other vocabularies with the same meaning. */
  readonly equivalent?: readonly string[];
  readonly inverseOf?: string;
  readonly transitive?: boolean;
  /** Its intended subjects and objects; shown to readers, never used to infer a type. */
  readonly from?: string;
  readonly to?: string;
}

/** Support as such, the root of all other properties, and its opposite. */
const SUPPORT: Readonly<Record<string, VocabularyProperty>> = {
  supports: {
    comment: "The subject is evidence for the object, directly or through others.",
    transitive: true,
  },
  supportedBy: {
    comment: "The subject is supported by the object, directly or through others.",
    inverseOf: "evi:supports",
    transitive: true,
  },
  directlySupports: {
    comment: "The subject is evidence for the object, with nothing between them.",
    subPropertyOf: ["evi:supports"],
  },
  directlySupportedBy: {
    comment:
      "The subject is supported by the object, with nothing between them. The one " +
      "predicate that this service infers; its statements stand in graphs of their own.",
    subPropertyOf: ["evi:supportedBy"],
    inverseOf: "evi:directlySupports",
  },
  challenges: {
    comment: "The subject speaks against the object.",
    from: "evi:DigitalObject",
    to: "evi:DigitalObject",
  },
  challengedBy: { comment: "The object speaks against the subject.", inverseOf: "evi:challenges" },
  directlyChallenges: {
    comment: "The subject speaks against the object itself.",
    subPropertyOf: ["evi:challenges"],
  },
  directlyChallengedBy: {
    comment: "The object speaks against the subject itself.",
    subPropertyOf: ["evi:challengedBy"],
    inverseOf: "evi:directlyChallenges",
  },
  indirectlyChallenges: {
    comment: "The subject speaks against something that supports the object.",
    subPropertyOf: ["evi:challenges"],
  },
  indirectlyChallengedBy: {
    comment: "The object speaks against something that supports the subject.",
    subPropertyOf: ["evi:challengedBy"],
    inverseOf: "evi:indirectlyChallenges",
  },
};

/** Statements with a term of their own in this namespace. */
type Named = Exclude<ProvenanceName, "informedBy">;

/** The meaning of each provenance statement, and its intended subjects and objects. */
const MEANING: Readonly<
  Record<Named, Pick<VocabularyProperty, "comment" | "inverseOf" | "from" | "to">>
> = {
  used: {
    comment: "The activity used the object: it is supported by what it used.",
    from: "prov:Activity",
    to: "prov:Entity",
  },
  usedDataset: {
    comment: "The activity read this data.",
    from: "evi:Computation",
    to: "evi:Dataset",
  },
  usedSoftware: {
    comment: "The activity ran this software.",
    from: "evi:Computation",
    to: "evi:Software",
  },
  usedSample: {
    comment: "The activity used this sample.",
    from: "evi:Experiment",
    to: "evi:Sample",
  },
  usedInstrument: {
    comment: "The activity used this instrument.",
    from: "evi:Experiment",
    to: "evi:Instrument",
  },
  usedStain: {
    comment: "The activity used this stain. Added by this service.",
    from: "evi:Experiment",
    to: "prov:Entity",
  },
  usedTreatment: {
    comment: "The activity applied this treatment. Added by this service.",
    from: "evi:Experiment",
    to: "prov:Entity",
  },
  usedReagent: {
    comment: "The activity used this reagent.",
    from: "evi:Experiment",
    to: "evi:Reagent",
  },
  usedMLModel: {
    comment: "The activity applied this model.",
    from: "evi:Computation",
    to: "evi:MLModel",
  },
  usedService: {
    comment: "The activity called this service.",
    from: "evi:Computation",
    to: "evi:Service",
  },
  generatedBy: {
    comment: "The object came out of this activity.",
    from: "prov:Entity",
    to: "prov:Activity",
  },
  derivedFrom: {
    comment: "The object was made out of this one.",
    from: "prov:Entity",
    to: "prov:Entity",
  },
  associatedWith: {
    comment: "Who carried the activity out, or answers for it.",
    from: "prov:Activity",
    to: "prov:Agent",
  },
  createdBy: { comment: "Who made the object.", from: "prov:Entity", to: "prov:Agent" },
  generated: {
    comment: "The activity produced this object.",
    inverseOf: "evi:generatedBy",
    from: "prov:Activity",
    to: "prov:Entity",
  },
  usedBy: {
    comment: "The object was used by this activity.",
    inverseOf: "evi:used",
    to: "prov:Activity",
  },
  datasetUsedBy: { comment: "The data was read by this activity.", inverseOf: "evi:usedDataset" },
  softwareUsedBy: {
    comment: "The software was run by this activity.",
    inverseOf: "evi:usedSoftware",
  },
  sampleUsedBy: { comment: "The sample was used by this activity.", inverseOf: "evi:usedSample" },
  instrumentUsedBy: {
    comment: "The instrument was used by this activity.",
    inverseOf: "evi:usedInstrument",
  },
  reagentUsedBy: {
    comment: "The reagent was used by this activity.",
    inverseOf: "evi:usedReagent",
  },
  mlModelUsedBy: {
    comment: "The model was applied by this activity.",
    inverseOf: "evi:usedMLModel",
  },
  serviceUsedBy: {
    comment: "The service was called by this activity.",
    inverseOf: "evi:usedService",
  },
  derivedTo: { comment: "This object was made out of the subject.", inverseOf: "evi:derivedFrom" },
};

/**
 * Terms with exactly the meaning of one of PROV-O; `usedDataset` and its like mean more than
 * `prov:used`.
 */
const SAME_AS_PROV = new Set<string>([
  "used",
  "generatedBy",
  "derivedFrom",
  "associatedWith",
  "createdBy",
  "generated",
] satisfies ProvenanceName[]);

function provenanceProperty(name: Named): VocabularyProperty {
  const { support, prov }: { support: "object" | "subject"; prov?: string } = PROVENANCE[name];
  const special = name !== "used" && name.startsWith("used") && name !== "usedBy";
  const inverse = name !== "usedBy" && name.endsWith("UsedBy");
  const above = special
    ? "evi:used"
    : inverse
      ? "evi:usedBy"
      : support === "object"
        ? "evi:directlySupportedBy"
        : "evi:directlySupports";
  return {
    ...MEANING[name],
    // The facts of `evi:used` also hold for its special cases.
    subPropertyOf: [above, ...(prov && !special ? [prov] : [])],
    ...(prov && SAME_AS_PROV.has(name) ? { equivalent: [prov] } : {}),
  };
}

/** Relations that are not support. */
const OTHERS: Readonly<Record<string, VocabularyProperty>> = {
  associateFor: {
    comment: "The agent carried out this activity.",
    subPropertyOf: ["evi:directlySupports"],
    inverseOf: "evi:associatedWith",
  },
  created: {
    comment: "The agent made this object.",
    subPropertyOf: ["evi:directlySupports"],
    inverseOf: "evi:createdBy",
  },
  contains: {
    comment: "The object is a part of the subject, directly or not.",
    transitive: true,
    from: "evi:DigitalObject",
    to: "evi:DigitalObject",
  },
  containedBy: { comment: "The subject is a part of the object.", inverseOf: "evi:contains" },
  hasSchema: {
    comment: "The data conforms to this schema.",
    from: "evi:Dataset",
    to: "evi:Schema",
  },
  schemaFor: { comment: "This data conforms to the schema.", inverseOf: "evi:hasSchema" },
  annotates: {
    comment: "The annotation is about this object.",
    from: "evi:Annotation",
    to: "evi:DigitalObject",
  },
  describes: {
    comment: "The method describes this activity.",
    from: "evi:Method",
    to: "prov:Activity",
  },
  describedBy: { comment: "The activity is described by this method.", inverseOf: "evi:describes" },
  packages: {
    comment: "The container holds this software.",
    from: "evi:Container",
    to: "evi:Software",
  },
  packagedBy: { comment: "The software is held by this container.", inverseOf: "evi:packages" },
  represents: {
    comment: "The digital object represents this thing.",
    from: "evi:DigitalObject",
    to: "prov:Entity",
  },
  representedBy: {
    comment: "The thing is represented by this digital object.",
    inverseOf: "evi:represents",
  },
};

/** Every linking property, by local name in the `evi:` namespace. */
const PROPERTIES: Readonly<Record<string, VocabularyProperty>> = {
  ...SUPPORT,
  ...Object.fromEntries(
    (Object.keys(MEANING) as Named[]).map((name) => [name, provenanceProperty(name)]),
  ),
  ...OTHERS,
};

const { literal, namedNode, quad } = DataFactory;
const NAMESPACES = {
  ...PREFIXES,
  owl: "http://www.w3.org/2002/07/owl#",
  skos: "http://www.w3.org/2004/02/skos/core#",
  fair4ml: "https://w3id.org/fair4ml#",
  bioschemas: "https://bioschemas.org/",
  vann: "http://purl.org/vocab/vann/",
};

function term(curie: string) {
  const [prefix = "", local = ""] = curie.split(":");
  return Object.hasOwn(NAMESPACES, prefix)
    ? namedNode(NAMESPACES[prefix as keyof typeof NAMESPACES] + local)
    : namedNode(expandCurie(curie));
}
const english = (text: string): Quad_Object => literal(text, "en");
/** `usedMLModel` → `used ML model`. */
const label = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .replace(/ ([A-Z])(?=[a-z])/g, (_, letter: string) => ` ${letter.toLowerCase()}`);

/** The ontology itself: the source of its facts, and its differences. */
const ABOUT =
  "The vocabulary in which this service states which object supports which. Its terms " +
  `are those of the evidence graph ontology EVI 1.5, with these differences.
Its properties are aligned with PROV-O, in the namespace of PROV-O. Support has ` +
  "neither domain nor range, because activities and agents take part in it and are not " +
  "digital objects. An agent is not a kind of entity. Classes of schema.org are close " +
  "matches, not equivalents, so that nothing is typed by accident. schema:domainIncludes " +
  "and schema:rangeIncludes state where a property is intended to be used, without " +
  "entailment.";

/**
 * The evidence vocabulary in Turtle, printed from the tables of this folder and the fields of the
 * kinds.
 */
export function evidenceOntology(): string {
  const writer = new Writer({ prefixes: NAMESPACES });
  const state = (
    subject: string,
    statements: readonly (readonly [predicate: string, object: Quad_Object])[],
  ): void => {
    for (const [predicate, object] of statements)
      writer.addQuad(quad(term(subject), term(predicate), object));
  };
  const links = (predicate: string, objects: readonly string[] = []) =>
    objects.map((object) => [predicate, term(object)] as const);

  state("evi:", [
    ["rdf:type", term("owl:Ontology")],
    ["dcterms:title", english("Evidence graph vocabulary")],
    ["dcterms:description", english(ABOUT)],
    ["dcterms:license", namedNode("https://creativecommons.org/licenses/by/4.0/")],
    ["rdfs:seeAlso", namedNode("http://www.w3.org/ns/prov-o#")],
    ["vann:preferredNamespacePrefix", literal("evi")],
    ["vann:preferredNamespaceUri", literal(PREFIXES.evi)],
  ]);
  for (const [name, { comment, subClassOf, close }] of Object.entries(CLASSES)) {
    state(`evi:${name}`, [
      ["rdf:type", term("owl:Class")],
      ["rdfs:label", english(label(name))],
      ["rdfs:comment", english(comment)],
      ...links("rdfs:subClassOf", subClassOf),
      ...links("skos:closeMatch", close),
      ["rdfs:isDefinedBy", term("evi:")],
    ]);
  }
  for (const [name, property] of Object.entries(PROPERTIES))
    state(`evi:${name}`, [
      ...aboutProperty(name, property, links),
      ["rdfs:isDefinedBy", term("evi:")],
    ]);
  // PROV-O has a term for this statement and EVI has none.
  state("prov:wasInformedBy", links("rdfs:subPropertyOf", ["evi:directlySupportedBy"]));
  for (const [name, field] of fieldsOnly()) {
    state(name, [
      ["rdf:type", term("rdf:Property")],
      ["rdfs:label", english(label(name.slice("evi:".length)))],
      ["rdfs:comment", english(field.description)],
      ["rdfs:isDefinedBy", term("evi:")],
    ]);
  }
  let turtle = "";
  writer.end((error, result: string) => {
    if (error) throw error;
    turtle = result;
  });
  return turtle;
}

function aboutProperty(
  name: string,
  property: VocabularyProperty,
  links: (predicate: string, objects?: readonly string[]) => (readonly [string, Quad_Object])[],
): (readonly [string, Quad_Object])[] {
  const { comment, subPropertyOf, equivalent, inverseOf, transitive, from, to } = property;
  const one = (object: string | undefined): string[] => (object === undefined ? [] : [object]);
  return [
    ["rdf:type", term("owl:ObjectProperty")],
    ...links("rdf:type", transitive ? ["owl:TransitiveProperty"] : []),
    ["rdfs:label", english(label(name))],
    ["rdfs:comment", english(comment)],
    ...links("rdfs:subPropertyOf", subPropertyOf),
    ...links("owl:equivalentProperty", equivalent),
    ...links("owl:inverseOf", one(inverseOf)),
    ...links("schema:domainIncludes", one(from)),
    ...links("schema:rangeIncludes", one(to)),
  ];
}

/** Terms of this namespace that fields of records are stored under and that are no links. */
function fieldsOnly(): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const kind of Object.values(KINDS)) {
    for (const field of Object.values(kind.fields)) {
      const name = field.term.slice("evi:".length);
      if (
        field.term.startsWith("evi:") &&
        isPublic(field) &&
        !Object.hasOwn(PROPERTIES, name) &&
        !fields.has(field.term)
      )
        fields.set(field.term, field);
    }
  }
  return fields;
}
