import { getOrInsert } from "../../../get-or-insert.js";
import { parseArk } from "../../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf } from "../../../model/field.js";
import { typeNames } from "../../../model/kind.js";
import { PROVENANCE } from "../../../model/provenance.js";
import { ownValue } from "../../../own.js";
import { type Findings, objectFrom, quoted } from "../findings.js";
import {
  type CrateDescription,
  type CrateDescriptions,
  statedArk,
  SUMMARIZES,
  summaryOf,
} from "../layout.js";
import {
  type IdentifiedEntity,
  type IdScope,
  type Part,
  partPlace,
  type RegisteredCrate,
} from "./identify.js";

/** Local names of properties whose plain texts are references, as the older layout writes them. */
const NAMES: ReadonlySet<string> = new Set(
  [
    ...Object.keys(PROVENANCE),
    "wasGeneratedBy",
    "wasDerivedFrom",
    "wasAssociatedWith",
    "wasAttributedTo",
    "wasInformedBy",
    "isBasedOn",
    "object",
    "result",
    "instrument",
    "agent",
    "input",
    "output",
    "usedByComputation",
    "usedByExperiment",
    "usedByDataset",
    "hasPart",
    "isPartOf",
    "about",
    "mainEntity",
    "mentions",
    "subjectOf",
    "schema",
    "hasSchema",
    "distribution",
    "hasDistribution",
    "encodesCreativeWork",
    "exampleOfWork",
    "workExample",
    "author",
    "creator",
    "contributor",
    "publisher",
    "sourceOrganization",
    "sourceProject",
    "memberOf",
    "member",
    "members",
    "owner",
    "includedInDataCatalog",
    "hasEvidenceGraph",
    "localEvidenceGraph",
    "isVersionOf",
    "hasVersion",
  ].map((name) => name.toLowerCase()),
);

const localName = (key: string): string =>
  key.slice(Math.max(key.lastIndexOf("#"), key.lastIndexOf("/"), key.lastIndexOf(":")) + 1);

/**
 * Returns a predicate for properties whose texts are references: by their names, or because the
 * context declares it (`"@type": "@id"`, JSON-LD 1.1 section 4.2.3).
 */
function referenceFields(context: JsonValue | undefined): (key: string) => boolean {
  const coerced = coercedTerms(context);
  return (key) => coerced.has(key) || isReferenceName(key);
}

/** Whether a property's name implies that its texts are references. */
export const isReferenceName = (key: string): boolean => NAMES.has(localName(key).toLowerCase());

/** Terms whose texts the context declares to be references. */
export function coercedTerms(context: JsonValue | undefined): ReadonlySet<string> {
  const coerced = new Set<string>();
  for (const part of listOf(context)) {
    if (!isObject(part)) continue;
    for (const [term, definition] of Object.entries(part))
      if (isObject(definition) && definition["@type"] === "@id") coerced.add(term);
  }
  return coerced;
}

/** Rewrites the identifiers inside entities of one metadata file; everything else stays as sent. */
export class Rewriter {
  readonly #isReference: (key: string) => boolean;

  readonly #scope: IdScope;
  #linksTexts = false;
  #hasTexts = false;

  constructor(scope: IdScope) {
    this.#scope = scope;

    this.#isReference = referenceFields(scope.description.context);
  }

  /**
   * The entity with identifier `ark` and all its links rewritten: as its document has it, and as
   * its graph has it, where texts that name entities are references.
   */
  entity(value: JsonObject, ark: string): { document: JsonObject; linked: JsonObject } {
    this.#hasTexts = false;
    const document = this.#entity(value, ark);
    if (!this.#hasTexts) return { document, linked: document };
    this.#linksTexts = true;
    const linked = this.#entity(value, ark);
    this.#linksTexts = false;
    return { document, linked };
  }

  #entity(value: JsonObject, ark: string): JsonObject {
    const entries = Object.entries(value).map(([key, inner]): [string, JsonValue] => [
      key,
      key === "@id" ? ark : this.#member(key, inner),
    ]);
    return objectFrom(Object.hasOwn(value, "@id") ? entries : [["@id", ark], ...entries]);
  }

