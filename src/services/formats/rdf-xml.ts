import type { Quad, Term } from "n3";
import { invalid } from "../../errors.js";
import { PREFIXES } from "../../model/field.js";
import { parseNQuadsInParts } from "../../rdf/terms.js";
import type { RecordFormat } from "./format.js";
import { rdfText } from "./rdf.js";
import { XML_DECLARATION, xmlText, xmlValue as value } from "./xml.js";

/** The end of an IRI that can be the name of an element (Namespaces in XML, NCName). */
const LOCAL = /[\p{L}_][\p{L}\p{N}_.\-·]*$/u;
const XSD_STRING = `${PREFIXES.xsd}string`;

/**
 * Statements as RDF/XML.
 * @throws ValidationError for a predicate that no element can be named after
 */
export function rdfXml(quads: readonly Quad[]): string {
  const prefixes = new Map<string, string>(
    Object.entries(PREFIXES).map(([prefix, namespace]) => [namespace, prefix]),
  );
  const named = (iri: string): string => {
    const local = LOCAL.exec(iri)?.[0];
    if (local === undefined)
      throw invalid(
        ["query", "format"],
        `Value error, the predicate ${iri} cannot be written as RDF/XML, which makes an XML ` +
          "name of it: ask for turtle or ntriples",
      );
    const namespace = iri.slice(0, -local.length);
    let prefix = prefixes.get(namespace);
    if (prefix === undefined) prefixes.set(namespace, (prefix = `ns${prefixes.size}`));
    return `${prefix}:${local}`;
  };
  const subjects = new Map<string, string[]>();
  for (const { subject, predicate, object } of quads) {
    const line = property(named(predicate.value), object);
    const known = subjects.get(subject.value);
    if (known) known.push(line);
    else subjects.set(subject.value, [line]);
  }
  const body = [...subjects].map(
    ([subject, lines]) =>
      `<rdf:Description rdf:about="${value(subject)}">\n${lines.join("")}</rdf:Description>\n`,
  );
  const declared = [...prefixes].map(
    ([namespace, prefix]) => `\n  xmlns:${prefix}="${value(namespace)}"`,
  );
  return `${XML_DECLARATION}<rdf:RDF${declared.join("")}>\n${body.join("")}</rdf:RDF>\n`;
}

function property(name: string, object: Term): string {
  if (object.termType !== "Literal") return `<${name} rdf:resource="${value(object.value)}"/>\n`;
  const { language, datatype } = object;
  const kind = language
    ? ` xml:lang="${value(language)}"`
    : datatype.value === XSD_STRING
      ? ""
      : ` rdf:datatype="${value(datatype.value)}"`;
  return `<${name}${kind}>${xmlText(object.value)}</${name}>\n`;
}

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
    return rdfXml(quads);
  },
};
