import jsonld from "jsonld";
import {
  expandCurie,
  type Field,
  isObject,
  type JsonObject,
  type JsonValue,
} from "../model/field.js";
import { step } from "../model/json/pointer.js";
import { isPublic, type Kind, type KindName, publicView } from "../model/kind.js";
import { KINDS } from "../model/kinds.js";
import {
  BoundedContexts,
  boundsOf,
  bundledLoader,
  ContextLimit,
  type ContextLimits,
  isBundled,
  withoutRepeats,
} from "./contexts.js";
import {
  Emitter,
  type Expanded,
  type GraphInput,
  JsonLdError,
  plainExpansion,
  type RecordGraph,
} from "./emit.js";
import { FALLBACK_VOCABULARY, Properties, predicateOf, safeIri } from "./terms.js";
import { ownValue } from "../own.js";

const FALLBACK: JsonObject = { "@vocab": FALLBACK_VOCABULARY };

/**
 * A context under which no term is dropped. A context may take the meaning of a term away (`null`
 * as the whole context, as `@vocab`, or as a term; JSON-LD 1.1, section 4.1), and the processor
 * then leaves out everything that uses the term. Those terms get the fallback vocabulary; a context
 * that takes nothing away is returned unchanged. A remote context that is not bundled is left out:
 * nothing is fetched, and it explains nothing here.
 */
export function keepContext(context: JsonValue): JsonValue {
  if (context === null) return [null, FALLBACK];
  if (Array.isArray(context)) {
    const kept = context.map(keepContext);
    return kept.some((part, index) => part !== context[index]) ? kept.flat() : context;
  }
  if (typeof context === "string") return isBundled(context) ? context : [];
  if (typeof context !== "object") return context;
  let changed = false;
  const entries = Object.entries(context).flatMap(([term, definition]): [string, JsonValue][] => {
    const isLost = term === "@import" && typeof definition === "string" && !isBundled(definition);
    const kept = isLost ? undefined : keepDefinition(term, definition);
    changed ||= kept !== definition;
    return kept === undefined ? [] : [[term, kept]];
  });
  return changed ? Object.fromEntries(entries) : context;
}

function keepDefinition(term: string, definition: JsonValue): JsonValue {
  // The processor reads a context inside a context, as a document of contexts has it.
  if (term === "@context")
    return typeof definition === "string" && !isBundled(definition) ? {} : keepContext(definition);
  if (term === "@vocab") return definition ?? FALLBACK_VOCABULARY;
  if (term.startsWith("@")) return definition;
  if (definition === null) return FALLBACK_VOCABULARY + term;
  if (typeof definition !== "object" || Array.isArray(definition)) return definition;
  const scoped = definition["@context"];
  const kept = scoped === undefined ? undefined : keepContext(scoped);
  if (definition["@id"] !== null && kept === scoped) return definition;
  return {
    ...definition,
    ...(definition["@id"] === null ? { "@id": FALLBACK_VOCABULARY + term } : {}),
    ...(kept === undefined ? {} : { "@context": kept }),
  };
}

/**
 * Keywords that describe a node or value (JSON-LD 1.1, section 9); the others belong into a
 * context.
 */
const OF_NODES: ReadonlySet<string> = new Set([
  "@id",
  "@type",
  "@value",
  "@language",
  "@direction",
  "@index",
  "@list",
  "@set",
  "@reverse",
  "@graph",
  "@included",
  "@nest",
  "@context",
  "@none",
]);
const KEYWORD = /^@[A-Za-z]+$/;

/**
 * A key of a node in a form that the processor preserves: it would leave out a key that has the
 * form of a keyword and is none.
 */
const keepKey = (key: string): string =>
  KEYWORD.test(key) && !OF_NODES.has(key) ? FALLBACK_VOCABULARY + key : key;
/** The same of a type. */
const keepType = (type: string): string =>
  KEYWORD.test(type) && type !== "@json" ? FALLBACK_VOCABULARY + type : type;

