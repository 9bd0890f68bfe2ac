import type { JsonObject } from "../../model/field.js";
import type { ObjectReference } from "../../stores/records/objects-port.js";
import type { StoredRecord } from "../../stores/records/port.js";
import { mediaTypeOf } from "../crates/files/media-type.js";
import type { Deps } from "../deps.js";
import { parseDocument } from "../records/view.js";
import { assertClaims, withFacts } from "./facts.js";

/**
 * A new document of a file record whose content is stored: it says of the bytes what is so, and they go by the
 * media type that it states. `undefined` when nothing is stored.
 * @throws ValidationError when the document says something else of the bytes
 */
export async function withStoredContent(deps: Deps, record: StoredRecord, document: JsonObject): Promise<{ document: JsonObject; objects: ObjectReference[] } | undefined> {
  const objects = await deps.records.objectsOf(record.ark);
  const content = objects.find(({ role }) => role === "content");
  if (!content) return undefined;
  assertClaims(document, content, ["body"]);
  const before = parseDocument(record.document);
  // An address that was the service's own stays that, also where the service has moved since.
  const said = document["contentUrl"] === before["contentUrl"] ? { ...document, contentUrl: null } : document;
  const mediaType = mediaTypeOf(content.name, [document["encodingFormat"] ?? "", content.mediaType]);
  return {
    document: withFacts(said, record.ark, deps.baseUrl(), content, before["uploadDate"] ?? document["uploadDate"] ?? null),
    objects: objects.map((object) => (object === content ? { ...content, mediaType } : object)),
  };
}
