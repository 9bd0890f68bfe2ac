import type { JsonValue } from "../model/field.js";
import type { StoredRecord } from "../stores/records/port.js";
import { publishRecord, readPublication } from "../use-cases/publication/publish.js";
import type { Context } from "./context.js";
import { countWrite } from "./write-rate.js";

/** Whether the content of records is open. */
export class PublicationResolver {
  /** @param request `{"@id", "publicationStatus", "embargoedUntil"?}`; @throws as `publishRecord` */
  async publish(request: JsonValue | undefined, expectedRevision: number | undefined, context: Context): Promise<StoredRecord> {
    countWrite(context);
    return publishRecord(context.deps, request, context.caller, expectedRevision);
  }
  /** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
  status(id: string, context: Context): Promise<StoredRecord> {
    return readPublication(context.deps, id);
  }
}
