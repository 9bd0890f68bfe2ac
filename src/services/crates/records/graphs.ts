/** Graphs of a crate's entities. What is invalid JSON-LD is repaired or left out, with a finding. */
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { step } from "../../../model/json/pointer.js";
import { pairs } from "../../../pairs.js";
import { ContextLimit } from "../../../rdf/contexts.js";
import type { GraphInput, RecordGraph } from "../../../rdf/emit.js";
import type { SoundContexts } from "../../../rdf/graph.js";
import { FALLBACK_VOCABULARY } from "../../../rdf/terms.js";
import { crateError, type Findings, objectFrom, type Place, quoted } from "../findings.js";
import { placeOf } from "../identifiers/identify.js";
import type { CrateDescription } from "../layout.js";
import type { ResolvedEntity } from "../steps.js";
import type { CrateLimits } from "../upload.js";
import { getOrInsert } from "../../../get-or-insert.js";

/** Function of `src/rdf/graph.ts`; injected, so that plans can run without RDF. */
export type GraphsOf = (
  context: JsonValue | undefined,
  inputs: readonly GraphInput[],
) => Promise<RecordGraph[]>;
/** A document that is not expanded yet, in the parts that documents are made of. */
export interface Draft {
  entity: ResolvedEntity;
  crateContext: JsonValue | undefined;
  body: JsonObject;
  linked?: JsonObject;
}

/** Graphs of drafts, in their order; entities with the same context are expanded together. */
export async function graphsFor(
  drafts: readonly Draft[],
  graphsOf: GraphsOf,
  findings: Findings,
): Promise<Map<Draft, RecordGraph>> {
  const byContext = new Map<string, Draft[]>();
  for (const draft of drafts) {
    const key = JSON.stringify(draft.crateContext) ?? "";
    getOrInsert(byContext, key, (): Draft[] => []).push(draft);
  }
  const graphs = new Map(drafts.map((draft): [Draft, RecordGraph] => [draft, EMPTY]));
  for (const group of byContext.values()) {
    const [{ crateContext, entity }] = group as [Draft, ...Draft[]];
    const found = await withinLimits(
      graphsOf(crateContext, group.map(inputOf)).catch((error: unknown) =>
        repairedGraphs(error, crateContext, group, graphsOf, findings),
      ),
      { ...placeOf(entity), pointer: "/@context" },
    );
    for (const [draft, graph] of pairs(group, found)) graphs.set(draft, graph);
  }
  return graphs;
}

/**
 * The crate's identifier is its ARK, also if the crate came with a URL: it is exported under the
 * ARK, and an update names the ARK.
 */
const inputOf = ({ entity, body, linked }: Draft): GraphInput => ({
  ark: entity.ark,
  kind: entity.kind,
  document: linked ?? body,
  fromCrate: true,
  ...(entity.url === undefined || entity.role === "root" ? {} : { subject: entity.url }),
});

/**
 * Builds graphs of entities that cannot be expanded together. A member that is invalid JSON-LD
 * affects only itself: it stays in the document as sent, is stored in the graph as a JSON literal
 * (JSON-LD 1.1, section 4.2.2) under the registry's fallback vocabulary, and is reported. An
 * invalid context is refused: without it terms would have no meaning.
 * @param error of the expansion of all
 * @throws CrateError when the shared context is invalid; `error`, or another fault, when the crate
 * is valid
 */
async function repairedGraphs(
  error: unknown,
  context: JsonValue | undefined,
  drafts: readonly Draft[],
  graphsOf: GraphsOf,
  findings: Findings,
): Promise<RecordGraph[]> {
  faultOf(error);
  const [first] = drafts.map(({ entity }) => placeOf(entity));
  if (await broken(graphsOf(context, []), findings, { ...first, pointer: "/@context" }))
    findings.throwIfErrors();
  const graphs: RecordGraph[] = [];
  for (const draft of drafts) {
    const [input, place] = [inputOf(draft), placeOf(draft.entity)];
    const found = await graphsOf(context, [input]).catch(
      (cause: unknown) => faultOf(cause) && undefined,
    );
    graphs.push(found?.[0] ?? (await repairedGraph(context, input, place, graphsOf, findings)));
  }
  return graphs;
}

/** Graph of a refused entity: its record is never written. */
const EMPTY: RecordGraph = { quads: "", links: [], lostTerms: [] };

async function repairedGraph(
  context: JsonValue | undefined,
  input: GraphInput,
  place: Place,
  graphsOf: GraphsOf,
  findings: Findings,
): Promise<RecordGraph> {
  const { "@context": own, ...members } = input.document;
  const shared: JsonObject = own === undefined ? {} : { "@context": own };
  const graphWith = async (document: JsonObject) => {
    const [graph = EMPTY] = await graphsOf(context, [
      { ...input, document: { ...shared, ...document } },
    ]);
    return graph;
  };
  if (
    await broken(graphWith({}), findings, { ...place, pointer: `${place.pointer ?? ""}/@context` })
  )
    return EMPTY;
  const wrong = new Map<string, string>();
  for (const [key, value] of Object.entries(members)) {
    if (key === "@id") continue;
    const cause = await graphWith(objectFrom([[key, value]])).then(() => undefined, faultOf);
    if (cause === undefined) continue;
    wrong.set(key, cause.message);
  }
  // Members that are valid separately but not together, such as an alias of a keyword beside that
  // keyword.
  const together = () =>
    objectFrom(
      Object.entries(members).map(([key, value]): [string, JsonValue] =>
        wrong.has(key) ? [FALLBACK_VOCABULARY + key, literal(value)] : [key, value],
      ),
    );
  let graph = await graphWith(together()).catch((cause: unknown) => faultOf(cause));
  if (!("quads" in graph)) {
    for (const key of Object.keys(members))
      if (key !== "@id" && key !== "@type" && !wrong.has(key)) wrong.set(key, graph.message);
    graph = await graphWith(together()).catch((cause: unknown) => faultOf(cause));
  }
  // Too deep even for a literal, where MAX_JSON_DEPTH was raised that far: only the document holds
  // it.
  if (!("quads" in graph)) graph = await graphWith({});
  for (const [key, message] of wrong)
    findings.warn(
      "JSONLD_INVALID",
      `${message} The member ${JSON.stringify(key.slice(0, 100))} is stored unchanged, ` +
        "in the graph as a JSON literal; write it as valid JSON-LD.",
      { ...place, pointer: (place.pointer ?? "") + step(key) },
    );
  return { ...graph, lostTerms: graph.lostTerms.filter((term) => !wrong.has(term)) };
}