const BLANK = /\s/;
const encode = (text: string): string => text.replace(/\s/g, encodeURIComponent);

/**
 * The document in a form of which the JSON-LD processor drops nothing. Blanks in keys and in `@id`
 * are percent-encoded: jsonld.js drops a term with a blank and tears an id apart, although people
 * write both. A context's terms are keys too, so that they still match. Terms without a meaning get
 * one; see {@link keepContext} and {@link keepKey}.
 * @param untouched keys of the first level whose values are JSON literals, not JSON-LD
 */
function keepAll(document: JsonObject, untouched: (key: string) => boolean): JsonObject {
  return members(document, (key, value) =>
    untouched(key)
      ? value
      : key === "@context"
        ? encodedContext(value)
        : key === "@type"
          ? encodedTypes(value)
          : encoded(value),
  );
}

const encodedContext = (context: JsonValue): JsonValue => keepContext(encodedTerms(context));

/** Contexts have keywords of their own, and their terms. */
function encodedTerms(context: JsonValue): JsonValue {
  if (Array.isArray(context)) return context.map(encodedTerms);
  if (context === null || typeof context !== "object") return context;
  return Object.fromEntries(
    Object.entries(context).map(([key, value]) => [
      BLANK.test(key) ? encode(key) : key,
      encodedTerms(value),
    ]),
  );
}

function encodedTypes(types: JsonValue): JsonValue {
  if (Array.isArray(types)) return types.map(encodedTypes);
  return typeof types === "string" ? keepType(types) : encoded(types);
}

function encoded(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(encoded);
  if (value === null || typeof value !== "object") return value;
  return members(value, (key, member) =>
    key === "@value"
      ? member
      : key === "@context"
        ? encodedContext(member)
        : key === "@type"
          ? encodedTypes(member)
          : encoded(member),
  );
}

function members(
  object: JsonObject,
  map: (key: string, value: JsonValue) => JsonValue,
): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      BLANK.test(key) ? encode(key) : key.startsWith("@") ? keepKey(key) : key,
      key === "@id" && typeof value === "string" && BLANK.test(value)
        ? encode(value)
        : map(key, value),
    ]),
  );
}

const declaredIn = (fields: Kind["fields"]): [string, Field][] =>
  Object.entries(fields).filter(([name, field]) => !name.startsWith("@") && isPublic(field));

function termsOf({ fields }: Kind): JsonObject {
  const terms: JsonObject = {};
  for (const [name, field] of declaredIn(fields))
    terms[name] = {
      "@id": expandCurie(field.term),
      ...(field.json === "object" || field.json === "list" ? { "@type": "@json" } : {}),
    };
  return terms;
}

const FALLBACK_CONTEXT = { "@vocab": FALLBACK_VOCABULARY };
/**
 * Terms of a kind's declared fields: they mean what the model says, whatever the document's context
 * maps them to.
 */
const declaredContext = Object.fromEntries(
  Object.values(KINDS).map((kind) => [kind.name, termsOf(kind)]),
) as Record<KindName, JsonObject>;
/** Properties whose text may be an ARK, over all kinds. */
const references = new Set<string>();
for (const { fields } of Object.values(KINDS))
  for (const [, field] of declaredIn(fields))
    if (field.ark || field.link) references.add(expandCurie(field.term));
for (const name of [
  "hasPart",
  "isPartOf",
  "about",
  "mainEntity",
  "mentions",
  "author",
  "creator",
  "schema",
  "distribution",
])
  references.add(`https://schema.org/${name}`);
const properties = new Properties(references);
const TYPE = predicateOf(expandCurie("rdf:type"));
const SAME_AS = predicateOf(expandCurie("schema:sameAs"));

/**
 * The statements of one record, as canonical N-Quads, and its links. Opens no connection: contexts
 * come from bundled copies, and those that are not bundled explain nothing.
 * @throws JsonLdError for malformed JSON-LD
 */
