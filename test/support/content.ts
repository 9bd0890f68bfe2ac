import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { KINDS } from "../../src/model/kinds.js";
import type { Deps } from "../../src/services/deps.js";
import { announce } from "../../src/services/objects/damage.js";
import { stateOf } from "../../src/services/records/state.js";
import { parseDocument } from "../../src/services/records/view.js";
import type { ObjectReference, StoredRecord } from "../../src/storage/records/port.js";

/** Gives a record stored content, through the stores, as its next revision. */
export async function storeContent(
  deps: Deps,
  record: StoredRecord,
  bytes: string | Uint8Array,
  more: Partial<ObjectReference> = {},
): Promise<string> {
  const staged = await deps.objects.stage(Readable.from([Buffer.from(bytes)]));
  const holder = { kind: "upload" as const, id: randomUUID(), attempt: 0 };
  await announce(deps, holder, [staged.sha256]);
  await staged.publish();
  const state = await stateOf(deps, KINDS[record.kind], record.ark, parseDocument(record.document));
  const object: ObjectReference = {
    sha256: staged.sha256,
    size: staged.size,
    mediaType: "text/plain",
    name: "bytes.txt",
    role: "content",
    ...more,
  };
  await deps.records.commit({
    by: null,
    at: Date.now(),
    records: [
      {
        op: "replace",
        ark: record.ark,
        ifRevision: record.revision,
        changed: ["/contentUrl"],
        objects: [object],
        ...state,
      },
    ],
  });
  await deps.records.release(holder);
  return staged.sha256;
}
