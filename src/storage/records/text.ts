import { expandCurie, type JsonObject } from "../../model/field.js";
import { isDescriptor, type KindName, kindOfTypes, typeNames } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { licenceOf } from "../../model/licences.js";
import { statedPublication } from "../../model/publication-date.js";
import { oneLine } from "../../model/texts.js";
import { packQuads, unpackQuads } from "./codecs.js";
import type { RecordState, SearchText } from "./port.js";
import { percentOf } from "./port/selection.js";

/** True for text that every store preserves: well-formed, without NUL. */
export const isStorableText = (text: string): boolean =>
  !text.includes("\0") && text.isWellFormed();

// eslint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;

/**
 * Text as names and keywords are compared by: compatibility form (NFKC), without case. ASCII has
 * that form, and most text is.
 */
export const fold = (text: string): string =>
  (ASCII.test(text) ? text : text.normalize("NFKC")).toLowerCase();

/**
 * Text for the search index, which is ours: text that SQLite cannot hold is replaced, not refused.
 */
export const indexable = (text: string): string =>
  isStorableText(text) ? text : text.toWellFormed().replaceAll("\0", " ");

/** A keyword as it is compared: without case, blanks in a row as one. */
export const wordOf = (keyword: string): string => oneLine(indexable(fold(keyword))).trim();

/** The searchable text of a record, as a store holds it. */
export const searchedTextOf = ({ text }: RecordState): SearchText => ({
  name: indexable(text.name),
  description: indexable(text.description),
  keywords: indexable(text.keywords),
  other: indexable(text.other),
});

/**
 * Text without its ARKs: words in an identifier describe the location of a record, not its topic.
 */
export const withoutArks = (text: string): string =>
  text.replace(/(?:https?:\/\/\S+\/)?\bark:\/?\d\S*/gi, " ").trim();

/** Distinct keywords as they are compared. */
export const keywordsOf = ({ keywords }: RecordState): string[] =>
  [...new Set(keywords.map(wordOf))].filter((word) => word !== "");

/** Longest keyword that an index holds; of longer ones the beginning counts. */
export const MAX_KEYWORD_CHARS = 500;

/** A keyword as the index holds it. */
export const shortWord = (word: string): string =>
  word.length > MAX_KEYWORD_CHARS ? word.slice(0, MAX_KEYWORD_CHARS).toWellFormed() : word;

/** Characters of a name by which lists are ordered; an index holds no more of it. */
const MAX_SORTED_NAME_CHARS = 200;

/** The beginning of a name without case. */
export const sortedName = (folded: string): string =>
  folded.length > MAX_SORTED_NAME_CHARS
    ? folded.slice(0, MAX_SORTED_NAME_CHARS).toWellFormed()
    : folded;

/** What a stored document that states a licence holds. */
export const LICENCE_MARK = '"license"';

/** The licence of a stored document; null also where the document cannot be read. */
export function storedLicence(kind: string, document: Uint8Array): string | null {
  try {
    const read = JSON.parse(Buffer.from(document).toString("utf8")) as JsonObject;
    return licenceOf(KINDS[kind as KindName], read);
  } catch {
    return null;
  }
}

/** What a stored document that states a date of publication holds. */
export const PUBLICATION_MARK = '"datePublished"';

/** The stated day of publication of a stored document; null also where it cannot be read. */
export function storedPublication(
  kind: string,
  document: Uint8Array,
  modifiedAt: number,
): number | null {
  try {
    const read = JSON.parse(Buffer.from(document).toString("utf8")) as JsonObject;
    return statedPublication(KINDS[kind as KindName], read, modifiedAt);
  } catch {
    return null;
  }
}

/** The per cent of a score that was stored before they had a column; null where it cannot be read. */
export function storedPercent(body: Uint8Array): number | null {
  try {
    const { answer } = JSON.parse(Buffer.from(body).toString("utf8")) as {
      answer: { score: { met: number; partly: number; total: number } };
    };
    const percent = percentOf(answer.score);
    return Number.isInteger(percent) ? percent : null;
  } catch {
    return null;
  }
}

/** Texts of which a stored document has one where {@link kindNow} finds another kind. */
export const KIND_MARKS = ["MLModel", "Sample", "Instrument", "Experiment", "Annotation"] as const;
/** What the types of these kinds were before they had kinds of their own. */
export const FORMER_KINDS = ["entity", "computation"] as const;

/**
 * The kind of a record of a crate that was stored before models, samples, instruments, experiments
 * and annotations had kinds of their own, with its quads as they are for that kind; undefined where
 * nothing changes, and where the record cannot be read.
 * @param quads packed, of the record's current state
 */
export function kindNow(
  record: { ark: string; kind: string; document: Uint8Array },
  quads: readonly (Uint8Array | null)[],
): { kind: KindName; quads: (Uint8Array | null)[] } | undefined {
  try {
    const document = JSON.parse(Buffer.from(record.document).toString("utf8")) as JsonObject;
    const types = typeNames(document, document["@context"]);
    const kind = kindOfTypes(types);
    const former = kind === "experiment" ? FORMER_KINDS : FORMER_KINDS.slice(0, 1);
    if (
      !NEW_KINDS.includes(kind) ||
      !former.some((name) => name === record.kind) ||
      isDescriptor(record.ark)
    )
      return undefined;
    const before = KINDS[record.kind as KindName].rdfClass;
    const isStated = types.includes(before.slice(before.indexOf(":") + 1));
    return {
      kind,
      quads: quads.map(
        (packed) =>
          packed &&
          packQuads(
            withClass(unpackQuads(packed), isStated ? undefined : before, KINDS[kind].rdfClass),
          ),
      ),
    };
  } catch {
    return undefined;
  }
}

const NEW_KINDS: readonly KindName[] = [
  "mlmodel",
  "sample",
  "instrument",
  "experiment",
  "annotation",
];
const TYPE = `<${expandCurie("rdf:type")}>`;

/** Canonical N-Quads of a record with another class of the record. */
function withClass(nquads: string, before: string | undefined, now: string): string {
  const lines = nquads.split("\n").filter((line) => line !== "");
  const ending = lines[0]?.slice(lines[0].lastIndexOf(" ", lines[0].length - 3) + 1, -2) ?? "";
  const graph = ending.replace(/#inferred>$/, ">");
  const stating = (curie: string) => `${graph} ${TYPE} <${expandCurie(curie)}> ${graph} .`;
  const left = before === undefined ? lines : lines.filter((line) => line !== stating(before));
  return `${[...new Set([...left, stating(now)])].sort().join("\n")}\n`;
}
