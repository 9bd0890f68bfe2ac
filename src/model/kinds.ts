import {
  ark,
  arkList,
  type Backlink,
  custom,
  date,
  type Field,
  type JsonObject,
  text,
  textList,
} from "./field.js";
import type { Kind, KindName } from "./kind.js";

const DEFAULT_CONTEXT: JsonObject = {
  "@vocab": "https://schema.org/",
  evi: "https://w3id.org/EVI#",
};
/** The contract writes the licence with one leading space; the graph trims it. */
export const DEFAULT_LICENSE = " https://creativecommons.org/licenses/by/4.0/";

/** `@context` whose values are strings; group, organization and data download take any object. */
const context = (json: "stringMap" | "object" = "stringMap"): Field =>
  custom(json, "rdf:JSON", "JSON-LD context of the record.", { default: DEFAULT_CONTEXT });

/** A constant `@type` that must be present. */
const constantType = (value: string): Field =>
  custom("types", "rdf:type", `Type of the record: \`${value}\`.`, {
    required: true,
    const: value,
  });
/** A free `@type` with a default. */
const defaultType = (value: string): Field =>
  custom("types", "rdf:type", "Type of the record.", { default: value });

/** The fields every kind but the user has. */
const common = {
  url: text("schema:url", "Web page of the object.", { nullable: true }),
  name: text("schema:name", "Name, at most 200 characters.", { required: true, maxLength: 200 }),
  keywords: textList("schema:keywords", "Keywords."),
  description: text("schema:description", "Description, at least 5 characters.", {
    required: true,
    minLength: 5,
  }),
  license: text("schema:license", "URL of the licence.", {
    nullable: true,
    default: DEFAULT_LICENSE,
  }),
  owner: ark("schema:owner", "User, group, organization or project that owns the record.", {
    required: true,
  }),
} as const;

/**
 * The same fields for the entities of crates: nothing is required and nothing filled in, so a
 * crate's entities are stored as stated.
 */
const optionalCommon = {
  url: text("schema:url", "Web page of the object."),
  name: text("schema:name", "Name."),
  keywords: custom("stringList", "schema:keywords", "Keywords."),
  description: text("schema:description", "Description."),
  license: text("schema:license", "URL of the licence."),
  owner: ark("schema:owner", "User, group, organization or project that owns the record."),
} as const;

const owned = (kind: string): Backlink => ({ kind, via: ["schema:owner"] });
const list = (term: string, what: string, backlink: Backlink) =>
  textList(term, `${what}; those of the other side are added when read.`, {
    nullable: true,
    link: true,
    backlink,
  });

/** Lists of the records that a user or project owns, in the contract's order of names. */
const holdings = {
  datasets: list("schema:datasets", "Datasets", owned("dataset")),
  rocrates: list("schema:rocrates", "Crates", owned("rocrate")),
  software: list("schema:software", "Software", owned("software")),
  computations: list("schema:computations", "Computations", owned("computation")),
  evidencegraphs: list("schema:evidencegraphs", "Evidence graphs", owned("evidencegraph")),
};

const user: Kind = {
  name: "user",
  typeName: "User",
  plural: "users",
  path: "user",
  rdfClass: "schema:Person",
  closed: true,
  description:
    "A person with an account. E-mail address and account data are shown to the person and " +
    "administrators only.",
  fields: {
    "@context": context("object"),
    "@type": defaultType("Person"),
    name: text("schema:name", "Name of the person, at most 200 characters.", { maxLength: 200 }),
    email: text("schema:email", "E-mail address; unique, also the login name.", {
      required: true,
      minLength: 3,
      maxLength: 254,
      private: true,
    }),
    password: text(
      "evi:password",
      "Password; stored only as an argon2id hash. A new one has at least " +
        "PASSWORD_MIN_LENGTH characters (8) and is not among the 10,000 most used.",
      { required: true, minLength: 1, maxLength: 1024, secret: true },
    ),
    currentPassword: text(
      "evi:currentPassword",
      "To replace the password of your own account: the password until now. An access token cannot " +
        "replace it.",
      { secret: true, maxLength: 1024 },
    ),
    adminToken: text(
      "evi:adminToken",
      "The one-time token of the first start makes an administrator.",
      { secret: true, maxLength: 200 },
    ),
    organizations: list("schema:organizations", "Organizations", {
      kind: ["organization", "group"],
      via: ["schema:member", "schema:owner"],
    }),
    projects: list("schema:projects", "Projects", {
      kind: "project",
      via: ["schema:member", "schema:owner"],
    }),
    ...holdings,
  },
};

