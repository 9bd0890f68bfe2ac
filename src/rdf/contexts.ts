import { readFileSync } from "node:fs";
import { join } from "node:path";
// @ts-expect-error -- it has no types
import UntypedContextResolver from "jsonld/lib/ContextResolver.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { step } from "../model/json/pointer.js";
import { packageRoot } from "../package-root.js";

/**
 * A JSON-LD document names a context that is not bundled; the service opens no connection for it.
 */
export class UnknownContext extends Error {
  constructor(readonly url: string) {
    super(
      `The context <${url.slice(0, 200)}> is not known here and is not fetched; write its ` +
        "terms into @context, or use an RO-Crate context (1.0 to 1.3).",
    );
    this.name = "UnknownContext";
  }
}

/**
 * Which bundled file explains a remote context. Mirrors and drafts of a version count as that
 * version.
 */
const BUNDLED: readonly [RegExp, string][] = [
  [
    /^https?:\/\/w3id\.org\/ro\/crate\/(0\.[23]|1\.[0-4])(?:\.\d+)?(?:-DRAFT)?(?:\/context(?:\.jsonld)?)?\/?$/i,
    "ro-crate",
  ],
  [
    new RegExp(
      String.raw`^https?:\/\/(?:www\.)?researchobject\.(?:github\.io|org)\/ro-crate\/(?:specification\/)?` +
        String.raw`(0\.[23]|1\.[0-4])(?:\.\d+)?(?:-DRAFT)?\/context(?:\.json(?:ld)?)?\/?$`,
      "i",
    ),
    "ro-crate",
  ],
  [
    new RegExp(
      String.raw`^https?:\/\/raw\.githubusercontent\.com\/ResearchObject\/ro-crate\/.*\/(0\.[23]|1\.[0-4]` +
        String.raw`)(?:-DRAFT)?\/context\.json(?:ld)?$`,
      "i",
    ),
    "ro-crate",
  ],
  [/^https?:\/\/w3id\.org\/ro\/terms\/workflow-run(?:\/context)?\/?$/, "workflow-run"],
  [/^https?:\/\/w3id\.org\/ro\/terms\/test(?:\/context)?\/?$/, "ro-terms-test"],
  [/^https?:\/\/w3id\.org\/ldac\/context\/?$/, "ldac"],
  [/^https?:\/\/(?:www\.)?schema\.org(?:\/docs\/jsonldcontext\.json(?:ld)?)?\/?$/, "schema-org"],
];
const VERSIONS: Readonly<Record<string, string>> = {
  "0.2": "1.0",
  "0.3": "1.0",
  "1.0": "1.0",
  "1.1": "1.1",
  "1.2": "1.2",
  "1.3": "1.3",
  "1.4": "1.3",
};

const loaded = new Map<string, object>();

/** The bundled copy of a remote context, parsed once. @throws UnknownContext */
function bundledContext(url: string): object {
  const known = loaded.get(url);
  if (known) return known;
  for (const [pattern, name] of BUNDLED) {
    const match = pattern.exec(url);
    if (!match) continue;
    const document =
      name === "schema-org"
        ? { "@context": { "@vocab": "https://schema.org/" } }
        : readContext(name === "ro-crate" ? `ro-crate-${VERSIONS[match[1]!]}` : name);
    loaded.set(url, document);
    return document;
  }
  throw new UnknownContext(url);
}

/** Whether a remote context is explained by a bundled copy. */
export function isBundled(url: string): boolean {
  return BUNDLED.some(([pattern]) => pattern.test(url));
}

/** The same, empty for a context that is not bundled: it explains nothing here. */
export const bundledTerms = (url: string): JsonValue | undefined =>
  isBundled(url) ? (bundledContext(url) as JsonObject)["@context"] : {};

/**
 * Every remote context that is not bundled and that a document names: at the top, inside, in a
 * definition, or as `@import`.
 * @param tell called with each name and the JSON pointer of the `@context` that names it
 */
export function eachUnknownContext(
  document: JsonValue,
  report: (url: string, pointer: string) => void,
  pointer = "",
): void {
  if (Array.isArray(document)) {
    for (const [index, item] of document.entries())
      if (typeof item === "object") eachUnknownContext(item, report, `${pointer}/${index}`);
  } else if (typeof document === "object" && document !== null) {
    for (const [key, value] of Object.entries(document)) {
      const place = pointer + step(key);
      if (key === "@context") eachUnknownIn(value, (url) => report(url, place));
      // A value (JSON-LD 1.1, section 9.5) holds no contexts, whatever the names of its keys are.
      else if (key !== "@value" && typeof value === "object")
        eachUnknownContext(value, report, place);
    }
  }
}

