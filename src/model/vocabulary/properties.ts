import { PROVENANCE, type ProvenanceName } from "../provenance.js";

/** A property of the evidence vocabulary that links two objects. CURIEs throughout. */
export interface VocabularyProperty {
  readonly comment: string;
  readonly subPropertyOf?: readonly string[];
  /** Said the same way by another vocabulary. */
  readonly equivalent?: readonly string[];
  readonly inverseOf?: string;
  readonly transitive?: boolean;
  /** Where it is meant to stand and what it is meant to point to; told to readers, never used to infer a type. */
  readonly from?: string;
  readonly to?: string;
}

/** Support as such, from which everything else hangs, and its opposite. */
const SUPPORT: Readonly<Record<string, VocabularyProperty>> = {
  supports: { comment: "The subject is evidence for the object, directly or through others.", transitive: true },
  supportedBy: { comment: "The subject rests on the object, directly or through others.", inverseOf: "evi:supports", transitive: true },
  directlySupports: { comment: "The subject is evidence for the object, with nothing between them.", subPropertyOf: ["evi:supports"] },
  directlySupportedBy: { comment: "The subject rests on the object, with nothing between them. The one predicate that this service infers; its statements stand in graphs of their own.", subPropertyOf: ["evi:supportedBy"], inverseOf: "evi:directlySupports" },
  challenges: { comment: "The subject speaks against the object.", from: "evi:DigitalObject", to: "evi:DigitalObject" },
  challengedBy: { comment: "The object speaks against the subject.", inverseOf: "evi:challenges" },
  directlyChallenges: { comment: "The subject speaks against the object itself.", subPropertyOf: ["evi:challenges"] },
  directlyChallengedBy: { comment: "The object speaks against the subject itself.", subPropertyOf: ["evi:challengedBy"], inverseOf: "evi:directlyChallenges" },
  indirectlyChallenges: { comment: "The subject speaks against something that the object rests on.", subPropertyOf: ["evi:challenges"] },
  indirectlyChallengedBy: { comment: "The object speaks against something that the subject rests on.", subPropertyOf: ["evi:challengedBy"], inverseOf: "evi:indirectlyChallenges" },
};

/** Statements with a term of their own in this namespace. */
type Named = Exclude<ProvenanceName, "informedBy">;

/** What each provenance statement means, and where it is meant to stand. */
const MEANING: Readonly<Record<Named, Pick<VocabularyProperty, "comment" | "inverseOf" | "from" | "to">>> = {
  used: { comment: "The activity used the object: it is supported by what it used.", from: "prov:Activity", to: "prov:Entity" },
  usedDataset: { comment: "The activity read this data.", from: "evi:Computation", to: "evi:Dataset" },
  usedSoftware: { comment: "The activity ran this software.", from: "evi:Computation", to: "evi:Software" },
  usedSample: { comment: "The activity used this sample.", from: "evi:Experiment", to: "evi:Sample" },
  usedInstrument: { comment: "The activity used this instrument.", from: "evi:Experiment", to: "evi:Instrument" },
  usedStain: { comment: "The activity used this stain. Added by this service.", from: "evi:Experiment", to: "prov:Entity" },
  usedTreatment: { comment: "The activity applied this treatment. Added by this service.", from: "evi:Experiment", to: "prov:Entity" },
  usedReagent: { comment: "The activity used this reagent.", from: "evi:Experiment", to: "evi:Reagent" },
  usedMLModel: { comment: "The activity applied this model.", from: "evi:Computation", to: "evi:MLModel" },
  usedService: { comment: "The activity called this service.", from: "evi:Computation", to: "evi:Service" },
  generatedBy: { comment: "The object came out of this activity.", from: "prov:Entity", to: "prov:Activity" },
  derivedFrom: { comment: "The object was made out of this one.", from: "prov:Entity", to: "prov:Entity" },
  associatedWith: { comment: "Who carried the activity out, or answers for it.", from: "prov:Activity", to: "prov:Agent" },
  createdBy: { comment: "Who made the object.", from: "prov:Entity", to: "prov:Agent" },
  generated: { comment: "The activity brought this object forth.", inverseOf: "evi:generatedBy", from: "prov:Activity", to: "prov:Entity" },
  usedBy: { comment: "The object was used by this activity.", inverseOf: "evi:used", to: "prov:Activity" },
  datasetUsedBy: { comment: "The data was read by this activity.", inverseOf: "evi:usedDataset" },
  softwareUsedBy: { comment: "The software was run by this activity.", inverseOf: "evi:usedSoftware" },
  sampleUsedBy: { comment: "The sample was used by this activity.", inverseOf: "evi:usedSample" },
  instrumentUsedBy: { comment: "The instrument was used by this activity.", inverseOf: "evi:usedInstrument" },
  reagentUsedBy: { comment: "The reagent was used by this activity.", inverseOf: "evi:usedReagent" },
  mlModelUsedBy: { comment: "The model was applied by this activity.", inverseOf: "evi:usedMLModel" },
  serviceUsedBy: { comment: "The service was called by this activity.", inverseOf: "evi:usedService" },
  derivedTo: { comment: "This object was made out of the subject.", inverseOf: "evi:derivedFrom" },
};

