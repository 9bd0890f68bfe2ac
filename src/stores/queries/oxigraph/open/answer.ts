import type { ErrorCode } from "../../../../errors.js";
import type { GraphFormat, OpenAnswer } from "../../open-port.js";
import type { GraphStore } from "../graph-store.js";
import type { AskRequest } from "../messages.js";
import { cutRows } from "./cut-rows.js";
import { spelled } from "./spelled.js";

/** Why a query is not answered, in words for whoever sent it. */
class Refused extends Error {}

/**
 * Answers a stranger's query, no longer than allowed.
 * @throws Error to be put into words by {@link refusal}; what is fatal to the engine as it comes
 */
export function answer(store: GraphStore, { question, maxRows, maxBytes }: AskRequest): Pick<OpenAnswer, "truncated"> & { bytes: Uint8Array<ArrayBuffer> } {
  const { query, format, graph, base, dataset } = question;
  for (const iri of dataset ? [...dataset.default, ...dataset.named] : []) {
    if (!iri.startsWith("ark:") && !store.holds(iri)) throw new Refused(`The dataset names ${iri.slice(0, 300)}, which is no graph here, and graphs of elsewhere are not fetched; the graph of a record is its ARK.`);
  }
  const { text, truncated } = cutRows(store.ask(query, graph ? "nt" : format, base, dataset), graph ? "nt" : format, maxRows, maxBytes);
  const bytes = new TextEncoder().encode(graph && format !== "nt" ? spelled(text, format as GraphFormat) : text);
  if (bytes.length > maxBytes) throw new Refused(`The graph is longer than ${maxBytes} bytes (SPARQL_MAX_BYTES); ask for less, or for application/n-triples, which can be cut.`);
  return { bytes, truncated };
}

/** What the engine said of a query, for whoever sent it. */
export function refusal(error: Error): { message: string; code: ErrorCode; extra?: Record<string, unknown> } {
  if (error instanceof Refused) return { code: "QUERY_REFUSED", message: error.message };
  const place = /^error at (\d+):(\d+): (.*)$/s.exec(error.message);
  if (!place) return { code: "QUERY_REFUSED", message: `The query was refused: ${error.message.slice(0, 500)}` };
  const [line, column] = [Number(place[1]), Number(place[2])];
  return { code: "QUERY_SYNTAX", message: `The query is malformed at line ${line}, column ${column}: ${place[3]!.slice(0, 500)}.`, extra: { line, column } };
}
