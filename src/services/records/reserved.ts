import { invalid, ValidationError } from "../../errors.js";
import { arkKey } from "../../identifiers/ark.js";
import { expandCurie, type JsonObject } from "../../model/field.js";
import { type Kind, type KindName, type Link, publicView } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { licenceOf } from "../../model/licences.js";
import { statedPublication } from "../../model/publication-date.js";
import { plainText, textOf } from "../../model/texts.js";
import { eachUnknownContext, UnknownContext } from "../../rdf/contexts.js";
import type { GraphInput, RecordGraph } from "../../rdf/emit.js";
import { graphOf } from "../../rdf/graph.js";
import { unpackQuads } from "../../storage/records/codecs.js";
import type { RecordState, SearchText } from "../../storage/records/port.js";
import { withoutArks } from "../../storage/records/text.js";
import { ownValue } from "../../own.js";

/** The state of a document, with the lines of its quads that only the registry may state. */
export interface ClaimedState {
  state: RecordState;
  reserved: readonly string[];
}

/** Names of the fields of a kind that only the registry sets. */
export const reservedFields = (kind: Kind): string[] =>
  Object.entries(kind.fields).flatMap(([name, { reserved }]) => (reserved ? [name] : []));

const TERMS = [
  ...new Set(
    Object.values(KINDS).flatMap(({ fields }) =>
      Object.values(fields).flatMap(({ reserved, term }) => (reserved ? [expandCurie(term)] : [])),
    ),
  ),
];
const PROPERTY = /^(?:<[^>]*>|_:\S+) <([^>]*)> /;

/** Statements of such fields, under any name in the document. */
export function reservedIn(quads: string): string[] {
  if (!TERMS.some((term) => quads.includes(term))) return [];
  return quads.split("\n").filter((line) => TERMS.includes(PROPERTY.exec(line)?.[1] ?? ""));
}

/** The quads without these lines. */
export function withoutLines(quads: string, lines: readonly string[]): string;
export function withoutLines(
  quads: RecordState["quads"],
  lines: readonly string[],
): RecordState["quads"];
export function withoutLines(
  quads: RecordState["quads"],
  lines: readonly string[],
): RecordState["quads"] {
  if (lines.length === 0) return quads;
  const dropped = new Set(lines);
  return reservedTextOf(quads)
    .split("\n")
    .filter((line) => !dropped.has(line))
    .join("\n");
}

/** As text; the quads of large documents are packed. */
export const reservedTextOf = (quads: RecordState["quads"]): string =>
  typeof quads === "string" ? quads : unpackQuads(quads);

const refused = (name: string, stored: boolean): Error =>
  invalid(
    ["body", name],
    "Value error, only a run of the computation in this registry fills containerDigest in: " +
      `${stored ? "send back what is stored, or " : ""}leave it out`,
  );

/** The stored state that a client's document is about to replace. */
interface Before {
  document: JsonObject;
  quads: string;
  fromCrate: boolean;
}

/**
 * Refuses statements of a client about fields that only the registry sets. A client may send the
 * stored values back; a value from a crate stays in the document, but is not a statement.
 * @throws ValidationError
 */
