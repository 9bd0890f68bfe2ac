import { isObject, type JsonObject, type JsonValue, listOf } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { parseDocument } from "../records/view.js";

/** Values of `resourceTypeGeneral`; the kinds that are not here are `Dataset`. */
const GENERAL: Readonly<Partial<Record<KindName, string>>> = {
  software: "Software",
  mlmodel: "Model",
  sample: "PhysicalObject",
  instrument: "Instrument",
  annotation: "Text",
  computation: "Event",
  experiment: "Event",
};
/** DataCite's word for a value that nobody knows. */
const UNKNOWN = ":unkn";

/** The attributes of a record's DOI, in the terms of DataCite's REST API. */
export async function doiAttributes(
  deps: Pick<Deps, "records" | "baseUrl">,
  record: StoredRecord,
): Promise<JsonObject> {
  const document = parseDocument(record.document);
  const [crate] = record.crate === null ? [] : await deps.records.findMany([record.crate]);
  const around = crate && !crate.tombstone ? parseDocument(crate.document) : {};
  const stated = (name: string): JsonValue[] => {
    const own = listOf(document[name]);
    return own.length > 0 ? own : listOf(around[name]);
  };
  const makers = [...stated("author"), ...(stated("author").length === 0 ? stated("creator") : [])];
  const creators = await names(deps, makers.length > 0 ? makers : listOf(record.owner));
  const [publisher = new URL(deps.baseUrl()).host] = await names(deps, stated("publisher"));
  const { description, version, keywords } = document;
  const date = stated("datePublished").find((one): one is string => typeof one === "string");
  const year =
    /^\d{4}/.exec(date ?? "")?.[0] ?? String(new Date(record.createdAt).getUTCFullYear());
  return {
    url: `${deps.baseUrl()}/${encodeURI(record.ark)}`,
    types: {
      resourceTypeGeneral: GENERAL[record.kind] ?? "Dataset",
      resourceType: KINDS[record.kind].typeName,
    },
    titles: [{ title: record.name ?? record.ark }],
    creators: (creators.length > 0 ? creators : [UNKNOWN]).map((name) => ({ name })),
    publisher,
    publicationYear: Number(year),
    ...(typeof description === "string"
      ? { descriptions: [{ description, descriptionType: "Abstract" }] }
      : {}),
    ...(typeof version === "string" ? { version } : {}),
    subjects: listOf(keywords).flatMap((word) =>
      typeof word === "string" ? [{ subject: word }] : [],
    ),
    alternateIdentifiers: [{ alternateIdentifier: record.ark, alternateIdentifierType: "ARK" }],
  };
}

/** Names of people and organizations; those of identifiers are the names of their records. */
async function names(
  { records }: Pick<Deps, "records">,
  agents: readonly JsonValue[],
): Promise<string[]> {
  const texts = agents.flatMap((agent) =>
    typeof agent === "string"
      ? [agent]
      : isObject(agent)
        ? [agent["name"], agent["@id"]].filter((one) => typeof one === "string").slice(0, 1)
        : [],
  );
  const found = await records.findMany(texts);
  return texts.map((text, index) => found[index]?.name ?? text);
}
