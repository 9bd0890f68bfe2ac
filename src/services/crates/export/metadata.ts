import { isDeepStrictEqual } from "node:util";
import { ENTITY, EntityIds, isAbsoluteId } from "../../../identifiers/entity-ids.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf, referencesIn } from "../../../model/field.js";
import { ownValue } from "../../../own.js";
import { bundledTerms } from "../../../rdf/contexts.js";
import { FALLBACK_VOCABULARY, oneSpelling } from "../../../rdf/terms.js";
import type { ObjectReference, StoredRecord } from "../../../storage/records/port.js";
import type { Deps } from "../../deps.js";
import { parseDocument } from "../../records/view.js";
import { objectFrom, pick } from "../findings.js";
import { mergeEntities } from "../identifiers/rewrite.js";
import {
  DESCRIPTOR,
  describedCrate,
  descriptorArk,
  OWN_STATEMENTS,
  SUMMARIZES,
  withCrate,
} from "../layout.js";
import { ADDED_TERMS, withoutNames } from "../records/document.js";
import { type AsWritten, textOf } from "./as-written.js";
import { crateRecords } from "../../records/of-crate.js";
import { getOrInsert } from "../../../get-or-insert.js";

/** Most nested prefixes; more is a loop. */
const DEEPEST = 5;
/**
 * Members of a term's definition that mean the same in every context, after the IRIs in them are
 * expanded.
 */
const PORTABLE = new Set(["@id", "@type", "@container", "@language", "@direction", "@prefix"]);
const COMPACT = /^([^:/?#@][^:/?#]*):(?!\/\/)/;
/** The prefix of `prefix:name`; undefined for a plain term and for a URL. */
const prefixOf = (term: string): string | undefined => COMPACT.exec(term)?.[1];

/**
 * The meanings of a context's terms (JSON-LD 1.1, section 4.1), as far as needed to compare two
 * contexts: equal texts mean the same. The schemes of schema.org and the spelling of EVI make no
 * difference here.
 */
export class TermMeanings {
  readonly #parts: readonly JsonObject[];
  readonly #known = new Map<string, string>();

  /** @throws UnknownContext */
  constructor(context: JsonValue | undefined) {
    this.#parts = partsOf(context).toReversed();
  }

  of(term: string): string {
    return getOrInsert(this.#known, term, () => this.#define(term, 0));
  }

  /** Whether the context itself defines the term; a vocabulary does not count. */
  defines(term: string): boolean {
    return this.#part(term) !== undefined;
  }

  /** A keyword that affects all values: `@language`, `@base`. */
  setting(keyword: string): string {
    const part = this.#part(keyword);
    return part ? JSON.stringify(part[keyword]) : "";
  }

  /** A definition that gives the term its meaning in any context; undefined where there is none. */
  definition(term: string): JsonValue | undefined {
    // For `prefix:name` the prefix needs the definition.
    if (prefixOf(term) !== undefined) return undefined;
    const stated = this.#part(term)?.[term];
    if (isObject(stated)) {
      if (
        typeof stated["@id"] !== "string" ||
        Object.keys(stated).some((key) => !PORTABLE.has(key))
      )
        return undefined;
      return { ...this.#resolved(stated), "@id": this.#iri(stated["@id"], 0) };
    }
    if (stated === null) return null;
    const iri = this.#iriOf(term, 0);
    return iri.startsWith(FALLBACK_VOCABULARY) ? undefined : iri;
  }

  #part(term: string): JsonObject | undefined {
    return this.#parts.find((candidate) => Object.hasOwn(candidate, term));
  }

  #define(term: string, depth: number): string {
    const stated = this.#part(term)?.[term];
    if (!isObject(stated)) return oneSpelling(stated === null ? "" : this.#iriOf(term, depth));
    const { "@id": id, ...rest } = this.#resolved(stated);
    const iri = oneSpelling(typeof id === "string" ? this.#iri(id, depth) : term);
    return Object.keys(rest).length === 0 ? iri : `${iri} ${JSON.stringify(rest)}`;
  }

  /** With the type of values expanded. */
  #resolved(stated: JsonObject): JsonObject {
    const type = stated["@type"];
    return typeof type === "string" && !type.startsWith("@")
      ? { ...stated, "@type": this.#iri(type, 1) }
      : stated;
  }

  #iriOf(term: string, depth: number): string {
    const part = this.#part(term);
    const stated = part?.[term];
    const id = isObject(stated) ? stated["@id"] : stated;
    if (typeof id === "string" && depth <= DEEPEST) return this.#iri(id, depth);
    return part ? (isObject(stated) ? term : "") : this.#undefinedTerm(term, depth);
  }

  #iri(text: string, depth: number): string {
    if (depth > DEEPEST) return text;
    return text.includes(":") ? this.#undefinedTerm(text, depth) : this.#iriOf(text, depth + 1);
  }

  #undefinedTerm(text: string, depth: number): string {
    const colon = text.indexOf(":");
    if (colon < 0) {
      const vocabulary = this.#part("@vocab")?.["@vocab"];
      return (typeof vocabulary === "string" ? vocabulary : FALLBACK_VOCABULARY) + text;
    }
    const prefix = text.slice(0, colon);
    const isDefined = !text.startsWith("//", colon + 1) && this.#part(prefix) !== undefined;
    if (isDefined && depth <= DEEPEST)
      return this.#iriOf(prefix, depth + 1) + text.slice(colon + 1);
    return /^evi:/i.test(text) ? `https://w3id.org/EVI#${text.slice(4)}` : text;
  }
}

/**
 * The objects that a context consists of, remote ones from their bundled copies; `null` resets the
 * earlier ones.
 */
function partsOf(context: JsonValue | undefined): JsonObject[] {
  let parts: JsonObject[] = [];
  for (const part of Array.isArray(context) ? context : [context]) {
    if (part === null) parts = [];
    // oxlint-disable-next-line arkgraph/spread-into-call -- parts of a bundled context
    else if (typeof part === "string") parts.push(...partsOf(bundledTerms(part)));
    else if (isObject(part)) parts.push(part);
  }
  return parts;
}

/** Every term of an entity: keys and types, at any depth. */
export function termsOf(value: JsonValue, found: Set<string> = new Set()): Set<string> {
  if (Array.isArray(value)) for (const item of value) termsOf(item, found);
  else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (!key.startsWith("@")) found.add(key);
      if (key === "@type")
        for (const type of listOf(inner)) if (typeof type === "string") found.add(type);
      if (key !== "@context" && key !== "@value") termsOf(inner, found);
    }
  }
  return found;
}

