import { parseArk } from "../../identifiers/ark.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { EntityIds } from "../crates/identifiers/identify.js";
import type { Deps } from "../deps.js";
import { landmarksOf, type Landmarks } from "./list.js";

/**
 * An author of a record: the name where one is known, and the identifier or URL where the record
 * states one.
 */
export interface Author {
  name: string | null;
  id: string | null;
}

/** The authors of a record, and its publication date, or its registration date without one. */
export interface Attribution {
  authors: Author[];
  when: string;
}

type Reads = { records: Pick<Deps["records"], "findMany"> };

/**
 * Authors and date of a record as it states them; else those of its crate; else its owner and its
 * registration. Authors with a record here get their names from it.
 */
export async function attributionOf(deps: Reads, landmarks: Landmarks): Promise<Attribution> {
  const { record } = landmarks;
  const stated = [
    landmarks,
    ...(record.crate === null ? [] : (await liveRecords(deps, [record.crate])).map(landmarksOf)),
  ];
  const source = stated.find(({ authors, authorNames }) => authors.length + authorNames.length > 0);
  return {
    authors: source ? await authorsOf(deps, source) : await ownerOf(deps, landmarks),
    when:
      stated.map(({ datePublished }) => datePublished).find((date) => date !== null) ??
      new Date(record.createdAt).toISOString().slice(0, 10),
  };
}

/** The authors that a record states. */
export async function authorsOf(
  deps: Reads,
  { record, authors, authorNames }: Landmarks,
): Promise<Author[]> {
  const given = [
    ...authorNames.map((text) => ({ text, ark: parseArk(text)?.stored })),
    ...authors.map((text) => ({ text, ark: standsFor(record, text) })),
  ];
  const found = await liveRecords(
    deps,
    given.flatMap(({ ark }) => ark ?? []),
  );
  const names = new Map(found.map(({ ark, name }) => [ark, name]));
  return given.map(({ text, ark }): Author => {
    const isUrl = authors.includes(text);
    const isReference = isUrl || ark !== undefined;
    return isReference
      ? { name: (ark !== undefined && names.get(ark)) || null, id: isUrl ? text : ark! }
      : { name: text, id: null };
  });
}

/** In a crate the record that describes the resource at a URL. */
function standsFor(record: StoredRecord, url: string): string | undefined {
  const crate = record.crate ?? (record.kind === "rocrate" ? record.ark : undefined);
  const entity = crate === undefined ? undefined : new EntityIds(crate).of(url, "");
  return entity?.rule === "url" ? entity.ark : undefined;
}

async function ownerOf(deps: Reads, { record, name }: Landmarks): Promise<Author[]> {
  if (record.owner === null) return record.kind === "user" ? [{ name, id: record.ark }] : [];
  const [owner] = await liveRecords(deps, [record.owner]);
  return [{ name: owner?.name ?? null, id: record.owner }];
}

/** Deleted records reveal nothing. */
async function liveRecords({ records }: Reads, arks: readonly string[]): Promise<StoredRecord[]> {
  if (arks.length === 0) return [];
  return (await records.findMany(arks)).filter(
    (record): record is StoredRecord => record !== undefined && record.tombstone === null,
  );
}

/** Kernel elements are one line each: ANVL cannot express a line break or a `|`. */
const line = (value: string): string => value.replace(/\s+/g, " ").replaceAll("|", "%7C").trim();

/**
 * Description and commitment of a record in ANVL, for the `?info` inflection of an ARK
 * (draft-kunze-ark, section 5; kernel elements who, what, when, where).
 */
export async function kernelMetadata(deps: Deps, record: StoredRecord): Promise<string> {
  const landmarks = landmarksOf(record);
  const { authors, when } = await attributionOf(deps, landmarks);
  const who = authors.map((author) => author.name ?? author.id).join("; ");
  const where = `${deps.baseUrl()}/${encodeURI(record.ark)}`;
  return [
    "erc:",
    `who: ${who ? line(who) : "(:unkn)"}`,
    `what: ${landmarks.name ? line(landmarks.name) : "(:unkn)"}`,
    `when: ${line(when)}`,
    `where: ${where}`,
    "",
    "erc-support:",
    `who: the registry at ${deps.baseUrl()}`,
    "what: the identifier is kept and never given to another object; the metadata may " +
      "change, with its history; a deleted object leaves a tombstone",
    `when: ${new Date(record.modifiedAt).toISOString().slice(0, 10)}`,
    `where: ${where}`,
    "",
  ].join("\n");
}