const members = arkList("schema:member", "Members: users, or groups of users.");

const group: Kind = {
  name: "group",
  typeName: "Group",
  plural: "groups",
  path: "group",
  rdfClass: "schema:Organization",
  description: "A set of users that may own records together.",
  fields: {
    "@context": context("object"),
    "@type": defaultType("Organization"),
    ...common,
    members,
  },
};

const organization: Kind = {
  name: "organization",
  typeName: "Organization",
  plural: "organizations",
  path: "organization",
  rdfClass: "schema:Organization",
  description: "An organization with members and projects.",
  fields: {
    "@context": context("object"),
    "@type": defaultType("Organization"),
    ...common,
    members: { ...members, nullable: true },
    projects: arkList(
      "schema:projects",
      "Its projects; those that name it in `memberOf` are added on reading.",
      {
        nullable: true,
        backlink: { kind: "project", via: ["schema:memberOf"] },
      },
    ),
  },
};

const holding = (name: keyof typeof holdings) =>
  custom("stringList", holdings[name].term, holdings[name].description, {
    ark: true,
    nullable: true,
    required: true,
    ...(holdings[name].backlink ? { backlink: holdings[name].backlink } : {}),
  });

const project: Kind = {
  name: "project",
  typeName: "Project",
  plural: "projects",
  path: "project",
  rdfClass: "schema:Project",
  description: "A project of an organization, with its members and records.",
  fields: {
    "@context": context(),
    "@type": defaultType("Project"),
    ...common,
    members,
    memberOf: ark("schema:memberOf", "Organization that the project belongs to.", {
      required: true,
    }),
    datasets: holding("datasets"),
    computations: holding("computations"),
    software: holding("software"),
    evidencegraphs: holding("evidencegraphs"),
    rocrates: holding("rocrates"),
  },
};

/** A crate's `@type` and `@context` are those of its metadata, unchanged. */
const loose = {
  "@context": custom("object", "rdf:JSON", "JSON-LD context of the record."),
  "@type": custom("types", "rdf:type", "Types, as the crate states them."),
};

const rocrate: Kind = {
  name: "rocrate",
  typeName: "ROCrate",
  plural: "roCrates",
  path: "rocrate",
  rdfClass: "evi:ROCrate",
  loose: true,
  fromCrates: true,
  description: "A research-object crate: the root of an uploaded archive.",
  hasContent: true,
  fields: {
    ...loose,
    ...optionalCommon,
    version: text("schema:version", "Version."),
    datePublished: text("schema:datePublished", "When it was published."),
  },
};

const entity: Kind = {
  name: "entity",
  typeName: "Entity",
  plural: "entities",
  path: null,
  rdfClass: "schema:Thing",
  loose: true,
  fromCrates: true,
  description: "Anything else that a crate describes: a person, an article, a place.",
  fields: { ...loose, ...optionalCommon },
};

/** References that crates state alone or in a list; GraphQL shows them as links. */
const references = (term: string, description: string) =>
  custom("stringOrList", term, description, { link: true });
const author = text("schema:author", "Who made it: names, or identifiers.", { link: true });
const version = text("schema:version", "Version.");
const contentUrl = text("schema:contentUrl", "Where the bytes are.");
const documentation = {
  associatedPublication: text("evi:associatedPublication", "Publication about it."),
  additionalDocumentation: text("evi:additionalDocumentation", "Further documentation."),
};
const generatedBy = references("evi:generatedBy", "Activities that generated it.");
const derivedFrom = references("evi:derivedFrom", "What it was derived from.");
const usedByExperiment = references("evi:usedByExperiment", "Experiments that used it.");
const isPartOf = references("schema:isPartOf", "What it is a part of.");