/**
 * RO-Crate version for crates whose author stated none: the first version that allows an ARK as the
 * identifier of the root.
 */
const VERSION = "1.2";
const SPECIFICATION = "https://w3id.org/ro/crate/";
/** The version in the URL of a context of RO-Crate, or of its specification. */
const VERSIONED = /ro\/?-?crate\/(?:specification\/)?(\d+\.\d+(?:\.\d+)?(?:-DRAFT)?)/;

/** Keywords of a context that change what values mean. */
const SETTINGS = ["@language", "@base", "@direction"];

/** Context of a crate without its own descriptor, and the RO-Crate version that it states. */
function madeContext(root: JsonValue | undefined): { context: JsonValue; conformsTo: string } {
  const parts = listOf(root).filter((part) => part !== null && !isAdded(part));
  const version = parts
    .map((part) => (typeof part === "string" ? VERSIONED.exec(part)?.[1] : undefined))
    .find((found) => found !== undefined);
  const [only] = parts;
  // A vocabulary explains every term, so no context is added: clients that expect a single object
  // still get one.
  const isWhole =
    version !== undefined ||
    (parts.length === 1 && isObject(only) && typeof only["@vocab"] === "string");
  const whole = parts.length === 1 && only !== undefined ? only : parts;
  return {
    context: isWhole ? whole : [`${SPECIFICATION}${VERSION}/context`, ...parts],
    conformsTo: SPECIFICATION + (version ?? VERSION),
  };
}

/** Definitions that only the registry added to the context of a record. */
function isAdded(part: JsonValue): boolean {
  return (
    isObject(part) &&
    Object.keys(part).length > 0 &&
    Object.entries(part).every(([term, meaning]) => isDeepStrictEqual(ADDED_TERMS[term], meaning))
  );
}

interface Used {
  context: JsonValue | undefined;
  terms: Set<string>;
}

/** The contexts of the records of a crate, each with the terms that are used under it. */
class UsedContexts {
  readonly #all = new Map<string, Used>();

