import { DataFactory, type Quad_Object, Writer } from "n3";
import { expandCurie, type Field, type JsonObject, type JsonValue, PREFIXES } from "./field.js";
import { DATE_PATTERN } from "./json-schema.js";
import { isPublic, type Kind } from "./kind.js";
import { KINDS } from "./kinds.js";
import { PROVENANCE } from "./provenance.js";

/**
 * The JSON-LD 1.1 context of every declared term, for those who read records with a JSON-LD
 * processor of their own. ARK fields are references. Where a name is an ARK in one kind and free
 * text in another, only the kinds that say ARK make it one, by a context scoped to their type
 * (JSON-LD 1.1, 4.1.7); text stays text elsewhere.
 */
export function jsonLdContext(): JsonObject {
  const terms = declaredTerms();
  const context: JsonObject = { "@version": 1.1, "@vocab": PREFIXES.schema, ...PREFIXES };
  for (const [name, uses] of terms)
    context[name] = definition(
      uses.map(({ field }) => field),
      Object.hasOwn(PROVENANCE, name),
    );
  for (const [name, term] of Object.entries(PROVENANCE))
    context[name] ??= { "@id": term.evi, "@type": "@id" };
  // The type of software has this name; as an alias it also brings the scoped context of its type
  // in.
  context["metadataType"] = "@type";
  return { "@context": { ...context, ...scopedByType(terms) } };
}

interface Use {
  kind: Kind;
  field: Field;
}

/** Every public name with the kinds that declare it, in the contract's order. */
function declaredTerms(): Map<string, Use[]> {
  const terms = new Map<string, Use[]>();
  for (const kind of Object.values(KINDS)) {
    for (const [name, field] of Object.entries(kind.fields)) {
      if (name.startsWith("@") || field.secret) continue;
      const uses = terms.get(name) ?? [];
      if (uses[0] && uses[0].field.term !== field.term)
        throw new Error(`${name} means ${uses[0].field.term} and, in ${kind.name}, ${field.term}`);
      terms.set(name, [...uses, { kind, field }]);
    }
  }
  return terms;
}

function definition(fields: readonly Field[], provenance: boolean): JsonValue {
  const term = fields[0]!.term;
  if (provenance || fields.every((field) => field.ark)) return { "@id": term, "@type": "@id" };
  if (fields.every((field) => isJson(field))) return { "@id": term, "@type": "@json" };
  return term;
}

/** Values stored whole as one JSON literal: their members are no statements about the record. */
const isJson = (field: Field): boolean =>
  field.json === "object" || field.json === "stringMap" || field.json === "list";

function scopedByType(terms: ReadonlyMap<string, readonly Use[]>): JsonObject {
  const scoped: Record<string, { "@id": string; "@context": JsonObject }> = {};
  for (const [name, uses] of terms) {
    if (Object.hasOwn(PROVENANCE, name) || uses.every(({ field }) => field.ark)) continue;
    for (const { kind, field } of uses) {
      const declared = kind.fields["@type"] ?? kind.fields["metadataType"];
      const type = declared?.const ?? declared?.default;
      if (!field.ark || typeof type !== "string") continue;
      const scope = (scoped[type] ??= {
        "@id": type.includes(":") ? type : `schema:${type}`,
        "@context": {},
      });
      scope["@context"][name] = { "@id": field.term, "@type": "@id" };
    }
  }
  return scoped;
}

const { literal, namedNode, quad } = DataFactory;
const curie = (name: string) => namedNode(expandCurie(name));
const integer = (value: number) => literal(String(value), curie("xsd:integer"));

type Statements = { predicate: ReturnType<typeof namedNode>; object: Quad_Object }[];

/**
 * SHACL shapes, in Turtle: two node shapes per kind, with one property shape per public field.
 * `evi:DatasetShape` is for documents that are sent to the API: it requires of the graph what the
 * JSON Schema requires of the document, and more where a graph can express more: an ARK field must
 * hold a reference, not text. It targets nothing. `evi:StoredDatasetShape` is for every stored
 * record of the class: crates bring records without required fields, with longer text, and with
 * references or numbers where the API accepts text only (a licence by its IRI).
 */
