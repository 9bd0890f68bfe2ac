/** The newest records as an Atom feed (RFC 4287). */
import type { KindName } from "../../model/kind.js";
import { COLLECTIVES, KINDS } from "../../model/kinds.js";
import { XML_DECLARATION, xmlValue } from "../../model/markup.js";
import { plainLine, plainText } from "../../model/texts.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { authorsOf } from "../formats/attribution.js";
import { element, parent } from "../formats/xml.js";
import { askedArk, findRecord, orNull } from "../records/find.js";
import { landmarksOf } from "../records/list.js";
import { type RecordFilterInput, selectRecords } from "../records/select.js";
import { OPEN } from "./oai-items.js";

/** Entries of a feed. */
const ENTRIES = 50;
/** Kinds where none is named: each file of a crate has a record of its own. */
const USUAL_KINDS: readonly KindName[] = ["rocrate", "dataset", "software", "mlmodel"];
/** Longest summary, in characters. */
const SUMMARY = 1_000;

const link = (rel: string, type: string, href: string): string =>
  `<link rel="${rel}" type="${type}" href="${xmlValue(href)}"/>\n`;

/**
 * The published records of a filter, those that were changed last first.
 * @param of paths of the feed and of the page that lists the same
 * @throws ValidationError; ServiceError `QUERY_TIMEOUT`
 */
export async function atomFeed(
  deps: Deps,
  filter: RecordFilterInput,
  of: { feed: string; page: string },
): Promise<string> {
  const { items } = await selectRecords(
    deps,
    {
      filter: { kinds: USUAL_KINDS, ...filter, publicationStatus: OPEN },
      order: { by: "modified", descending: true },
      range: { limit: ENTRIES, bytes: deps.config.MAX_PAGE_BYTES },
    },
    null,
  );
  const base = deps.baseUrl();
  const entries: string[] = [];
  for (const record of items) entries.push(await entryOf(deps, record));
  return (
    XML_DECLARATION +
    parent(
      "feed",
      [
        element("id", base + of.feed),
        element("title", [...(await partsOf(deps, filter)), deps.config.REGISTRY_NAME].join(" · ")),
        element("updated", timeOf(items[0]?.modifiedAt ?? (await beginningOf(deps)))),
        parent("author", [element("name", deps.config.REGISTRY_NAME), element("uri", `${base}/`)]),
        link("self", "application/atom+xml", base + of.feed),
        link("alternate", "text/html", base + of.page),
        ...entries,
      ],
      { xmlns: "http://www.w3.org/2005/Atom" },
    )
  );
}

/** Longest part of a title, in characters. */
const PART = 100;

/** What a feed has, for the title: a reader has many of the same registry. */
async function partsOf(deps: Deps, filter: RecordFilterInput): Promise<string[]> {
  const { text, kinds, keyword, owner, project, crate } = filter;
  const parts = [
    text && `Search for “${text}”`,
    owner && `Records of ${await nameOf(deps, owner)}`,
    project && `Records of ${await nameOf(deps, project)}`,
    crate && `Records in ${await nameOf(deps, crate)}`,
    keyword && `Keyword “${keyword.join(", ")}”`,
  ].flatMap((part) => part || []);
  if (parts.length === 0) parts.push("Newest records");
  if (kinds) parts.push(kinds.map((kind) => KINDS[kind].typeName).join(", "));
  return parts.map((part) => (part.length > PART ? `${part.slice(0, PART - 1)}…` : part));
}

/**
 * The name of an account or a project, and of another record once a feed may list it; else its
 * identifier as it was asked for: feeds are the same for each reader.
 */
async function nameOf(deps: Deps, id: string): Promise<string> {
  const record = await orNull(findRecord(deps, askedArk(id)));
  const isNamed =
    record &&
    !record.tombstone &&
    !record.private &&
    (record.kind === "user" ||
      COLLECTIVES.has(record.kind) ||
      OPEN.includes(record.publicationStatus));
  return plainLine((isNamed && landmarksOf(record).name) || "").trim() || id;
}

/**
 * When an empty feed began: with the first record that is public. Without one today, since RFC 4287
 * demands a time.
 */
async function beginningOf(deps: Deps): Promise<number> {
  const { items } = await selectRecords(
    deps,
    {
      filter: { publicationStatus: OPEN },
      order: { by: "created", descending: false },
      range: { limit: 1 },
    },
    null,
  );
  return items[0]?.createdAt ?? new Date().setUTCHours(0, 0, 0, 0);
}

async function entryOf(deps: Deps, record: StoredRecord): Promise<string> {
  const landmarks = landmarksOf(record);
  const authors = await authorsOf(deps, landmarks);
  const summary = plainText(landmarks.description ?? "").slice(0, SUMMARY);
  return parent("entry", [
    element("id", record.ark),
    element("title", plainLine(landmarks.name ?? "").trim() || record.ark),
    element("updated", timeOf(record.modifiedAt)),
    element("published", timeOf(record.createdAt)),
    ...authors.map(({ name }) => parent("author", [element("name", name)])),
    link("alternate", "text/html", `${deps.baseUrl()}/${encodeURI(record.ark)}`),
    ...landmarks.keywords.map((keyword) => `<category term="${xmlValue(keyword)}"/>\n`),
    element("rights", landmarks.license),
    element("summary", summary.toWellFormed()),
  ]);
}

const timeOf = (at: number): string => new Date(at).toISOString();