function eachUnknownIn(context: JsonValue, report: (url: string) => void): void {
  if (typeof context === "string") {
    if (!isBundled(context)) report(context);
  } else if (Array.isArray(context)) {
    for (const part of context) eachUnknownIn(part, report);
  } else if (context !== null && typeof context === "object") {
    for (const [term, definition] of Object.entries(context)) {
      if (term === "@import" || term === "@context") eachUnknownIn(definition, report);
      else if (
        typeof definition === "object" &&
        definition !== null &&
        !Array.isArray(definition) &&
        definition["@context"] !== undefined
      )
        eachUnknownIn(definition["@context"], report);
    }
  }
}

const files = new Map<string, object>();
function readContext(name: string): object {
  let document = files.get(name);
  if (!document) {
    document = JSON.parse(
      readFileSync(join(packageRoot, "ontology", "contexts", `${name}.jsonld`), "utf8"),
    ) as object;
    files.set(name, document);
  }
  return document;
}

/**
 * Document loader for jsonld.js that answers from bundled copies only. They never change, so that
 * the processor resolves each of them once, not once for each document.
 */
export async function bundledLoader(
  url: string,
): Promise<{ contextUrl: undefined; documentUrl: string; document: object; tag: "static" }> {
  return {
    contextUrl: undefined,
    documentUrl: url,
    document: bundledContext(url),
    tag: "static",
  };
}

/** Settings that bound what the contexts of one document, or of one crate, may cost. */
export interface ContextLimits {
  MAX_CRATE_CONTEXTS: number;
  MAX_CRATE_TERMS: number;
}

/**
 * A document applies more contexts, defines more terms, or names more values of a property than is
 * allowed.
 */
export class ContextLimit extends Error {
  constructor(
    readonly code: "TOO_MANY_CONTEXTS" | "TOO_MANY_TERMS" | "TOO_MANY_REFERENCES",
    message: string,
  ) {
    super(message);
    this.name = "ContextLimit";
  }
}

/** After `null` in a list the processor starts from a copy of nothing, another one each time. */
const NOTHING = {};
const isNothing = (active: ActiveContext): boolean =>
  active.mappings.size === 0 &&
  active.previousContext === undefined &&
  !["@vocab", "@language", "@direction"].some((key) => key in active);
const keyOf = (active: ActiveContext): object => (isNothing(active) ? NOTHING : active);

/** The used part of jsonld.js; it is not typed, and not part of its documented interface. */
interface ActiveContext {
  mappings: Map<string, unknown>;
  revertToPreviousContext(): ActiveContext;
  previousContext?: ActiveContext;
}
interface Processed {
  context: ActiveContext;
}
interface Resolved {
  cache: {
    get(active: ActiveContext): Processed | undefined;
    set(active: ActiveContext, processed: Processed): void;
  };
}
interface Resolver {
  resolve(options: object): Promise<Resolved[]>;
}
const ContextResolver = UntypedContextResolver as new (options: {
  sharedCache: Map<string, unknown>;
}) => Resolver;

/**
 * Resolves contexts for the JSON-LD processor, and counts how often one is applied anew. The
 * processor copies all terms each time (2000 for a context of RO-Crate, about 5 ms), and a small
 * document can make it do so without end: in long lists, in nested nodes, and by terms that bring a
 * context along. One instance serves all entities of a crate: a context that was applied to the
 * same terms before costs nothing.
 */
export class BoundedContexts extends ContextResolver {
  #applied = 0;
  #limit: ContextLimit | undefined;
  readonly #known = new WeakSet<object>();

  readonly #limits: ContextLimits;

  constructor(limits: ContextLimits) {
    super({ sharedCache: new Map() });
    this.#limits = limits;
  }

  /**
   * The exceeded limit. The processor replaces an error that ends the check of a term's context.
   */
  get exceeded(): ContextLimit | undefined {
    return this.#limit;
  }

