import type { StoredRecord } from "../../stores/records/port.js";
import { iriTerm } from "../../stores/queries/iri.js";
import type { Asking } from "./asking.js";
import { IRIS } from "./context.js";

/** Where the walk begins. */
export interface Seeds {
  root: string;
  /** IRIs that stand for the record itself: its ARK, and the URL that a crate knew it by. */
  self: string[];
  /** Of a crate: all its parts, those of crates within it too. They are where its evidence is. */
  parts: string[];
}

export async function seedsOf(ask: Asking, record: StoredRecord): Promise<Seeds> {
  const root = record.ark;
  const self = [root];
  const parts: string[] = [];
  if (record.crate !== null) {
    const node = iriTerm(root);
    const rows = await ask.rows(`SELECT DISTINCT ?u { GRAPH ${node} { ${node} ${iriTerm(IRIS.sameAs)} ?u . ?u ${iriTerm(IRIS.type)} ?t } }`);
    for (const row of rows) self.push(row.u!.value);
  }
  if (record.kind === "rocrate") {
    for (const row of await ask.rows(`SELECT ?n { ${iriTerm(root)} ${iriTerm(IRIS.hasPart)}+ ?n FILTER(ISIRI(?n)) }`)) {
      if (row.n!.value !== root) parts.push(row.n!.value);
    }
  }
  return { root, self, parts };
}
