/** RDF of the feeds as text, in the format that was asked for. */
import jsonld from "jsonld";
import { DataFactory, type Quad, type Term, Writer } from "n3";
import { rdfXml } from "../../rdf/rdf-xml.js";

const { namedNode, literal, blankNode, quad } = DataFactory;

/** Prefixes of the catalogue and of the description of the dataset. */
export const NAMESPACES = {
  adms: "http://www.w3.org/ns/adms#",
  dcat: "http://www.w3.org/ns/dcat#",
  dcterms: "http://purl.org/dc/terms/",
  foaf: "http://xmlns.com/foaf/0.1/",
  hydra: "http://www.w3.org/ns/hydra/core#",
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  spdx: "http://spdx.org/rdf/terms#",
  vcard: "http://www.w3.org/2006/vcard/ns#",
  void: "http://rdfs.org/ns/void#",
  xsd: "http://www.w3.org/2001/XMLSchema#",
} as const;
type Curie = `${keyof typeof NAMESPACES}:${string}`;

const expanded = (curie: Curie): string => {
  const colon = curie.indexOf(":");
  return NAMESPACES[curie.slice(0, colon) as keyof typeof NAMESPACES] + curie.slice(colon + 1);
};

/** Forms of an RDF document, the default first. */
export const RDF_TYPES = [
  "text/turtle",
  "application/ld+json",
  "application/rdf+xml",
  "application/n-triples",
] as const;
export type RdfType = (typeof RDF_TYPES)[number];

/** Collects statements, each once. Absent values make none. */
export class Statements {
  readonly quads: Quad[] = [];
  readonly #known = new Set<string>();
  #blanks = 0;

  /** Types an IRI, or a new blank node, and returns it. */
  node(iri: string | null, ...types: Curie[]): Term {
    const subject = iri === null ? blankNode(`n${this.#blanks++}`) : namedNode(safeIri(iri));
    for (const type of types) this.add(subject, "rdf:type", namedNode(expanded(type)));
    return subject;
  }

  add(subject: Term, predicate: Curie, object: Term | null | undefined): void {
    if (!object) return;
    const { datatype } = object as { datatype?: Term };
    const key = [subject, object].map(({ termType, value }) => `${termType} ${value}`);
    const known = [...key, predicate, datatype?.value].join("\n");
    if (this.#known.has(known)) return;
    this.#known.add(known);
    this.quads.push(
      quad(subject as Quad["subject"], namedNode(expanded(predicate)), object as Quad["object"]),
    );
  }

  text(subject: Term, predicate: Curie, value: string | null | undefined, type?: Curie): void {
    if (value === null || value === undefined) return;
    const known = value.toWellFormed();
    this.add(subject, predicate, type ? literal(known, namedNode(expanded(type))) : literal(known));
  }

  /** The document in one form. */
  async written(type: RdfType): Promise<string> {
    if (type === "application/rdf+xml") return rdfXml(this.quads, NAMESPACES);
    if (type === "text/turtle") return this.#print({ prefixes: NAMESPACES });
    const lines = await this.#print({ format: "N-Triples" });
    if (type === "application/n-triples") return lines;
    const expandedForm = await jsonld.fromRDF(lines, {
      format: "application/n-quads",
    });
    return JSON.stringify(await jsonld.compact(expandedForm, { ...NAMESPACES }));
  }

  #print(options: ConstructorParameters<typeof Writer>[0]): Promise<string> {
    const writer = new Writer(options);
    writer.addQuads(this.quads);
    return new Promise((resolve, reject) =>
      writer.end((error, result: string) => (error ? reject(error) : resolve(result))),
    );
  }
}

/** An IRI as every form can write it; characters that IRIs refuse are escaped. */
export const safeIri = (iri: string): string =>
  // eslint-disable-next-line no-control-regex
  iri.toWellFormed().replace(/[\u0000-\u0020<>"{}|\\^`\u007f-\u00a0]/gu, encodeURIComponent);
