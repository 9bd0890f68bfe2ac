import { Writer } from "n3";
import { PREFIXES } from "../../model/field.js";
import { graphOf } from "../../rdf/graph.js";
import { literalTerm, parseNQuadsInParts } from "../../rdf/terms.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import type { RecordView } from "../records/view.js";
import { accessOf, CITED } from "./facts.js";
import type { RecordFormat } from "./format.js";

/** The statements of a record as N-Quads, without inferred ones. */
async function quadsOf(
  { records }: Pick<Deps, "records">,
  { record, past }: RecordView,
): Promise<string> {
  if (!past) return (await records.quads(record.ark)) ?? "";
  const { ark, kind, crate } = record;
  return (await graphOf({ ark, kind, document: past, fromCrate: crate !== null })).quads;
}

/** Media types of a record as RDF text. */
type RdfFormat =
  "text/turtle" | "application/n-quads" | "application/n-triples" | "application/trig";

/**
 * The statements of a record, without inferred ones, in the default graph: clients that prefer
 * N-Quads or TriG, such as Comunica, query that graph and would find nothing in a named one. For
 * catalogues they also say who may read the content, and who publishes what states no publisher.
 */
export async function rdfText(deps: Deps, view: RecordView, format: RdfFormat): Promise<string> {
  const end = ` <${view.record.ark}> .`;
  const stated = (await quadsOf(deps, view))
    .split("\n")
    .filter((line) => line.endsWith(end))
    .map((line) => `${line.slice(0, -end.length)} .`);
  const lines = [...stated, ...catalogued(deps, view.record, stated)];
  if (format === "application/n-triples" || format === "application/n-quads")
    return lines.map((line) => `${line}\n`).join("");
  const writer = new Writer({ format, prefixes: PREFIXES });
  for await (const quads of parseNQuadsInParts(lines)) writer.addQuads(quads);
  return new Promise((resolve, reject) =>
    writer.end((error, result: string) => (error ? reject(error) : resolve(result))),
  );
}

/** Statements of the registry about a record: access right and publisher, as N-Triples. */
function catalogued(
  { config, baseUrl }: Pick<Deps, "config" | "baseUrl">,
  record: StoredRecord,
  stated: readonly string[],
): string[] {
  if (!CITED.includes(record.kind)) return [];
  const { dcterms, schema } = PREFIXES;
  const publisher = `<${schema}publisher>`;
  return [
    `<${record.ark}> <${dcterms}accessRights> <${accessOf(record).coar}> .`,
    ...(stated.some((line) => line.startsWith(`<${record.ark}> ${publisher} `))
      ? []
      : [
          `<${record.ark}> ${publisher} <${baseUrl()}> .`,
          `<${baseUrl()}> <${schema}name> ${literalTerm(config.REGISTRY_NAME)} .`,
        ]),
  ];
}

const rdf = (
  name: string,
  mediaType: RdfFormat,
  more: Pick<RecordFormat, "label" | "description" | "example" | "isSignpost" | "tag">,
): RecordFormat => ({
  name,
  mediaType,
  relation: "describedby",
  ...more,
  write: ({ deps, view }) => rdfText(deps, view, mediaType),
});

const TRIPLE =
  "<ark:99999/dataset-cells> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> " +
  "<https://w3id.org/EVI#Dataset>";

/** The statements of a record, without inferred ones. */
export const RDF_FORMATS: readonly RecordFormat[] = [
  rdf("turtle", "text/turtle", {
    label: "Turtle",
    description: "The statements of the record, with prefixes.",
    example: "<ark:99999/dataset-cells> a <https://w3id.org/EVI#Dataset> .\n",
    isSignpost: true,
    tag: "-ttl",
  }),
  rdf("nquads", "application/n-quads", {
    label: "N-Quads",
    description: "The same as N-Triples, for clients that ask for N-Quads.",
    example: `${TRIPLE} .\n`,
    isSignpost: true,
    tag: "-nq",
  }),
  rdf("ntriples", "application/n-triples", {
    label: "N-Triples",
    description: "The statements of the record, one a line.",
    example: `${TRIPLE} .\n`,
  }),
  rdf("trig", "application/trig", {
    label: "TriG",
    description: "The same as Turtle, for clients that ask for TriG.",
    example: "<ark:99999/dataset-cells> a <https://w3id.org/EVI#Dataset> .\n",
  }),
];
