/** Words for people: how values, kinds and terms are written. Used by the server and in the browser. */
import { ownValue } from "../own.js";

export { dateText, timeText } from "../model/times.js";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The day after this one, UTC: the first on which an embargo may end. */
export const tomorrow = (): string => new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);

const UNITS = ["KB", "MB", "GB", "TB", "PB"];

/** A size as people write it, in powers of 1,000: `12 KB`, `3.4 GB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)} ${UNITS[unit]}`;
}

/** A duration as people say it: `40 seconds`, `3 minutes`, `2 hours`. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 100) return counted(seconds, "second");
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? counted(minutes, "minute") : counted(Math.ceil(minutes / 60), "hour");
}

/** With separators of thousands: `1,234,567`. */
export const countText = (count: number): string => count.toLocaleString("en-US");

/** `1 record`, `1,200 records`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

const LICENCES: readonly [RegExp, (match: RegExpExecArray) => string][] = [
  [
    /^https?:\/\/creativecommons\.org\/licenses\/([a-z-]+)\/(\d\.\d)/i,
    ([, terms, version]) => `CC ${terms!.toUpperCase()} ${version}`,
  ],
  [/^https?:\/\/creativecommons\.org\/publicdomain\/zero\/(\d\.\d)/i, ([, v]) => `CC0 ${v}`],
  [/^https?:\/\/spdx\.org\/licenses\/([\w.+-]+?)(?:\.html|\.json)?$/i, ([, id]) => spdxName(id!)],
  [/^https?:\/\/(?:www\.)?opensource\.org\/licen[cs]es\/([\w.+-]+)$/i, ([, id]) => spdxName(id!)],
  [/^https?:\/\/www\.apache\.org\/licenses\/LICENSE-2\.0/i, () => "Apache 2.0"],
];

const spdxName = (id: string): string =>
  /^CC-/i.test(id)
    ? id.replace(/^CC-/i, "CC ").replace(/-(?=\d)/, " ")
    : id.replace(/^CC0-/, "CC0 ");

/** A licence by its name: `CC BY 4.0`; one that is not known as it is stated. */
export function licenceText(stated: string): string {
  const licence = stated.trim();
  for (const [pattern, name] of LICENCES) {
    const match = pattern.exec(licence);
    if (match) return name(match);
  }
  return /^https?:/i.test(licence) ? licence : spdxName(licence);
}

export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const LABELS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  datadownload: ["File", "Files"],
  evidencegraph: ["Evidence graph", "Evidence graphs"],
  mlmodel: ["Model", "Models"],
  rocrate: ["Crate", "Crates"],
  software: ["Software", "Software"],
  entity: ["Other object", "Other objects"],
};

/** A kind, in capitals or as its type, as people name it: `File`, in the plural `Files`. */
export function kindText(kind: string | null, many = false): string {
  if (kind === null) return many ? "Unknown objects" : "Unknown object";
  const name = kind.toLowerCase().replaceAll("_", "");
  const known = ownValue(LABELS, name);
  if (known) return known[many ? 1 : 0];
  const type = capitalized(name);
  return many ? `${type}s` : type;
}

const PERSON = /(?:^|[/#:])(?:Person|Patient|IndividualPhysician)$/;
const ORGANIZATION = /(?:Organization|Consortium|Corporation|FundingScheme|Project|Institution)$/;

/** Whether an entity of a crate is a person or an organization, by its types. */
export function agentOf(types: readonly string[]): "person" | "organization" | null {
  if (types.some((type) => PERSON.test(type))) return "person";
  return types.some((type) => ORGANIZATION.test(type)) ? "organization" : null;
}

/** What a record is: its kind; of what only crates describe the type that they state. */
export function recordText(kind: string | null, types: readonly string[] = []): string {
  const [type] = types;
  return kind === "ENTITY" && type !== undefined ? shortened(labelOf(type), 60) : kindText(kind);
}

/** The text, cut before `most` characters at a space where that is near. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most).toWellFormed();
  const space = cut.lastIndexOf(" ");
  return `${cut.slice(0, space > most * 0.7 ? space : most).trimEnd()}…`;
}

/** Where the words of a name do not say enough. */
const MEMBER_LABELS: Readonly<Record<string, string>> = {
  "@type": "Type",
  EVISchema: "Schema",
  codeRepository: "Source code",
  conformsTo: "Follows the specification",
  contentSize: "Stated size",
  contentUrl: "Address of the content",
  containerId: "Container of the run",
  containerDigest: "Image that ran here",
  encodesCreativeWork: "File of",
  evidencegraphs: "Evidence graphs",
  // Of a document, where they are free text: the state of a record is beside its name.
  embargoedUntil: "End of an embargo, as the document states it",
  publicationStatus: "Publication status, as the document states it",
  visibility: "Visibility, as the document states it",
  encodingFormat: "Media type",
  format: "Format",
  hasPart: "Parts",
  identifier: "Other identifiers",
  isPartOf: "Part of",
  license: "Licence",
  md5: "MD5",
  metadataType: "Type",
  mlmodels: "Models",
  rocrates: "Crates",
  sameAs: "Same as",
  sdDatePublished: "Metadata published",
  sdPublisher: "Metadata publisher",
  seperator: "Separator",
  sha256: "SHA-256",
  url: "Web page",
  usedBy: "Used by",
};

/** The part of a name or an address that people read: behind its prefix or path. */
const localName = (term: string): string => /([^:#/]+)[:#/]*$/.exec(term)?.[1] ?? term;

/** A term as people read it: `dateCreated` is `Date created`. */
export function labelOf(term: string): string {
  const name = localName(term);
  const known = ownValue(MEMBER_LABELS, term) ?? ownValue(MEMBER_LABELS, name);
  if (known !== undefined) return known;
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .replace(/ ([A-Z])(?=[a-z])/g, (_, letter: string) => ` ${letter.toLowerCase()}`)
    .trim();
  return words === "" ? term : capitalized(words);
}
