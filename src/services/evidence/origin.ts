/** Where a record came from, in one sentence that is written from its evidence graph, and in numbers. */
import type { Ark } from "../../identifiers/ark.js";
import { nameText } from "../../model/labels.js";
import { PROVENANCE } from "../../model/provenance.js";
import type { Deps } from "../deps.js";
import { type ContentState, contentStates } from "../files/content.js";
import { evidenceGraph } from "./evidence-graph.js";
import { edgesOf } from "./formats.js";
import { labelled } from "./labelled.js";
import { GLYPHS, type GlyphName, glyphOf, type Noun, nounOf } from "./picture/glyphs.js";
import { evidenceDeps, type EvidenceGraph } from "./types.js";

/** A part of a sentence: words, or the name of a record. */
export interface Phrase {
  text: string;
  /** The record that the text names. */
  id: string | null;
}

export interface Origin {
  "@id": string;
  /** Empty where nothing is stated about the origin. */
  phrases: Phrase[];
  /** Records that support it, directly or through others. */
  supporting: number;
  /** Activities among those that were read. */
  activities: number;
  /** Data, files, models and samples that it came from, and how many of them are described here. */
  inputs: number;
  inputsHere: number;
  /** Files of the record and of what supports it, and how many of them are stored here intact. */
  files: number;
  filesIntact: number;
  filesDamaged: number;
  software: { id: string; text: string }[];
  /** Statements that only third parties make. */
  thirdParty: number;
  /** More supports the record than was read: numbers are at least so large. */
  truncated: boolean;
  /** Commit that the answer is as of. */
  asOf: number;
}

/** Nodes that are read: a sentence about more would be no clearer. */
const MAX_NODES = 120;
/** Records that are named in a row; of more their number is said. */
const MAX_NAMED = 2;

/** What something is made from, as against who made it and with what. */
const MATERIAL: ReadonlySet<GlyphName> = new Set([
  "dataset",
  "file",
  "model",
  "sample",
  "crate",
  "other",
]);

/**
 * Reads what supports a record, and says where it came from.
 * @throws ServiceError as `evidenceGraph`
 */
export async function originOf(ark: Ark, deps: Deps): Promise<Origin> {
  const request = { ark, direction: "upstream", limit: MAX_NODES } as const;
  const graph = await labelled(await evidenceGraph(request, evidenceDeps(deps)), deps);
  const records = await deps.records.findMany(graph["@graph"].map((node) => node["@id"]));
  // The archive of a crate is none of its files.
  const files = records.flatMap((record) =>
    record && record.tombstone === null && record.kind !== "rocrate" ? [record] : [],
  );
  return originIn(graph, await contentStates(deps, files));
}

/** The same from a graph that was read, and the states of the files of its records. */
export function originIn(graph: EvidenceGraph, contents: readonly ContentState[]): Origin {
  const walk = new Walk(graph);
  const files = contents.filter(({ state }) => state !== "none");
  const intact = files.filter(({ state }) => state === "stored").length;
  const { hidden, truncated } = graph;
  const unread = hidden.limit ?? 0;
  const inputs = walk.nodes.filter(({ id, glyph }) => id !== walk.root && MATERIAL.has(glyph));
  const absent = graph.dangling.filter(({ reason }) => reason !== "external");
  return {
    "@id": walk.root,
    phrases: phrasesOf(walk, unread),
    supporting: walk.nodes.length - 1 + unread,
    activities: walk.others("computation").length,
    inputs: inputs.length + absent.length,
    inputsHere: inputs.length,
    files: files.length,
    filesIntact: intact,
    filesDamaged: files.filter(({ state }) => state === "damaged").length,
    software: walk.nodes
      .filter(({ id, glyph }) => glyph === "software" && id !== walk.root)
      .map(({ id, name }) => ({ id, text: name })),
    thirdParty: walk.thirdParty,
    truncated,
    asOf: graph.asOf,
  };
}

/** The sentence as text. */
export const sentenceOf = ({ phrases }: Pick<Origin, "phrases">): string =>
  phrases.map(({ text }) => text).join("");

interface Node {
  id: string;
  name: string;
  glyph: GlyphName;
  noun: Noun;
}

/** A graph as the sentence reads it: which nodes support which. */
class Walk {
  readonly root: string;
  readonly nodes: readonly Node[];
  readonly thirdParty: number;
  readonly #byId: ReadonlyMap<string, Node>;
  readonly #supporters = new Map<string, Set<string>>();

  constructor(graph: EvidenceGraph) {
    this.root = graph["@id"];
    this.nodes = graph["@graph"].map((node) => {
      const { "@id": id, "@type": types, name = null } = node;
      const noun = nounOf(types);
      return {
        id,
        name: nameText({ id, name }),
        glyph: glyphOf(types),
        noun: SHORT.get(noun) ?? noun,
      };
    });
    this.#byId = new Map(this.nodes.map((node) => [node.id, node]));
    const edges = edgesOf(graph["@graph"]);
    this.thirdParty = edges.filter(({ thirdParty }) => thirdParty).length;
    for (const { source, name, target } of edges) {
      const [supported, supporting] =
        PROVENANCE[name].support === "object" ? [source, target] : [target, source];
      const known = this.#supporters.get(supported) ?? new Set();
      this.#supporters.set(supported, known.add(supporting));
    }
  }

