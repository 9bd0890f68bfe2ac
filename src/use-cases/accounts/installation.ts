import { randomUUID } from "node:crypto";
import type { RecordStore } from "../../stores/records/port.js";

const INSTALLATION = "installation";

/**
 * Name of this installation, made at its first start: the issuer and the audience of its tokens. Not its address, which
 * may be set later, change, or be one of several; all nodes read the same name from the record store.
 */
export async function installation(records: Pick<RecordStore, "setting" | "setSetting">): Promise<string> {
  const known = await records.setting(INSTALLATION);
  return known ?? (await records.setSetting(INSTALLATION, `urn:uuid:${randomUUID()}`, { ifAbsent: true }))!;
}
