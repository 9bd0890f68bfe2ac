import { looksLikeArk } from "../../identifiers/ark.js";
import type { RecordStore } from "../../stores/records/port.js";
import type { Dangling } from "./types.js";

/** Says why each of these references leads to nothing that is stored here. */
export async function dangling(iris: readonly string[], records: Pick<RecordStore, "findMany">): Promise<Dangling[]> {
  const arks = iris.filter(looksLikeArk);
  const stored = arks.length === 0 ? [] : await records.findMany(arks);
  const deleted = new Set(arks.filter((_, i) => stored[i]?.tombstone));
  return iris.map((iri) => ({ "@id": iri, reason: deleted.has(iri) ? "deleted" : looksLikeArk(iri) ? "unknown" : "external" }));
}
