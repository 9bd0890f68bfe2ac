import jsonld from "jsonld";
import { expandCurie, type JsonObject, type JsonValue } from "../model/field.js";
import { KINDS } from "../model/kinds/index.js";
import type { KindName } from "../model/kind.js";
import { BoundedContexts, ContextLimit, boundsOf, withoutRepeats, type ContextLimits } from "./bounded-contexts.js";
import { keepAll } from "./keep-all.js";
import { bundledLoader } from "./contexts.js";
import { keepContext } from "./keep-terms.js";
import { Emitter, type Expanded } from "./emit.js";
import { JsonLdError } from "./json-ld-error.js";
import { plainExpansion } from "./plain.js";
import { FALLBACK_VOCABULARY, safeIri } from "./iri.js";
import { Properties, predicateOf } from "./predicates.js";
import { isPublic, publicView } from "../model/view.js";
import type { GraphInput, RecordGraph } from "./record-graph.js";

export { JsonLdError } from "./json-ld-error.js";

const FALLBACK = { "@vocab": FALLBACK_VOCABULARY };
/** Terms of a kind's declared fields: they mean what the model says, whatever the document's context maps them to. */
const declaredContext = new Map<KindName, JsonObject>();
/** Properties whose text may be an ARK, over all kinds. */
const references = new Set<string>();
for (const kind of Object.values(KINDS)) {
  const terms: JsonObject = {};
  for (const [name, field] of Object.entries(kind.fields)) {
    if (name.startsWith("@") || !isPublic(field)) continue;
    terms[name] = { "@id": expandCurie(field.term), ...(field.json === "object" || field.json === "list" ? { "@type": "@json" } : {}) };
    if (field.ark || field.link) references.add(expandCurie(field.term));
  }
  declaredContext.set(kind.name, terms);
}
for (const name of ["hasPart", "isPartOf", "about", "mainEntity", "mentions", "author", "creator", "schema", "distribution"]) references.add(`https://schema.org/${name}`);
const properties = new Properties(references);
const TYPE = predicateOf(expandCurie("rdf:type"));
const SAME_AS = predicateOf(expandCurie("schema:sameAs"));

/**
 * The statements of one record, as canonical N-Quads, and its links. Opens no connection: contexts come from
 * bundled copies, and those that are not bundled explain nothing.
 * @throws JsonLdError for malformed JSON-LD
 */
export async function graphOf(input: GraphInput): Promise<RecordGraph> {
  const shown = shownOf(input);
  const plain = input.fromCrate ? undefined : plainExpansion(shown, declaredContext.get(input.kind)!);
  if (plain) return emit(input, [plain]);
  const { "@context": context, ...said } = bodyOf(input, shown);
  const body = { ...said, "@id": SELF };
  const contexts = [FALLBACK, ...contextList(context)];
  try {
    const bounded = boundsOf(contexts, said);
    return emit(input, input.fromCrate ? await expand(body, contexts, bounded) : await expandDeclared(body, contexts, input.kind, bounded));
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
export async function graphsOf(context: JsonValue | undefined, inputs: readonly GraphInput[], bounded?: BoundedContexts): Promise<RecordGraph[]> {
  const contexts = [FALLBACK, ...contextList(context)];
  let nodes: Expanded[];
  try {
    nodes = await expand({ "@graph": inputs.map((input, index) => ({ ...bodyOf(input), "@id": SELF + index })) }, contexts, bounded);
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
    const { "@id": _self, ...said } = found.get(SELF + index) ?? {};
    try {
      return emit(input, [said]);
    } catch (error) {
      throw error instanceof JsonLdError ? new JsonLdError(error.message, index) : error;
    }
  });
}

/** {@link graphsOf} for the entities of one crate, whose contexts are counted together. */
export function boundedGraphs(limits: ContextLimits): (context: JsonValue | undefined, inputs: readonly GraphInput[]) => Promise<RecordGraph[]> {
  const bounded = new BoundedContexts(limits);
  return (context, inputs) => graphsOf(context, inputs, bounded);
}

/**
 * What is wrong with a list of contexts, applied one after the other.
 * @throws ContextLimit
 */
export async function contextProblem(contexts: JsonValue[], bounded: BoundedContexts): Promise<JsonLdError | undefined> {
  try {
    await expand({ "@graph": [] }, [FALLBACK, ...contextList(keepAll({ "@context": contexts }, () => false)["@context"])], bounded);
    return undefined;
  } catch (error) {
    if (error instanceof JsonLdError) return error;
    throw error;
  }
}

/** Stands for the record's own id during expansion: also an otherwise empty document expands to a node then. */
const SELF = "urn:arkgraph:self:";

function contextList(context: JsonValue | undefined): JsonValue[] {
  if (context === undefined || context === null) return [];
  const kept = keepContext(withoutRepeats(context));
  return Array.isArray(kept) ? kept : [kept];
}

/**
 * What an evidence graph tells are statements of other records: told once more they would outlive their
 * withdrawal there, and support themselves.
 */
const withoutAnswer = ({ "@graph": _graph, outputs: _outputs, dangling: _dangling, hidden: _hidden, ...rest }: JsonObject): JsonObject => rest;

/** What of the document is public and its own. */
function shownOf(input: GraphInput): JsonObject {
  const shown = publicView(KINDS[input.kind], input.document);
  return input.kind === "evidencegraph" ? withoutAnswer(shown) : shown;
}

/** The same as the JSON-LD processor keeps all of it. */
function bodyOf(input: GraphInput, shown = shownOf(input)): JsonObject {
  const { fields } = KINDS[input.kind];
  const { "@id": _id, ...said } = shown;
  const isLiteral = (key: string) => !input.fromCrate && key !== "@context" && Object.hasOwn(fields, key) && (fields[key]!.json === "object" || fields[key]!.json === "list");
  return keepAll(said, isLiteral);
}

function emit(input: GraphInput, nodes: Expanded[]): RecordGraph {
  const subject = input.subject === undefined ? input.ark : safeIri(input.subject);
  const emitter = new Emitter({ ark: input.ark, subject, properties, activity: input.kind === "computation" });
  for (const [index, node] of nodes.entries()) emitter.node(index === 0 ? { "@id": subject, ...node } : node);
  emitter.state(input.ark, TYPE, expandCurie(KINDS[input.kind].rdfClass));
  if (subject !== input.ark) emitter.state(input.ark, SAME_AS, subject);
  return emitter.result();
}

async function expandDeclared(body: JsonObject, contexts: JsonValue[], kind: KindName, bounded?: BoundedContexts): Promise<Expanded[]> {
  try {
    return await expand(body, [...contexts, declaredContext.get(kind)!], bounded);
  } catch (error) {
    // A context with protected terms (JSON-LD 1.1, 4.1.11) refuses to be overridden; it then stands as it is.
    if (/protected/i.test((error as Error).message)) return expand(body, contexts, bounded);
    throw error;
  }
}

async function expand(body: JsonObject, contexts: JsonValue[], bounded?: BoundedContexts): Promise<Expanded[]> {
  try {
    const nodes = (await jsonld.expand({ "@context": contexts, ...body } as never, { documentLoader: bundledLoader as never, base: "", ...(bounded && { contextResolver: bounded }) } as { base: string })) as Expanded[];
    return nodes.map((node) => {
      if (node["@id"] !== SELF) return node;
      const { "@id": _self, ...said } = node;
      return said;
    });
  } catch (error) {
    if (bounded?.exceeded) throw bounded.exceeded;
    throw new JsonLdError(`The document is not valid JSON-LD: ${(error as Error).message.split("\n")[0]!.slice(0, 300)}`);
  }
}
