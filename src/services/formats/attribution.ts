import { oneLine, plainLine } from "../../model/texts.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { type Agent, authorFields, creatorsOf, MAX_PARTS, STATED_AUTHORS } from "./agents.js";
import { Fields } from "../scoring/facts/fields.js";
import { type Landmarks, landmarksOf } from "../records/list.js";

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

type Reads = Parameters<typeof creatorsOf>[0];

/**
 * Authors of a record as every format cites them, with those of its crate; and its publication
 * date, else that of its crate, else its registration. Who uploaded it is no author.
 */
export async function attributionOf(deps: Reads, landmarks: Landmarks): Promise<Attribution> {
  const { record, document } = landmarks;
  const [found] = record.crate === null ? [] : await deps.records.findMany([record.crate]);
  const crate = found && !found.tombstone ? landmarksOf(found) : undefined;
  const { agents } = await creatorsOf(
    deps,
    record,
    new Fields(record.ark, document),
    crate && authorFields(new Fields(crate.record.ark, crate.document)),
  );
  return {
    authors: agents.map(authorOf),
    when:
      landmarks.datePublished ??
      crate?.datePublished ??
      new Date(record.createdAt).toISOString().slice(0, 10),
  };
}

/** The authors of a record without those of its crate: lists of records show them. */
export async function authorsOf(deps: Reads, { record, document }: Landmarks): Promise<Author[]> {
  const { agents, unnamed } = await creatorsOf(deps, record, new Fields(record.ark, document));
  return [
    ...agents.map(authorOf),
    ...unnamed.flatMap((id) => (id === null ? [] : [{ name: null, id }])),
  ];
}

/** Records that {@link authorsOf} may read of its parts: those of a crate that states no author. */
export const partsForAuthors = ({ record, document }: Landmarks): number =>
  record.kind === "rocrate" && !STATED_AUTHORS.some((name) => Object.hasOwn(document, name))
    ? MAX_PARTS
    : 0;

const authorOf = ({ name, id }: Agent): Author => ({ name, id: id ?? null });

/** Kernel elements are one line each: ANVL cannot express a line break or a `|`. */
const line = (value: string): string => oneLine(value).replaceAll("|", "%7C").trim();

/**
 * Description and commitment of a record in ANVL, for the `?info` inflection of an ARK
 * (draft-kunze-ark, section 5; kernel elements who, what, when, where).
 */
export async function kernelMetadata(deps: Deps, record: StoredRecord): Promise<string> {
  const landmarks = landmarksOf(record);
  const { authors, when } = await attributionOf(deps, landmarks);
  const who = authors.flatMap(({ name }) => name ?? []).join("; ");
  const where = `${deps.baseUrl()}/${encodeURI(record.ark)}`;
  return [
    "erc:",
    `who: ${who ? line(who) : "(:unav)"}`,
    `what: ${landmarks.name ? line(plainLine(landmarks.name)) : "(:unkn)"}`,
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