const mlmodel: Kind = {
  name: "mlmodel",
  typeName: "MLModel",
  plural: "mlModels",
  path: null,
  rdfClass: "evi:MLModel",
  loose: true,
  fromCrates: true,
  hasContent: true,
  description: "A trained machine-learning model.",
  fields: {
    ...loose,
    ...optionalCommon,
    author,
    version,
    dateCreated: text("schema:dateCreated", "When it was made."),
    dateModified: text("schema:dateModified", "When it was last changed."),
    datePublished: text("schema:datePublished", "When it was published."),
    modelType: text("evi:modelType", "Type of the model, such as its architecture."),
    modelTask: text("evi:modelTask", "Task that the model is for."),
    modelArchitecture: text("evi:modelArchitecture", "Architecture of the model."),
    framework: text("evi:framework", "Framework that the model was built with."),
    modelFormat: text("evi:modelFormat", "Format that the model is stored in."),
    format: text("schema:fileFormat", "Format of the file."),
    parametersCount: text("evi:parametersCount", "How many parameters the model has."),
    inputSize: text("evi:inputSize", "Size of the input that the model expects."),
    intendedUseCase: text("evi:intendedUseCase", "What the model is meant to be used for."),
    usageInformation: text("evi:usageInformation", "How to use the model."),
    hasBias: text("evi:hasBias", "Known biases of the model."),
    baseModel: text("evi:baseModel", "Model that this one was made from: its name or address."),
    trainedOn: references("evi:trainedOn", "Data that the model was trained on."),
    ...documentation,
    contentUrl,
    generatedBy,
    derivedFrom,
    usedByComputation: references("evi:usedByComputation", "Computations that used the model."),
    isPartOf,
  },
  alsoShown: {
    mlTask: "Task that the model is for, as FAIR4ML calls it.",
    modelCategory: "Category of the model, as FAIR4ML calls it.",
    intendedUse: "What the model is meant to be used for, as FAIR4ML calls it.",
  },
};

const sample: Kind = {
  name: "sample",
  typeName: "Sample",
  plural: "samples",
  path: null,
  rdfClass: "evi:Sample",
  loose: true,
  fromCrates: true,
  hasContent: true,
  description: "A specimen that an experiment used.",
  fields: {
    ...loose,
    ...optionalCommon,
    author,
    cellLineReference: references("evi:cellLineReference", "Cell line that the sample is of."),
    ...documentation,
    contentUrl,
    generatedBy,
    derivedFrom,
    usedByExperiment,
    isPartOf,
  },
};

const instrument: Kind = {
  name: "instrument",
  typeName: "Instrument",
  plural: "instruments",
  path: null,
  rdfClass: "evi:Instrument",
  loose: true,
  fromCrates: true,
  hasContent: true,
  description: "A device that an experiment used.",
  fields: {
    ...loose,
    ...optionalCommon,
    manufacturer: text("schema:manufacturer", "Who made the instrument."),
    model: text("schema:model", "Model of the instrument."),
    serialNumber: text("schema:serialNumber", "Serial number of the instrument."),
    ...documentation,
    contentUrl,
    usedByExperiment,
    isPartOf,
  },
};

const experiment: Kind = {
  name: "experiment",
  typeName: "Experiment",
  plural: "experiments",
  path: null,
  rdfClass: "evi:Experiment",
  loose: true,
  fromCrates: true,
  activity: true,
  description: "Work at the bench or in the field: what it used and what it generated.",
  fields: {
    ...loose,
    ...optionalCommon,
    author,
    experimentType: text("evi:experimentType", "Type of the experiment."),
    runBy: text("evi:runBy", "Who carried the experiment out."),
    datePerformed: text("evi:datePerformed", "When the experiment was carried out."),
    protocol: text("evi:protocol", "Protocol that was followed: its text or address."),
    ...documentation,
    usedInstrument: references("evi:usedInstrument", "Instruments that were used."),
    usedSample: references("evi:usedSample", "Samples that were used."),
    usedTreatment: references("evi:usedTreatment", "Treatments that were applied."),
    usedStain: references("evi:usedStain", "Stains that were used."),
    usedReagent: references("evi:usedReagent", "Reagents that were used."),
    generated: references("evi:generated", "What the experiment generated."),
    isPartOf,
  },
};