export async function graphOf(input: GraphInput): Promise<RecordGraph> {
  const shown = shownOf(input);
  const plain = input.fromCrate ? undefined : plainExpansion(shown, declaredContext[input.kind]);
  if (plain) return emit(input, [plain]);
  const { "@context": context, ...stated } = bodyOf(input, shown);
  const body = { ...stated, "@id": SELF };
  const contexts = [FALLBACK_CONTEXT, ...contextList(context)];
  try {
    const bounded = boundsOf(contexts, stated);
    return emit(
      input,
      input.fromCrate
        ? await expand(body, contexts, bounded)
        : await expandDeclared(body, contexts, input.kind, bounded),
    );
  } catch (error) {
    throw error instanceof ContextLimit ? new JsonLdError(error.message) : error;
  }
}

/**
 * The same for many entities of one crate in one expansion: a large context is processed once.
 * @param context the crate's `@context`; a document's own `@context` counts in addition
 * @param bounded counts the contexts of the whole crate
 * @throws as {@link graphOf}; a {@link JsonLdError} carries the index of the entity; ContextLimit
 */
export async function graphsOf(
  context: JsonValue | undefined,
  inputs: readonly GraphInput[],
  bounded?: BoundedContexts,
): Promise<RecordGraph[]> {
  const contexts = [FALLBACK_CONTEXT, ...contextList(context)];
  let nodes: Expanded[];
  try {
    nodes = await expand(
      { "@graph": inputs.map((input, index) => ({ ...bodyOf(input), "@id": SELF + index })) },
      contexts,
      bounded,
    );
  } catch (error) {
    if (!(error instanceof JsonLdError) || inputs.length === 1) throw error;
    for (const [index, input] of inputs.entries()) {
      await expand({ "@graph": [bodyOf(input)] }, contexts, bounded).catch((cause: Error) => {
        throw cause instanceof JsonLdError ? new JsonLdError(cause.message, index) : cause;
      });
    }
    throw error;
  }
  const found = new Map(nodes.map((node) => [node["@id"] as string, node]));
  return inputs.map((input, index) => {
    const { "@id": _self, ...stated } = found.get(SELF + index) ?? {};
    try {
      return emit(input, [stated]);
    } catch (error) {
      throw error instanceof JsonLdError ? new JsonLdError(error.message, index) : error;
    }
  });
}

/** {@link graphsOf} for the entities of one crate, whose contexts are counted together. */
export function boundedGraphs(
  limits: ContextLimits,
): (context: JsonValue | undefined, inputs: readonly GraphInput[]) => Promise<RecordGraph[]> {
  const bounded = new BoundedContexts(limits);
  return (context, inputs) => graphsOf(context, inputs, bounded);
}

/**
 * The fault of a list of contexts, applied one after the other.
 * @throws ContextLimit
 */
async function contextProblem(
  contexts: JsonValue[],
  bounded: BoundedContexts,
): Promise<JsonLdError | undefined> {
  try {
    await expand(
      { "@graph": [] },
      [
        FALLBACK_CONTEXT,
        ...contextList(keepAll({ "@context": contexts }, () => false)["@context"]),
      ],
      bounded,
    );
    return undefined;
  } catch (error) {
    if (error instanceof JsonLdError) return error;
    throw error;
  }
}

/**
 * Stands for the record's own id during expansion: also an otherwise empty document expands to a
 * node then.
 */
const SELF = "urn:arkgraph:self:";

function contextList(context: JsonValue | undefined): JsonValue[] {
  if (context === undefined || context === null) return [];
  const kept = keepContext(withoutRepeats(context));
  return Array.isArray(kept) ? kept : [kept];
}

/**
 * The content of an evidence graph repeats statements of other records: stated again, these would
 * outlive their withdrawal there, and support themselves.
 */
const withoutAnswer = ({
  "@graph": _graph,
  outputs: _outputs,
  dangling: _dangling,
  hidden: _hidden,
  ...rest
}: JsonObject): JsonObject => rest;

