import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import type { Deps } from "../../deps.js";
import { parseDocument } from "../../records/view.js";
import { CrateContext, RO_CRATE, addedTerms } from "./crate-context.js";
import { crateEntity, entityUrl, type EntityNames } from "./crate-entity.js";
import { crateRecords } from "./crate-records.js";

/** Text is handed on in pieces of about this size. */
const PIECE = 64 * 1024;

/** Goes through a crate once, to know what can be named in it. */
export async function surveyCrate(deps: Pick<Deps, "records">, root: StoredRecord, visit: (record: StoredRecord, document: JsonObject) => Promise<void> | void = () => {}): Promise<Omit<EntityNames, "paths">> {
  const known = new Set<string>();
  const added = new Set<string>();
  for await (const page of crateRecords(deps, root)) {
    for (const record of page) {
      const document = parseDocument(record.document);
      known.add(record.ark);
      const url = entityUrl(record, document);
      if (url !== undefined) known.add(url);
      for (const term of addedTerms(document["@context"])) added.add(term);
      await visit(record, document);
    }
  }
  return { crate: root.ark, known, context: new CrateContext(parseDocument(root.document)["@context"], added) };
}

/** The entity that says what the metadata describes (RO-Crate 1.2, "RO-Crate Metadata Descriptor"). */
export const descriptorOf = (root: string): JsonObject => ({
  "@id": "ro-crate-metadata.json", "@type": "CreativeWork", conformsTo: { "@id": RO_CRATE }, about: { "@id": root },
});

/**
 * RO-Crate metadata of a crate from its records as they are now, in pieces of JSON text.
 * @param told what of a record's document is told, and how
 */
export async function* crateMetadata(deps: Pick<Deps, "records">, root: StoredRecord, names: EntityNames, told: (record: StoredRecord, document: JsonObject) => JsonObject = (_record, document) => document): AsyncGenerator<string> {
  let piece = `{"@context":${JSON.stringify(names.context.whole)},"@graph":[${JSON.stringify(descriptorOf(root.ark))}`;
  for await (const page of crateRecords(deps, root)) {
    for (const record of page) {
      piece += `,${JSON.stringify(crateEntity(record, told(record, parseDocument(record.document)), names))}`;
      if (piece.length < PIECE) continue;
      yield piece;
      piece = "";
    }
  }
  yield `${piece}]}`;
}

/** The same as one value, for what is known to be small. */
export const metadataOf = (context: JsonValue, entities: readonly JsonObject[]): string => JSON.stringify({ "@context": context, "@graph": entities });