  override async resolve(options: object): Promise<Resolved[]> {
    if (this.#limit) throw this.#limit;
    const resolved = await super.resolve(options);
    for (const each of resolved) {
      if (this.#known.has(each)) continue;
      this.#known.add(each);
      const made = new WeakMap<object, Processed>();
      each.cache = {
        get: (active) => made.get(keyOf(active)),
        set: (active, processed) => {
          this.#count();
          if (processed.context.mappings !== undefined) this.#countTerms(processed.context);
          made.set(keyOf(active), processed);
        },
      };
    }
    return resolved;
  }

  #count(): void {
    if (++this.#applied > this.#limits.MAX_CRATE_CONTEXTS)
      throw (this.#limit = tooManyContexts(this.#limits));
  }

  #countTerms(context: ActiveContext): void {
    if (context.mappings.size > this.#limits.MAX_CRATE_TERMS)
      throw (this.#limit = tooManyTerms(this.#limits));
    // Called for every node inside one whose type has a context; copies all terms too. Copies of
    // this context have it as well.
    const revert = context.revertToPreviousContext;
    const count = () => this.#count();
    context.revertToPreviousContext = function (this: ActiveContext) {
      if (this.previousContext) count();
      return revert.call(this);
    };
  }
}

const tooManyContexts = ({ MAX_CRATE_CONTEXTS }: ContextLimits): ContextLimit =>
  new ContextLimit(
    "TOO_MANY_CONTEXTS",
    `The metadata applies more than MAX_CRATE_CONTEXTS=${MAX_CRATE_CONTEXTS} contexts; ` +
      "write the terms into one @context at the top of the metadata.",
  );

const tooManyTerms = ({ MAX_CRATE_TERMS }: ContextLimits): ContextLimit =>
  new ContextLimit(
    "TOO_MANY_TERMS",
    `The contexts define more than MAX_CRATE_TERMS=${MAX_CRATE_TERMS} terms; define ` +
      "those that are used.",
  );

/** Those of documents that come one by one; see {@link limitContexts}. */
let forDocuments: ContextLimits & { MAX_CRATE_REFERENCES: number } = {
  MAX_CRATE_CONTEXTS: 100,
  MAX_CRATE_TERMS: 10_000,
  MAX_CRATE_REFERENCES: 100_000,
};

/**
 * Sets the limits of documents that are expanded one by one, on the thread that answers requests;
 * once, when a registry is composed.
 */
export function limitContexts({
  MAX_CRATE_CONTEXTS,
  MAX_CRATE_TERMS,
  MAX_CRATE_REFERENCES,
}: typeof forDocuments): void {
  forDocuments = { MAX_CRATE_CONTEXTS, MAX_CRATE_TERMS, MAX_CRATE_REFERENCES };
}

/** Lists of contexts up to this length cost little. */
const MAX_CHEAP_CONTEXTS = 10;

/**
 * The limits for the expansion of one document. Undefined for a short context at the top alone, as
 * nearly all have: the processor caches those over many documents, which makes a small write twice
 * as fast.
 * @throws ContextLimit for a list that is too long in any case
 */
export function boundsOf(
  contexts: readonly JsonValue[],
  body: JsonObject,
): BoundedContexts | undefined {
  const short = contexts.length <= MAX_CHEAP_CONTEXTS && !holdsContext(contexts as JsonValue[]);
  return holdsContext(body) || !short ? new BoundedContexts(forDocuments) : undefined;
}

/** Bounds for many documents that are expanded together. */
export const boundsForDocuments = (): ContextLimits => forDocuments;

/**
 * Whether an object inside has a context of its own.
 * @throws ContextLimit for a property with too many values
 */
function holdsContext(value: JsonValue): boolean {
  const left: JsonValue[] = [value];
  let found = false;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (Array.isArray(next) && next.length > forDocuments.MAX_CRATE_REFERENCES)
      throw new ContextLimit(
        "TOO_MANY_REFERENCES",
        `A property has ${next.length} values; ` +
          `MAX_CRATE_REFERENCES=${forDocuments.MAX_CRATE_REFERENCES}.`,
      );
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inner] of Object.entries(next)) {
      found ||= key === "@context";
      if (typeof inner === "object" && inner !== null) left.push(inner);
    }
  }
  return found;
}

/**
 * A context without lists in lists, and without a URL that stands twice in a row: the second
 * changes nothing.
 */
export function withoutRepeats(context: JsonValue): JsonValue {
  if (!Array.isArray(context)) return context;
  const flat = context.flat(Infinity as 1) as readonly JsonValue[];
  return flat.filter((part, index) => typeof part !== "string" || part !== flat[index - 1]);
}

/** @throws ContextLimit for contexts that are too long to be processed at all */
export function checkContextList(context: JsonValue | undefined, limits: ContextLimits): void {
  const parts = context === undefined ? [] : withoutRepeats(context);
  if (Array.isArray(parts) && parts.length > limits.MAX_CRATE_CONTEXTS)
    throw tooManyContexts(limits);
  const inline = [parts]
    .flat()
    .filter(
      (part) => typeof part === "object" && part !== null && !Array.isArray(part),
    ) as JsonObject[];
  if (inline.reduce((sum, part) => sum + Object.keys(part).length, 0) > limits.MAX_CRATE_TERMS)
    throw tooManyTerms(limits);
}
