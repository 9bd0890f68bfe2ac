import { expandCurie, type JsonObject } from "../../../model/field.js";
import { ACTIVITY_SUBJECT, ANY_SUBJECT } from "../../../model/provenance.js";
import { referencesIn } from "../../crates/json-path.js";

/** A reference by URL: an entity that a crate calls by one has a record under an identifier of its own. */
export interface UrlLink { /** Of the record that refers. */ key: string; predicate: string; url: string }

/** Fields that state links, by local name: those of provenance, and lists of parts. */
const STATED = new Map<string, string>([
  ...[...ANY_SUBJECT, ...ACTIVITY_SUBJECT].map(([iri, name]): [string, string] => [iri.replace(/^.*[/#]/, ""), `evi:${name}`]),
  ["hasPart", "schema:hasPart"], ["isPartOf", "schema:isPartOf"],
]);
for (const prefix of ["evi:", "EVI:", "schema:", "prov:"]) for (const [name, predicate] of [...STATED]) if (!name.includes(":")) STATED.set(prefix + name, predicate);
STATED.set(expandCurie("schema:hasPart"), "schema:hasPart");

/** References of a record by URL. */
export function urlLinks(key: string, document: JsonObject): UrlLink[] {
  return Object.entries(document).flatMap(([field, value]) => {
    const predicate = STATED.get(field);
    return predicate === undefined ? [] : referencesIn(value).filter((text) => /^https?:\/\//.test(text)).map((url) => ({ key, predicate, url }));
  });
}
