import { ServiceError } from "../../errors.js";
import type { Deps } from "../deps.js";
import { xmlText } from "../formats/xml.js";
import { within } from "../records/select.js";
import { LEFT_OUT } from "./oai-sets.js";

/** Most addresses in one sitemap, by the protocol. */
const PER_PAGE = 50_000;
/** Addresses in one read. */
const PER_READ = 5000;
/** Longer addresses are not allowed in a sitemap. */
const LONGEST = 2047;

/** Identifiers that stand in an address, and in XML, as they are. */
const PLAIN = /^[A-Za-z0-9\-._~:/]*$/;

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const SLOW = ["The sitemap", "retry when the registry is less busy"] as const;

/** The index of sitemaps: one for each range of records that holds pages to list. */
export async function sitemapIndex(deps: Deps): Promise<string> {
  const ranges = await within(
    (signal) => deps.records.addressRanges({ size: PER_PAGE, without: LEFT_OUT }, signal),
    ...SLOW,
  );
  const base = deps.baseUrl();
  const maps = ranges.map(
    ({ range, modifiedAt }) =>
      `<sitemap><loc>${xmlText(`${base}/sitemap.xml?page=${range + 1}`)}</loc>` +
      `<lastmod>${time(modifiedAt)}</lastmod></sitemap>\n`,
  );
  return `${HEAD}<sitemapindex ${NAMESPACE}>\n${maps.join("")}</sitemapindex>\n`;
}

/**
 * One sitemap, in chunks: the pages of the public records of one range.
 * @param page from 1
 * @throws ServiceError `NOT_FOUND` for a page without records
 */
export async function* sitemapPage(deps: Deps, page: number): AsyncGenerator<Uint8Array> {
  const base = xmlText(`${deps.baseUrl()}/`);
  const upTo = page * PER_PAGE;
  let after: number | undefined = upTo - PER_PAGE;
  let head = `${HEAD}<urlset ${NAMESPACE}>\n`;
  while (after !== undefined) {
    const from: number = after;
    const { items, next } = await within(
      (signal) =>
        deps.records.addresses({ after: from, upTo, limit: PER_READ, without: LEFT_OUT }, signal),
      ...SLOW,
    );
    if (items.length === 0 && head !== "")
      throw new ServiceError(
        "NOT_FOUND",
        `There is no sitemap with the number ${page}; /sitemap.xml lists them.`,
      );
    const lines = items.map(({ ark, modifiedAt }) => {
      const address = base + (PLAIN.test(ark) ? ark : xmlText(encodeURI(ark)));
      return address.length > LONGEST
        ? ""
        : `<url><loc>${address}</loc><lastmod>${time(modifiedAt)}</lastmod></url>\n`;
    });
    yield Buffer.from(head + lines.join(""));
    head = "";
    after = next;
  }
  yield Buffer.from("</urlset>\n");
}

const time = (at: number): string => new Date(at).toISOString();
