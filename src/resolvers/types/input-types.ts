import { GraphQLJSON } from "graphql-scalars";
import { Field, ID, InputType } from "type-graphql";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import { scalarOf } from "./kind-types.js";

export type RecordInput = Record<string, unknown>;

/** GraphQL names of the JSON-LD keywords. */
const INPUT_NAMES: Readonly<Record<string, string>> = { "@type": "type", "@context": "context" };

/**
 * Input type of each kind that can be written over the API. Nothing is required by the type: the same rules
 * as over REST decide, with the same codes.
 */
export const INPUT_TYPES = Object.fromEntries(Object.values(KINDS).filter((kind) => kind.path !== null && kind.name !== "rocrate").map((kind) => {
  const type = class {} as unknown as new () => RecordInput;
  const name = `${kind.typeName}Input`;
  Object.defineProperty(type, "name", { value: name });
  InputType(name)(type);
  const add = (field: string, of: unknown, description: string) => Field((() => of) as never, { nullable: true, description })(type.prototype as object, field);
  add("id", ID, "Identifier; minted when absent.");
  for (const [field, spec] of Object.entries(kind.fields)) {
    if (spec.computed) continue;
    const graphqlName = INPUT_NAMES[field] ?? field;
    if (graphqlName === "additionalProperties" || (kind.name === "schema" && field === "type")) continue;
    add(graphqlName, field === "@type" || spec.json === "stringOrList" ? GraphQLJSON : scalarOf(spec)(), spec.description);
  }
  add("additionalProperties", GraphQLJSON, "Further members of the document, as a JSON object.");
  return [kind.name, type];
})) as Partial<Record<KindName, new () => RecordInput>>;

const INPUT_KEYWORDS: Readonly<Record<string, string>> = { id: "@id", type: "@type", context: "@context" };

/** A GraphQL input as the document that REST would have been sent. */
export function documentOf(input: RecordInput): JsonObject {
  const { additionalProperties, ...declared } = input;
  const document: JsonObject = {};
  for (const [name, value] of Object.entries(declared)) {
    const keyword = INPUT_KEYWORDS[name] ?? name;
    if (value !== undefined) document[keyword] = value as JsonValue;
  }
  const more = additionalProperties as JsonObject | null | undefined;
  if (more !== null && typeof more === "object" && !Array.isArray(more)) for (const [name, value] of Object.entries(more)) if (!Object.hasOwn(document, name)) document[name] = value;
  return document;
}
