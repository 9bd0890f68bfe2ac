import type { JsonObject, JsonValue } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import { publicView } from "../../model/view.js";
import type { StoredRecord } from "../../stores/records/port.js";
import { parseDocument } from "./view.js";

/** What of a record others point at: for links in headers, the landing page and the kernel metadata. */
export interface Landmarks {
  record: StoredRecord;
  document: JsonObject;
  name: string | null;
  description: string | null;
  /** URLs of licence and authors; texts that are none are left out. */
  license: string | null;
  authors: string[];
  /** Names of authors, for people. */
  authorNames: string[];
  /** As it is stated. */
  datePublished: string | null;
  keywords: string[];
  /** Address of the content, here or elsewhere, with its media type where that is known. */
  content: { url: string; mediaType: string | null } | null;
  /** Type on schema.org. */
  schemaType: string;
}

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;

/** Headers stay small: what is more stands in the link set of the record. */
const MOST_ITEMS = 20;

/** schema.org's word for each kind. */
const SCHEMA_TYPES: Readonly<Record<string, string>> = {
  user: "Person", group: "Organization", organization: "Organization", project: "Project", software: "SoftwareSourceCode", dataset: "Dataset", computation: "Action",
  evidencegraph: "CreativeWork", rocrate: "Dataset", datadownload: "MediaObject", schema: "CreativeWork", entity: "Thing",
};

/** Read off the document alone, since every answer carries them: where content is stored here, `contentUrl` says so. */
export function landmarksOf(record: StoredRecord): Landmarks {
  const document = publicView(KINDS[record.kind], parseDocument(record.document));
  const [url] = references(document["contentUrl"]).filter(isUrl);
  const authors = references(document["author"] ?? document["creator"]);
  return {
    record, document,
    content: url === undefined ? null : { url, mediaType: references(document["encodingFormat"]).find((type) => MEDIA_TYPE.test(type)) ?? null },
    name: text(document["name"]), description: text(document["description"]),
    license: references(document["license"]).map((url) => url.trim()).find(isUrl) ?? null,
    authors: authors.filter(isUrl).slice(0, MOST_ITEMS), authorNames: authors.filter((author) => !isUrl(author)).slice(0, MOST_ITEMS),
    datePublished: references(document["datePublished"]).find((date) => date.trim() !== "") ?? null,
    keywords: references(document["keywords"]), schemaType: `https://schema.org/${SCHEMA_TYPES[record.kind]}`,
  };
}

const text = (value: JsonValue | undefined): string | null => (typeof value === "string" ? value : null);
const isUrl = (value: string): boolean => /^https?:\/\/\S+$/.test(value) && URL.canParse(value);

/** Texts and ids of a value, a list of them, or objects with `@id` or `name`. */
function references(value: JsonValue | undefined): string[] {
  return (Array.isArray(value) ? value : [value]).flatMap((item) => {
    if (typeof item === "string") return [item];
    if (item === null || typeof item !== "object" || Array.isArray(item)) return [];
    const id = item["@id"] ?? item["name"];
    return typeof id === "string" ? [id] : [];
  });
}
