import { invalid } from "../../errors.js";
import { parseArk } from "../../identifiers/ark.js";
import { nameText } from "../../model/labels.js";
import { type JsonValue, listOf } from "../../model/field.js";
import { digestIn } from "../../model/file-facts.js";
import type { KindName } from "../../model/kind.js";
import { isSpdx, licenceName } from "../../model/licences.js";
import { dayOf } from "../../model/publication-date.js";
import { plainLine, plainText, textOf, wholeTextOf } from "../../model/texts.js";
import type { ObjectReference, StoredRecord } from "../../storage/records/port.js";
import { wholeStoreOf } from "../access/seen.js";
import type { Deps } from "../deps.js";
import { ByteCache } from "../limits.js";
import { landmarksOf } from "../records/list.js";
import { parseDocument, type RecordView } from "../records/view.js";
import { Fields } from "../scoring/facts/fields.js";
import {
  type Agent,
  type AuthorFields,
  authorFields,
  creatorsOf,
  isHttp,
  MAX_AGENTS,
  readAgents,
  References,
  texts,
  valuesOf,
} from "./agents.js";
import { addressOf, contentAddress } from "./signposting.js";
import { getOrInsert } from "../../get-or-insert.js";

/** Whether the content of a record is open, in words that catalogues share. */
export interface Access {
  /** COAR access rights: their name and address. */
  name: "open access" | "embargoed access" | "restricted access" | "metadata only access";
  coar: string;
  /** The authority table of the European Union. */
  eu: string;
  isOpen: boolean;
  /** When an embargo ends, as it was stated. */
  until: string | null;
}

/** What citations, catalogues and search engines want to know of a record. */
export interface RecordFacts {
  record: StoredRecord;
  fields: Fields;
  ark: string;
  /** Address of the record. */
  url: string;
  /** Type on schema.org, without the namespace. */
  type: string;
  title: string;
  description: string | null;
  /** Its authors, as {@link creatorsOf} finds them; nobody where none is known. */
  creators: Agent[];
  /** Authors that are left out because no name of them is known. */
  unnamed: number;
  /** As stated, else the registry. */
  publisher: Agent;
  /** Day of publication, else of registration: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: string;
  year: string;
  /** As stated; a day. */
  created: string | null;
  modified: string;
  registered: string;
  version: string | null;
  keywords: string[];
  language: string | null;
  licence: { url: string | null; spdx: string | null; name: string } | null;
  doi: string | null;
  access: Access;
  /** Addresses, DOIs or texts of publications about the record. */
  publications: string[];
  /** Addresses of what the record is based on. */
  basedOn: string[];
  /** Address of the crate that the record came in. */
  partOf: string | null;
  /** The stored file, or the address where the file is. */
  content: {
    url: string;
    mediaType: string | null;
    size: number | null;
    sha256: string | null;
  } | null;
}

type FactDeps = Pick<Deps, "records" | "config" | "baseUrl">;

const DOI = /(?:^|doi\.org\/|doi:\s*)(10\.\d{4,9}\/\S+)$/i;

/** DOI without its resolver; null where the text is none. */
export const doiOf = (text: string): string | null => DOI.exec(text.trim())?.[1] ?? null;

/**
 * Reads what documents of a record state: of the record, of its crate and of the people that they
 * refer to.
 */
