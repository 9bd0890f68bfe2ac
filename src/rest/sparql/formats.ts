import type { GraphFormat, ResultFormat } from "../../stores/queries/open-port.js";
import type { Checked } from "../../use-cases/sparql/index.js";
import { preferred } from "../representations/negotiate.js";

/** Media types of an answer, the default first. */
const ANSWERS = { "application/sparql-results+json": "json", "application/json": "json", "application/sparql-results+xml": "xml", "application/xml": "xml" } as const satisfies Record<string, ResultFormat>;
const TABLES = { ...ANSWERS, "text/csv": "csv", "text/tab-separated-values": "tsv" } as const satisfies Record<string, ResultFormat>;
/** Every N-Triples document is one of N-Quads, and a query's graph has no name. */
const GRAPHS = { "text/turtle": "ttl", "application/n-triples": "nt", "application/n-quads": "nt", "application/ld+json": "jsonld", "application/json": "jsonld", "application/rdf+xml": "rdfxml" } as const satisfies Record<string, GraphFormat>;

/** What each form of a query can be answered as (SPARQL 1.1 Protocol, section 2.1.5). */
export const FORMATS_OF: Readonly<Record<Checked["form"], Readonly<Record<string, ResultFormat | GraphFormat>>>> = { SELECT: TABLES, ASK: ANSWERS, CONSTRUCT: GRAPHS, DESCRIBE: GRAPHS };

/** The media type that the caller prefers for a query of this form. @throws ServiceError `NOT_ACCEPTABLE` */
export function mediaTypeFor(form: Checked["form"], accept: string | undefined): { type: string; format: ResultFormat | GraphFormat } {
  const formats = FORMATS_OF[form];
  const type = preferred(accept, Object.keys(formats) as [string, ...string[]]);
  return { type, format: formats[type]! };
}

/** The value of Content-Type. */
export const contentType = (type: string): string => (type.startsWith("text/") ? `${type}; charset=utf-8` : type);
