import { DataFactory, Writer, type Quad_Object } from "n3";
import { isJson } from "./context.js";
import { PREFIXES, expandCurie, type Field } from "./field.js";
import { DATE_PATTERN } from "./json-schema.js";
import type { Kind } from "./kind.js";
import { KINDS } from "./kinds/index.js";
import { isPublic } from "./view.js";

const { literal, namedNode, quad } = DataFactory;
const curie = (name: string) => namedNode(expandCurie(name));
const integer = (value: number) => literal(String(value), curie("xsd:integer"));

type Statements = { predicate: ReturnType<typeof namedNode>; object: Quad_Object }[];

/**
 * SHACL shapes, in Turtle: two node shapes per kind, with one property shape per public field.
 * `evi:DatasetShape` is for documents that are sent to the API: it says of the graph what the JSON Schema says of the
 * document, and more where a graph can tell more: an ARK field must hold a reference, not text. It targets nothing.
 * `evi:StoredDatasetShape` is for every stored record of the class: crates bring records without required fields, with
 * longer text, and with references or numbers where the API takes text only (a licence by its IRI).
 */
export function shaclShapes(): string {
  const writer = new Writer({ prefixes: PREFIXES });
  for (const kind of Object.values(KINDS)) {
    for (const use of ["sent", "stored"] as const) {
      const shape = curie(shapeOf(kind, use));
      writer.addQuad(quad(shape, curie("rdf:type"), curie("sh:NodeShape")));
      if (use === "stored") writer.addQuad(quad(shape, curie("sh:targetClass"), curie(kind.rdfClass)));
      writer.addQuad(quad(shape, curie("rdfs:label"), literal(`${kind.typeName}, ${use === "sent" ? "as sent to the API" : "as stored"}`, "en")));
      writer.addQuad(quad(shape, curie("rdfs:comment"), literal(kind.description, "en")));
      for (const [name, field] of Object.entries(kind.fields)) {
        const property = propertyShape(writer, kind, name, field, use);
        if (property) writer.addQuad(shape, curie("sh:property"), writer.blank(property));
      }
    }
  }
  let turtle = "";
  writer.end((error, result: string) => {
    if (error) throw error;
    turtle = result;
  });
  return turtle;
}

/** What a shape is for: documents sent to the API, or stored records, those of crates among them. */
export type ShapeUse = "sent" | "stored";

/** Its name as a CURIE. */
export const shapeOf = ({ typeName }: Pick<Kind, "typeName">, use: ShapeUse): string => `evi:${use === "stored" ? "Stored" : ""}${typeName}Shape`;

function propertyShape(writer: Writer, kind: Kind, name: string, field: Field, use: ShapeUse): Statements | undefined {
  if (name === "@context" || !isPublic(field) || field.computed) return undefined;
  if (name === "@type" && (field.const === undefined || use === "stored")) return undefined;
  const statements: Statements = [
    { predicate: curie("sh:path"), object: curie(field.term) },
    { predicate: curie("sh:name"), object: literal(name) },
    { predicate: curie("sh:description"), object: literal(field.description, "en") },
  ];
  if (use === "stored") {
    return kind.loose || field.const !== undefined ? statements : [...statements, ...storedType(field)];
  }
  if (field.const !== undefined) {
    statements.push({ predicate: curie("sh:hasValue"), object: name === "@type" ? curie(field.const) : literal(field.const) });
    return statements;
  }
  // A crate states what it likes: nothing is asked of it but the names of its terms.
  if (kind.loose) return statements;
  if (field.required && !field.nullable && !isList(field)) statements.push({ predicate: curie("sh:minCount"), object: integer(1) });
  statements.push(...valueType(writer, field));
  if (field.minLength !== undefined) statements.push({ predicate: curie("sh:minLength"), object: integer(field.minLength) });
  if (field.maxLength !== undefined) statements.push({ predicate: curie("sh:maxLength"), object: integer(field.maxLength) });
  return statements;
}

/** An empty list states nothing, so that a list must be there cannot be asked of the graph. */
const isList = (field: Field): boolean => field.json === "stringList" || field.json === "list";

/** What a value is in any record: a reference where one belongs, a date that is one. */
function storedType(field: Field): Statements {
  if (field.ark) return [{ predicate: curie("sh:nodeKind"), object: curie("sh:IRI") }];
  return field.date ? [{ predicate: curie("sh:pattern"), object: literal(DATE_PATTERN) }] : [];
}

function valueType(writer: Writer, field: Field): Statements {
  if (field.ark) return [{ predicate: curie("sh:nodeKind"), object: curie("sh:IRI") }];
  if (field.link) return [{ predicate: curie("sh:nodeKind"), object: curie("sh:IRIOrLiteral") }];
  if (isJson(field)) return [{ predicate: curie("sh:datatype"), object: curie("rdf:JSON") }];
  if (field.json === "boolean") return [{ predicate: curie("sh:datatype"), object: curie("xsd:boolean") }];
  const text = ["xsd:string", "rdf:langString"].map((datatype) => writer.blank(curie("sh:datatype"), curie(datatype)));
  return [
    { predicate: curie("sh:or"), object: writer.list(text) as unknown as Quad_Object },
    ...(field.date ? [{ predicate: curie("sh:pattern"), object: literal(DATE_PATTERN) }] : []),
  ];
}
