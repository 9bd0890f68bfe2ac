import type { Quad, Term } from "n3";

/** Text as XML 1.0 holds it; characters that XML forbids are replaced. */
const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\u{FFFD}")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\r", "&#13;");

const RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const STRING = "http://www.w3.org/2001/XMLSchema#string";
/** The end of an IRI that can be the name of an element. */
const LOCAL = /[A-Za-z_][A-Za-z0-9_.-]*$/;

/**
 * Triples as RDF/XML, grouped by subject in the order of their first triple.
 * @param prefixes prefix → namespace; other namespaces are declared where they are used
 * @throws Error for a predicate that XML has no name for
 */
export function rdfXml(quads: readonly Quad[], prefixes: Readonly<Record<string, string>>): string {
  const names = new Map(Object.entries({ rdf: RDF, ...prefixes }).map(([name, at]) => [at, name]));
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
        : `rdf:about="${escaped(subject.value)}"`;
    return (
      `<rdf:Description ${about}>\n` +
      `${own.map((quad) => `  ${property(quad, names)}\n`).join("")}</rdf:Description>\n`
    );
  });
  const declared = Array.from(names, ([at, name]) => ` xmlns:${name}="${escaped(at)}"`);
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF${declared.join("")}>\n` +
    `${body.join("")}</rdf:RDF>\n`
  );
}

function property({ predicate, object }: Quad, names: ReadonlyMap<string, string>): string {
  const local = LOCAL.exec(predicate.value)?.[0];
  if (local === undefined) throw new Error(`RDF/XML has no name for <${predicate.value}>`);
  const namespace = predicate.value.slice(0, -local.length);
  const prefix = names.get(namespace);
  const name = `${prefix ?? "p"}:${local}`;
  const begin = `${name}${prefix === undefined ? ` xmlns:p="${escaped(namespace)}"` : ""}`;
  if (object.termType === "NamedNode") return `<${begin} rdf:resource="${escaped(object.value)}"/>`;
  if (object.termType === "BlankNode") return `<${begin} rdf:nodeID="${nodeId(object.value)}"/>`;
  if (object.termType !== "Literal") throw new Error(`RDF/XML has no ${object.termType}`);
  const kind =
    object.language !== ""
      ? ` xml:lang="${escaped(object.language)}"`
      : object.datatype.value === STRING
        ? ""
        : ` rdf:datatype="${escaped(object.datatype.value)}"`;
  return `<${begin}${kind}>${escaped(object.value)}</${name}>`;
}

/** A label that XML allows as a name. */
const nodeId = (label: string): string => `b${label.replace(/[^A-Za-z0-9]/g, "_")}`;