  add({ "@context": context, ...claimed }: JsonObject): void {
    const key = keyOf(context);
    const used = getOrInsert(this.#all, key, () => ({ context, terms: new Set<string>() }));
    termsIn(claimed, used.terms);
  }

  [Symbol.iterator](): Iterator<Used> {
    return this.#all.values();
  }
}

/**
 * The one context of a crate whose records each have their own: the given context, then the terms
 * that it does not explain and that all records using them define alike. An entity whose terms have
 * another meaning under it has its own context.
 */
class CrateContext {
  readonly whole: JsonValue | undefined;
  /** The context of the metadata file, before the registry added terms. */
  readonly given: JsonValue | undefined;
  readonly #meanings: TermMeanings;
  /** By context: the terms that have another meaning under it than in the crate. */
  readonly #differing = new Map<string, "all" | ReadonlySet<string>>();

  constructor(given: JsonValue | undefined, used: Iterable<Used>) {
    const contexts = [...used].map(({ context, terms }) => ({
      context,
      terms,
      meanings: new TermMeanings(context ?? null),
    }));
    const before = new TermMeanings(given);
    const alike = contexts.filter(({ meanings }) => sameSettings(meanings, before));
    this.given = given;
    this.whole = extended(given, missingTerms(before, alike));
    this.#meanings = new TermMeanings(this.whole);
    for (const { context, terms, meanings } of contexts) {
      if (keyOf(context) === keyOf(given) && this.whole === given) continue;
      const others = sameSettings(meanings, this.#meanings)
        ? new Set([...terms].filter((term) => meanings.of(term) !== this.#meanings.of(term)))
        : "all";
      if (others === "all" || others.size > 0) this.#differing.set(keyOf(context), others);
    }
  }

  /**
   * The context that an entity must carry itself; undefined where the crate's context has the same
   * meaning.
   */
  own(context: JsonValue | undefined, entity: JsonObject): JsonValue | undefined {
    const differing = this.#differing.get(keyOf(context));
    if (differing === undefined) return undefined;
    if (differing !== "all") {
      const terms = termsIn(entity);
      if (![...differing].some((term) => terms.has(term))) return undefined;
    }
    const parts = listOf(context);
    for (const shared of [listOf(this.whole), listOf(this.given)]) {
      const goesOn =
        shared.length > 0 &&
        parts.length > shared.length &&
        shared.every((part, index) => isDeepStrictEqual(part, parts[index]));
      const own = parts.slice(shared.length);
      const [first] = own;
      if (goesOn && meansAlike(entity, context, [...listOf(this.whole), ...own]))
        return own.length === 1 ? first : own;
    }
    return parts.length === 0 ? null : [null, ...parts];
  }
}

/** Terms of an entity, and identifiers that may have a prefix. */
function termsIn(entity: JsonObject, found: Set<string> = new Set()): Set<string> {
  termsOf(entity, found);
  const look = (value: JsonValue): void => {
    if (Array.isArray(value)) for (const item of value) look(item);
    else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        if (
          key === "@id" &&
          typeof inner === "string" &&
          prefixOf(inner) !== undefined &&
          !inner.startsWith("ark:")
        )
          found.add(inner);
        else if (key !== "@context" && key !== "@value") look(inner);
      }
    }
  };
  look(entity);
  return found;
}

const keyOf = (context: JsonValue | undefined): string => JSON.stringify(context) ?? "";
const sameSettings = (one: TermMeanings, other: TermMeanings): boolean =>
  SETTINGS.every((setting) => one.setting(setting) === other.setting(setting));

/** Definitions of terms that a context lacks, where all users of a term mean the same by it. */
function missingTerms(
  given: TermMeanings,
  contexts: readonly { terms: ReadonlySet<string>; meanings: TermMeanings }[],
): Map<string, JsonValue> {
  const users = new Map<string, { meaning: string; meanings: TermMeanings } | undefined>();
  const prefixes = new Set<string>();
  const use = (term: string, meanings: TermMeanings): void => {
    const meaning = meanings.of(term);
    if (!users.has(term)) users.set(term, { meaning, meanings });
    // Undefined is final: the users disagree.
    else if (users.get(term)?.meaning !== meaning) users.set(term, undefined);
  };
  for (const { terms, meanings } of contexts) {
    for (const term of terms) {
      use(term, meanings);
      const prefix = prefixOf(term);
      if (prefix === undefined) continue;
      prefixes.add(prefix);
      use(prefix, meanings);
    }
  }
  const missing = new Map<string, JsonValue>();
  for (const [term, user] of users) {
    if (user === undefined || given.defines(term) || given.of(term) === user.meaning) continue;
    // A term without a definition is not a prefix, even where a vocabulary would make it a term.
    if (prefixes.has(term) && !user.meanings.defines(term)) continue;
    const definition = user.meanings.definition(term);
    if (definition !== undefined) missing.set(term, definition);
  }
  return missing;
}

/**
 * The given context comes first and unchanged. A single object remains a single object: some
 * clients read nothing else.
 */
function extended(
  given: JsonValue | undefined,
  terms: ReadonlyMap<string, JsonValue>,
): JsonValue | undefined {
  if (terms.size === 0) return given;
  const added = Object.fromEntries(terms);
  if (isObject(given)) return { ...given, ...added };
  return Array.isArray(given)
    ? [...given, added]
    : given === undefined || given === null
      ? added
      : [given, added];
}

/** How the entities of one crate are named and written. */
export interface EntityNames {
  context: CrateContext;
  /**
   * Records of the crate by the texts that refer to them: ARKs, and the URLs of {@link entityUrl}.
   */
  known: ReadonlyMap<string, string>;
  /**
   * Names of entities in this crate that are not ARKs: the author's own, paths of files and folders,
   * the descriptor.
   */
  paths: ReadonlyMap<string, string>;
  /** How the author's own metadata file wrote them. */
  written?: Pick<AsWritten, "ids" | "numbers" | "nested"> | undefined;
}

/**
 * The URL that a crate uses for an entity: the entity's record has an ARK derived from the URL and
 * names the URL by `sameAs`.
 */
export function entityUrl(
  { ark, crate }: Pick<StoredRecord, "ark" | "crate">,
  document: JsonObject,
): string | undefined {
  if (crate === null || !ark.startsWith(`${crate}${ENTITY}`)) return undefined;
  return listOf(document["sameAs"])
    .map(urlOf)
    .find((url) => {
      const id = url === undefined ? undefined : new EntityIds(crate).of(url, "");
      return id?.rule === "url" && id.ark === ark;
    });
}

/** The same for other absolute identifiers, which the record names by `identifier`. */
export function entityUri(
  { ark, crate }: Pick<StoredRecord, "ark" | "crate">,
  document: JsonObject,
): string | undefined {
  if (crate === null || !ark.startsWith(`${crate}${ENTITY}`)) return undefined;
  const isOwn = (uri: JsonValue): uri is string => {
    if (typeof uri !== "string" || !isAbsoluteId(uri)) return false;
    const id = new EntityIds(crate).of(uri, "");
    return id.rule === "other" && id.ark === ark;
  };
  return listOf(document["identifier"]).find(isOwn);
}

function urlOf(value: JsonValue): string | undefined {
  const url = isObject(value) ? value["@id"] : value;
  return typeof url === "string" ? url : undefined;
}

/**
 * A record as an entity of the crate's graph, under the crate's context, with the entity's name in
 * the crate.
 * @param document the record's, without members that this crate must not show
 * @param outdated objects inside it whose statements their own records no longer make
 */
function crateEntity(
  record: StoredRecord,
  document: JsonObject,
  names: EntityNames,
  {
    url,
    outdated,
    hasFile = false,
  }: {
    url?: string | undefined;
    outdated?: ReadonlySet<JsonObject> | undefined;
    hasFile?: boolean;
  },
): JsonObject {
  const plain = hasFile ? withoutAddedFacts(document, names.context) : document;
  const { "@context": context, "@id": _id, ...claimed } = plain;
  const id = names.paths.get(record.ark) ?? url ?? record.ark;
  const body = withoutNames(claimed, id);
  const own = withoutUnused(names.context.own(context, body), body);
  const written = new Writer(names.paths, outdated);
  return {
    ...(own === undefined ? {} : { "@context": own }),
    "@id": id,
    ...objectFrom(
      Object.entries(body).map(([key, value]): [string, JsonValue] => [
        key,
        written.value(key, value),
      ]),
    ),
  };
}

/** Without terms that the registry added for the `@id`, which is written without them. */
function withoutUnused(own: JsonValue | undefined, body: JsonObject): JsonValue | undefined {
  const parts = listOf(own);
  const added = parts.at(-1);
  if (!isObject(added) || !isAdded(added)) return own;
  if (Object.keys(added).some((term) => Object.hasOwn(body, term))) return own;
  return parts.length < 3 ? parts.at(-2) : parts.slice(0, -1);
}

/**
 * Without the hash and the size that the registry has added, where the terms of the crate's context
 * would need a context of the entity for them: RO-Crate has one context. The file beside the
 * metadata has both.
 */
function withoutAddedFacts(document: JsonObject, crate: CrateContext): JsonObject {
  const { "@context": stored, sha256: _hash, contentSize: size, ...rest } = document;
  const parts = listOf(stored);
  const added = parts.at(-1);
  if (added === undefined || !isAdded(added) || !isObject(added)) return document;
  const before = parts.slice(0, -1);
  const isNeeded =
    !Object.hasOwn(added, "sha256") || Object.keys(added).some((term) => Object.hasOwn(rest, term));
  if (isNeeded || !isDeepStrictEqual(before, listOf(crate.given))) return document;
  const { "@context": _context, "@id": _id, ...claimed } = document;
  if (crate.own(stored, claimed) === undefined) return document;
  return {
    ...(crate.given === undefined ? {} : { "@context": crate.given }),
    ...rest,
    ...(size === undefined || Object.hasOwn(added, "contentSize") ? {} : { contentSize: size }),
  };
}

/** Replaces the identifiers of entities by their names in the crate. */
class Writer {
  readonly #paths: EntityNames["paths"];
  readonly #outdated: ReadonlySet<JsonObject> | undefined;

