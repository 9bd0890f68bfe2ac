import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds/index.js";
import type { StoredFile } from "../files/check-claims.js";
import type { IdentifiedEntity } from "../identifiers/identify.js";
import { mergeEntities } from "../identifiers/merge.js";
import type { Rewriter } from "../identifiers/rewrite.js";
import type { IdScope } from "../identifiers/scope.js";
import { listOf, objectFrom } from "../json-path.js";

/** A record's document in two pieces: what the whole crate shares, and the rest. */
export interface CrateDocument {
  /** Contexts of the metadata files that speak of the entity; none, one, or a list. */
  crateContext: JsonValue | undefined;
  /** The entity with its own `@context`, if any, and everything else. */
  body: JsonObject;
}

/** Where stored content of a record is served. */
export function contentUrlOf(baseUrl: string, kind: KindName, ark: string): string {
  if (kind === "datadownload") return `${baseUrl}/datadownload/${ark}/download`;
  const { path } = KINDS[kind];
  return kind === "dataset" || kind === "software" ? `${baseUrl}/${path}/download/${ark}` : `${baseUrl}/download/${ark}`;
}

/** What is said of an entity, with the identifiers it has here. */
export function documentOf(entity: IdentifiedEntity, rewriters: ReadonlyMap<IdScope, Rewriter>): CrateDocument {
  const contexts = distinct(entity.parts.map(({ scope }) => scope.description.context));
  const own = distinct(entity.parts.map((part) => part.entity.value["@context"])).filter((context) => !contexts.some((shared) => same(shared, context)));
  const { "@context": _context, ...said } = mergeEntities(entity.parts.map(({ scope, entity: { value } }) => rewriters.get(scope)!.entity(value, entity.ark)));
  const named = entity.url === undefined ? said : { ...said, sameAs: withSameAs(said["sameAs"], entity.url) };
  return { crateContext: oneOrList(contexts), body: own.length === 0 ? named : { "@context": oneOrList(own)!, ...named } };
}

/** Fills in what the service knows of stored content; what the client said stays, its `contentUrl` as `sourceContentUrl`. */
export function withContent(body: JsonObject, kind: KindName, ark: string, stored: StoredFile, baseUrl: string): JsonObject {
  const contentUrl = contentUrlOf(baseUrl, kind, ark);
  const before = body["contentUrl"];
  const moved = Object.entries(body).map(([key, value]): [string, JsonValue] => [key, key === "contentUrl" ? contentUrl : value]);
  const filled = new Map<string, JsonValue>(moved);
  filled.set("contentUrl", contentUrl);
  if (before !== undefined && before !== null && before !== contentUrl && !filled.has("sourceContentUrl")) filled.set("sourceContentUrl", before);
  if (isAbsent(filled.get("contentSize"))) filled.set("contentSize", String(stored.size));
  if (isAbsent(filled.get("sha256"))) filled.set("sha256", stored.sha256);
  return objectFrom(filled);
}

/** The document as clients read it: context first. */
export function wholeDocument({ crateContext, body }: CrateDocument): JsonObject {
  const { "@context": own, ...rest } = body;
  const contexts = [...listOf(crateContext), ...listOf(own)];
  return contexts.length === 0 ? rest : { "@context": oneOrList(contexts)!, ...rest };
}

const same = (a: JsonValue | undefined, b: JsonValue | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
const isAbsent = (value: JsonValue | undefined): boolean => value === undefined || value === null || value === "";

function distinct(values: readonly (JsonValue | undefined)[]): JsonValue[] {
  const found: JsonValue[] = [];
  for (const value of values) if (value !== undefined && value !== null && !found.some((other) => same(other, value))) found.push(value);
  return found;
}

function oneOrList(values: JsonValue[]): JsonValue | undefined {
  return values.length < 2 ? values[0] : values.flatMap((value) => value);
}

function withSameAs(before: JsonValue | undefined, url: string): JsonValue {
  const stated = listOf(before);
  const known = stated.some((value) => value === url || same(value, { "@id": url }));
  return known ? before! : stated.length === 0 ? { "@id": url } : [...stated, { "@id": url }];
}
