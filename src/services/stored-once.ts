import type { RecordStore } from "../storage/records/port.js";

/** The value of a setting that is stored once and never changed: the first one, for all nodes. */
export async function storedOnce(
  records: Pick<RecordStore, "setSetting">,
  key: string,
  value: string,
): Promise<string> {
  return (await records.setSetting(key, value, { ifAbsent: true })) ?? value;
}
