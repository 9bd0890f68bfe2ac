import { KINDS } from "../../model/kinds.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { type Landmarks, landmarksOf } from "../records/list.js";
import type { Place, RecordFormat } from "./format.js";

interface WebLink {
  href: string;
  rel: string;
  type?: string;
  profile?: string;
}

const LINKSET = "application/linkset+json";
const ABOUT_PAGE = "https://schema.org/AboutPage";

/** Address of a record, in the format of this name where one is given. */
export function addressOf(baseUrl: string, ark: string, format?: string): string {
  return `${baseUrl}/${encodeURI(ark)}${format === undefined ? "" : `?format=${format}`}`;
}

/** Where the bytes of a record are served. */
export function contentAddress(baseUrl: string, record: StoredRecord): string {
  const ark = encodeURI(record.ark);
  if (record.kind === "datadownload") return `${baseUrl}/datadownload/${ark}/download`;
  return ["dataset", "software", "rocrate"].includes(record.kind)
    ? `${baseUrl}/${KINDS[record.kind].path}/download/${ark}`
    : `${baseUrl}/download/${ark}`;
}

/** @param target path and query of the request */
export function askedAddress(base: string, target: string, ark: string): string | undefined {
  const asked = base + target.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  return asked === addressOf(base, ark) ? undefined : asked;
}

/** Where a record is answered in a format. */
export function formatAddress(
  base: string,
  ark: string,
  { name, path }: Pick<RecordFormat, "name" | "path">,
): string {
  return path === undefined ? addressOf(base, ark, name) : addressOf(base, ark) + path;
}

const formatLink = (base: string, ark: string, format: RecordFormat): WebLink => ({
  href: formatAddress(base, ark, format),
  rel: format.relation!,
  type: format.mediaType,
  ...(format.profile === undefined ? {} : { profile: format.profile }),
});

/** Links of a landing page (FAIR Signposting, level 1), for its header and its `<head>`. */
export const landingLinks = (place: Place, landmarks: Landmarks): WebLink[] =>
  linksOf(
    place,
    landmarks,
    place.formats.filter(({ isSignpost }) => isSignpost),
  );

function linksOf(
  { base, asked }: Place,
  landmarks: Landmarks,
  formats: readonly RecordFormat[],
): WebLink[] {
  const { record, license, authors, schemaType } = landmarks;
  const here = addressOf(base, record.ark);
  const inForms = (relation: RecordFormat["relation"]): WebLink[] =>
    formats
      .filter((format) => format.relation === relation && (format.isLinked?.(landmarks) ?? true))
      .map((format) => formatLink(base, record.ark, format));
  return [
    { href: here, rel: "cite-as" },
    ...inForms("describedby"),
    { href: schemaType, rel: "type" },
    { href: ABOUT_PAGE, rel: "type" },
    ...(license === null ? [] : [{ href: license, rel: "license" }]),
    ...authors.map((href) => ({ href, rel: "author" })),
    ...inForms("item"),
    ...contentLinks(landmarks),
    ...(record.crate === null
      ? []
      : [{ href: addressOf(base, record.crate), rel: "collection", type: "text/html" }]),
    // The link set of an alias has an anchor for the alias: clients look up the address they have.
    { href: `${asked ?? here}?format=${linksetFormat.name}`, rel: "linkset", type: LINKSET },
  ];
}

/** The file that a record describes; the archives of a crate are formats of it. */
const contentLinks = ({ record, content }: Landmarks): WebLink[] =>
  record.kind === "rocrate" || content === null
    ? []
    : [
        {
          href: content.url,
          rel: "item",
          ...(content.mediaType === null ? {} : { type: content.mediaType }),
        },
      ];

/** Bytes of a Link header that any proxy passes on: each link has the identifier once more. */
const LINKS_ROOM = 2_048;
/** The links that lead to all others. */
const MAIN_RELATIONS = ["cite-as", "linkset"];
/** Bytes that Link and Content-Location may have together: clients such as Node.js read 16 KiB. */
const MAX_HEADER_BYTES = 13_000;

/**
 * Link header of a record's answer. Above 2 KiB it has the links to the identifier and to the link
 * set only, which has all others; of a very long identifier, as many of them as clients can read.
 * @param next the link to the next page, which stays
 * @param taken bytes of other headers that have the identifier
 */
export function linkHeader(links: readonly WebLink[], next: readonly string[], taken = 0): string {
  const main = links.filter(({ rel }) => MAIN_RELATIONS.includes(rel));
  const written = (some: readonly WebLink[]): string => [...some.map(linkText), ...next].join(", ");
  const all = written(links);
  if (all.length <= LINKS_ROOM) return all;
  const fitting = [main, main.slice(0, 1), []].map(written);
  return fitting.find(({ length }) => length + taken <= MAX_HEADER_BYTES) ?? "";
}

const linkText = ({ href, rel, type, profile }: WebLink): string =>
  `<${ascii(href)}>; rel="${rel}"${type ? `; type="${type}"` : ""}` +
  (profile ? `; profile="${profile}"` : "");

/** Addresses in a header are ASCII and end at the first `>`. */
const ascii = (href: string): string =>
  href.replace(/[^\x21-\x7e]|[<>"]/g, (character) => encodeURIComponent(character.toWellFormed()));

/**
 * The link set of a record (RFC 9264, level 2 of FAIR Signposting): anchors for landing page,
 * content and metadata in every format.
 */
export const linksetFormat: RecordFormat = {
  name: "linkset",
  mediaType: LINKSET,
  label: "Link set",
  description: "Links to every format, the content, the licence and the authors, for programs.",
  tag: "-ls",
  example: JSON.stringify({
    linkset: [
      {
        anchor: "https://registry.example/ark:99999/dataset-cells",
        "cite-as": [{ href: "https://registry.example/ark:99999/dataset-cells" }],
      },
    ],
  }),
  write({ view, place }) {
    const landmarks = landmarksOf(view.record);
    const landing = addressOf(place.base, landmarks.record.ark);
    const links = linksOf(
      place,
      landmarks,
      place.formats.filter(({ relation }) => relation !== undefined),
    ).filter(({ rel }) => rel !== "linkset");
    const page = { href: landing, type: "text/html" };
    const about = (relation: string, rel: string): object[] =>
      links
        .filter((link) => link.rel === relation)
        .map(({ href }) => context(href, [{ ...page, rel }]));
    return JSON.stringify({
      linkset: [
        context(landing, links),
        ...(place.asked === undefined ? [] : [context(place.asked, links)]),
        ...about("item", "collection"),
        ...about("describedby", "describes"),
      ],
    });
  },
};

function context(anchor: string, links: readonly WebLink[]): Record<string, unknown> {
  const relations: Record<string, object[]> = {};
  for (const { rel, ...target } of links) (relations[rel] ??= []).push(target);
  return { anchor, ...relations };
}