export async function factsOf(deps: FactDeps, view: RecordView): Promise<RecordFacts> {
  const { record } = view;
  const document = parseDocument(view.bytes);
  const landmarks = landmarksOf({ ...record, document: view.bytes });
  const fields = new Fields(record.ark, document);
  const [crate, content] = await Promise.all([
    crateOf(deps, record),
    contentFact(deps, record, landmarks.content, fields),
  ]);
  const stated = (name: Inherited): JsonValue[] => {
    const own = valuesOf(fields, INHERITED[name]);
    return own.length > 0 ? own : (crate?.stated[name] ?? []);
  };
  const references = new References(deps, record);
  const publishers = stated("publisher");
  const licences = stated("license");
  const [creators, publisher] = await Promise.all([
    creatorsOf(deps, record, fields, crate?.authors),
    readAgents(publishers, references),
    references.read(licences),
  ]);
  const published = stated("datePublished").flatMap((date) => dayOf(date) ?? [])[0];
  const registered = new Date(record.createdAt).toISOString().slice(0, 10);
  const text = (...names: string[]): string | null => lineOf(valuesOf(fields, names));
  const description = plainText(wholeTextOf(valuesOf(fields, ["description"])) ?? "");
  return {
    record,
    fields,
    ark: record.ark,
    url: addressOf(deps.baseUrl(), record.ark),
    type: landmarks.schemaType.slice("https://schema.org/".length),
    title: text("name") ?? lineOf(record.name) ?? nameText({ id: record.ark, kind: record.kind }),
    description: description || null,
    creators: creators.agents,
    unnamed: creators.unnamed.length,
    publisher: publisher[0] ?? {
      name: deps.config.REGISTRY_NAME,
      isOrganization: true,
      url: deps.baseUrl(),
      affiliations: [],
    },
    published: published ?? registered,
    year: (published ?? registered).slice(0, 4),
    created: dayOf(valuesOf(fields, ["dateCreated"])[0]) ?? null,
    modified:
      dayOf(valuesOf(fields, ["dateModified"])[0]) ??
      new Date(record.modifiedAt).toISOString().slice(0, 10),
    registered,
    version: text("version"),
    keywords: keywordsOf(valuesOf(fields, ["keywords"])),
    language: text("inLanguage"),
    licence: licenceFrom(licences, references),
    doi:
      texts(valuesOf(fields, ["identifier", "doi", "sameAs"])).flatMap(
        (one) => doiOf(one) ?? [],
      )[0] ?? null,
    access: accessOf(record),
    publications: texts(valuesOf(fields, ["citation", "associatedPublication", "subjectOf"]))
      .slice(0, MAX_AGENTS)
      .map((one) => (isHttp(one) ? one : plainLine(one))),
    basedOn: addresses(deps.baseUrl(), valuesOf(fields, ["isBasedOn", "derivedFrom"])),
    partOf: crate ? addressOf(deps.baseUrl(), crate.ark) : null,
    content,
  };
}

/** What a record has from its crate where it does not state it, by the names of the fields. */
const INHERITED = {
  publisher: ["publisher"],
  license: ["license"],
  datePublished: ["datePublished"],
} as const;
type Inherited = keyof typeof INHERITED;

interface CrateStatements {
  ark: string;
  authors: AuthorFields;
  stated: Readonly<Record<Inherited, JsonValue[]>>;
}
/**
 * Statements of crates by ARK and revision, of each record store: a crate of many parts has a long
 * document, and its records are asked for one after the other.
 */
const statements = new WeakMap<object, ByteCache<CrateStatements>>();
const STATEMENTS_BYTES = 4 * 2 ** 20;

/** What the crate of a record states for all its records. */
async function crateOf(
  { records }: Pick<Deps, "records">,
  { crate }: StoredRecord,
): Promise<CrateStatements | undefined> {
  if (crate === null) return undefined;
  const [found] = await records.findMany([crate]);
  if (!found || found.tombstone) return undefined;
  const crates = getOrInsert(
    statements,
    wholeStoreOf(records),
    () => new ByteCache(STATEMENTS_BYTES),
  );
  const key = `${found.ark} ${found.revision}`;
  let known = crates.get(key);
  if (!known) {
    const fields = new Fields(found.ark, parseDocument(found.document));
    known = {
      ark: found.ark,
      authors: authorFields(fields),
      stated: {
        publisher: valuesOf(fields, INHERITED.publisher),
        license: valuesOf(fields, INHERITED.license),
        datePublished: valuesOf(fields, INHERITED.datePublished),
      },
    };
    crates.set(key, known);
  }
  return known;
}

/** The size in bytes that a record states of its file. */
export function sizeOf(fields: Fields): number | null {
  const size = Number(textOf(fields.first("contentSize")?.value) ?? NaN);
  return Number.isSafeInteger(size) && size >= 0 ? size : null;
}

/**
 * The fields that a format requires and the record lacks, as one refusal.
 * @param missing names of fields, each with what it is for
 */
