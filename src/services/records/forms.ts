import { Writer } from "n3";
import { PREFIXES } from "../../model/field.js";
import { parseNQuads } from "../../rdf/nquads.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { attributionOf } from "./attribution.js";
import { quadsOf } from "./links.js";
import { landmarksOf } from "./list.js";
import type { RecordView } from "./view.js";

/** Media types of a record as RDF text. */
export type RdfFormat = "text/turtle" | "application/n-quads";

/** The statements of the record in the graph, without inferred ones. */
export async function rdfText(deps: Deps, view: RecordView, format: RdfFormat): Promise<string> {
  const graph = `<${view.record.ark}> .`;
  const lines = (await quadsOf(deps, view)).split("\n").filter((line) => line.endsWith(graph));
  if (format === "application/n-quads") return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  const writer = new Writer({ prefixes: PREFIXES });
  for (const quad of parseNQuads(lines.join("\n")))
    writer.addQuad(quad.subject, quad.predicate, quad.object);
  return new Promise((resolve, reject) =>
    writer.end((error, result: string) => (error ? reject(error) : resolve(result))),
  );
}

/** Kernel elements are one line each: ANVL cannot express a line break or a `|`. */
const line = (value: string): string => value.replace(/\s+/g, " ").replaceAll("|", "%7C").trim();

/**
 * Description and commitment of a record in ANVL, for the `?info` inflection of an ARK
 * (draft-kunze-ark, section 5; kernel elements who, what, when, where).
 */
export async function kernelMetadata(deps: Deps, record: StoredRecord): Promise<string> {
  const landmarks = landmarksOf(record);
  const { authors, when } = await attributionOf(deps, landmarks);
  const who = authors.map((author) => author.name ?? author.id).join("; ");
  const where = `${deps.baseUrl()}/${encodeURI(record.ark)}`;
  return [
    "erc:",
    `who: ${who ? line(who) : "(:unkn)"}`,
    `what: ${landmarks.name ? line(landmarks.name) : "(:unkn)"}`,
    `when: ${line(when)}`,
    `where: ${where}`,
    "",
    "erc-support:",
    `who: the registry at ${deps.baseUrl()}`,
    "what: the identifier is kept and never given to another object; the metadata may " +
      "change, with its history; a deleted object leaves a tombstone",
    `when: ${new Date(record.modifiedAt).toISOString().slice(0, 10)}`,
    `where: ${where}`,
    "",
  ].join("\n");
}
