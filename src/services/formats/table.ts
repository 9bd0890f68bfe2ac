import type { KindName } from "../../model/kind.js";
import { cff } from "./cff.js";
import { CITATIONS } from "./citations.js";
import { rocrate, zip } from "./crate.js";
import { datacite, datacitejson } from "./datacite.js";
import { html, json, jsonld } from "./documents.js";
import { dublinCore } from "./dublin-core.js";
import type { RecordFormat } from "./format.js";
import { RDF_FORMATS } from "./rdf.js";
import { schemaOrg } from "./schema-org.js";
import { linksetFormat } from "./signposting.js";

/**
 * Every form of a record: the default first, then by preference where a client accepts several
 * alike. To add a format, write its file and name it here.
 */
export const FORMATS: readonly [RecordFormat, ...RecordFormat[]] = [
  jsonld,
  json,
  html,
  ...RDF_FORMATS,
  linksetFormat,
  rocrate,
  schemaOrg,
  zip,
  dublinCore,
  datacite,
  datacitejson,
  ...CITATIONS,
  cff,
];

const byKind = new Map<KindName, readonly [RecordFormat, ...RecordFormat[]]>();

/** The formats of records of a kind, in the order of the table. */
export function formatsOf(kind: KindName): readonly [RecordFormat, ...RecordFormat[]] {
  let found = byKind.get(kind);
  if (!found) {
    const [first, ...rest] = FORMATS;
    found = [first, ...rest.filter(({ kinds }) => kinds?.includes(kind) ?? true)];
    byKind.set(kind, found);
  }
  return found;
}
