import { GraphQLJSON } from "graphql-scalars";
import { Field, Int, ObjectType } from "type-graphql";
import { connectionsOf } from "../../model/connections.js";
import type { Field as ModelField } from "../../model/field.js";
import type { Kind, KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import type { StoredRecord } from "../../stores/records/port.js";
import { PageInfo } from "./connection.js";
import { RecordNode, texts } from "./record-node.js";

/** Fields every record has by the interface, and names GraphQL does not allow. */
const GIVEN = new Set(["name", "description", "keywords", "license", "url", "owner", "additionalProperties"]);
const hiddenField = (name: string, field: ModelField): boolean => name.startsWith("@") || GIVEN.has(name) || field.secret === true || field.private === true;

/** GraphQL type of a declared field. */
export function scalarOf(field: ModelField): () => unknown {
  switch (field.json) {
    case "string": return () => String;
    case "stringList": case "stringOrList": case "types": return () => [String];
    case "boolean": return () => Boolean;
    default: return () => GraphQLJSON;
  }
}

export type NodeClass = new (ark: string, stored: StoredRecord | null) => RecordNode;

/** The class under a name of its own: type-graphql takes names of types from it. */
function named<T extends new (...args: never[]) => object>(name: string, type: T): T {
  Object.defineProperty(type, "name", { value: name });
  return type;
}

function objectType(typeName: string, description: string): NodeClass {
  const type = named(typeName, class extends RecordNode {}) as unknown as NodeClass;
  ObjectType(typeName, { implements: RecordNode, description, simpleResolvers: true })(type);
  return type;
}

/** The declared fields of a kind that do not lead to other records. */
function addScalars(kind: Kind, type: NodeClass): void {
  const connections = connectionsOf(kind.name);
  for (const [name, field] of Object.entries(kind.fields)) {
    if (hiddenField(name, field) || Object.hasOwn(connections, name)) continue;
    const many = field.json === "stringList" || field.json === "stringOrList";
    Object.defineProperty(type.prototype, name, {
      configurable: true,
      get(this: RecordNode) { return many ? texts(this.shown[name]) : (this.shown[name] ?? null); },
    });
    Field(scalarOf(field) as never, { nullable: true, description: field.description })(type.prototype, name);
  }
}

/** GraphQL object type of each kind, from its table. */
export const NODE_TYPES = Object.fromEntries(Object.values(KINDS).map((kind) => {
  const type = objectType(kind.typeName, kind.description);
  addScalars(kind, type);
  return [kind.name, type];
})) as Record<KindName, NodeClass>;

/** A page of one kind's list; links lead to records of any kind and have a {@link RecordConnection}. */
function connectionType(typeName: string, type: NodeClass): new () => object {
  const edge = named(`${typeName}Edge`, class {});
  ObjectType({ simpleResolvers: true })(edge);
  Field(() => type)(edge.prototype as object, "node");
  Field(() => String)(edge.prototype as object, "cursor");
  const connection = named(`${typeName}Connection`, class {});
  ObjectType({ description: "A page of a list; go on with after: pageInfo.endCursor.", simpleResolvers: true })(connection);
  const add = (name: string, of: () => unknown, description?: string) => Field(of as never, description === undefined ? {} : { description })(connection.prototype as object, name);
  add("edges", () => [edge]);
  add("nodes", () => [type]);
  add("pageInfo", () => PageInfo);
  add("totalCount", () => Int, "Records in all, by the filter; counted only when asked for.");
  return connection;
}

/** GraphQL type of each kind's list. */
export const CONNECTION_TYPES = Object.fromEntries(Object.values(KINDS).map(({ name, typeName }) => [name, connectionType(typeName, NODE_TYPES[name])])) as Record<KindName, new () => object>;

/** Target of a reference that is not stored here. */
export const UnresolvedType = objectType("Unresolved", "A reference to something that is not stored here.");

/** The node that shows a record. */
export const nodeOf = (record: StoredRecord): RecordNode => new NODE_TYPES[record.kind](record.ark, record);
export const unresolved = (ark: string): RecordNode => new UnresolvedType(ark, null);
