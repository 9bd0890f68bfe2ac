import { DataFactory, Writer, type Quad_Object } from "n3";
import { PREFIXES, expandCurie, type Field } from "../field.js";
import { KINDS } from "../kinds/index.js";
import { isPublic } from "../view.js";
import { CLASSES } from "./classes.js";
import { PROPERTIES, type VocabularyProperty } from "./properties.js";

const { literal, namedNode, quad } = DataFactory;
const NAMESPACES = { ...PREFIXES, owl: "http://www.w3.org/2002/07/owl#", skos: "http://www.w3.org/2004/02/skos/core#", vann: "http://purl.org/vocab/vann/" };

function term(curie: string) {
  const [prefix = "", local = ""] = curie.split(":");
  return Object.hasOwn(NAMESPACES, prefix) ? namedNode(NAMESPACES[prefix as keyof typeof NAMESPACES] + local) : namedNode(expandCurie(curie));
}
const english = (text: string): Quad_Object => literal(text, "en");
/** `usedMLModel` → `used ML model`. */
const label = (name: string): string =>
  name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2").replace(/ ([A-Z])(?=[a-z])/g, (_, letter: string) => ` ${letter.toLowerCase()}`);

/** The ontology itself: where its facts come from, and in what it differs. */
const ABOUT = `The vocabulary in which this service states what rests on what. Its terms are those of the evidence graph ontology EVI 1.5; it differs from that in what follows.
Its properties are tied to PROV-O, in the namespace that PROV-O has. Support has neither domain nor range, because activities and agents take part in it and are no digital objects. An agent is not a kind of entity. Classes of schema.org are close matches, not equivalents, so that nothing is typed by accident. Where a property is meant to stand is told by schema:domainIncludes and schema:rangeIncludes, from which nothing follows.`;

/** The evidence vocabulary in Turtle, printed from the tables of this folder and the fields of the kinds. */
export function evidenceOntology(): string {
  const writer = new Writer({ prefixes: NAMESPACES });
  const state = (subject: string, statements: readonly (readonly [predicate: string, object: Quad_Object])[]): void => {
    for (const [predicate, object] of statements) writer.addQuad(quad(term(subject), term(predicate), object));
  };
  const links = (predicate: string, objects: readonly string[] = []) => objects.map((object) => [predicate, term(object)] as const);

  state("evi:", [
    ["rdf:type", term("owl:Ontology")], ["dcterms:title", english("Evidence graph vocabulary")], ["dcterms:description", english(ABOUT)],
    ["dcterms:license", namedNode("https://creativecommons.org/licenses/by/4.0/")], ["rdfs:seeAlso", namedNode("http://www.w3.org/ns/prov-o#")],
    ["vann:preferredNamespacePrefix", literal("evi")], ["vann:preferredNamespaceUri", literal(PREFIXES.evi)],
  ]);
  for (const [name, { comment, subClassOf, close }] of Object.entries(CLASSES)) {
    state(`evi:${name}`, [
      ["rdf:type", term("owl:Class")], ["rdfs:label", english(label(name))], ["rdfs:comment", english(comment)],
      ...links("rdfs:subClassOf", subClassOf), ...links("skos:closeMatch", close), ["rdfs:isDefinedBy", term("evi:")],
    ]);
  }
  for (const [name, property] of Object.entries(PROPERTIES)) state(`evi:${name}`, [...aboutProperty(name, property, links), ["rdfs:isDefinedBy", term("evi:")]]);
  // PROV-O has a term for this statement and EVI has none.
  state("prov:wasInformedBy", links("rdfs:subPropertyOf", ["evi:directlySupportedBy"]));
  for (const [name, field] of fieldsOnly()) {
    state(name, [["rdf:type", term("rdf:Property")], ["rdfs:label", english(label(name.slice("evi:".length)))], ["rdfs:comment", english(field.description)], ["rdfs:isDefinedBy", term("evi:")]]);
  }
  let turtle = "";
  writer.end((error, result: string) => {
    if (error) throw error;
    turtle = result;
  });
  return turtle;
}

function aboutProperty(name: string, property: VocabularyProperty, links: (predicate: string, objects?: readonly string[]) => (readonly [string, Quad_Object])[]): (readonly [string, Quad_Object])[] {
  const { comment, subPropertyOf, equivalent, inverseOf, transitive, from, to } = property;
  const one = (object: string | undefined): string[] => (object === undefined ? [] : [object]);
  return [
    ["rdf:type", term("owl:ObjectProperty")], ...links("rdf:type", transitive ? ["owl:TransitiveProperty"] : []),
    ["rdfs:label", english(label(name))], ["rdfs:comment", english(comment)],
    ...links("rdfs:subPropertyOf", subPropertyOf), ...links("owl:equivalentProperty", equivalent), ...links("owl:inverseOf", one(inverseOf)),
    ...links("schema:domainIncludes", one(from)), ...links("schema:rangeIncludes", one(to)),
  ];
}

/** Terms of this namespace that fields of records are stored under and that are no links. */
function fieldsOnly(): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const kind of Object.values(KINDS)) {
    for (const field of Object.values(kind.fields)) {
      const name = field.term.slice("evi:".length);
      if (field.term.startsWith("evi:") && isPublic(field) && !Object.hasOwn(PROPERTIES, name) && !fields.has(field.term)) fields.set(field.term, field);
    }
  }
  return fields;
}