  constructor(paths: EntityNames["paths"], outdated: ReadonlySet<JsonObject> | undefined) {
    this.#paths = paths;
    this.#outdated = outdated;
  }

  value(key: string, value: JsonValue): JsonValue {
    if (key === "@type" || key === "@context") return value;
    if (Array.isArray(value)) return value.map((item) => this.value(key, item));
    if (!isObject(value) || Object.hasOwn(value, "@value"))
      return key === "@id" && typeof value === "string" ? (this.#paths.get(value) ?? value) : value;
    const entries = Object.entries(this.#outdated?.has(value) ? pick(value, ["@id"]) : value);
    return objectFrom(
      entries.map(([name, inner]): [string, JsonValue] => [name, this.value(name, inner)]),
    );
  }
}

/** An object with an `@id` that states something inside another entity. */
interface EntityInside {
  id: string;
  value: JsonObject;
  /** The context under which it stands. */
  context: JsonValue | undefined;
}

/**
 * Objects with an `@id` inside a record's document that state something.
 * @param without these, and what is inside them
 */
function entitiesInside(document: JsonObject, without?: ReadonlySet<JsonObject>): EntityInside[] {
  const found: EntityInside[] = [];
  const look = (key: string, value: JsonValue, around: JsonValue | undefined): void => {
    if (key === "@context" || key === "@value" || typeof value !== "object" || value === null)
      return;
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === "object") look(key, item, around);
      return;
    }
    if (without?.has(value)) return;
    const id = value["@id"];
    const own = value["@context"];
    const context =
      own === undefined ? around : [...listOf(around), ...(Array.isArray(own) ? own : [own])];
    if (typeof id === "string" && Object.keys(value).length > 1) found.push({ id, value, context });
    for (const [name, inner] of Object.entries(value)) look(name, inner, context);
  };
  for (const [key, value] of Object.entries(document))
    if (key !== SUMMARIZES) look(key, value, document["@context"]);
  return found;
}

/** Text is emitted in chunks of about this size. */
const CHUNK = 64 * 1024;
/** Records in one read, to compare them with the objects inside other documents. */
const COMPARED = 100;

/** The record of the metadata descriptor that the crate came with. */
export interface Descriptor {
  record: StoredRecord;
  document: JsonObject;
}
/** Result of surveying a crate. */
export interface CrateSurvey {
  context: CrateContext;
  known: Map<string, string>;
  descriptor: Descriptor | undefined;
  /** RO-Crate version that a crate without a descriptor states. */
  conformsTo: string;
  summaries: ReadonlyMap<string, Summary>;
}

/** Where the crate's metadata file contradicts that of a crate within it. */
export interface Summary {
  /** The inner crate's `@id` in the metadata. */
  id: string;
  /** The statements of the crate's metadata file. */
  outer: JsonObject;
  /** The stored statements, by the same properties. */
  own: JsonObject;
}

/** Summaries by ARK; without properties that the inner crate's record no longer has. */
async function summariesOf(
  { records }: Pick<Deps, "records">,
  descriptor: Descriptor | undefined,
): Promise<Map<string, Summary>> {
  const stated = listOf(descriptor?.document[SUMMARIZES]).flatMap((value) =>
    isObject(value) && typeof value["@id"] === "string" ? [{ ...value, "@id": value["@id"] }] : [],
  );
  const found = await records.findMany(stated.map((value) => value["@id"]));
  const summaries = new Map<string, Summary>();
  for (const [index, { "@id": ark, ...said }] of stated.entries()) {
    const record = found[index];
    if (!record || record.tombstone) continue;
    const document = parseDocument(record.document);
    const names = Object.keys(said).filter((name) => Object.hasOwn(document, name));
    const id = entityUrl(record, document) ?? ark;
    summaries.set(ark, { id, outer: pick(said, names), own: pick(document, names) });
  }
  return summaries;
}

/** Which members of a record's document the export writes, and how. */
type DocumentOf = (record: StoredRecord, document: JsonObject) => JsonObject;
const asItIs: DocumentOf = (_record, document) => document;

/** Collects the names and the meanings of the terms of one metadata file. */
export class FileSurvey {
  readonly #known = new Map<string, string>();
  readonly #used = new UsedContexts();
  #descriptor: Descriptor | undefined;

