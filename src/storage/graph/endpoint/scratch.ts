/**
 * Jobs for a thread, which read a graph of an endpoint with the service's own engine: it knows how
 * literals are written, and every form of a graph.
 */
import { GraphStore } from "../oxigraph/graph-store.js";
import { spelled } from "../oxigraph/open/answer.js";
import type { GraphFormat } from "../port.js";
import { QuadDigest } from "../quad-digest.js";

/** The graph in another form than N-Triples. */
export const spell = ({ ntriples, format }: { ntriples: string; format: GraphFormat }): string =>
  spelled(ntriples, format);

/** What a {@link QuadDigest} of whole graphs, in N-Quads, consists of. */
export function digest(nquads: string): { words: Uint32Array; quads: number } {
  const sum = new QuadDigest();
  const store = new GraphStore(() => {});
  store.apply([{ ark: "urn:scratch", nquads }]);
  for (const graph of store.graphs()) store.digestGraph(graph, sum);
  store.free();
  return { words: sum.words, quads: sum.quads };
}
