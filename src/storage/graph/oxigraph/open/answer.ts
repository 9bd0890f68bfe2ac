import { Parser, Writer } from "n3";
import { defaultGraph, Store } from "oxigraph";
import { PREFIXES } from "../../../../model/field.js";
import { cleanXml } from "../../../../model/markup.js";
import { cutAnswer, graphIsMissing, wholeGraph } from "../../answers.js";
import type { GraphFormat, OpenAnswer, ResultFormat } from "../../port.js";
import type { GraphStore } from "../graph-store.js";
import type { AskRequest } from "../thread-handle.js";

/** A graph in another form than N-Triples. */
export function spelled(ntriples: string, format: GraphFormat): string {
  if (format === "ttl") {
    const writer = new Writer({
      prefixes: Object.fromEntries(
        Object.entries(PREFIXES).filter(([, namespace]) => ntriples.includes(`<${namespace}`)),
      ),
    });
    let turtle = "";
    writer.addQuads(new Parser({ format: "N-Triples" }).parse(ntriples));
    writer.end((error, result: string) => {
      if (error) throw error;
      turtle = result;
    });
    return turtle;
  }
  const scratch = new Store();
  const graph = defaultGraph();
  try {
    scratch.load(ntriples, { format: "application/n-triples", no_transaction: true });
    if (format === "jsonld")
      return scratch.dump({ format: "application/ld+json", from_graph_name: graph });
    return cleanXml(scratch.dump({ format: "application/rdf+xml", from_graph_name: graph }));
  } finally {
    (graph as unknown as { free(): void }).free();
    (scratch as unknown as { free(): void }).free();
  }
}

/**
 * Answers a user's query within its limits.
 * @throws ServiceError for the sender; else the engine's error
 */
export async function answer(
  store: GraphStore,
  { question, maxRows, maxBytes }: AskRequest,
): Promise<Pick<OpenAnswer, "bytes" | "truncated">> {
  const { query, format, graph, base, dataset } = question;
  for (const iri of dataset ? [...dataset.default, ...dataset.named] : [])
    if (!iri.startsWith("ark:") && !store.holds(iri)) throw graphIsMissing(iri);
  const asked = graph ? "nt" : (format as ResultFormat);
  const found = store.ask(query, asked, base, dataset);
  const text = new TextEncoder().encode(asked === "xml" ? cleanXml(found) : found);
  const { bytes, truncated } = await cutAnswer([text], asked, maxRows, maxBytes);
  if (!graph || format === "nt") return { bytes, truncated };
  const ntriples = new TextDecoder().decode(bytes);
  return { bytes: wholeGraph(spelled(ntriples, format as GraphFormat), maxBytes), truncated };
}
