import type { Quad } from "n3";
import { PREFIXES } from "../../model/field.js";
import { rdfXml } from "../../rdf/rdf-xml.js";
import { parseNQuadsInParts } from "../../rdf/terms.js";
import type { RecordFormat } from "./format.js";
import { rdfText } from "./rdf.js";

export const rdfxml: RecordFormat = {
  name: "rdfxml",
  mediaType: "application/rdf+xml",
  label: "RDF/XML",
  description: "The statements of the record as RDF/XML.",
  relation: "describedby",
  example:
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n' +
    '<rdf:Description rdf:about="ark:99999/dataset-cells"/>\n</rdf:RDF>\n',
  write: async ({ deps, view }) => {
    const text = await rdfText(deps, view, "application/n-triples");
    const quads: Quad[] = [];
    for await (const part of parseNQuadsInParts(text.split("\n")))
      for (const quad of part) quads.push(quad);
    return rdfXml(quads, PREFIXES);
  },
};
