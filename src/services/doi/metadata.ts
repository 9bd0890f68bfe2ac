import type { JsonObject } from "../../model/field.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { dataciteJson } from "../formats/datacite.js";
import { viewOf } from "../records/view.js";

/**
 * The attributes of a record's DOI for DataCite's REST API: those of the format, as everybody sees
 * the record. The identifiers are those of this DOI: other DOIs that the record states are not its
 * own, and the ARK is the alternate one.
 */
export async function doiAttributes(deps: Deps, record: StoredRecord): Promise<JsonObject> {
  const {
    id: _id,
    doi: _doi,
    identifiers: _identifiers,
    ...attributes
  } = await dataciteJson(deps, await viewOf(deps, record, null));
  return {
    ...attributes,
    alternateIdentifiers: [{ alternateIdentifier: record.ark, alternateIdentifierType: "ARK" }],
  };
}