export function withoutReserved(
  kind: Kind,
  document: JsonObject,
  { state, reserved }: ClaimedState,
  before?: Before,
): RecordState {
  for (const name of reservedFields(kind)) {
    if (Object.hasOwn(document, name) && document[name] !== before?.document[name])
      throw refused(name, before !== undefined);
  }
  const stored = new Set(before ? reservedIn(before.quads) : []);
  const added = reserved.filter((line) => !stored.has(line));
  if (added.length === 0) return state;
  if (!before?.fromCrate)
    throw refused(
      Object.keys(document).find((name) => /[:#]containerDigest$/.test(name)) ?? "@context",
      before !== undefined,
    );
  return { ...state, quads: withoutLines(state.quads, added) };
}

const OWNER = "schema:owner";

/**
 * Links of a record with the link to its owner. The document of an uploaded crate does not name the
 * uploader: without the link the crate would be missing from the `rocrates` of the user.
 */
export function withOwner(
  kind: KindName,
  links: readonly Link[],
  owner: string | null | undefined,
): Link[] {
  if (kind !== "rocrate" || !owner) return [...links];
  const targetKey = arkKey(owner);
  const isStated = links.some((link) => link.predicate === OWNER && link.targetKey === targetKey);
  return isStated ? [...links] : [...links, { predicate: OWNER, target: owner, targetKey }];
}

/**
 * Characters of each text that are indexed for search: more would add no useful hits, and each word
 * has to be stemmed.
 */
export const MAX_TEXT = 20_000;

/**
 * The statements of a document, ready to be stored, and the lines that only the registry may state.
 */
export type Stated = Pick<
  RecordState,
  "quads" | "links" | "text" | "keywords" | "licence" | "statedAt"
> & {
  reserved: string[];
};

/** A document, and the record's owner where the document need not state it. */
type StatedInput = GraphInput & { owner?: string | null };

/**
 * The statements of a document, and its text for search.
 * @throws ValidationError when the document is no valid JSON-LD
 */
export async function stated(input: StatedInput): Promise<Stated> {
  const { quads, links } = await statementsOf(input);
  const shown = publicView(KINDS[input.kind], input.document);
  return {
    quads,
    links: withOwner(input.kind, links, input.owner),
    text: searchText(shown),
    keywords: keywordsOf(shown),
    licence: licenceOf(KINDS[input.kind], input.document),
    statedAt: statedPublication(KINDS[input.kind], input.document, Date.now()),
    reserved: reservedIn(quads),
  };
}

/** The statements of the document. @throws as {@link stated} */
export async function statementsOf(input: GraphInput): Promise<RecordGraph> {
  return graphOf(input).catch((error: Error) => {
    if (error.name !== "JsonLdError") throw error;
    throw refusedContext(error.message);
  });
}

/**
 * Refuses remote contexts that a client's document names and that are not bundled: a client that
 * writes one record can write its terms instead. Contexts that the stored record names came with a
 * crate, and may be sent back.
 * @param stored the record's document as it is
 * @throws ValidationError naming the first
 */
export function refuseUnknownContexts(
  kind: Kind,
  document: JsonObject,
  stored?: () => JsonObject,
): void {
  let known: Set<string> | undefined;
  const knownBefore = (): Set<string> => {
    const found = new Set<string>();
    if (stored) eachUnknownContext(stored(), (url) => found.add(url));
    return found;
  };
  for (const [name, value] of Object.entries(document)) {
    // Fields of any JSON hold no JSON-LD.
    const json = name === "@context" ? undefined : ownValue(kind.fields, name)?.json;
    if (json === "object" || json === "list") continue;
    eachUnknownContext({ [name]: value }, (url) => {
      known ??= knownBefore();
      if (!known.has(url)) throw refusedContext(new UnknownContext(url).message);
    });
  }
}

const refusedContext = (message: string): ValidationError =>
  new ValidationError([
    { loc: ["body", "@context"], msg: `Value error, ${message}`, type: "value_error" },
  ]);

/** The text of a document for keyword search. */
function searchText(document: JsonObject): SearchText {
  const other = withoutArks(textOf(document["author"]) ?? "");
  const searched = (text: string | null) => plainText(text ?? "").slice(0, MAX_TEXT);
  return {
    name: searched(textOf(document["name"])),
    description: searched(textOf(document["description"])),
    keywords: searched(keywordsOf(document).join(" ")),
    other: searched(other),
  };
}

export function keywordsOf(document: JsonObject): string[] {
  const { keywords } = document;
  if (typeof keywords === "string")
    return keywords
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
  return Array.isArray(keywords)
    ? keywords.filter((word): word is string => typeof word === "string" && word !== "")
    : [];
}
