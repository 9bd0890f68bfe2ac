import { arkKey } from "../../identifiers/ark.js";
import type { RecordStore } from "../../stores/records/port.js";

/**
 * Owners alone, without reading the records: by stored form, else by a key that one record has. A user is its own, and
 * tombstones keep theirs.
 * @returns null for a record without an owner, `undefined` where nothing is stored or the key is ambiguous
 */
export async function ownersOf(records: Pick<RecordStore, "holders">, arks: readonly string[]): Promise<(string | null | undefined)[]> {
  const byArk = new Map<string, string | null>();
  const byKey = new Map<string, string | null | undefined>();
  for (const { ark, key, kind, owner } of await records.holders([...new Set(arks.map(arkKey))])) {
    const own = kind === "user" ? ark : owner;
    byArk.set(ark, own);
    byKey.set(key, byKey.has(key) ? undefined : own);
  }
  return arks.map((ark) => (byArk.has(ark) ? byArk.get(ark) : byKey.get(arkKey(ark))));
}
