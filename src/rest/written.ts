import type { RecordView } from "../use-cases/records/view.js";
import { NOT_STORED, sendBytes } from "./reply.js";
import type { RestRequest } from "./request.js";

/** A record as the answer to a write. */
export function sendWritten({ req, res }: RestRequest, view: RecordView): void {
  const { etag, record: { kind, publicationStatus } } = view;
  // That of a user shows the address and the fields of the account.
  sendBytes(req, res, view.bytes, { headers: { ETag: etag, "X-Publication-Status": publicationStatus, ...(kind === "user" && NOT_STORED) } });
}
