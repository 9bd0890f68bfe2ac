import { parseArk } from "../identifiers/ark.js";
import type { Link } from "../model/kind.js";
import { predicateOf } from "./terms.js";

const STATEMENT = /^<([^>]*)> <([^>]*)> <(https?:[^>]*)> <([^>]*)> \.$/gm;

/** The URLs that a record's own statements lead to. */
export const urlsIn = (quads: string, ark: string, subject?: string): string[] => [
  ...new Set(statements(quads, ark, subject).map(([, url]) => url)),
];

/**
 * Links to records that a crate names by URLs: people, organizations, licences and data on the web.
 * @param arkOf the record of the crate that describes a URL
 * @param subject the record's own URL, where it has one
 */
export function linksByUrl(
  quads: string,
  ark: string,
  arkOf: (url: string) => string | undefined,
  subject?: string,
): Link[] {
  const links = new Map<string, Link>();
  for (const [predicate, url] of statements(quads, ark, subject)) {
    const { link } = predicateOf(predicate);
    const target = arkOf(url);
    if (link === undefined || target === undefined || target === ark) continue;
    const parsed = parseArk(target);
    if (parsed)
      links.set(`${link} ${target}`, {
        predicate: link,
        target: parsed.stored,
        targetKey: parsed.key,
      });
  }
  return [...links.values()];
}

const statements = (
  quads: string,
  ark: string,
  subject: string | undefined,
): [predicate: string, url: string][] =>
  [...quads.matchAll(STATEMENT)].flatMap(([, from, predicate, url, graph]) =>
    predicate !== undefined && url !== undefined && graph === ark && [ark, subject].includes(from)
      ? [[predicate, url]]
      : [],
  );