const annotation: Kind = {
  name: "annotation",
  typeName: "Annotation",
  plural: "annotations",
  path: null,
  rdfClass: "evi:Annotation",
  loose: true,
  fromCrates: true,
  hasContent: true,
  description: "A document about another object.",
  fields: {
    ...loose,
    ...optionalCommon,
    author,
    createdBy: text("evi:createdBy", "Who made the annotation.", { link: true }),
    dateCreated: text("schema:dateCreated", "When it was made."),
    version,
    annotates: references("evi:annotates", "What the annotation is about."),
    ...documentation,
    contentUrl,
    usedDataset: references("evi:usedDataset", "Data that the annotation was made from."),
    generated: references("evi:generated", "What was generated with the annotation."),
    generatedBy,
    derivedFrom,
    isPartOf,
  },
};

export const schema: Kind = {
  name: "schema",
  typeName: "Schema",
  plural: "schemas",
  path: "schema",
  rdfClass: "evi:Schema",
  fromCrates: true,
  description: "Describes the columns of a table.",
  fields: {
    "@context": {
      ...context(),
      default: { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" },
    },
    "@type": defaultType("EVI:Schema"),
    ...common,
    properties: custom(
      "object",
      "evi:properties",
      "Columns by name: JSON Schema properties with `index` and `valueURL`.",
      { default: {} },
    ),
    type: text("evi:schemaType", "Always `object`.", { default: "object" }),
    additionalProperties: custom(
      "boolean",
      "evi:additionalProperties",
      "Whether undescribed columns are allowed.",
      { default: true },
    ),
    required: custom("stringList", "evi:required", "Names of the columns every row must have.", {
      default: [],
    }),
    seperator: text("evi:separator", "Column separator (the contract's spelling).", {
      deprecated: "Use separator.",
    }),
    separator: text(
      "evi:separator",
      "Column separator, in the usual spelling; read like `seperator`.",
    ),
    header: custom("boolean", "evi:header", "Whether the first row names the columns."),
    examples: custom("list", "evi:examples", "Example rows."),
  },
};

/** Uses of this record: computations whose `used…` fields name it. */
const users: Backlink = {
  kind: ["computation", "experiment"],
  via: [
    "evi:used",
    "evi:usedDataset",
    "evi:usedSoftware",
    "evi:usedSample",
    "evi:usedInstrument",
    "evi:usedStain",
    "evi:usedTreatment",
    "evi:usedMLModel",
    "evi:usedService",
  ],
};
const catalog = "Data catalog that lists the record.";

export const dataset: Kind = {
  name: "dataset",
  typeName: "Dataset",
  plural: "datasets",
  path: "dataset",
  rdfClass: "evi:Dataset",
  fromCrates: true,
  description: "A set of data; its files are data downloads.",
  hasContent: true,
  fields: {
    "@context": context(),
    "@type": constantType("evi:Dataset"),
    ...common,
    distribution: textList("schema:distribution", "Data downloads or URLs of the content.", {
      nullable: true,
      link: true,
    }),
    includedInDataCatalog: text("schema:includedInDataCatalog", catalog, {
      nullable: true,
      link: true,
    }),
    sourceOrganization: text("schema:sourceOrganization", "Organization the data came from.", {
      nullable: true,
      link: true,
    }),
    author: text("schema:author", "Who made the data.", { nullable: true, link: true }),
    dateCreated: date("schema:dateCreated", "When the data was made."),
    dateModified: date("schema:dateModified", "When the data was last changed."),
    usedBy: textList(
      "evi:usedBy",
      "Computations that used it; those that name it are added when read.",
      { nullable: true, link: true, backlink: users },
    ),
  },
};

export const software: Kind = {
  name: "software",
  typeName: "Software",
  plural: "softwares",
  path: "software",
  rdfClass: "evi:Software",
  fromCrates: true,
  description: "A program, script or workflow.",
  hasContent: true,
  alsoShown: {
    version: "Version of the software.",
    programmingLanguage: "Language that it is written in: its name or identifier.",
    codeRepository: "Address of its source code.",
  },
  fields: {
    "@context": context(),
    metadataType: text(
      "evi:metadataType",
      "Type of the record; this kind uses `metadataType`, not `@type`.",
      { default: "evi:Software" },
    ),
    ...common,
    distribution: arkList("schema:distribution", "Data downloads that hold the program."),
    usedBy: arkList(
      "evi:usedBy",
      "Computations that used it; those that name it are added when read.",
      { backlink: users },
    ),
    sourceOrganization: ark("schema:sourceOrganization", "Organization the software came from."),
    includedInDataCatalog: ark("schema:includedInDataCatalog", catalog),
  },
};

const computation: Kind = {
  name: "computation",
  typeName: "Computation",
  plural: "computations",
  path: "computation",
  rdfClass: "evi:Computation",
  fromCrates: true,
  description: "One run of software: what it used and what it generated.",
  activity: true,
  fields: {
    "@context": context(),
    "@type": constantType("evi:Computation"),
    ...common,
    author: text("schema:author", "Who ran the computation.", { required: true, link: true }),
    dateCreated: date("schema:dateCreated", "When the run began.", { required: true }),
    dateFinished: date("schema:dateFinished", "When the run ended.", { required: true }),
    sourceOrganization: ark("schema:sourceOrganization", "Organization that ran it.", {
      required: true,
    }),
    sourceProject: ark("schema:sourceProject", "Project it was run for.", { required: true }),
    container: text("schema:container", "Container image.", { required: true }),
    command: custom(
      "stringOrList",
      "schema:command",
      "Command line, as one string or as a list of arguments.",
      { required: true, nullable: true },
    ),
    usedSoftware: custom(
      "stringOrList",
      "evi:usedSoftware",
      "Software that was run: one identifier, or a list of several.",
      { required: true, link: true },
    ),
    usedDataset: custom(
      "stringOrList",
      "evi:usedDataset",
      "Dataset that was read: one identifier, or a list of several.",
      { required: true, link: true },
    ),
    containerId: text("schema:containerId", "Identifier of the container of the run.", {
      required: true,
      nullable: true,
    }),
    containerDigest: text(
      "evi:containerDigest",
      "Digest of the image that ran here; only a run here sets it.",
      { reserved: true },
    ),
    generated: custom("stringList", "evi:generated", "Datasets that the run wrote.", {
      required: true,
      link: true,
    }),
  },
};

const datadownload: Kind = {
  name: "datadownload",
  typeName: "DataDownload",
  plural: "dataDownloads",
  path: "datadownload",
  rdfClass: "evi:DataDownload",
  fromCrates: true,
  description: "A file: its metadata, and its content when it is stored here.",
  hasContent: true,
  fields: {
    "@context": context("object"),
    "@type": constantType("evi:DataDownload"),
    ...common,
    encodingFormat: text("schema:encodingFormat", "Media type.", { required: true }),
    contentSize: text("schema:contentSize", "Size in bytes, as a decimal string.", {
      required: true,
      nullable: true,
    }),
    contentUrl: text("schema:contentUrl", "Where the bytes are.", {
      required: true,
      nullable: true,
    }),
    encodesCreativeWork: ark("schema:encodesCreativeWork", "Record whose content this is.", {
      required: true,
    }),
    sha256: text("schema:sha256", "SHA-256 of the bytes, lower-case hex.", {
      required: true,
      nullable: true,
    }),
    uploadDate: date("schema:uploadDate", "When the content was stored."),
    version: text("schema:version", "Version.", { nullable: true, default: "0.1.0" }),
    sourceOrganization: ark("schema:sourceOrganization", "Organization the file came from.", {
      nullable: true,
    }),
    includedInDataCatalog: ark("schema:includedInDataCatalog", catalog, { nullable: true }),
  },
};

const evidencegraph: Kind = {
  name: "evidencegraph",
  typeName: "EvidenceGraph",
  plural: "evidenceGraphs",
  path: "evidencegraph",
  rdfClass: "evi:EvidenceGraph",
  description: "A stored answer to: what supports this record?",
  fields: { "@context": context(), "@type": defaultType("evi:EvidenceGraph"), ...common },
};

/** Every kind by its name, in the order of the contract. */
export const KINDS: Readonly<Record<KindName, Kind>> = {
  user,
  group,
  organization,
  project,
  software,
  dataset,
  computation,
  evidencegraph,
  rocrate,
  datadownload,
  schema,
  mlmodel,
  sample,
  instrument,
  experiment,
  annotation,
  entity,
};

/** A name as a constant: `usedBy` is `USED_BY`, `MLModel` is `ML_MODEL`. */
export const constantOf = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toUpperCase();

/** Kinds that may own records on behalf of their members. */
export const COLLECTIVES: ReadonlySet<KindName> = new Set<KindName>([
  "group",
  "organization",
  "project",
]);