/** Terms that say exactly what one of PROV-O says; `usedDataset` and its like say more than `prov:used`. */
const SAME_AS_PROV = new Set<string>(["used", "generatedBy", "derivedFrom", "associatedWith", "createdBy", "generated"] satisfies ProvenanceName[]);

function provenanceProperty(name: Named): VocabularyProperty {
  const { support, prov }: { support: "object" | "subject"; prov?: string } = PROVENANCE[name];
  const special = name !== "used" && name.startsWith("used") && name !== "usedBy";
  const inverse = name !== "usedBy" && name.endsWith("UsedBy");
  const above = special ? "evi:used" : inverse ? "evi:usedBy" : support === "object" ? "evi:directlySupportedBy" : "evi:directlySupports";
  return {
    ...MEANING[name],
    // What `evi:used` says is passed on to its special cases.
    subPropertyOf: [above, ...(prov && !special ? [prov] : [])],
    ...(prov && SAME_AS_PROV.has(name) ? { equivalent: [prov] } : {}),
  };
}

/** Relations that are not support. */
const OTHERS: Readonly<Record<string, VocabularyProperty>> = {
  associateFor: { comment: "The agent carried out this activity.", subPropertyOf: ["evi:directlySupports"], inverseOf: "evi:associatedWith" },
  created: { comment: "The agent made this object.", subPropertyOf: ["evi:directlySupports"], inverseOf: "evi:createdBy" },
  contains: { comment: "The object is a part of the subject, directly or not.", transitive: true, from: "evi:DigitalObject", to: "evi:DigitalObject" },
  containedBy: { comment: "The subject is a part of the object.", inverseOf: "evi:contains" },
  hasSchema: { comment: "The data keeps to this schema.", from: "evi:Dataset", to: "evi:Schema" },
  schemaFor: { comment: "This data keeps to the schema.", inverseOf: "evi:hasSchema" },
  annotates: { comment: "The annotation is about this object.", from: "evi:Annotation", to: "evi:DigitalObject" },
  describes: { comment: "The method describes this activity.", from: "evi:Method", to: "prov:Activity" },
  describedBy: { comment: "The activity is described by this method.", inverseOf: "evi:describes" },
  packages: { comment: "The container holds this software.", from: "evi:Container", to: "evi:Software" },
  packagedBy: { comment: "The software is held by this container.", inverseOf: "evi:packages" },
  represents: { comment: "The digital object stands for this thing.", from: "evi:DigitalObject", to: "prov:Entity" },
  representedBy: { comment: "The thing is stood for by this digital object.", inverseOf: "evi:represents" },
};

/** Every linking property, by local name in the `evi:` namespace. */
export const PROPERTIES: Readonly<Record<string, VocabularyProperty>> = {
  ...SUPPORT,
  ...Object.fromEntries((Object.keys(MEANING) as Named[]).map((name) => [name, provenanceProperty(name)])),
  ...OTHERS,
};