export function shaclShapes(): string {
  const writer = new Writer({ prefixes: PREFIXES });
  for (const kind of Object.values(KINDS)) {
    for (const use of ["sent", "stored"] as const) {
      const shape = curie(shapeOf(kind, use));
      writer.addQuad(quad(shape, curie("rdf:type"), curie("sh:NodeShape")));
      if (use === "stored")
        writer.addQuad(quad(shape, curie("sh:targetClass"), curie(kind.rdfClass)));
      writer.addQuad(
        quad(
          shape,
          curie("rdfs:label"),
          literal(`${kind.typeName}, ${use === "sent" ? "as sent to the API" : "as stored"}`, "en"),
        ),
      );
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

/** The use of a shape: documents sent to the API, or stored records, including those of crates. */
export type ShapeUse = "sent" | "stored";

/** Its name as a CURIE. */
export const shapeOf = ({ typeName }: Pick<Kind, "typeName">, use: ShapeUse): string =>
  `evi:${use === "stored" ? "Stored" : ""}${typeName}Shape`;

function propertyShape(
  writer: Writer,
  kind: Kind,
  name: string,
  field: Field,
  use: ShapeUse,
): Statements | undefined {
  if (name === "@context" || !isPublic(field) || field.computed) return undefined;
  if (name === "@type" && (field.const === undefined || use === "stored")) return undefined;
  const statements: Statements = [
    { predicate: curie("sh:path"), object: curie(field.term) },
    { predicate: curie("sh:name"), object: literal(name) },
    { predicate: curie("sh:description"), object: literal(field.description, "en") },
  ];
  if (use === "stored") {
    return kind.loose || field.const !== undefined
      ? statements
      : [...statements, ...storedType(field)];
  }
  if (field.const !== undefined) {
    statements.push({
      predicate: curie("sh:hasValue"),
      object: name === "@type" ? curie(field.const) : literal(field.const),
    });
    return statements;
  }
  // A crate may state anything: the shape requires only the names of its terms.
  if (kind.loose) return statements;
  if (field.required && !field.nullable && !isList(field))
    statements.push({ predicate: curie("sh:minCount"), object: integer(1) });
  // oxlint-disable-next-line arkgraph/spread-into-call -- statements of one field
  statements.push(...valueType(writer, field));
  if (field.minLength !== undefined)
    statements.push({ predicate: curie("sh:minLength"), object: integer(field.minLength) });
  if (field.maxLength !== undefined)
    statements.push({ predicate: curie("sh:maxLength"), object: integer(field.maxLength) });
  return statements;
}

/** An empty list states nothing, so the graph cannot be required to hold a list. */
const isList = (field: Field): boolean =>
  field.json === "stringList" || field.json === "stringOrList" || field.json === "list";

/** The form of a value in any record: a reference where one belongs, a valid date. */
function storedType(field: Field): Statements {
  if (field.ark) return [{ predicate: curie("sh:nodeKind"), object: curie("sh:IRI") }];
  return field.date ? [{ predicate: curie("sh:pattern"), object: literal(DATE_PATTERN) }] : [];
}

function valueType(writer: Writer, field: Field): Statements {
  if (field.ark) return [{ predicate: curie("sh:nodeKind"), object: curie("sh:IRI") }];
  if (field.link) return [{ predicate: curie("sh:nodeKind"), object: curie("sh:IRIOrLiteral") }];
  if (isJson(field)) return [{ predicate: curie("sh:datatype"), object: curie("rdf:JSON") }];
  if (field.json === "boolean")
    return [{ predicate: curie("sh:datatype"), object: curie("xsd:boolean") }];
  const text = ["xsd:string", "rdf:langString"].map((datatype) =>
    writer.blank(curie("sh:datatype"), curie(datatype)),
  );
  return [
    { predicate: curie("sh:or"), object: writer.list(text) as unknown as Quad_Object },
    ...(field.date ? [{ predicate: curie("sh:pattern"), object: literal(DATE_PATTERN) }] : []),
  ];
}
