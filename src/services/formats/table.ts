import type { KindName } from "../../model/kind.js";
import { cff } from "./cff.js";
import { CITATIONS } from "./citations.js";
import { bagit, rocrate, zip } from "./crate.js";
import { datacite, datacitejson } from "./datacite.js";
import { croissant } from "./croissant.js";
import { d4d, datasheet } from "./datasheet.js";
import { html, json, jsonld } from "./documents.js";
import { dublinCore } from "./dublin-core.js";
import type { RecordFormat } from "./format.js";
import { provn } from "./prov-n.js";
import { RDF_FORMATS } from "./rdf.js";
import { rdfxml } from "./rdf-xml.js";
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
  rdfxml,
  provn,
  linksetFormat,
  rocrate,
  croissant,
  schemaOrg,
  zip,
  dublinCore,
  datacite,
  datacitejson,
  ...CITATIONS,
  cff,
  datasheet,
  d4d,
  bagit,
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
