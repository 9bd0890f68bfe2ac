import { type Format, FORMAT_NAMES } from "../http/negotiation.js";
import { KINDS } from "../model/kinds.js";
import type { Landmarks } from "../services/records/list.js";
import type { StoredRecord } from "../storage/records/port.js";

interface WebLink {
  href: string;
  rel: string;
  type?: string;
  profile?: string;
}

const METADATA: readonly Format[] = ["application/ld+json", "text/turtle", "application/n-quads"];
const LINKSET: Format = "application/linkset+json";
const ABOUT_PAGE = "https://schema.org/AboutPage";

/** The suffix of an address for each form. */
const QUERY = Object.fromEntries(
  Object.entries(FORMAT_NAMES).map(([name, format]) => [format, `?format=${name}`]),
) as Readonly<Record<Format, string>>;

/** Address of a record in one form. */
export function addressOf(baseUrl: string, ark: string, format?: Format): string {
  return `${baseUrl}/${encodeURI(ark)}${format ? QUERY[format] : ""}`;
}

/** Where the bytes of a record are served. */
export function contentAddress(baseUrl: string, record: StoredRecord): string {
  const ark = encodeURI(record.ark);
  if (record.kind === "datadownload") return `${baseUrl}/datadownload/${ark}/download`;
  return ["dataset", "software", "rocrate"].includes(record.kind)
    ? `${baseUrl}/${KINDS[record.kind].path}/download/${ark}`
    : `${baseUrl}/download/${ark}`;
}

/** The registry's address, and the requested address where that is an alias of the record's own. */
export interface Place {
  base: string;
  asked?: string | undefined;
}

/** @param target path and query of the request */
export function askedAddress(base: string, target: string, ark: string): string | undefined {
  const asked = base + target.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  return asked === addressOf(base, ark) ? undefined : asked;
}

/** Links of a landing page (FAIR Signposting, level 1). */
export function landingLinks({ base, asked }: Place, landmarks: Landmarks): WebLink[] {
  const { record, license, authors, schemaType } = landmarks;
  const here = addressOf(base, record.ark);
  return [
    { href: here, rel: "cite-as" },
    ...METADATA.map((type) => ({ href: here + QUERY[type], rel: "describedby", type })),
    { href: schemaType, rel: "type" },
    { href: ABOUT_PAGE, rel: "type" },
    ...(license === null ? [] : [{ href: license, rel: "license" }]),
    ...authors.map((href) => ({ href, rel: "author" })),
    ...itemLinks(base, landmarks),
    ...(record.crate === null
      ? []
      : [{ href: addressOf(base, record.crate), rel: "collection", type: "text/html" }]),
    // The link set of an alias has an anchor for the alias: clients look up the address they have.
    { href: (asked ?? here) + QUERY[LINKSET], rel: "linkset", type: LINKSET },
  ];
}

/** The content that a record describes: its file, or the archive of a crate. */
function itemLinks(baseUrl: string, landmarks: Landmarks): WebLink[] {
  const { record, content } = landmarks;
  if (record.kind === "rocrate")
    return [{ href: contentAddress(baseUrl, record), rel: "item", type: "application/zip" }];
  return content
    ? [
        {
          href: content.url,
          rel: "item",
          ...(content.mediaType === null ? {} : { type: content.mediaType }),
        },
      ]
    : [];
}

/** Link header of a record's answer. */
export function linkHeader(links: readonly WebLink[]): string {
  return links
    .map(({ href, rel, type }) => `<${ascii(href)}>; rel="${rel}"${type ? `; type="${type}"` : ""}`)
    .join(", ");
}

/** Addresses in a header are ASCII and end at the first `>`. */
const ascii = (href: string): string =>
  href.replace(/[^\x21-\x7e]|[<>"]/g, (character) => encodeURIComponent(character.toWellFormed()));

/**
 * The link set of a record (RFC 9264, level 2 of FAIR Signposting): anchors for landing page,
 * content and metadata.
 */
export function linkset(place: Place, landmarks: Landmarks): object {
  const { base, asked } = place;
  const landing = addressOf(base, landmarks.record.ark);
  const links = landingLinks(place, landmarks).filter(({ rel }) => rel !== "linkset");
  const context = (anchor: string, links: readonly WebLink[]): Record<string, unknown> => {
    const relations: Record<string, object[]> = {};
    for (const { rel, href, type } of links)
      (relations[rel] ??= []).push(type ? { href, type } : { href });
    return { anchor, ...relations };
  };
  const landingPage = { href: landing, type: "text/html" };
  return {
    linkset: [
      context(landing, links),
      ...(asked === undefined ? [] : [context(asked, links)]),
      ...itemLinks(base, landmarks).map(({ href }) =>
        context(href, [{ ...landingPage, rel: "collection" }]),
      ),
      ...METADATA.map((type) =>
        context(addressOf(base, landmarks.record.ark, type), [
          { ...landingPage, rel: "describes" },
        ]),
      ),
    ],
  };
}