  readonly #root: StoredRecord;

  /** @param root record of the crate that the file describes */
  constructor(root: StoredRecord) {
    this.#root = root;
  }

  /** @param document what the file states of the record's `whole` document */
  add(record: StoredRecord, document: JsonObject, whole = document): void {
    this.#known.set(record.ark, record.ark);
    const url = entityUrl(record, whole);
    if (url !== undefined) this.#known.set(url, record.ark);
    if (record.ark === descriptorArk(this.#root.ark)) this.#descriptor = { record, document };
    this.#used.add(document);
  }

  /** @param context of the file as it came, where that is known */
  async result(deps: Pick<Deps, "records">, context?: JsonValue): Promise<CrateSurvey> {
    const made = madeContext(parseDocument(this.#root.document)["@context"]);
    const descriptor = this.#descriptor;
    return {
      known: this.#known,
      descriptor,
      summaries: await summariesOf(deps, descriptor),
      conformsTo: made.conformsTo,
      context: new CrateContext(
        descriptor ? descriptor.document["@context"] : (context ?? made.context),
        this.#used,
      ),
    };
  }
}

/** Reads a crate once, to collect its names and the meanings of its terms. */
export async function surveyCrate(
  deps: Pick<Deps, "records">,
  root: StoredRecord,
  visit: (record: StoredRecord, document: JsonObject) => Promise<void> | void = () => {},
): Promise<CrateSurvey> {
  const survey = new FileSurvey(root);
  for await (const page of crateRecords(deps, root)) {
    for (const record of page) {
      const document = parseDocument(record.document);
      survey.add(record, document);
      await visit(record, document);
    }
  }
  return survey.result(deps);
}

/**
 * The descriptor entity, which states what the metadata describes (RO-Crate 1.2, "RO-Crate Metadata
 * Descriptor"): the uploaded one, or a new one for a crate that came without one or was not
 * uploaded.
 * @param root ARK of the crate
 * @param id the crate's name in its metadata
 */
function descriptorEntity(
  root: string,
  { descriptor, conformsTo }: Pick<CrateSurvey, "descriptor" | "conformsTo">,
  names: EntityNames,
  {
    id = names.paths.get(root) ?? root,
    outdated,
  }: { id?: string | undefined; outdated?: ReadonlySet<JsonObject> | undefined } = {},
): JsonObject {
  const about = { "@id": id };
  if (!descriptor)
    return { "@id": DESCRIPTOR, "@type": "CreativeWork", conformsTo: { "@id": conformsTo }, about };
  const { record, document } = descriptor;
  const entity: JsonObject = {
    ...crateEntity(record, document, names, { outdated }),
    "@id": names.paths.get(record.ark) ?? DESCRIPTOR,
  };
  // An edited descriptor must not make the crate unreadable.
  return ["about", "schema:about"].some((key) =>
    referencesIn(document[key]).some((reference) => names.known.get(reference) === root),
  )
    ? entity
    : { ...entity, about: [...listOf(entity["about"]), about] };
}

/** Whether a record states no more than the descriptor that is created for a crate without one. */
export function isMadeDescriptor(
  { "@context": _context, ...claimed }: JsonObject,
  root: string,
): boolean {
  const { "@id": _id, "@type": type, conformsTo, about, ...more } = claimed;
  const only = (value: JsonValue | undefined): JsonValue | undefined =>
    isObject(value) && Object.keys(value).length === 1 ? value["@id"] : undefined;
  const profile = only(conformsTo);
  return (
    Object.keys(more).length === 0 &&
    type === "CreativeWork" &&
    only(about) === root &&
    typeof profile === "string" &&
    /^https:\/\/w3id\.org\/ro\/crate\/\d/.test(profile)
  );
}

interface MetadataOptions {
  /** Members of the documents as this file has them. */
  documentOf: DocumentOf;
  /** What the file states of a record's document. */
  statedHere: (record: StoredRecord, document: JsonObject) => JsonObject;
  /** The record's file, where it is beside the metadata. */
  fileOf: (record: StoredRecord) => ObjectReference | undefined;
  /** Crates within the crate have their own metadata files. */
  hasInnerFiles: boolean;
  /** The id of the crate where {@link EntityNames} has none. */
  id?: string;
  /** Whether the root's `@id` says which crate it is; else the descriptor states the ARK. */
  isNamed: boolean;
}

/** One file that describes the crate and all within it. */
const WHOLE_CRATE: MetadataOptions = {
  documentOf: asItIs,
  statedHere: (_record, document) => document,
  fileOf: () => undefined,
  hasInnerFiles: false,
  isNamed: true,
};

/** RO-Crate metadata of a crate from its current records, in chunks of JSON text. */
export async function* crateMetadata(
  deps: Pick<Deps, "records">,
  root: StoredRecord,
  survey: CrateSurvey,
  names: EntityNames,
  options: Partial<MetadataOptions> = {},
): AsyncGenerator<string> {
  const context =
    names.context.whole === undefined ? "" : `"@context":${JSON.stringify(names.context.whole)},`;
  let chunk = `{${context}"@graph":[`;
  let separator = "";
  for await (const text of entityTexts(deps, root, survey, names, {
    ...WHOLE_CRATE,
    ...options,
  })) {
    chunk += separator + text;
    separator = ",";
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = "";
  }
  yield `${chunk}]}`;
}

/** The entities of a metadata file; those that may stand inside others only come last. */
async function* entityTexts(
  deps: Pick<Deps, "records">,
  root: StoredRecord,
  survey: CrateSurvey,
  names: EntityNames,
  { documentOf, statedHere, fileOf, hasInnerFiles, id, isNamed }: MetadataOptions,
): AsyncGenerator<string> {
  const { written } = names;
  const inside = new StatedInside();
  /** Notes what the entity states about others inside it, except for outdated statements. */
  const note = async (document: JsonObject): Promise<ReadonlySet<JsonObject> | undefined> => {
    const outdated = await outdatedIn(deps, document, names, documentOf);
    inside.add(document, outdated);
    return outdated;
  };
  const { [SUMMARIZES]: _stored, ...described } = descriptorEntity(root.ark, survey, names, {
    id,
    outdated: survey.descriptor && (await note(survey.descriptor.document)),
  });
  if (!hasInnerFiles && survey.summaries.size > 0)
    described[OWN_STATEMENTS] = { "@type": "@json", "@value": ownStatements(survey) };
  yield textOf(
    isNamed ? described : withCrate(described, root.ark),
    written?.numbers.get(descriptorArk(root.ark)),
  );
  const arks = inOrder(root.ark, survey, names);
  const last: string[] = [];
  for (const group of [arks, last])
    for await (const page of recordsOf(deps, group)) {
      for (const record of page) {
        if (describedCrate(record.ark) === root.ark) continue;
        const whole = documentOf(record, parseDocument(record.document));
        const document = statedHere(record, whole);
        const url = entityUrl(record, whole);
        const file = fileOf(record);
        if (group === last) {
          const id = url ?? record.ark;
          const name = names.paths.get(record.ark) ?? id;
          if (inside.isWhole(id, withoutNames(document, name), file)) continue;
        } else if (mayStandInside(record, document, names)) {
          last.push(record.ark);
          continue;
        }
        const outdated = await note(document);
        const hasFile = file !== undefined;
        const entity = crateEntity(record, document, names, { url, outdated, hasFile });
        const summary = survey.summaries.get(record.ark)?.outer;
        yield textOf(
          summary ? { ...entity, ...summary } : entity,
          written?.numbers.get(record.ark),
        );
      }
    }
}

/**
 * The records of a metadata file: the root, then the others as the author ordered them. An upload
 * unites what several entities state about one inside them, in their order.
 */
function inOrder(root: string, { known }: CrateSurvey, { written }: EntityNames): string[] {
  const arks = new Set(known.values());
  const ordered = new Set([root, ...(written?.ids.keys() ?? []), ...arks]);
  return [...ordered].filter((ark) => arks.has(ark));
}

/** Records in one read. */
const PAGE = 200;

async function* recordsOf(
  { records }: Pick<Deps, "records">,
  arks: readonly string[],
): AsyncGenerator<StoredRecord[]> {
  for (let start = 0; start < arks.length; start += PAGE)
    yield (await records.findMany(arks.slice(start, start + PAGE))).filter(
      (record): record is StoredRecord => record !== undefined && record.tombstone === null,
    );
}

/**
 * Whether an entity may be left out where others state all of it: the author wrote it inside others
 * only, or nobody knows where, and it lacks the type that RO-Crate requires of entities.
 */
const mayStandInside = (
  { ark }: StoredRecord,
  document: JsonObject,
  { written }: EntityNames,
): boolean => (written?.ids.has(ark) ? written.nested.has(ark) : document["@type"] === undefined);

/** Statements of the inner metadata files that the document contradicts, by inner crate. */
const ownStatements = ({ summaries }: CrateSurvey): JsonObject =>
  objectFrom([...summaries.values()].map(({ id, own }): [string, JsonValue] => [id, own]));

/** What the entities of a metadata file, as they are written, state about those inside them. */
class StatedInside {
  readonly #parts = new Map<string, EntityInside[]>();

  /** @param outdated is not written */
  add(document: JsonObject, outdated: ReadonlySet<JsonObject> | undefined): void {
    for (const part of entitiesInside(document, outdated))
      getOrInsert(this.#parts, part.id, (): EntityInside[] => []).push(part);
  }

  /**
   * Whether an upload of the file would read the same entity from inside the others alone.
   * @param file the registry added the hash and the size of this file
   */
  isWhole(
    id: string,
    { "@context": context, "@id": _id, ...document }: JsonObject,
    file: ObjectReference | undefined,
  ): boolean {
    const parts = this.#parts.get(id);
    if (!parts) return false;
    const {
      "@id": _same,
      "@context": _own,
      ...stated
    } = mergeEntities(parts.map(({ value }) => value));
    const added = file ? { sha256: file.sha256, contentSize: String(file.size) } : {};
    const claimed = objectFrom(
      Object.entries(document).filter(
        ([key, value]) => Object.hasOwn(stated, key) || ownValue(added, key) !== value,
      ),
    );
    return (
      isDeepStrictEqual(claimed, stated) &&
      (isDeepStrictEqual(partsIn([context]), partsIn(parts.map((part) => part.context))) ||
        parts.every((part) => meansAlike(part.value, context, part.context)))
    );
  }
}

/** The parts of contexts, without what the registry added. */
const partsIn = (contexts: readonly (JsonValue | undefined)[]): ReadonlySet<string> =>
  new Set(
    contexts
      .flatMap(listOf)
      .filter((part) => !isAdded(part))
      .map(keyOf),
  );

/** Whether the terms of an entity mean the same under two contexts. */
function meansAlike(
  entity: JsonObject,
  one: JsonValue | undefined,
  other: JsonValue | undefined,
): boolean {
  if (keyOf(one) === keyOf(other)) return true;
  const [left, right] = [new TermMeanings(one), new TermMeanings(other)];
  return (
    sameSettings(left, right) &&
    [...termsIn(entity)].every((term) => left.of(term) === right.of(term))
  );
}

/**
 * Entities inside a document that state what their own records no longer state: only their names
 * are written, or an upload would ingest the outdated statements as new ones.
 */
async function outdatedIn(
  { records }: Pick<Deps, "records">,
  document: JsonObject,
  { known }: EntityNames,
  documentOf: DocumentOf,
): Promise<ReadonlySet<JsonObject> | undefined> {
  const inside = entitiesInside(document).flatMap(({ id, value }) => {
    const ark = known.get(id);
    return ark === undefined ? [] : [{ ark, value }];
  });
  if (inside.length === 0) return undefined;
  const outdated = new Set<JsonObject>();
  for (let start = 0; start < inside.length; start += COMPARED) {
    const batch = inside.slice(start, start + COMPARED);
    const found = await records.findMany(batch.map(({ ark }) => ark));
    for (const [index, { value }] of batch.entries()) {
      const record = found[index];
      const current =
        record && !record.tombstone
          ? documentOf(record, parseDocument(record.document))
          : undefined;
      if (!current || !states(current, value)) outdated.add(value);
    }
  }
  return outdated;
}

/** Whether an entity states everything that a part of the metadata states about it. */
function states(entity: JsonObject, part: JsonObject): boolean {
  const merged = mergeEntities([entity, part]);
  return Object.keys(merged).every((key) => merged[key] === entity[key]);
}
