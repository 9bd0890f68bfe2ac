/** A class of the evidence vocabulary. */
export interface VocabularyClass {
  readonly comment: string;
  /** CURIEs. */
  readonly subClassOf: readonly string[];
  /** Classes of other vocabularies that mean about the same. Not an equivalence: not every schema.org Dataset is evidence. */
  readonly close?: readonly string[];
}

const a = (comment: string, subClassOf: string, close?: readonly string[]): VocabularyClass => ({ comment, subClassOf: [subClassOf], ...(close ? { close } : {}) });

/** By local name in the `evi:` namespace. Facts of EVI 1.5; what is ours says so in its comment. */
export const CLASSES: Readonly<Record<string, VocabularyClass>> = {
  DigitalObject: a("Something digital that may have an identifier: data, software, a document, a package of them.", "prov:Entity", ["schema:CreativeWork"]),
  Dataset: a("Data, in one file or many.", "evi:DigitalObject", ["schema:Dataset"]),
  Image: a("A dataset that is a picture.", "evi:Dataset", ["schema:ImageObject"]),
  DataDownload: a("A file that holds a dataset or software, with its address, size and checksum. Added by this service.", "evi:DigitalObject", ["schema:DataDownload", "schema:MediaObject"]),
  Software: a("A program, a script or a library.", "evi:DigitalObject", ["schema:SoftwareSourceCode", "schema:SoftwareApplication"]),
  MLModel: a("A trained model.", "evi:DigitalObject"),
  Schema: a("A description of the properties and types of data.", "evi:DigitalObject"),
  Document: a("A text for readers.", "evi:DigitalObject", ["schema:DigitalDocument"]),
  Article: a("A published document.", "evi:Document", ["schema:Article"]),
  Annotation: a("A document about another object.", "evi:Document"),
  Claim: a("A statement that evidence supports or challenges.", "evi:DigitalObject", ["schema:Claim"]),
  Reference: a("A pointer to a source.", "evi:DigitalObject"),
  Method: a("A description of how an activity is done.", "evi:DigitalObject"),
  Package: a("Objects that are kept together.", "evi:DigitalObject"),
  ROCrate: a("A package with RO-Crate metadata.", "evi:Package"),
  Container: a("A container image that software runs in.", "evi:DigitalObject"),
  EvidenceGraph: a("The support of one object, as a graph that is kept.", "evi:DigitalObject"),
  Computation: a("A run of software.", "prov:Activity", ["schema:CreateAction"]),
  Experiment: a("Work at the bench or in the field.", "prov:Activity"),
  Instrument: a("A device used in an experiment.", "prov:Entity"),
  Sample: a("A specimen used in an experiment.", "prov:Entity"),
  Reagent: a("A substance used in an experiment.", "prov:Entity"),
  Service: a("Software that acts for others over a network.", "prov:SoftwareAgent", ["schema:Service"]),
};