export const lacking = (format: string, missing: Readonly<Record<string, string>>): Error =>
  invalid(
    ["query", "format"],
    `Value error, ${format} requires ${Object.entries(missing)
      .map(([name, what]) => `${name} (${what})`)
      .join(", ")}: add it to the record, with PATCH or by uploading its crate again`,
    "missing",
    { fields: Object.keys(missing) },
  );

/** A value as text in one line, without markup. */
const lineOf = (value: JsonValue | undefined): string | null =>
  plainLine(textOf(value) ?? "") || null;

/** Keywords are a list, or one text with commas. */
const keywordsOf = (values: readonly JsonValue[]): string[] => [
  ...new Set(
    values.flatMap((value) => {
      const text = lineOf(value);
      if (text === null) return [];
      return values.length === 1 ? text.split(/\s*[,;]\s*/).filter((word) => word !== "") : [text];
    }),
  ),
];

/** Addresses of references: those of records here, and web addresses. */
const addresses = (base: string, values: readonly JsonValue[]): string[] =>
  texts(values).flatMap((text) => {
    const ark = parseArk(text)?.stored;
    if (ark !== undefined && !isHttp(text)) return [addressOf(base, ark)];
    return isHttp(text) ? [text] : [];
  });

function licenceFrom(values: readonly JsonValue[], references: References): RecordFacts["licence"] {
  for (const value of values) {
    const known = references.of(value);
    const stated = texts([
      known["@id"] ?? null,
      ...listOf(known["identifier"]),
      ...listOf(known["url"]),
      known["name"] ?? null,
    ]).map((text) => text.trim());
    const url = stated.find(isHttp) ?? null;
    const spdx = stated.map(licenceName).find((name) => isSpdx(name)) ?? null;
    const name = lineOf(known["name"]) ?? spdx ?? stated[0];
    if (name !== undefined)
      return {
        name,
        spdx,
        url: url ?? (spdx === null ? null : `https://spdx.org/licenses/${spdx}`),
      };
  }
  return null;
}

const EU = "http://publications.europa.eu/resource/authority/access-right/";
const COAR = "http://purl.org/coar/access_right/";
/** Metadata is open of every record; this is about its content. */
export function accessOf({ publicationStatus, embargoedUntil }: StoredRecord): Access {
  const until = embargoedUntil ?? null;
  switch (publicationStatus) {
    case "PUBLISHED":
      return {
        name: "open access",
        coar: `${COAR}c_abf2`,
        eu: `${EU}PUBLIC`,
        isOpen: true,
        until: null,
      };
    case "EMBARGOED":
      return {
        name: "embargoed access",
        coar: `${COAR}c_f1cf`,
        eu: `${EU}RESTRICTED`,
        isOpen: false,
        until,
      };
    case "ARCHIVED":
      return {
        name: "metadata only access",
        coar: `${COAR}c_14cb`,
        eu: `${EU}NON_PUBLIC`,
        isOpen: false,
        until: null,
      };
    case "DRAFT":
      return {
        name: "restricted access",
        coar: `${COAR}c_16ec`,
        eu: `${EU}RESTRICTED`,
        isOpen: false,
        until: null,
      };
  }
}

/** The stored file of a record, else the file at the address that it states. */
async function contentFact(
  { records, baseUrl }: FactDeps,
  record: StoredRecord,
  stated: { url: string; mediaType: string | null } | null,
  fields: Fields,
): Promise<RecordFacts["content"]> {
  if (record.kind === "rocrate") return null;
  const [object]: ObjectReference[] = await records.objectsOf(record.ark, { role: "content" });
  if (object)
    return {
      url: contentAddress(baseUrl(), record),
      mediaType: object.mediaType,
      size: object.size,
      sha256: object.sha256,
    };
  if (stated === null) return null;
  return {
    ...stated,
    size: sizeOf(fields),
    sha256: digestIn("sha256", fields.first("sha256")?.value) ?? null,
  };
}

/** Kinds of records that are cited: not people and groups, activities, and whatever a crate names. */
export const CITED: readonly KindName[] = [
  "rocrate",
  "dataset",
  "software",
  "datadownload",
  "mlmodel",
  "sample",
  "instrument",
  "annotation",
  "schema",
  "evidencegraph",
];
