import { Store, defaultGraph } from "oxigraph";
import { Parser, Writer } from "n3";
import { PREFIXES } from "../../../../model/field.js";
import type { GraphFormat } from "../../open-port.js";

/** A graph in another form than N-Triples. */
export function spelled(ntriples: string, format: GraphFormat): string {
  if (format === "ttl") {
    const writer = new Writer({ prefixes: Object.fromEntries(Object.entries(PREFIXES).filter(([, namespace]) => ntriples.includes(`<${namespace}`))) });
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
    return scratch.dump({ format: format === "jsonld" ? "application/ld+json" : "application/rdf+xml", from_graph_name: graph });
  } finally {
    (graph as unknown as { free(): void }).free();
    (scratch as unknown as { free(): void }).free();
  }
}
