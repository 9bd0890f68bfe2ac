import { ValidationError } from "../../errors.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Kind } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import { publicView } from "../../model/view.js";
import { UnknownContext, eachUnknownContext } from "../../rdf/contexts.js";
import { graphOf } from "../../rdf/graph.js";
import type { GraphInput, RecordGraph } from "../../rdf/record-graph.js";
import type { RecordState, SearchText } from "../../stores/records/port.js";
import { withOwner } from "./owned.js";
import { reservedIn } from "./reserved.js";

/** Characters of each text that search sees: more adds no hits that anyone looks for, and each word has to be stemmed. */
export const MOST_TEXT = 20_000;

/** What a document states, ready to be stored, and which of its lines are for the registry alone to state. */
export type Stated = Pick<RecordState, "quads" | "links" | "text" | "keywords"> & { reserved: string[] };

/** A document, and who owns the record where the document need not say so. */
export type StatedInput = GraphInput & { owner?: string | null };

/**
 * What a document states, and what search sees of it.
 * @throws ValidationError when the document is no valid JSON-LD
 */
export async function stated(input: StatedInput): Promise<Stated> {
  const { quads, links } = await statementsOf(input);
  const shown = publicView(KINDS[input.kind], input.document);
  return { quads, links: withOwner(input.kind, links, input.owner), text: searchText(shown), keywords: keywordsOf(shown), reserved: reservedIn(quads) };
}

/** What the document states. @throws as {@link stated} */
export async function statementsOf(input: GraphInput): Promise<RecordGraph> {
  return graphOf(input).catch((error: Error) => {
    if (error.name !== "JsonLdError") throw error;
    throw refusedContext(error.message);
  });
}

/**
 * Refuses remote contexts that a client's document names and that are not bundled: whoever writes one record can write
 * its terms instead. Those that the record names already came with a crate, and may be sent back.
 * @param stored the record's document as it is
 * @throws ValidationError naming the first
 */
export function refuseUnknownContexts(kind: Kind, document: JsonObject, stored?: () => JsonObject): void {
  let known: Set<string> | undefined;
  const knownBefore = (): Set<string> => {
    const found = new Set<string>();
    if (stored) eachUnknownContext(stored(), (url) => found.add(url));
    return found;
  };
  for (const [name, value] of Object.entries(document)) {
    // Fields of any JSON are no JSON-LD inside.
    const json = name === "@context" ? undefined : kind.fields[name]?.json;
    if (json === "object" || json === "list") continue;
    eachUnknownContext({ [name]: value }, (url) => {
      known ??= knownBefore();
      if (!known.has(url)) throw refusedContext(new UnknownContext(url).message);
    });
  }
}

const refusedContext = (message: string): ValidationError =>
  new ValidationError([{ loc: ["body", "@context"], msg: `Value error, ${message}`, type: "value_error" }]);

/** What keyword search sees of a document. */
export function searchText(document: JsonObject): SearchText {
  const other = withoutArks(textOf(document["author"]) ?? "");
  const searched = (text: string | null) => (text ?? "").slice(0, MOST_TEXT);
  return { name: searched(textOf(document["name"])), description: searched(textOf(document["description"])), keywords: searched(keywordsOf(document).join(" ")), other: searched(other) };
}

/** Text without the ARKs in it: words in an identifier say where a record is, not what it is about. */
export const withoutArks = (text: string): string => text.replace(/(?:https?:\/\/\S+\/)?\bark:\/?\d\S*/gi, " ").trim();

export function keywordsOf(document: JsonObject): string[] {
  const { keywords } = document;
  if (typeof keywords === "string") return keywords.split(",").map((word) => word.trim()).filter((word) => word !== "");
  return Array.isArray(keywords) ? keywords.filter((word): word is string => typeof word === "string" && word !== "") : [];
}

export const textOf = (value: JsonValue | undefined): string | null => (typeof value === "string" ? value : null);
