import type { JsonObject } from "../../../model/field.js";
import { ACTIVITY_SUBJECT, ANY_SUBJECT } from "../../../model/provenance.js";
import { referencesIn } from "../../crates/json-path.js";

/** A reference by URL: an entity that a crate calls by one has a record under an identifier of its own. */
export interface UrlLink { /** Of the record that refers. */ key: string; predicate: string; url: string }

const PREFIXES = ["", "evi:", "EVI:", "schema:", "prov:", "http://schema.org/", "https://schema.org/"];
const NAMES: readonly [name: string, predicate: string][] = [
  ...[...ANY_SUBJECT, ...ACTIVITY_SUBJECT].map(([iri, name]): [string, string] => [iri.replace(/^.*[/#]/, ""), `evi:${name}`]),
  ["hasPart", "schema:hasPart"], ["isPartOf", "schema:isPartOf"],
];
/** Fields that state links, as crates spell them: those of provenance, and lists of parts. */
const STATED = new Map(NAMES.flatMap(([name, predicate]) => PREFIXES.map((prefix) => [prefix + name, predicate] as const)));

/** References of a record by URL. */
export function urlLinks(key: string, document: JsonObject): UrlLink[] {
  return Object.entries(document).flatMap(([field, value]) => {
    const predicate = STATED.get(field);
    return predicate === undefined ? [] : referencesIn(value).filter((text) => /^https?:\/\//.test(text)).map((url) => ({ key, predicate, url }));
  });
}
