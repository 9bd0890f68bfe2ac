import { ValidationError, invalid } from "../../errors.js";
import { referencedArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Kind } from "../../model/kind.js";
import { publicView } from "../../model/view.js";
import { graphOf } from "../../rdf/graph.js";
import type { RecordGraph } from "../../rdf/record-graph.js";
import type { RecordState, SearchText } from "../../stores/records/port.js";
import { documentBytes } from "./view.js";

/**
 * All that is stored of one state of a record: document, quads, links, search text.
 * @param fromCrate the document says of itself, by its context, what its terms mean
 * @throws ValidationError when the document is no valid JSON-LD or names a context that is not bundled
 */
export async function stateOf(kind: Kind, ark: string, document: JsonObject, fromCrate = kind.loose === true): Promise<RecordState> {
  const graph = await statementsOf(kind, ark, document, fromCrate);
  const shown = publicView(kind, document);
  const owner = kind.name === "user" ? null : ownerOf(document);
  return {
    kind: kind.name, name: text(document["name"]), owner, document: documentBytes(document),
    quads: graph.quads, links: graph.links, text: searchText(shown), keywords: keywordsOf(shown),
  };
}

/** What the document states. @throws as {@link stateOf} */
export async function statementsOf(kind: Kind, ark: string, document: JsonObject, fromCrate = kind.loose === true): Promise<RecordGraph> {
  return graphOf({ ark, kind: kind.name, document, ...(fromCrate ? { fromCrate } : {}) }).catch((error: Error) => {
    if (error.name !== "UnknownContext" && error.name !== "JsonLdError") throw error;
    throw new ValidationError([{ loc: ["body", "@context"], msg: `Value error, ${error.message}`, type: "value_error" }]);
  });
}

/** Stored form of the owner's ARK. @throws ValidationError when the text holds no readable ARK */
export function ownerOf(document: JsonObject): string | null {
  const { owner } = document;
  if (typeof owner !== "string") return null;
  const ark = referencedArk(owner);
  if (ark === undefined) throw invalid(["body", "owner"], "Value error, not a readable ARK; for example ark:99999/user-ada");
  return ark;
}

/** What keyword search sees of a document. */
export function searchText(document: JsonObject): SearchText {
  const other = [document["author"], document["@id"]].filter((value): value is string => typeof value === "string").join(" ");
  return { name: text(document["name"]) ?? "", description: text(document["description"]) ?? "", keywords: keywordsOf(document).join(" "), other };
}

export function keywordsOf(document: JsonObject): string[] {
  const { keywords } = document;
  if (typeof keywords === "string") return keywords.split(",").map((word) => word.trim()).filter((word) => word !== "");
  return Array.isArray(keywords) ? keywords.filter((word): word is string => typeof word === "string" && word !== "") : [];
}

const text = (value: JsonValue | undefined): string | null => (typeof value === "string" ? value : null);
