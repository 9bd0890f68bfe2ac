import { ServiceError } from "../../errors.js";

/** IRIREF of SPARQL 1.1 (rule 139): what may not stand between the angle brackets; and no scheme is no IRI here. */
// eslint-disable-next-line no-control-regex
const ABSOLUTE_IRI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|^`\\\u007f]*$/;

/** True for what can be written into a query as an IRI and ends where it should. An engine may still refuse it. */
export function isIri(text: string): boolean {
  return ABSOLUTE_IRI.test(text) && text.isWellFormed();
}

/**
 * `<iri>` for a query or an update: the only way an identifier gets into one.
 * @throws {ServiceError} `BAD_REQUEST` for what an IRI cannot hold; there is nothing to escape it with
 */
export function iriTerm(iri: string): string {
  if (!isIri(iri)) throw new ServiceError("BAD_REQUEST", "The identifier holds characters that an IRI cannot; percent-encode them.");
  return `<${iri}>`;
}
