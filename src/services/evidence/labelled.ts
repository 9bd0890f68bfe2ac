/** An evidence graph in which everything is called as on the pages of records. */
import type { JsonObject } from "../../model/field.js";
import { labelOf } from "../../model/labels.js";
import type { Deps } from "../deps.js";
import type { EvidenceGraph } from "./types.js";

/** Records in one read. */
const BATCH = 200;

/**
 * Records without a name get the label of their type, such as “Temperature: 21.5 °C”; crates that
 * of their archive. For graphs that are shown to people: each of these records is read.
 */
export async function labelled(
  graph: EvidenceGraph,
  { records }: Pick<Deps, "records">,
): Promise<EvidenceGraph> {
  const nameless = graph["@graph"]
    .filter(({ name, group }) => name === undefined && group === undefined)
    .map((node) => node["@id"]);
  if (nameless.length === 0) return graph;
  const labels = new Map<string, string>();
  for (let start = 0; start < nameless.length; start += BATCH)
    for (const record of await records.findMany(nameless.slice(start, start + BATCH))) {
      if (!record || record.tombstone) continue;
      const document = JSON.parse(Buffer.from(record.document).toString("utf8")) as JsonObject;
      const label = labelOf(document) ?? record.name;
      if (label !== null) labels.set(record.ark, label);
    }
  return {
    ...graph,
    "@graph": graph["@graph"].map((node) => {
      const label = labels.get(node["@id"]);
      return label === undefined ? node : { ...node, name: label };
    }),
  };
}