/** The document's own public part. */
function shownOf(input: GraphInput): JsonObject {
  const shown = publicView(KINDS[input.kind], input.document);
  return input.kind === "evidencegraph" ? withoutAnswer(shown) : shown;
}

/** The same document in a form of which the JSON-LD processor drops nothing. */
function bodyOf(input: GraphInput, shown = shownOf(input)): JsonObject {
  const { fields } = KINDS[input.kind];
  const { "@id": _id, ...stated } = shown;
  const isLiteral = (key: string) => {
    const field = input.fromCrate || key === "@context" ? undefined : ownValue(fields, key);
    return field?.json === "object" || field?.json === "list";
  };
  return keepAll(stated, isLiteral);
}

function emit(input: GraphInput, nodes: Expanded[]): RecordGraph {
  const subject = input.subject === undefined ? input.ark : safeIri(input.subject);
  const emitter = new Emitter({
    ark: input.ark,
    subject,
    properties,
    activity: KINDS[input.kind].activity === true,
    known: input.known,
  });
  for (const [index, node] of nodes.entries())
    emitter.node(index === 0 ? { "@id": subject, ...node } : node);
  emitter.state(input.ark, TYPE, expandCurie(KINDS[input.kind].rdfClass));
  if (subject !== input.ark) emitter.state(input.ark, SAME_AS, subject);
  return emitter.result();
}

async function expandDeclared(
  body: JsonObject,
  contexts: JsonValue[],
  kind: KindName,
  bounded?: BoundedContexts,
): Promise<Expanded[]> {
  try {
    return await expand(body, [...contexts, declaredContext[kind]], bounded);
  } catch (error) {
    // A context with protected terms (JSON-LD 1.1, 4.1.11) refuses to be overridden; it then stays
    // unchanged.
    if (/protected/i.test((error as Error).message)) return expand(body, contexts, bounded);
    throw error;
  }
}

/**
 * Not so of `{}`. The processor shares contexts by their JSON in the whole process, so that one which
 * is written as `{}` and holds more, an undefined term for example, would count for all.
 */
const saysSomething = (context: JsonValue): boolean =>
  !isObject(context) || Object.keys(context).length > 0;

async function expand(
  body: JsonObject,
  contexts: JsonValue[],
  bounded?: BoundedContexts,
): Promise<Expanded[]> {
  try {
    const nodes = (await jsonld.expand(
      { "@context": contexts.filter(saysSomething), ...body } as never,
      {
        documentLoader: bundledLoader as never,
        base: "",
        ...(bounded && { contextResolver: bounded }),
      } as { base: string },
    )) as Expanded[];
    return nodes.map((node) => {
      if (node["@id"] !== SELF) return node;
      const { "@id": _self, ...stated } = node;
      return stated;
    });
  } catch (error) {
    if (bounded?.exceeded) throw bounded.exceeded;
    throw new JsonLdError(
      "The document is not valid JSON-LD: " +
        (error as Error).message.replace(/\n.*/s, "").slice(0, 300),
    );
  }
}

/** A definition that was left out of a context: its place, and its fault. */
interface DroppedTerm {
  term: string;
  pointer: string;
  message: string;
}
interface SoundContext {
  context: JsonValue;
  dropped: DroppedTerm[];
}

/**
 * Expansions that finding the wrong definitions of one crate may take; each of them takes about a
 * dozen.
 */
const MAX_TRIALS = 300;

/**
 * Leaves definitions out of contexts that make them invalid (JSON-LD 1.1 API, section 4.2: one
 * wrong definition invalidates the whole context). One instance serves all contexts of a crate, so
 * that hostile ones together cost a few seconds.
 */
export class SoundContexts {
  readonly #bounded: BoundedContexts;
  #trials = 0;