  #member(key: string, value: JsonValue): JsonValue {
    if (key === "@context" || key === "@type" || key === "@value" || key === "@language")
      return value;
    return this.#value(value, this.#isReference(key));
  }

  #text(text: string): string {
    const named = this.#scope.textReference(text);
    this.#hasTexts ||= named !== text;
    return this.#linksTexts ? named : text;
  }

  #value(value: JsonValue, reference: boolean): JsonValue {
    if (typeof value === "string") return reference ? this.#text(value) : value;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.#value(item, reference));
    if (Object.hasOwn(value, "@value")) return value;
    return objectFrom(
      Object.entries(value).map(([key, inner]): [string, JsonValue] => {
        if (key === "@id" && typeof inner === "string") return [key, this.#scope.reference(inner)];
        if (key === "@list" || key === "@set") return [key, this.#value(inner, reference)];
        return [key, this.#member(key, inner)];
      }),
    );
  }
}

/** The rewriter of a metadata file. */
export const rewriterOf = (rewriters: Map<IdScope, Rewriter>, scope: IdScope): Rewriter =>
  getOrInsert(rewriters, scope, () => new Rewriter(scope));

/**
 * Merges several statements with one identifier into one entity, as JSON-LD flattening does
 * (JSON-LD 1.1 API, section 7.2): values of a property are united, and equal values occur once. The
 * first statement's keys and values come first.
 */
export function mergeEntities([first = {}, ...rest]: readonly JsonObject[]): JsonObject {
  if (rest.length === 0) return first;
  const merged = new Map(Object.entries(first));
  const united = new Map<string, United>();
  // One pass: a hostile crate describes one entity a hundred thousand times.
  for (const next of rest) {
    for (const [key, value] of Object.entries(next)) {
      if (key === "@id" || key === "@context") continue;
      const before = merged.get(key);
      if (before === undefined || before === null) merged.set(key, value);
      else getOrInsert(united, key, () => new United(before)).add(value);
    }
  }
  for (const [key, values] of united) merged.set(key, values.value());
  return objectFrom(merged);
}

/** The values of a property, each once. */
class United {
  readonly #values: JsonValue[];
  readonly #seen: Set<string>;
  #grew = false;

  readonly #first: JsonValue;

  constructor(first: JsonValue) {
    this.#first = first;

    this.#values = [...listOf(first)];
    this.#seen = new Set(this.#values.map((value) => JSON.stringify(value)));
  }

  add(more: JsonValue): void {
    for (const value of listOf(more)) {
      const text = JSON.stringify(value);
      if (this.#seen.has(text)) continue;
      this.#seen.add(text);
      this.#values.push(value);
      this.#grew = true;
    }
  }

  /** Unchanged where no value was added. */
  value(): JsonValue {
    return this.#grew ? this.#values : this.#first;
  }
}

/**
 * The metadata file of a crate within the crate describes it. Texts and numbers that the file of
 * the crate around it states otherwise are often outdated: they are stored with the descriptor of
 * that file, as its summary of the inner crate, so that no property gets two values. References
 * stay united: each is a link that somebody follows.
 */
export function separateSummaries(
  entities: readonly IdentifiedEntity[],
  [outermost, ...nested]: CrateDescriptions,
  registered: ReadonlyMap<string, RegisteredCrate>,
): void {
  separateSummariesIn(outermost, entities, registered);
  // A crate that was uploaded by itself has its own summaries of the crates within it.
  for (const description of nested)
    if (registered.get(statedArk(description) ?? "")?.alone === true)
      separateSummariesIn(description, entities, registered);
}

function separateSummariesIn(
  outermost: CrateDescription,
  entities: readonly IdentifiedEntity[],
  registered: ReadonlyMap<string, RegisteredCrate>,
): void {
  const descriptor = entities
    .flatMap(({ role, parts }) => (role === "descriptor" ? parts : []))
    .find(({ entity }) => entity === outermost.descriptor);
  if (!descriptor) return;
  const summaries: JsonObject[] = [];
  for (const { ark, role, parts } of entities) {
    if (role !== "nestedRoot" || registered.get(ark)?.alone === true) continue;
    const own = parts.find(({ scope, entity }) => scope.description.root === entity);
    if (own?.scope.home !== descriptor.scope.home) continue;
    if (registered.has(ark) && descriptor.scope.home === undefined) continue;
    for (const [index, part] of parts.entries()) {
      if (!own || part.scope !== descriptor.scope || part.entity.embedded) continue;
      const isReference = referenceFields(outermost.context);
      const names = Object.entries(part.entity.value).flatMap(([name, value]) => {
        const inner = name.startsWith("@") ? undefined : ownValue(own.entity.value, name);
        return inner !== undefined && contradict(value, inner, isReference(name)) ? [name] : [];
      });
      if (names.length === 0) continue;
      summaries.push(summaryOf(part.entity, names));
      const agreed = Object.entries(part.entity.value).filter(([name]) => !names.includes(name));
      parts[index] = { ...part, entity: { ...part.entity, value: objectFrom(agreed) } };
    }
  }
  if (summaries.length === 0) return;
  const { value } = descriptor.entity;
  descriptor.entity = {
    ...descriptor.entity,
    value: { ...value, [SUMMARIZES]: [...listOf(value[SUMMARIZES]), ...summaries] },
  };
}

/** Whether an inner crate's own value replaces a different one; an empty list states nothing. */
function contradict(outer: JsonValue, own: JsonValue, isReference: boolean): boolean {
  if (JSON.stringify(outer) === JSON.stringify(own)) return false;
  const stated = [...listOf(outer), ...listOf(own)];
  return (
    listOf(outer).length === 0 ||
    (!isReference && !stated.some((value) => isObject(value) && !Object.hasOwn(value, "@value")))
  );
}

/** An entity with the statements about it that are stored; see {@link withOwnStatement}. */
export interface LinkedEntity extends IdentifiedEntity {
  linked?: "described" | "named";
}

/** Most properties that a warning names. */
const MAX_NAMED = 5;

/**
 * ARKs that may be registered crates: the roots of nested crates, and entities with the type of a
 * dataset or a crate.
 */
export function crateCandidates(descriptions: CrateDescriptions): string[] {
  const candidates = new Set<string>();
  for (const description of descriptions) {
    const { context, entities, root } = description;
    for (const entity of entities) {
      const isNestedRoot = entity === root && root !== descriptions[0].root;
      const types = isNestedRoot ? [] : typeNames(entity.value, context, entity.value["@context"]);
      if (!isNestedRoot && !types.includes("ROCrate") && !types.includes("Dataset")) continue;
      const ark = isNestedRoot ? statedArk(description) : parseArk(entity.id)?.stored;
      if (ark !== undefined) candidates.add(ark);
    }
  }
  return [...candidates];
}

/**
 * For a crate that is registered already its own metadata file is authoritative, also in an archive
 * that contains it: the statements of the crate around it, about it or about its contents, are a
 * summary that becomes outdated. These other statements stay in the metadata file, and a warning
 * names the differences. A crate that is only named is linked unchanged.
 */
export function withOwnStatement(
  entity: IdentifiedEntity,
  registered: ReadonlyMap<string, RegisteredCrate>,
  findings: Findings,
): LinkedEntity {
  if (registered.size === 0) return entity;
  // The crates within a registered one are described by its files together.
  const authorityOf = ({ scope: { home, description } }: Part): string | undefined => {
    const crate = home ?? statedArk(description);
    return crate !== undefined && registered.has(crate) ? crate : undefined;
  };
  const authorities = entity.parts.map(authorityOf);
  // A registered crate describes itself; what is in several, the deepest describes.
  const authority = authorities.includes(entity.ark)
    ? entity.ark
    : authorities.find((crate) => crate !== undefined);
  const [first, ...others] = entity.parts.filter((part) => authorityOf(part) === authority);
  if (authority === undefined || !first)
    return registered.has(entity.ark) ? named(entity, findings) : entity;
  const parts: IdentifiedEntity["parts"] = [first, ...others];
  const isCrate =
    registered.has(entity.ark) || (entity.role === "nestedRoot" && first.scope.home !== undefined);
  const differing = differingIn(
    parts,
    entity.parts.filter((part) => !parts.includes(part)),
  );
  if (differing.length > 0) {
    const names = differing
      .slice(0, MAX_NAMED)
      .map((name) => quoted(name))
      .join(", ");
    const more = differing.length > MAX_NAMED ? ` and ${differing.length - MAX_NAMED} more` : "";
    findings.warn(
      "CRATE_LINKED",
      `${quoted(entity.ark)} is described by a crate that is registered already; ` +
        `different statements of this crate about it (${names}${more}) are not stored.`,
      placeAround(entity),
    );
  }
  return { ...entity, parts, ...(isCrate ? { linked: "described" } : {}) };
}

function named(entity: IdentifiedEntity, findings: Findings): LinkedEntity {
  findings.warn(
    "CRATE_LINKED",
    `The crate ${quoted(entity.ark)} is registered already and is linked; statements of ` +
      "this crate about it are not stored.",
    placeAround(entity),
  );
  return { ...entity, linked: "named" };
}

/**
 * Properties that the other statements have and the own statements lack, or have with other values.
 */
function differingIn(own: readonly Part[], others: readonly Part[]): string[] {
  const differing = new Set<string>();
  for (const {
    entity: { value },
  } of others) {
    for (const [name, stated] of Object.entries(value)) {
      if (name === "@id" || name === "@context") continue;
      const text = JSON.stringify(stated);
      if (!own.some((part) => JSON.stringify(part.entity.value[name]) === text))
        differing.add(name);
    }
  }
  return [...differing];
}

/** Place in the surrounding crate that mentions it: in the shallowest metadata file. */
const placeAround = ({ parts }: IdentifiedEntity) => partPlace(parts.at(-1) ?? parts[0]);
