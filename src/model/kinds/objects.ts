import { ark, arkList, custom, date, text, textList, type Backlink } from "../field.js";
import type { Kind } from "../kind.js";
import { common, constantType, context, defaultType } from "./common.js";

/** Who used this: computations whose `used…` fields name the record. */
const users: Backlink = {
  kind: ["computation"],
  via: ["evi:used", "evi:usedDataset", "evi:usedSoftware", "evi:usedSample", "evi:usedInstrument", "evi:usedStain", "evi:usedTreatment", "evi:usedMLModel", "evi:usedService"],
};
const catalog = "Data catalog that lists the record.";

export const dataset: Kind = {
  name: "dataset", typeName: "Dataset", plural: "datasets", path: "dataset", rdfClass: "evi:Dataset", fromCrates: true,
  description: "A set of data; its files are data downloads.",
  fields: {
    "@context": context(), "@type": constantType("evi:Dataset"), ...common,
    distribution: textList("schema:distribution", "Data downloads or URLs of the content.", { nullable: true, link: true }),
    includedInDataCatalog: text("schema:includedInDataCatalog", catalog, { nullable: true, link: true }),
    sourceOrganization: text("schema:sourceOrganization", "Organization the data came from.", { nullable: true, link: true }),
    author: text("schema:author", "Who made the data.", { nullable: true, link: true }),
    dateCreated: date("schema:dateCreated", "When the data was made."),
    dateModified: date("schema:dateModified", "When the data was last changed."),
    usedBy: textList("evi:usedBy", "Computations that used the data; those that name it are added when the record is read.", { nullable: true, link: true, backlink: users }),
  },
};

export const software: Kind = {
  name: "software", typeName: "Software", plural: "softwareList", path: "software", rdfClass: "evi:Software", fromCrates: true,
  description: "A program, script or workflow.",
  fields: {
    "@context": context(),
    metadataType: text("evi:metadataType", "Type of the record; this kind uses `metadataType`, not `@type`.", { default: "evi:Software" }),
    ...common,
    distribution: arkList("schema:distribution", "Data downloads that hold the program."),
    usedBy: arkList("evi:usedBy", "Computations that used the software; those that name it are added when the record is read.", { backlink: users }),
    sourceOrganization: ark("schema:sourceOrganization", "Organization the software came from."),
    includedInDataCatalog: ark("schema:includedInDataCatalog", catalog),
  },
};

export const computation: Kind = {
  name: "computation", typeName: "Computation", plural: "computations", path: "computation", rdfClass: "evi:Computation", fromCrates: true,
  description: "One run of software: what it used and what it generated.",
  fields: {
    "@context": context(), "@type": constantType("evi:Computation"), ...common,
    author: text("schema:author", "Who ran the computation.", { required: true, link: true }),
    dateCreated: date("schema:dateCreated", "When the run began.", { required: true }),
    dateFinished: date("schema:dateFinished", "When the run ended.", { required: true }),
    sourceOrganization: ark("schema:sourceOrganization", "Organization that ran it.", { required: true }),
    sourceProject: ark("schema:sourceProject", "Project it was run for.", { required: true }),
    container: text("schema:container", "Container image.", { required: true }),
    command: custom("stringOrList", "schema:command", "Command line, as one string or as a list of arguments.", { required: true, nullable: true }),
    usedSoftware: text("evi:usedSoftware", "Software that was run.", { required: true, link: true }),
    usedDataset: text("evi:usedDataset", "Dataset that was read.", { required: true, link: true }),
    containerId: text("schema:containerId", "Identifier of the container of the run.", { required: true, nullable: true }),
    containerDigest: text("evi:containerDigest", "Digest of the image that ran here. Only a run in this registry fills it in; another value is refused.", { reserved: true }),
    generated: custom("stringList", "evi:generated", "Datasets that the run wrote.", { required: true, link: true }),
  },
};

export const datadownload: Kind = {
  name: "datadownload", typeName: "DataDownload", plural: "dataDownloads", path: "datadownload", rdfClass: "evi:DataDownload", fromCrates: true,
  description: "A file: its metadata, and its content when it is stored here.",
  fields: {
    "@context": context("object"), "@type": constantType("evi:DataDownload"), ...common,
    encodingFormat: text("schema:encodingFormat", "Media type.", { required: true }),
    contentSize: text("schema:contentSize", "Size in bytes, as a decimal string.", { required: true, nullable: true }),
    contentUrl: text("schema:contentUrl", "Where the bytes are.", { required: true, nullable: true }),
    encodesCreativeWork: ark("schema:encodesCreativeWork", "Record whose content this is.", { required: true }),
    sha256: text("schema:sha256", "SHA-256 of the bytes, lower-case hex.", { required: true, nullable: true }),
    uploadDate: date("schema:uploadDate", "When the content was stored."),
    version: text("schema:version", "Version.", { nullable: true, default: "0.1.0" }),
    sourceOrganization: ark("schema:sourceOrganization", "Organization the file came from.", { nullable: true }),
    includedInDataCatalog: ark("schema:includedInDataCatalog", catalog, { nullable: true }),
  },
};

export const evidencegraph: Kind = {
  name: "evidencegraph", typeName: "EvidenceGraph", plural: "evidenceGraphs", path: "evidencegraph", rdfClass: "evi:EvidenceGraph",
  description: "A stored answer to: what supports this record?",
  fields: { "@context": context(), "@type": defaultType("evi:EvidenceGraph"), ...common },
};
