import type { JsonObject, JsonValue } from "../../../model/field.js";
import { objectFrom } from "../json-path.js";
import { referenceFields } from "./reference-fields.js";
import type { IdScope } from "./scope.js";

/** Rewrites the identifiers inside entities of one metadata file; everything else stays as sent. */
export class Rewriter {
  private readonly isReference: (key: string) => boolean;

  constructor(private readonly scope: IdScope) {
    this.isReference = referenceFields(scope.description.context);
  }

  /** The entity with identifier `ark`, and all its links rewritten. */
  entity(value: JsonObject, ark: string): JsonObject {
    const entries = Object.entries(value).map(([key, inner]): [string, JsonValue] => [key, key === "@id" ? ark : this.member(key, inner)]);
    return objectFrom(Object.hasOwn(value, "@id") ? entries : [["@id", ark], ...entries]);
  }

  private member(key: string, value: JsonValue): JsonValue {
    if (key === "@context" || key === "@type" || key === "@value" || key === "@language") return value;
    return this.value(value, this.isReference(key));
  }

  private value(value: JsonValue, reference: boolean): JsonValue {
    if (typeof value === "string") return reference ? this.scope.textReference(value) : value;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.value(item, reference));
    if (Object.hasOwn(value, "@value")) return value;
    return objectFrom(Object.entries(value).map(([key, inner]): [string, JsonValue] => {
      if (key === "@id" && typeof inner === "string") return [key, this.scope.reference(inner)];
      if (key === "@list" || key === "@set") return [key, this.value(inner, reference)];
      return [key, this.member(key, inner)];
    }));
  }
}
