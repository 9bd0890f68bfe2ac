import { type RdfFormat, rdfText } from "../records/links.js";
import type { RecordFormat } from "./format.js";

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
    description: "The statements of the record as the graph has them, one a line.",
    example: `${TRIPLE} <ark:99999/dataset-cells> .\n`,
    isSignpost: true,
    tag: "-nq",
  }),
  rdf("ntriples", "application/n-triples", {
    label: "N-Triples",
    description: "The statements of the record, one a line, without their graph.",
    example: `${TRIPLE} .\n`,
  }),
  rdf("trig", "application/trig", {
    label: "TriG",
    description: "The statements of the record in their graph, with prefixes.",
    example:
      "<ark:99999/dataset-cells> {\n<ark:99999/dataset-cells> a <https://w3id.org/EVI#Dataset>\n}\n",
  }),
];
