import type { RecordStore, StoredRecord } from "../../stores/records/port.js";
import { iriTerm } from "../../stores/queries/iri.js";
import type { Asking } from "./asking.js";
import { describedCrate } from "../crates/layout/descriptor.js";
import { IRIS } from "./context.js";

/** Where the walk begins. */
export interface Seeds {
  root: string;
  /** IRIs that stand for the record itself: its ARK, and the URL that a crate knew it by. */
  self: string[];
  /** Of a crate: all its parts, those of crates within it too, and all that came in its archive. They are where its evidence is. */
  parts: string[];
}

/** Members read at a time: some megabytes of documents. */
const MEMBERS = 1000;

export async function seedsOf(ask: Asking, record: StoredRecord, records: Pick<RecordStore, "list">): Promise<Seeds> {
  const root = record.ark;
  const self = [root];
  const parts = new Set<string>();
  if (record.crate !== null) {
    const node = iriTerm(root);
    const rows = await ask.rows(`SELECT DISTINCT ?u { GRAPH ${node} { ${node} ${iriTerm(IRIS.sameAs)} ?u . ?u ${iriTerm(IRIS.type)} ?t } }`);
    for (const row of rows) self.push(row.u!.value);
  }
  if (record.kind === "rocrate") {
    for (const row of await ask.rows(`SELECT ?n { ${iriTerm(root)} ${iriTerm(IRIS.hasPart)}+ ?n FILTER(ISIRI(?n)) }`)) {
      parts.add(row.n!.value);
    }
    // Older crates name no parts, and actions are seldom among them.
    for await (const member of membersOf(root, records)) parts.add(member);
  }
  parts.delete(root);
  return { root, self, parts: [...parts] };
}

async function* membersOf(crate: string, records: Pick<RecordStore, "list">): AsyncGenerator<string> {
  let after: string | undefined;
  do {
    const page: Awaited<ReturnType<RecordStore["list"]>> = await records.list({ crate, limit: MEMBERS, ...(after === undefined ? {} : { after }) });
    for (const { ark } of page.items) if (describedCrate(ark) === undefined) yield ark;
    after = page.next;
  } while (after !== undefined);
}