const literal = (value: JsonValue): JsonObject => ({ "@type": "@json", "@value": value });

/** True, after reporting it, when a context is invalid. */
async function broken(
  expansion: Promise<unknown>,
  findings: Findings,
  place: Place,
): Promise<boolean> {
  const cause = await expansion.then(() => undefined, faultOf);
  if (cause === undefined) return false;
  findings.error(cause.code, cause.message, place);
  return true;
}

/** @throws the error itself when it is not a fault of the crate */
function faultOf(error: unknown): { code: "CONTEXT_INVALID"; message: string } {
  const { name, message } = error as Error;
  if (name === "JsonLdError") return { code: "CONTEXT_INVALID", message };
  // Nested as deep as MAX_JSON_DEPTH allows where that was raised beyond the depth that can be
  // expanded.
  if (error instanceof RangeError)
    return { code: "CONTEXT_INVALID", message: "It nests deeper than can be expanded." };
  throw error;
}

export type ContextBounds = Pick<CrateLimits, "MAX_CRATE_CONTEXTS" | "MAX_CRATE_TERMS">;

/** An empty entity, to test a context with. */
const NOTHING = {
  ark: "ark:99999/context",
  kind: "entity",
  fromCrate: true,
} as const satisfies Omit<GraphInput, "document">;

/**
 * Removes invalid definitions from the contexts of a crate, with a warning that names each.
 * Otherwise one invalid definition would make every term meaningless. A context that cannot be read
 * at all is left unchanged.
 */
export class RepairedContexts {
  readonly #known = new Map<string, JsonValue>();
  #sound: Promise<SoundContexts> | undefined;

  readonly #limits: ContextBounds;
  readonly #graphsOf: GraphsOf;
  readonly #findings: Findings;

  constructor(limits: ContextBounds, graphsOf: GraphsOf, findings: Findings) {
    this.#limits = limits;
    this.#graphsOf = graphsOf;
    this.#findings = findings;
  }

  /** Repairs the context of a metadata file. @throws ContextLimit */
  async repairDescription(description: CrateDescription): Promise<void> {
    const { context, file } = description;
    if (context === undefined || context === null) return;
    description.context = await this.#repaired(context, [], { file, pointer: "/@context" }, () =>
      this.#graphsOf(context, []),
    );
  }

  /** Repairs an entity's own contexts. @throws ContextLimit */
  async repairEntity({ parts }: ResolvedEntity): Promise<void> {
    for (const {
      scope: {
        description: { context, file },
      },
      entity: { value, pointer },
    } of parts) {
      const own = value["@context"];
      if (own === undefined || own === null) continue;
      const place = { file, pointer: `${pointer}/@context` };
      const before = context === undefined ? [] : [context];
      value["@context"] = await this.#repaired(own, before, place, () =>
        this.#graphsOf(context, [{ ...NOTHING, document: { "@context": own } }]),
      );
    }
  }

  async #repaired(
    context: JsonValue,
    before: readonly JsonValue[],
    place: Place,
    attempt: () => Promise<unknown>,
  ): Promise<JsonValue> {
    const key = JSON.stringify([context, before]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const isSound = await attempt().then(
      () => true,
      (error: Error) => {
        if (error.name !== "JsonLdError" && !(error instanceof RangeError)) throw error;
        return false;
      },
    );
    const repaired = isSound ? context : await this.#without(context, before, place);
    this.#known.set(key, repaired);
    return repaired;
  }

  async #without(
    context: JsonValue,
    before: readonly JsonValue[],
    place: Place,
  ): Promise<JsonValue> {
    // Loaded on demand, like all RDF code.
    this.#sound ??= import("../../../rdf/graph.js").then(
      (module) => new module.SoundContexts(this.#limits),
    );
    const sound = await (await this.#sound).of(context, before);
    if (!sound) return context;
    for (const { term, pointer, message } of sound.dropped) {
      this.#findings.warn(
        "TERM_INVALID",
        `The definition of ${JSON.stringify(quoted(term))} is left out of @context: ${message}`,
        { ...place, pointer: `${place.pointer ?? ""}${pointer}` },
      );
    }
    return sound.context;
  }
}

/** An exceeded context limit is reported with its place. @throws CrateError */
export const withinLimits = <T>(work: Promise<T>, place: Place): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof ContextLimit ? crateError(error.code, error.message, place) : error;
  });
