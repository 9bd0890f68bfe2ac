import jsonld from "jsonld";
import { DataFactory, Writer, type Quad } from "n3";
import { PREFIXES } from "../../model/field.js";

const SD = "http://www.w3.org/ns/sparql-service-description#";
const FORMATS = "http://www.w3.org/ns/formats/";
/** The forms the description comes in, the default first. */
export const DESCRIPTION_TYPES = ["text/turtle", "application/n-triples", "application/n-quads", "application/ld+json", "application/json"] as const;
export type DescriptionType = (typeof DESCRIPTION_TYPES)[number];

/** What the endpoint is and does, by SPARQL 1.1 Service Description. */
export async function serviceDescription(endpoint: string, type: DescriptionType): Promise<string> {
  const statements = quads(endpoint);
  if (type === "text/turtle") return written(statements, "Turtle");
  const lines = await written(statements, "N-Triples");
  if (type === "application/n-triples" || type === "application/n-quads") return lines;
  return JSON.stringify(await jsonld.fromRDF(lines as never, { format: "application/n-quads" }));
}

function quads(endpoint: string): Quad[] {
  const { namedNode, blankNode, quad } = DataFactory;
  const a = namedNode(`${PREFIXES.rdf}type`);
  const sd = (name: string) => namedNode(SD + name);
  const service = namedNode(endpoint);
  const [dataset, graph] = [blankNode("dataset"), blankNode("union")];
  return [
    quad(service, a, sd("Service")), quad(service, sd("endpoint"), service), quad(service, sd("supportedLanguage"), sd("SPARQL11Query")),
    ...["SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV", "Turtle", "N-Triples", "N-Quads", "JSON-LD", "RDF_XML"].map((name) => quad(service, sd("resultFormat"), namedNode(FORMATS + name))),
    quad(service, sd("feature"), sd("UnionDefaultGraph")),
    quad(service, sd("defaultDataset"), dataset), quad(dataset, a, sd("Dataset")),
    quad(dataset, sd("defaultGraph"), graph), quad(graph, a, sd("Graph")),
  ];
}

function written(statements: readonly Quad[], format: string): Promise<string> {
  const writer = new Writer(format === "Turtle" ? { format, prefixes: { sd: SD, formats: FORMATS } } : { format });
  writer.addQuads([...statements]);
  return new Promise((resolve, reject) => writer.end((error, result: string) => (error ? reject(error) : resolve(result))));
}
