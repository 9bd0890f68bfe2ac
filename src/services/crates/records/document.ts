import { isAbsoluteId } from "../../../identifiers/entity-ids.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { bundledTerms } from "../../../rdf/contexts.js";
import { contentUrlOf } from "../../records/stored-content.js";
import type { StoredFile } from "../files/match-files.js";
import { objectFrom, pick } from "../findings.js";
import { type IdentifiedEntity, type IdScope } from "../identifiers/identify.js";
import { mergeEntities, type Rewriter, rewriterOf } from "../identifiers/rewrite.js";
import { withAdded, withoutAdded } from "../layout.js";

/**
 * Definitions of the members that the service adds to a document, for crates whose context lacks
 * them.
 */
export const ADDED_TERMS: Readonly<Record<string, string>> = {
  sha256: "https://schema.org/sha256",
  contentSize: "https://schema.org/contentSize",
  contentUrl: "https://schema.org/contentUrl",
  sourceContentUrl: "https://w3id.org/EVI#sourceContentUrl",
  sameAs: "https://schema.org/sameAs",
  identifier: "https://schema.org/identifier",
};

/** Definitions of the `keys` that no context explains, or undefined when all are explained. */
function missingTerms(
  keys: Iterable<string>,
  contexts: readonly (JsonValue | undefined)[],
): JsonObject | undefined {
  const parts = contexts.flatMap((context) => (context === null ? [null] : listOf(context)));
  // `null` takes back what stands before it (JSON-LD 1.1, section 4.1).
  const inForce = parts.slice(parts.lastIndexOf(null) + 1);
  const missing = [...keys].filter((key) => !inForce.some((part) => defines(part, key)));
  const terms = pick(ADDED_TERMS, missing);
  return Object.keys(terms).length === 0 ? undefined : terms;
}

function defines(context: JsonValue, term: string): boolean {
  if (typeof context === "string")
    return listOf(bundledTerms(context)).some(
      (part) => typeof part === "object" && defines(part, term),
    );
  return (
    isObject(context) && (Object.hasOwn(context, term) || typeof context["@vocab"] === "string")
  );
}

/** A record's document in two parts: the context that the whole crate shares, and the rest. */
interface CrateDocument {
  /** Contexts of the metadata files that describe the entity; none, one, or a list. */
  crateContext: JsonValue | undefined;
  /** The entity with its own `@context`, if any, and everything else. */
  body: JsonObject;
  /** The same for the graph, where texts that name entities are references. */
  linked?: JsonObject;
}

/** The statements about an entity, with the identifiers of this registry. */
export function documentOf(
  entity: IdentifiedEntity,
  rewriters: Map<IdScope, Rewriter>,
): CrateDocument {
  const contexts = distinct(entity.parts.map(({ scope }) => scope.description.context));
  const own = distinct(entity.parts.map((part) => part.entity.value["@context"])).filter(
    (context) => !contexts.some((shared) => shared === context || same(shared, context)),
  );
  const statements = entity.parts.map(({ scope, entity: { value } }) =>
    rewriterOf(rewriters, scope).entity(value, entity.ark),
  );
  const explainedBody = (stated: JsonObject): CrateDocument => {
    const { "@context": _context, ...claimed } = stated;
    const named = withNames(claimed, entity);
    return explained(
      oneOrList(contexts),
      underContext(own, named),
      entity.url !== undefined ? ["sameAs"] : entity.uri !== undefined ? ["identifier"] : [],
    );
  };
  const document = explainedBody(mergeEntities(statements.map((stated) => stated.document)));
  return statements.every((stated) => stated.linked === stated.document)
    ? document
    : {
        ...document,
        linked: explainedBody(mergeEntities(statements.map((stated) => stated.linked))).body,
      };
}

/**
 * With the absolute identifier that the crate uses for the entity, also where the crate states it:
 * the export removes one of them.
 */
function withNames(
  claimed: JsonObject,
  { url, uri }: Pick<IdentifiedEntity, "url" | "uri">,
): JsonObject {
  if (url !== undefined)
    return { ...claimed, sameAs: withAdded(claimed["sameAs"], { "@id": url }) };
  return uri === undefined
    ? claimed
    : { ...claimed, identifier: withAdded(claimed["identifier"], uri) };
}

/** Undoes what intake adds for an entity that the crate calls by this `@id`. */
export function withoutNames(claimed: JsonObject, id: string): JsonObject {
  if (!isAbsoluteId(id)) return claimed;
  return /^https?:/i.test(id)
    ? withoutAdded(claimed, "sameAs", { "@id": id })
    : withoutAdded(claimed, "identifier", id);
}

/**
 * Adds definitions of members that the service added to a body, where no context of the crate
 * explains them.
 */
function explained(
  crateContext: JsonValue | undefined,
  body: JsonObject,
  added: Iterable<string>,
): CrateDocument {
  const { "@context": own, ...rest } = body;
  const terms = missingTerms(added, [crateContext, own]);
  return {
    crateContext,
    body: terms ? underContext([...listOf(own), terms], rest) : body,
  };
}

/**
 * `sourceContentUrl` of a file in an archive that the registry created, for a file without an
 * address by its author.
 */
export const NO_SOURCE: JsonValue[] = [];
const isNoSource = (value: JsonValue | undefined): boolean =>
  Array.isArray(value) && value.length === 0;

/**
 * Adds the service's facts about stored content; the client's statements are preserved, its
 * `contentUrl` as `sourceContentUrl`.
 */
export function withContent(
  { crateContext, body }: CrateDocument,
  kind: KindName,
  ark: string,
  stored: StoredFile,
  baseUrl: string,
): CrateDocument {
  const contentUrl = contentUrlOf(baseUrl, kind, ark);
  const before = body["contentUrl"];
  const { sourceContentUrl, ...other } = body;
  const claimed = isNoSource(sourceContentUrl) ? other : body;
  const added: [string, JsonValue][] = [["contentUrl", contentUrl]];
  if (!isAbsent(before) && before !== contentUrl && sourceContentUrl === undefined)
    added.push(["sourceContentUrl", before]);
  if (isAbsent(body["contentSize"])) added.push(["contentSize", String(stored.size)]);
  if (isAbsent(body["sha256"])) added.push(["sha256", stored.sha256]);
  // An existing key stays at its place.
  return explained(
    crateContext,
    objectFrom(new Map([...Object.entries(claimed), ...added])),
    added.map(([key]) => key),
  );
}

/** The document as clients read it: context first. */
export function wholeDocument({ crateContext, body }: CrateDocument): JsonObject {
  const { "@context": own, ...rest } = body;
  return underContext([...listOf(crateContext), ...listOf(own)], rest);
}

const same = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);
const isAbsent = (value: JsonValue | undefined): value is undefined | null | "" =>
  value === undefined || value === null || value === "";

function distinct(values: readonly (JsonValue | undefined)[]): JsonValue[] {
  const found = new Map<string, JsonValue>();
  // A value that occurs in many places, such as the context of a metadata file, is serialized once.
  for (const value of new Set(values)) {
    if (value === undefined || value === null) continue;
    const text = values.length === 1 ? "" : JSON.stringify(value);
    if (!found.has(text)) found.set(text, value);
  }
  return [...found.values()];
}

function underContext(contexts: JsonValue[], body: JsonObject): JsonObject {
  const context = oneOrList(contexts);
  return context === undefined ? body : { "@context": context, ...body };
}

function oneOrList(values: JsonValue[]): JsonValue | undefined {
  return values.length < 2 ? values[0] : values.flatMap((value) => value);
}
