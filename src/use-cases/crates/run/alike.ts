import { arkKey } from "../../../identifiers/ark.js";
import type { Finding } from "../../../model/finding.js";
import type { RecordStore } from "../../../stores/records/port.js";
import type { CrateRecord } from "../build-records.js";
import { finding, quoted } from "../findings.js";

/** Crates whose name contains this one's that are looked at, newest first. */
const MOST_ALIKE = 20;

/**
 * A warning for a crate that gets a new identifier although its uploader has one of the same name: most likely it was
 * meant to be that one's next revision.
 */
export async function alike(records: Pick<RecordStore, "list">, { ark, name }: Pick<CrateRecord, "ark" | "name">, user: string): Promise<Finding | undefined> {
  if (name === null || name.trim() === "") return undefined;
  const { items } = await records.list({ kind: "rocrate", name, ownerKey: arkKey(user), order: "-created", limit: MOST_ALIKE });
  const other = items.find((record) => record.name === name && record.crate === null && record.ark !== ark);
  return other && finding("CRATE_ALIKE", `You have a crate named ${JSON.stringify(quoted(name))} already, ${other.ark}; this is another one. To make it the next revision of that crate, upload it with ?update=true&crate=${other.ark} (arkgraph upload --update ${other.ark}).`);
}