  /** Those of a kind, but for the record itself. */
  others(glyph: GlyphName): Node[] {
    return of(this.nodes, glyph).filter(({ id }) => id !== this.root);
  }

  /** What supports some nodes directly, each once. */
  supporting(nodes: readonly string[]): Node[] {
    const found = new Set(nodes.flatMap((id) => [...(this.#supporters.get(id) ?? [])]));
    return [...found].flatMap((id) => (id === this.root ? [] : (this.#byId.get(id) ?? [])));
  }

  /** Material that came from nothing else that is known. */
  sources(): Node[] {
    return this.nodes.filter(
      ({ id, glyph }) =>
        id !== this.root && MATERIAL.has(glyph) && this.supporting([id]).length === 0,
    );
  }
}

const words = (text: string): Phrase => ({ text, id: null });

/** `A`, `A and B`, or `17 files and 1 dataset`. */
function listed(nodes: readonly Node[]): Phrase[] {
  const [first, second] = nodes;
  if (nodes.length <= MAX_NAMED) {
    const names = [first, second].flatMap((node) =>
      node ? [{ text: node.name, id: node.id }] : [],
    );
    return names.flatMap((name, index) => (index === 0 ? [name] : [words(" and "), name]));
  }
  return [words(counts(nodes))];
}

/** `2 computations and 1 experiment` */
function counts(nodes: readonly Node[]): string {
  const numbers = new Map<Noun, number>();
  for (const { noun } of nodes) numbers.set(noun, (numbers.get(noun) ?? 0) + 1);
  return sequence([...numbers].map(([noun, count]) => counted(count, noun)));
}

const counted = (count: number, { one, many }: Noun): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

/** Where a sentence needs a shorter word than a legend. */
const SHORT = new Map<Noun, Noun>([
  [GLYPHS.agent, { one: "person", many: "people" }],
  [GLYPHS.software, { one: "program", many: "programs" }],
]);

/** `A, B and C` */
export const sequence = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)!}`;

const of = (nodes: readonly Node[], glyph: GlyphName): Node[] =>
  nodes.filter((node) => node.glyph === glyph);
const materialOf = (nodes: readonly Node[]): Node[] =>
  nodes.filter(({ glyph }) => MATERIAL.has(glyph));

/** “Made by Clustering from Image embeddings, which came from 6 files; in all 17 records, among them …” */
function phrasesOf(walk: Walk, unread: number): Phrase[] {
  const [root] = walk.nodes;
  if (!root || walk.nodes.length < 2) return [];
  const near = walk.supporting([root.id]);
  const isActivity = root.glyph === "computation";
  const makers = isActivity ? [root] : of(near, "computation");
  const inputs = materialOf(walk.supporting(makers.map(({ id }) => id)));
  const origins = makers.length > 0 ? inputs : materialOf(near);
  const phrases = isActivity
    ? usedBy(walk.supporting([root.id]))
    : root.glyph === "crate"
      ? wholeCrate(walk)
      : madeBy(makers, origins);
  if (phrases.length === 0) return [];
  const direct = new Set(origins.map(({ id }) => id));
  const sources = walk.sources().filter(({ id }) => !direct.has(id));
  const isTraced = root.glyph !== "crate" && sources.length > 0 && origins.length > 0;
  const before = isTraced ? [words(", which came from "), ...listed(sources)] : [];
  return [...phrases, ...before, words(inAll(walk, unread))];
}

function madeBy(makers: readonly Node[], origins: readonly Node[]): Phrase[] {
  const from = origins.length === 0 ? [] : [words(" from "), ...listed(origins)];
  if (makers.length > 0) return [words("Made by "), ...listed(makers), ...from];
  return origins.length === 0 ? [] : [words("Derived from "), ...listed(origins)];
}

function usedBy(near: readonly Node[]): Phrase[] {
  const material = materialOf(near);
  const software = of(near, "software");
  if (material.length === 0 && software.length === 0) return [];
  return [
    words("Used "),
    ...listed(material.length > 0 ? material : software),
    ...(material.length > 0 && software.length > 0 ? [words(" with "), ...listed(software)] : []),
  ];
}

/** What a crate describes came about by its activities. */
function wholeCrate(walk: Walk): Phrase[] {
  const activities = walk.others("computation");
  if (activities.length === 0) return [];
  const sources = walk.sources();
  return [
    words(`Made in ${counts(activities)}`),
    ...(sources.length > 0 ? [words(" from "), ...listed(sources)] : []),
  ];
}

/** Who and what took part besides the material. */
function inAll(walk: Walk, unread: number): string {
  const others = (["software", "instrument", "agent"] as const).flatMap((glyph) =>
    walk.others(glyph),
  );
  const records = counted(walk.nodes.length - 1 + unread, GLYPHS.other);
  return `; ${records} in all${others.length > 0 ? `, among them ${counts(others)}` : ""}.`;
}
