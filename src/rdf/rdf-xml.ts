import type { Quad, Term } from "n3";
import { invalid } from "../errors.js";
import { PREFIXES } from "../model/field.js";
import { XML_DECLARATION, xmlText, xmlValue } from "../model/markup.js";

/** The end of an IRI that can be the name of an element (Namespaces in XML, NCName). */
const LOCAL = /[\p{L}_][\p{L}\p{N}_.\-·]*$/u;

/**
 * Triples as RDF/XML, grouped by subject in the order of their first triple.
 * @param prefixes prefix → namespace; other namespaces are declared where they are used
 * @throws ValidationError for a predicate that no element can be named after
 */
export function rdfXml(quads: readonly Quad[], prefixes: Readonly<Record<string, string>>): string {
  const names = new Map(
    Object.entries({ rdf: PREFIXES.rdf, ...prefixes }).map(([name, at]) => [at, name]),
  );
  const bySubject = new Map<string, { subject: Term; quads: Quad[] }>();
  for (const quad of quads) {
    const key = `${quad.subject.termType} ${quad.subject.value}`;
    const group = bySubject.get(key);
    if (group) group.quads.push(quad);
    else bySubject.set(key, { subject: quad.subject, quads: [quad] });
  }
  const body = Array.from(bySubject.values(), ({ subject, quads: own }) => {
    const about =
      subject.termType === "BlankNode"
        ? `rdf:nodeID="${nodeId(subject.value)}"`
        : `rdf:about="${xmlValue(subject.value)}"`;
    return (
      `<rdf:Description ${about}>\n` +
      `${own.map((quad) => `  ${property(quad, names)}\n`).join("")}</rdf:Description>\n`
    );
  });
  const declared = Array.from(names, ([at, name]) => ` xmlns:${name}="${xmlValue(at)}"`);
  return `${XML_DECLARATION}<rdf:RDF${declared.join("")}>\n` + `${body.join("")}</rdf:RDF>\n`;
}

function property({ predicate, object }: Quad, names: ReadonlyMap<string, string>): string {
  const local = LOCAL.exec(predicate.value)?.[0];
  if (local === undefined)
    throw invalid(
      ["query", "format"],
      `Value error, RDF/XML has no name for <${predicate.value}>: ask for turtle or ntriples`,
    );
  const namespace = predicate.value.slice(0, -local.length);
  const prefix = names.get(namespace);
  const name = `${prefix ?? "p"}:${local}`;
  const begin = `${name}${prefix === undefined ? ` xmlns:p="${xmlValue(namespace)}"` : ""}`;
  if (object.termType === "NamedNode")
    return `<${begin} rdf:resource="${xmlValue(object.value)}"/>`;
  if (object.termType === "BlankNode") return `<${begin} rdf:nodeID="${nodeId(object.value)}"/>`;
  if (object.termType !== "Literal") throw new Error(`RDF/XML has no ${object.termType}`);
  const kind =
    object.language !== ""
      ? ` xml:lang="${xmlValue(object.language)}"`
      : object.datatype.value === `${PREFIXES.xsd}string`
        ? ""
        : ` rdf:datatype="${xmlValue(object.datatype.value)}"`;
  return `<${begin}${kind}>${xmlText(object.value)}</${name}>`;
}

/** A label that XML allows as a name. */
const nodeId = (label: string): string => `b${label.replace(/[^A-Za-z0-9]/g, "_")}`;
