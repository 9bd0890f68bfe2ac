import { createHash } from "node:crypto";
import type { Entity, Json, Members } from "./crates.js";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const packed = (folder: string, context: Json, graph: Entity[], files: Members): Members => ({
  [`${folder}ro-crate-metadata.json`]: { "@context": context, "@graph": graph },
  ...Object.fromEntries(Object.entries(files).map(([name, content]) => [folder + name, content])),
});
const descriptor = (version: string, more: Entity = {}): Entity => ({ "@id": "ro-crate-metadata.json", "@type": "CreativeWork", about: { "@id": "./" }, conformsTo: { "@id": `https://w3id.org/ro/crate/${version}` }, ...more });
const CONTEXT = (version: string) => `https://w3id.org/ro/crate/${version}/context`;

/** Crates in the manner of the tools that write most of them, with what is peculiar to each; and the advice they get. */
export const WILD: Readonly<Record<string, { members: Members; advice: string[]; /** Records with content. */ stored: number }>> = {
  "a workflow with tests, as workflow registries pack it": {
    stored: 2,
    advice: ["DATE_INVALID"],
    members: packed("", [CONTEXT("1.1"), { TestSuite: "https://w3id.org/ro/terms/test#TestSuite", TestInstance: "https://w3id.org/ro/terms/test#TestInstance", runsOn: { "@id": "https://w3id.org/ro/terms/test#runsOn" }, instance: "https://w3id.org/ro/terms/test#instance" }], [
      descriptor("1.1", { conformsTo: [{ "@id": CONTEXT("1.1").replace("/context", "") }, { "@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0" }] }),
      { "@id": "./", "@type": "Dataset", name: "sort-and-change-case", description: "Sorts lines", license: "Apache-2.0", datePublished: "2021-03-15 12:00:00 UTC", isBasedOn: "https://github.com/example/sort", mainEntity: { "@id": "sort and change.ga" }, mentions: [{ "@id": "#test1" }], creator: [{ "@id": "https://orcid.org/0000-0001-8271-5429" }, { "@id": "#project" }], hasPart: [{ "@id": "sort and change.ga" }, { "@id": "sort%20and%20change.svg" }, { "@id": "test/test1/" }, { "@id": "https://example.org/remote.cwl" }] },
      { "@id": "sort and change.ga".replaceAll(" ", "%20"), "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"], name: "sort", programmingLanguage: { "@id": "#galaxy" }, image: { "@id": "sort%20and%20change.svg" }, input: [{ "@id": "#in" }], contentSize: 2 },
      { "@id": "sort%20and%20change.svg", "@type": ["File", "ImageObject"] },
      { "@id": "https://example.org/remote.cwl", "@type": ["File", "SoftwareSourceCode", "HowTo"] },
      { "@id": "#galaxy", "@type": "ComputerLanguage", name: "Galaxy", identifier: { "@id": "https://galaxyproject.org/" }, version: 21.09 },
      { "@id": "#in", "@type": "FormalParameter", name: "in", additionalType: "File", valueRequired: "True", defaultValue: null },
      { "@id": "#test1", "@type": "TestSuite", instance: [{ "@id": "#test1_1" }] }, { "@id": "#test1_1", "@type": "TestInstance", runsOn: { "@id": "https://w3id.org/ro/terms/test#GithubService" }, url: "https://api.github.com" },
      { "@id": "test/test1/", "@type": "Dataset" }, { "@id": "https://orcid.org/0000-0001-8271-5429", "@type": "Person", name: "A" }, { "@id": "#project", "@type": ["Project", "Organization"], name: "P" },
    ], { "sort and change.ga": "{}", "sort and change.svg": "<svg/>", "test/test1/in.txt": "x", "ro-crate-preview.html": "<html>", ".github/workflows/main.yml": "on: push" }),
  },
  "a run exported with its inputs and outputs": {
    stored: 3,
    advice: [],
    members: packed("", [CONTEXT("1.1"), "https://w3id.org/ro/terms/workflow-run/context"], [
      descriptor("1.1"),
      { "@id": "./", "@type": "Dataset", name: "Run", description: "A run", license: { "@id": "https://spdx.org/licenses/MIT" }, datePublished: "2024-01-01T10:00:00.123456", conformsTo: [{ "@id": "https://w3id.org/ro/wfrun/process/0.1" }, { "@id": "https://w3id.org/ro/wfrun/workflow/0.1" }], hasPart: [{ "@id": "main.cwl" }, { "@id": "b9214658cc453331b62c2282b772a5c063dbd284" }, { "@id": "outputs/" }], mentions: [{ "@id": "#4154dad3" }] },
      { "@id": "https://w3id.org/ro/wfrun/process/0.1", "@type": "CreativeWork", name: "Process Run Crate", version: "0.1" },
      { "@id": "main.cwl", "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"], hasPart: [{ "@id": "main.cwl#sort" }], step: [{ "@id": "main.cwl#main/step one" }], input: [{ "@id": "main.cwl#main/input" }], connection: { "@id": "#connection" } },
      { "@id": "main.cwl#sort", "@type": "SoftwareApplication", name: "sort" }, { "@id": "main.cwl#main/step one".replace(" ", "_"), "@type": "HowToStep", position: "0", workExample: { "@id": "main.cwl#sort" } },
      { "@id": "main.cwl#main/input", "@type": "FormalParameter", additionalType: ["File", "Dataset"], encodingFormat: "text/plain", workExample: { "@id": "b9214658cc453331b62c2282b772a5c063dbd284" } },
      { "@id": "#connection", "@type": "ParameterConnection", sourceParameter: { "@id": "main.cwl#main/input" }, targetParameter: { "@id": "main.cwl#sort/input" } },
      { "@id": "#4154dad3", "@type": "CreateAction", startTime: "2018-10-25T15:46:35.211153", endTime: "2018-10-25T15:46:43.020168", instrument: { "@id": "main.cwl" }, object: [{ "@id": "b9214658cc453331b62c2282b772a5c063dbd284" }, { "@id": "#pv" }], result: [{ "@id": "outputs/out.txt" }, { "@id": "#collection" }], actionStatus: { "@id": "http://schema.org/CompletedActionStatus" }, agent: { "@id": "#agent" }, environment: [{ "@id": "#env" }], containerImage: "docker.io/x@sha256:1" },
      { "@id": "#control", "@type": "ControlAction", instrument: { "@id": "main.cwl#main/step_one" }, object: { "@id": "#4154dad3" } }, { "@id": "#organize", "@type": "OrganizeAction", instrument: { "@id": "#engine" }, object: [{ "@id": "#control" }], result: { "@id": "#4154dad3" } },
      { "@id": "#engine", "@type": "SoftwareApplication", name: "engine", softwareVersion: "1.0" }, { "@id": "#pv", "@type": "PropertyValue", name: "reverse", value: true }, { "@id": "#env", "@type": "PropertyValue", name: "THREADS", value: 6 }, { "@id": "#agent", "@type": "Person", name: "A" },
      { "@id": "#collection", "@type": "Collection", hasPart: [{ "@id": "outputs/out.txt" }], exampleOfWork: { "@id": "#none" } }, { "@id": "outputs/", "@type": "Dataset", hasPart: [{ "@id": "outputs/out.txt" }] },
      { "@id": "b9214658cc453331b62c2282b772a5c063dbd284", "@type": "File", alternateName: "whale.txt", contentSize: 1, sha1: "b9214658cc453331b62c2282b772a5c063dbd284" }, { "@id": "outputs/out.txt", "@type": "File", contentSize: "1", dateModified: "2024" },
    ], { "main.cwl": "cwl", b9214658cc453331b62c2282b772a5c063dbd284: "x", "outputs/out.txt": "y", "outputs/": null }),
  },
  "an export of an electronic laboratory notebook (.eln)": {
    stored: 1,
    advice: ["LOST_TERM", "NESTED_WITHOUT_ID", "ROOT_INCOMPLETE"],
    members: packed("2024-05-03-export/", CONTEXT("1.1"), [
      descriptor("1.1", { dateCreated: "2024-05-03T08:00:00+02:00", sdPublisher: { "@id": "#publisher" }, version: "1.0" }),
      { "@id": "#publisher", "@type": "Organization", areaServed: "Laniakea Supercluster", name: "ELN", url: "https://eln.example" },
      { "@id": "./", "@type": "Dataset", hasPart: [{ "@id": "./Demo - Gold master (1) - 3b8e/" }], name: "Export" },
      { "@id": "./Demo - Gold master (1) - 3b8e/".replaceAll(" ", "%20"), "@type": "Dataset", author: { "@id": "person://6a0c?hash_algo=sha256" }, dateCreated: "2024-05-03T08:00:00+02:00", name: "Gold", text: "<p>Ein <b>Text</b></p>", keywords: "a,b", status: "Success", genre: "experiment", comment: [{ "@id": "comment://1" }], variableMeasured: [{ "@type": "PropertyValue", propertyID: "elabftw_metadata", value: '{"extra_fields":{"x":{"value":"1"}}}' }, { "@id": "pv://1" }], step: [{ "@id": "howtostep://1" }], hasPart: [{ "@id": "./Demo%20-%20Gold%20master%20(1)%20-%203b8e/data.txt" }], mentions: [{ "@id": "https://eln.example/x?id=3" }], category: { "@id": "#cat" }, contentReferenceTime: null, creativeWorkStatus: "", identifier: "20240503-3b8e", usageInfo: "", url: "https://eln.example/experiments.php?mode=view&id=1" },
      { "@id": "person://6a0c?hash_algo=sha256", "@type": "Person", givenName: "Toto", familyName: "Le sysadmin", email: "t@example.org", identifier: "" }, { "@id": "comment://1", "@type": "Comment", text: "<p>ok</p>", dateCreated: "2024" }, { "@id": "pv://1", "@type": "PropertyValue", propertyID: "Weight", value: 10.5, unitText: "kg", valueReference: "number" },
      { "@id": "howtostep://1", "@type": "HowToStep", position: 1, creativeWorkStatus: "unfinished", itemListElement: { "@type": "HowToDirection", text: "Stir" } }, { "@id": "#cat", "@type": "Thing", name: "Lab" },
      { "@id": "./Demo%20-%20Gold%20master%20(1)%20-%203b8e/data.txt", "@type": "File", name: "data.txt", alternateName: "long-name", contentSize: 4, encodingFormat: "text/plain", sha256: sha256("data"), contentUrl: "./Demo - Gold master (1) - 3b8e/data.txt" },
    ], { "Demo - Gold master (1) - 3b8e/data.txt": "data", "ro-crate-metadata.json.minisig": "untrusted comment", "README.html": "<html>" }),
  },
  "a corpus with an emptied base, reverse links and paths that begin with a slash": {
    stored: 1,
    advice: ["CONTEXT_VERSION", "ROOT_INCOMPLETE"],
    members: packed("data/", [CONTEXT("1.2-DRAFT"), { "@vocab": "http://schema.org/" }, { "@base": null as unknown as Json }, { "pcdm:memberOf": { "@id": "pcdm:memberOf", "@type": "@id" }, ldac: "https://w3id.org/ldac/terms#", hasMember: "http://pcdm.org/models#hasMember" }], [
      descriptor("1.1", { identifier: "ro-crate-metadata.json", "@reverse": { subjectOf: [{ "@id": "./" }] } }),
      { "@id": "./", "@type": ["Dataset", "RepositoryCollection"], name: ["Corpus"], license: [{ "@id": "#lic" }], hasPart: [{ "@id": "/audio/a 1.wav" }], hasMember: [{ "@id": "#item" }], datePublished: ["2024-05-03"], contactPoint: [{ "@id": "mailto:a@example.org" }], "@reverse": { about: [{ "@id": "ro-crate-metadata.json" }] } },
      { "@id": "/audio/a 1.wav".replace(" ", "%20"), "@type": ["File", "PrimaryMaterial"], name: ["a"], contentSize: [3], "ldac:doiInUse": true, encodingFormat: ["audio/x-wav", { "@id": "https://www.nationalarchives.gov.uk/PRONOM/fmt/6" }], "@reverse": { hasPart: [{ "@id": "./" }] } },
      { "@id": "#item", "@type": "RepositoryObject", inLanguage: { "@id": "https://collection.aiatsis.gov.au/austlang/language/n128" }, "http://pcdm.org/models#memberOf": { "@id": "./" }, "strange prefix:x": "y" }, { "@id": "https://collection.aiatsis.gov.au/austlang/language/n128", "@type": "Language", name: "W", geojson: '{"type":"Feature"}' },
      { "@id": "#lic", "@type": ["File", "OrganizationReuseLicense"].slice(1), allowTextIndex: true }, { "@id": "mailto:a@example.org", "@type": "ContactPoint" },
    ], { "audio/a 1.wav": "wav" }),
  },
  "a release with identifiers of its own and files elsewhere": {
    stored: 0,
    advice: ["CONTEXT_VERSION", "FIELD_LENGTH", "FILE_NOT_IN_ARCHIVE", "NESTED_WITHOUT_ID", "NOT_PART", "ROOT_INCOMPLETE", "TEXT_AS_REFERENCE"],
    members: packed("", { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" }, [
      { "@id": "ro-crate-metadata.json", "@type": "CreativeWork", conformsTo: { "@id": "https://w3id.org/ro/crate/1.2-DRAFT" }, about: { "@id": "ark:59852/rocrate-release/" } },
      { "@id": "ark:59852/rocrate-release/", "@type": ["Dataset", "https://w3id.org/EVI#ROCrate"], name: "Release", description: "A release", keywords: ["x"], version: "1.0", author: ["A", "B"], hasPart: [{ "@id": "ark:59852/d1" }, { "@id": "ark:59852/c1" }], isPartOf: [{ "@id": "ark:/Ideker_Lab" }], license: "https://creativecommons.org/licenses/by/4.0/", datePublished: null, ethicalReview: "none", additionalProperty: [{ "@type": "PropertyValue", name: "Completeness", value: "partial" }] },
      { "@id": "ark:59852/d1", metadataType: "https://w3id.org/EVI#Dataset", "@type": ["prov:Entity", "https://w3id.org/EVI#Dataset"], name: "D", description: "d", contentUrl: ["file:///raw/d 1.csv", "https://example.org/d1"], format: "csv", generatedBy: [{ "@id": "ark:59852/c1" }], usedByComputation: [], derivedFrom: [], "evi:Schema": { "@id": "ark:59852/s1" }, md5: "not computed" },
      { "@id": "ark:59852/d2", "@type": "https://w3id.org/EVI#Dataset", name: "E", description: "Embargoed data", contentUrl: "Embargoed" },
      { "@id": "ark:59852/c1", "@type": "https://w3id.org/EVI#Computation", name: "C", description: "Computes", runBy: "A", command: ["python", "x.py"], usedDataset: [{ "@id": "ark:59852/d2" }, { "@id": "ark:59999/elsewhere" }], usedSoftware: ["ark:59852/s"], generated: [{ "@id": "ark:59852/d1" }], dateCreated: "05/03/2024" },
      { "@id": "ark:59852/s", "@type": ["https://w3id.org/EVI#Software"], name: "S", description: "Software", contentUrl: "https://github.com/example", format: "py", additionalProperties: {} },
      { "@id": "ark:59852/s1", "@type": "EVI:Schema", name: "Sc", description: "Schema", properties: { "col 1": { type: "string", index: 0, description: "c", valueURL: "http://edamontology.org/data_1" }, n: { type: "number", index: "1::", minimum: 0.5 } }, required: ["col 1"], additionalProperties: true, separator: ",", header: false, examples: [] },
    ], { "raw/other.csv": "x" }),
  },
  "a run on a supercomputer whose files stay where they are": {
    stored: 1,
    advice: [],
    members: packed("", [CONTEXT("1.1"), "https://w3id.org/ro/terms/workflow-run"], [
      descriptor("1.1"),
      { "@id": "./", "@type": "Dataset", name: "Simulation", description: "Data not persisted", license: "Apache-2.0", datePublished: "2024-05-03T08:00:00+00:00", hasPart: [{ "@id": "application_sources/main.py" }, { "@id": "file://s01r2b35-ib0/gpfs/projects/in.bin" }, { "@id": "dataset/" }], mentions: [{ "@id": "#Run_1" }] },
      { "@id": "application_sources/main.py", "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"], name: "main.py", contentSize: 5, programmingLanguage: { "@id": "#compss" } }, { "@id": "#compss", "@type": "ComputerLanguage", name: "COMPSs", version: "3.3" },
      { "@id": "file://s01r2b35-ib0/gpfs/projects/in.bin", "@type": "File", name: "in.bin", contentSize: 1234, sdDatePublished: "2024-05-03" }, { "@id": "dataset/", "@type": "Dataset", name: "dataset" },
      { "@id": "#Run_1", "@type": "CreateAction", instrument: { "@id": "application_sources/main.py" }, actionStatus: { "@id": "http://schema.org/CompletedActionStatus" }, object: [{ "@id": "file://s01r2b35-ib0/gpfs/projects/in.bin" }], subjectOf: ["https://userportal.example/jobs/1"], agent: { "@id": "https://orcid.org/0000-0003-0606-2512" }, resourceUsage: [{ "@id": "#executionTime" }] },
      { "@id": "#executionTime", "@type": "PropertyValue", propertyID: "https://w3id.org/ro/terms/compss#executionTime", value: "1056", unitCode: "https://qudt.org/vocab/unit/MilliSEC" }, { "@id": "https://orcid.org/0000-0003-0606-2512", "@type": "Person", name: "R", affiliation: { "@id": "https://ror.org/05sd8tv96" } },
    ], { "application_sources/main.py": "print", "__MACOSX/._ro-crate-metadata.json": "x", ".DS_Store": "x" }),
  },
};
