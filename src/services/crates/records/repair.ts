import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { SoundContexts } from "../../../rdf/graph.js";
import type { GraphInput, RecordGraph } from "../../../rdf/plain.js";
import { FALLBACK_VOCABULARY } from "../../../rdf/predicates.js";
import { type Findings, objectFrom, type Place, quoted, step } from "../findings.js";
import type { CrateDescription } from "../layout.js";
import type { CrateLimits } from "../limits.js";
import type { PreparedEntity } from "../prepare.js";

/** Function of `src/rdf/graph.ts`; injected, so that plans can run without RDF. */
export type GraphsOf = (
  context: JsonValue | undefined,
  inputs: readonly GraphInput[],
) => Promise<RecordGraph[]>;
interface PlacedInput {
  input: GraphInput;
  place: Place;
}

/**
 * Builds graphs of entities that cannot be expanded together. A member that is invalid JSON-LD
 * affects only itself: it stays in the document as sent, is stored in the graph as a JSON literal
 * (JSON-LD 1.1, section 4.2.2) under the registry's fallback vocabulary, and is reported. An
 * invalid context is refused: without it terms would have no meaning.
 * @param error of the expansion of all
 * @throws CrateError when the shared context is invalid; `error`, or another fault, when the crate
 * is valid
 */
export async function repairedGraphs(
  error: unknown,
  context: JsonValue | undefined,
  entities: readonly PlacedInput[],
  graphsOf: GraphsOf,
  findings: Findings,
): Promise<RecordGraph[]> {
  faultOf(error);
  const { file = null } = entities[0]!.place;
  if (await broken(graphsOf(context, []), findings, { file, pointer: "/@context" }))
    findings.throwIfErrors();
  const graphs: RecordGraph[] = [];
  for (const { input, place } of entities) {
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
  const graphWith = async (document: JsonObject) =>
    (await graphsOf(context, [{ ...input, document: { ...shared, ...document } }]))[0]!;
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
  async repairEntity({ parts }: PreparedEntity): Promise<void> {
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
