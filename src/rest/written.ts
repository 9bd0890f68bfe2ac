import type { RecordView } from "../use-cases/records/view.js";
import { sendBytes } from "./reply.js";
import type { RestRequest } from "./request.js";

/** A record as the answer to a write. */
export function sendWritten({ req, res }: RestRequest, view: RecordView): void {
  sendBytes(req, res, view.bytes, { headers: { ETag: view.etag, "X-Publication-Status": view.record.publicationStatus } });
}