  constructor({ MAX_CRATE_CONTEXTS, MAX_CRATE_TERMS }: ContextLimits) {
    this.#bounded = new BoundedContexts({
      MAX_CRATE_CONTEXTS: MAX_CRATE_CONTEXTS + MAX_TRIALS,
      MAX_CRATE_TERMS,
    });
  }

  /**
   * The context without its faulty definitions.
   * @param before contexts that it follows, which are sound
   * @returns undefined for a value that is no context at all, or has more faults than are worth
   * looking for
   */
  async of(
    context: JsonValue,
    before: readonly JsonValue[] = [],
  ): Promise<SoundContext | undefined> {
    const dropped: DroppedTerm[] = [];
    const sound = await this.#sound(context, [...before], "", dropped);
    return sound && { context: sound.context, dropped };
  }

  async #sound(
    context: JsonValue,
    before: JsonValue[],
    pointer: string,
    dropped: DroppedTerm[],
  ): Promise<{ context: JsonValue } | undefined> {
    if (Array.isArray(context)) {
      const parts: JsonValue[] = [];
      for (const [index, part] of context.entries()) {
        const sound = await this.#sound(
          part,
          [...before, ...parts],
          `${pointer}/${index}`,
          dropped,
        );
        if (!sound) return undefined;
        parts.push(sound.context);
      }
      return { context: parts };
    }
    const problem = (part: JsonValue) => {
      if (++this.#trials > MAX_TRIALS) throw new TooManyTrials();
      return contextProblem([...before, part], this.#bounded);
    };
    try {
      if (!(await problem(context))) return { context };
      // No context at all, or the fault is in a context before it.
      if (typeof context !== "object" || context === null || (await problem({}))) return undefined;
      return { context: await withoutWrong(context, problem, pointer, dropped) };
    } catch (error) {
      // Nested deeper than can be expanded, or too many definitions to search.
      if (error instanceof TooManyTrials || this.#bounded.exceeded || error instanceof RangeError)
        return undefined;
      throw error;
    }
  }
}

class TooManyTrials extends Error {}

/** A definition is text, an object or nothing (JSON-LD 1.1, section 9.15.1). */
const isDefinition = ([term, value]: readonly [string, JsonValue]): boolean =>
  term.startsWith("@") ||
  value === null ||
  typeof value === "string" ||
  (typeof value === "object" && !Array.isArray(value));

/**
 * Finds the wrong definitions by halving: the shortest beginning that is wrong ends with one.
 * Compact IRIs come after plain terms, because one is only right beside its prefix.
 */
async function withoutWrong(
  context: JsonObject,
  problem: (part: JsonValue) => Promise<JsonLdError | undefined>,
  pointer: string,
  dropped: DroppedTerm[],
): Promise<JsonObject> {
  const isCompact = ([term]: readonly [string, JsonValue]): number => Number(/[:/]/.test(term));
  const entries = Object.entries(context)
    .filter(isDefinition)
    .toSorted((a, b) => isCompact(a) - isCompact(b));
  const wrong = new Set<string>();
  const drop = (term: string, message: string) => {
    wrong.add(term);
    dropped.push({
      term,
      pointer: pointer + step(term),
      message,
    });
  };
  for (const entry of Object.entries(context))
    if (!isDefinition(entry)) drop(entry[0], "it is neither text nor an object.");
  const upTo = (count: number): JsonObject =>
    Object.fromEntries(entries.slice(0, count).filter(([term]) => !wrong.has(term)));
  let sound = 0;
  for (
    let found = await problem(upTo(entries.length));
    found;
    found = await problem(upTo(entries.length))
  ) {
    let end = entries.length;
    let cause = found;
    while (end - sound > 1) {
      const middle = Math.floor((sound + end) / 2);
      const early = await problem(upTo(middle));
      if (early) [end, cause] = [middle, early];
      else sound = middle;
    }
    const [term] = entries[end - 1] ?? [];
    if (term !== undefined) drop(term, cause.message);
    sound = end;
  }
  return Object.fromEntries(Object.entries(context).filter(([term]) => !wrong.has(term)));
}
