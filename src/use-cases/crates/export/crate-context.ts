import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf } from "../json-path.js";
import { ADDED_TERMS } from "../records/context-terms.js";
import { TermMeanings, prefixOf, termsOf } from "./term-meanings.js";

/** Version of RO-Crate that crates claim whose author claimed none: the first whose root may be named by an ARK. */
const VERSION = "1.2";
const SPECIFICATION = "https://w3id.org/ro/crate/";
/** The version in the URL of a context of RO-Crate, or of its specification. */
const VERSIONED = /ro\/?-?crate\/(?:specification\/)?(\d+\.\d+(?:\.\d+)?(?:-DRAFT)?)/;

/** Keywords of a context that change what values mean. */
const SETTINGS = ["@language", "@base", "@direction"];

/** Context of a crate without a descriptor of its own, and the version of RO-Crate that it claims. */
export function madeContext(root: JsonValue | undefined): { context: JsonValue; conformsTo: string } {
  const parts = listOf(root).filter((part) => part !== null && !isAdded(part));
  const version = parts.map((part) => (typeof part === "string" ? VERSIONED.exec(part)?.[1] : undefined)).find((found) => found !== undefined);
  const [only] = parts;
  // A vocabulary explains every term: clients that expect an object go on reading one.
  const isWhole = version !== undefined || (parts.length === 1 && isObject(only) && typeof only["@vocab"] === "string");
  const all = isWhole ? parts : [`${SPECIFICATION}${VERSION}/context`, ...parts];
  return { context: all.length === 1 ? all[0]! : all, conformsTo: SPECIFICATION + (version ?? VERSION) };
}

/** What the registry added to the context of a record, and nobody else. */
function isAdded(part: JsonValue): boolean {
  return isObject(part) && Object.keys(part).length > 0 && Object.entries(part).every(([term, meaning]) => isDeepStrictEqual(ADDED_TERMS[term], meaning));
}

interface Used { context: JsonValue | undefined; terms: Set<string> }

/** The contexts that the records of a crate have, each with the terms that are used under it. */
export class UsedContexts {
  private readonly all = new Map<string, Used>();

  add({ "@context": context, ...said }: JsonObject): void {
    const key = keyOf(context);
    let used = this.all.get(key);
    if (!used) this.all.set(key, used = { context, terms: new Set() });
    termsIn(said, used.terms);
  }

  [Symbol.iterator](): Iterator<Used> {
    return this.all.values();
  }
}

/**
 * The one context of a crate whose records each carry their own: the one that was given, then the terms that it does
 * not explain and all records that use them understand alike. An entity whose terms mean something else under it
 * keeps a context of its own.
 */
export class CrateContext {
  readonly whole: JsonValue | undefined;
  private readonly meanings: TermMeanings;
  /** By context: the terms that mean something else under it than in the crate. */
  private readonly differing = new Map<string, "all" | ReadonlySet<string>>();

  constructor(given: JsonValue | undefined, used: Iterable<Used>) {
    const contexts = [...used].map(({ context, terms }) => ({ context, terms, meanings: new TermMeanings(context ?? null) }));
    const before = new TermMeanings(given);
    const alike = contexts.filter(({ meanings }) => sameSettings(meanings, before));
    this.whole = extended(given, missingTerms(before, alike));
    this.meanings = new TermMeanings(this.whole);
    for (const { context, terms, meanings } of contexts) {
      if (keyOf(context) === keyOf(given) && this.whole === given) continue;
      const others = sameSettings(meanings, this.meanings) ? new Set([...terms].filter((term) => meanings.of(term) !== this.meanings.of(term))) : "all";
      if (others === "all" || others.size > 0) this.differing.set(keyOf(context), others);
    }
  }

  /** The context that an entity must carry itself; undefined where the crate's says the same. */
  own(context: JsonValue | undefined, entity: JsonObject): JsonValue | undefined {
    const differing = this.differing.get(keyOf(context));
    if (differing === undefined) return undefined;
    if (differing !== "all") {
      const terms = termsIn(entity);
      if (![...differing].some((term) => terms.has(term))) return undefined;
    }
    const [parts, shared] = [listOf(context), listOf(this.whole)];
    const goesOn = shared.length > 0 && parts.length > shared.length && shared.every((part, index) => isDeepStrictEqual(part, parts[index]));
    const own = goesOn ? parts.slice(shared.length) : [null, ...parts];
    return own.length === 1 ? own[0]! : own;
  }
}

/** Terms of an entity, and identifiers that a prefix may stand in. */
function termsIn(entity: JsonObject, found: Set<string> = new Set()): Set<string> {
  termsOf(entity, found);
  const look = (value: JsonValue): void => {
    if (Array.isArray(value)) for (const item of value) look(item);
    else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        if (key === "@id" && typeof inner === "string" && prefixOf(inner) !== undefined && !inner.startsWith("ark:")) found.add(inner);
        else if (key !== "@context" && key !== "@value") look(inner);
      }
    }
  };
  look(entity);
  return found;
}

const keyOf = (context: JsonValue | undefined): string => JSON.stringify(context) ?? "";
const sameSettings = (one: TermMeanings, other: TermMeanings): boolean => SETTINGS.every((setting) => one.setting(setting) === other.setting(setting));

/** Definitions of terms that a context has none for, where all who use a term mean the same by it. */
function missingTerms(given: TermMeanings, contexts: readonly { terms: ReadonlySet<string>; meanings: TermMeanings }[]): Map<string, JsonValue> {
  const users = new Map<string, { meaning: string; meanings: TermMeanings } | undefined>();
  const prefixes = new Set<string>();
  const use = (term: string, meanings: TermMeanings): void => {
    const meaning = meanings.of(term);
    if (!users.has(term)) users.set(term, { meaning, meanings });
    // Undefined stays: they do not agree.
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
    // What no context defines is no prefix, also where a vocabulary would make a term of it.
    if (prefixes.has(term) && !user.meanings.defines(term)) continue;
    const definition = user.meanings.definition(term);
    if (definition !== undefined) missing.set(term, definition);
  }
  return missing;
}

/** The given context first and unchanged. One object stays one object: some clients read nothing else. */
function extended(given: JsonValue | undefined, terms: ReadonlyMap<string, JsonValue>): JsonValue | undefined {
  if (terms.size === 0) return given;
  const added = Object.fromEntries(terms);
  if (isObject(given)) return { ...given, ...added };
  return Array.isArray(given) ? [...given, added] : given === undefined || given === null ? added : [given, added];
}
