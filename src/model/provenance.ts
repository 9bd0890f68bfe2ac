import { expandCurie } from "./field.js";

/**
 * Provenance statements in the graph. Each recognised form of one (EVI, PROV-O, schema.org actions,
 * RO-Crate) is normalised to the `evi` and `prov` terms below when a record is written.
 */
export interface ProvenanceTerm {
  /** Canonical EVI property. */
  readonly evi: string;
  /** PROV-O property with the same meaning, where there is one. */
  readonly prov?: string;
  /**
   * `object`: the object supports the subject (`generatedBy`); `subject`: the subject supports the
   * object (`generated`).
   */
  readonly support: "object" | "subject";
}

const supportedBy = (evi: string, prov?: string): ProvenanceTerm =>
  prov ? { evi, prov, support: "object" } : { evi, support: "object" };
const supports = (evi: string, prov?: string): ProvenanceTerm =>
  prov ? { evi, prov, support: "subject" } : { evi, support: "subject" };

/** By the name that GraphQL connections and documents use. */
export const PROVENANCE = {
  used: supportedBy("evi:used", "prov:used"),
  usedDataset: supportedBy("evi:usedDataset", "prov:used"),
  usedSoftware: supportedBy("evi:usedSoftware", "prov:used"),
  usedSample: supportedBy("evi:usedSample", "prov:used"),
  usedInstrument: supportedBy("evi:usedInstrument", "prov:used"),
  usedStain: supportedBy("evi:usedStain", "prov:used"),
  usedTreatment: supportedBy("evi:usedTreatment", "prov:used"),
  usedReagent: supportedBy("evi:usedReagent", "prov:used"),
  usedMLModel: supportedBy("evi:usedMLModel", "prov:used"),
  usedService: supportedBy("evi:usedService", "prov:used"),
  generatedBy: supportedBy("evi:generatedBy", "prov:wasGeneratedBy"),
  derivedFrom: supportedBy("evi:derivedFrom", "prov:wasDerivedFrom"),
  associatedWith: supportedBy("evi:associatedWith", "prov:wasAssociatedWith"),
  createdBy: supportedBy("evi:createdBy", "prov:wasAttributedTo"),
  informedBy: supportedBy("evi:directlySupportedBy", "prov:wasInformedBy"),
  generated: supports("evi:generated", "prov:generated"),
  usedBy: supports("evi:usedBy"),
  datasetUsedBy: supports("evi:datasetUsedBy"),
  softwareUsedBy: supports("evi:softwareUsedBy"),
  sampleUsedBy: supports("evi:sampleUsedBy"),
  instrumentUsedBy: supports("evi:instrumentUsedBy"),
  reagentUsedBy: supports("evi:reagentUsedBy"),
  mlModelUsedBy: supports("evi:mlModelUsedBy"),
  serviceUsedBy: supports("evi:serviceUsedBy"),
  derivedTo: supports("evi:derivedTo"),
} as const satisfies Record<string, ProvenanceTerm>;
export type ProvenanceName = keyof typeof PROVENANCE;

/**
 * IRI of the property that states it in the graph. `evi:directlySupportedBy` is inferred as well, so
 * its PROV-O counterpart is used instead.
 */
export const statedAs = (name: ProvenanceName): string =>
  expandCurie(name === "informedBy" ? "prov:wasInformedBy" : PROVENANCE[name].evi);

/** Other properties with the same meaning, as property IRIs after schema.org was made https. */
export const SYNONYMS: Readonly<Record<string, ProvenanceName>> = {
  "prov:used": "used",
  "prov:wasGeneratedBy": "generatedBy",
  "prov:generated": "generated",
  "prov:wasDerivedFrom": "derivedFrom",
  "prov:wasAssociatedWith": "associatedWith",
  "prov:wasAttributedTo": "createdBy",
  "prov:wasInformedBy": "informedBy",
  "schema:isBasedOn": "derivedFrom",
  // By what used it: names that crates write and no vocabulary defines. They count in each that a
  // crate may have put them in.
  ...Object.fromEntries(
    ["usedByComputation", "usedByExperiment", "usedByDataset"].flatMap(
      (name) =>
        [
          [`evi:${name}`, "usedBy"],
          [`schema:${name}`, "usedBy"],
        ] as const,
    ),
  ),
};

/** Ways that count on an activity only: a schema.org action, a computation, a LabProcess. */
export const ON_ACTIVITIES: Readonly<Record<string, ProvenanceName>> = {
  "schema:object": "usedDataset",
  "schema:result": "generated",
  "schema:instrument": "usedSoftware",
  "schema:agent": "associatedWith",
};
/** As the graph spells them, and as three generations of RO-Crate do. */
export const INPUTS = [
  "https://bioschemas.org/input",
  "https://bioschemas.org/ComputationalWorkflow#input",
  "https://bioschemas.org/properties/input",
  "https://bioschemas.org/terms/input",
];
export const OUTPUTS = [
  "https://bioschemas.org/output",
  "https://bioschemas.org/ComputationalWorkflow#output",
  "https://bioschemas.org/properties/output",
  "https://bioschemas.org/terms/output",
];

/** What a process in a laboratory followed (Bioschemas LabProcess). */
export const PROTOCOLS = [
  "https://bioschemas.org/executesLabProtocol",
  "https://schema.org/executesLabProtocol",
];

/**
 * Property IRI → statement, for any subject. The plain names count in every vocabulary a crate may
 * have put them in.
 */
export const ANY_SUBJECT: ReadonlyMap<string, ProvenanceName> = new Map([
  ...(Object.keys(PROVENANCE) as ProvenanceName[]).flatMap((name): [string, ProvenanceName][] => [
    [expandCurie(`evi:${name}`), name],
    [expandCurie(`schema:${name}`), name],
  ]),
  ...Object.entries(SYNONYMS).map(([curie, name]): [string, ProvenanceName] => [
    expandCurie(curie),
    name,
  ]),
]);

/** Property IRI → statement, for activities. */
export const ACTIVITY_SUBJECT: ReadonlyMap<string, ProvenanceName> = new Map([
  ...Object.entries(ON_ACTIVITIES).map(([curie, name]): [string, ProvenanceName] => [
    expandCurie(curie),
    name,
  ]),
  ...INPUTS.map((iri): [string, ProvenanceName] => [iri, "usedDataset"]),
  ...OUTPUTS.map((iri): [string, ProvenanceName] => [iri, "generated"]),
  ...PROTOCOLS.map((iri): [string, ProvenanceName] => [iri, "used"]),
]);

/**
 * The one inferred predicate: from the supported record to the record that directly supports it.
 * Stored in {@link inferredGraph}.
 */
export const SUPPORTED_BY = expandCurie("evi:directlySupportedBy");

/**
 * Graph of the statements inferred from one record's statements; never mixed with the statements
 * themselves.
 */
export const inferredGraph = (ark: string): string => `${ark}#inferred`;

/** `upstream`: what supports a record; `downstream`: what depends on it. */
export type Direction = "upstream" | "downstream" | "both";

/** Whose edges count: those of owners with a right over the end that a walk comes from, or all. */
export type AssertedBy = "owner" | "anyone";
