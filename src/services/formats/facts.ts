import { invalid } from "../../errors.js";
import { parseArk } from "../../identifiers/ark.js";
import { instantOf } from "../../model/dates.js";
import { isObject, type JsonObject, type JsonValue, listOf } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { isSpdx, licenceName } from "../../model/licences.js";
import type { ObjectReference, StoredRecord } from "../../storage/records/port.js";
import { EntityIds } from "../crates/identifiers/identify.js";
import type { Deps } from "../deps.js";
import { ByteCache } from "../limits.js";
import { landmarksOf } from "../records/list.js";
import { parseDocument, type RecordView } from "../records/view.js";
import { Fields, isInformative } from "../scoring/facts/fields.js";
import { addressOf, contentAddress } from "./signposting.js";

/** A person or an organization, as far as it is known. */
export interface Agent {
  name: string;
  /** Of a person whose name could be taken apart. */
  given?: string;
  family?: string;
  isOrganization: boolean;
  /** Address of the agent: ORCID, ROR, a page, or that of its record here. */
  url?: string;
  orcid?: string;
  ror?: string;
  affiliations: { name: string; ror?: string }[];
}

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
  /** Those that the record states, else those of its crate, else its owner. */
  creators: Agent[];
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

/** Most agents, keywords and references of one record that a document lists. */
const MOST = 200;
const ORCID = /(?:^|orcid\.org\/|orcid:\s*)(\d{4}-\d{4}-\d{4}-\d{3}[\dX])\/?$/i;
const ROR = /^(?:https?:\/\/)?(?:www\.)?ror\.org\/(0[a-hj-km-np-tv-z0-9]{6}\d{2})\/?$/i;
const DOI = /(?:^|doi\.org\/|doi:\s*)(10\.\d{4,9}\/\S+)$/i;
/** Words in the names of organizations. */
const ORGANIZATION = new RegExp(
  "\\b(?:universit|institut|laborator|consorti|hospital|college|school|center|centre|foundation|" +
    "compan|department|team|project|group|network|agency|inc\\.?$|ltd\\.?$|gmbh$)",
  "i",
);
export const isHttp = (text: string): boolean =>
  /^https?:\/\/[^\s<>"{}|\\^`]+$/i.test(text) && URL.canParse(text);

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
  const references = new References(deps, record.kind === "rocrate" ? record.ark : record.crate);
  const creators = stated("creator");
  const owner = record.owner ?? (record.kind === "user" ? record.ark : null);
  const makers = creators.length > 0 ? creators : owner === null ? [] : [owner];
  const publishers = stated("publisher");
  const licences = stated("license");
  await references.read([...makers, ...publishers, ...licences]);
  await references.read(
    [...makers, ...publishers].flatMap((agent) => listOf(references.of(agent)["affiliation"])),
  );
  const agents = (values: readonly JsonValue[]): Agent[] =>
    values.flatMap((value) => agentsOf(value, references)).slice(0, MOST);
  const published = stated("datePublished").flatMap((date) => dayOf(date) ?? [])[0];
  const registered = new Date(record.createdAt).toISOString().slice(0, 10);
  const text = (...names: string[]): string | null => textOf(valuesOf(fields, names)[0]);
  const description = valuesOf(fields, ["description"]).flatMap((value) => textOf(value) ?? []);
  return {
    record,
    fields,
    ark: record.ark,
    url: addressOf(deps.baseUrl(), record.ark),
    type: landmarks.schemaType.slice("https://schema.org/".length),
    title: text("name") ?? record.name ?? record.ark,
    description: description.length === 0 ? null : description.join("\n\n"),
    creators: agents(makers),
    publisher: agents(publishers)[0] ?? {
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
    publications: texts(valuesOf(fields, ["citation", "associatedPublication", "subjectOf"])).slice(
      0,
      MOST,
    ),
    basedOn: addresses(deps.baseUrl(), valuesOf(fields, ["isBasedOn", "derivedFrom"])),
    partOf: crate ? addressOf(deps.baseUrl(), crate.ark) : null,
    content,
  };
}

/** What a record has from its crate where it does not state it, by the names of the fields. */
const INHERITED = {
  creator: ["author", "creator"],
  publisher: ["publisher"],
  license: ["license"],
  datePublished: ["datePublished"],
} as const;
type Inherited = keyof typeof INHERITED;

interface CrateStatements {
  ark: string;
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
  let crates = statements.get(records);
  if (!crates) statements.set(records, (crates = new ByteCache(STATEMENTS_BYTES)));
  const key = `${found.ark} ${found.revision}`;
  let known = crates.get(key);
  if (!known) {
    const fields = new Fields(found.ark, parseDocument(found.document));
    known = {
      ark: found.ark,
      stated: {
        creator: valuesOf(fields, INHERITED.creator),
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

const valuesOf = (fields: Fields, names: readonly string[]): JsonValue[] => {
  const field = names.map((name) => fields.first(name)).find((found) => found !== undefined);
  return listOf(field?.value)
    .filter((value) => isInformative(value))
    .slice(0, MOST);
};

/** A value as text: a string, a number, the name or value of an object. */
export function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === "string") return value.trim() || null;
  if (typeof value === "number") return String(value);
  if (!isObject(value)) return null;
  return textOf(value["@value"]) ?? textOf(value["name"]) ?? textOf(value["value"]);
}

/** Texts and identifiers of values. */
const texts = (values: readonly JsonValue[]): string[] =>
  values.flatMap(
    (value) =>
      (isObject(value)
        ? (textOf(value["@id"]) ?? textOf(value["value"]) ?? textOf(value))
        : textOf(value)) ?? [],
  );

/** Keywords are a list, or one text with commas. */
const keywordsOf = (values: readonly JsonValue[]): string[] => [
  ...new Set(
    values.flatMap((value) => {
      const text = textOf(value);
      if (text === null) return [];
      return values.length === 1 ? text.split(/\s*[,;]\s*/).filter((word) => word !== "") : [text];
    }),
  ),
];

/** A stated date as a day, a month or a year; `undefined` where it is none. */
export function dayOf(value: JsonValue | undefined): string | undefined {
  const text = textOf(value);
  if (text === null) return undefined;
  const [, part] = /^(\d{4}(?:-(?:0[1-9]|1[0-2]))?)$/.exec(text) ?? [];
  if (part !== undefined) return part;
  if (instantOf(text) !== undefined) return new Date(instantOf(text)!).toISOString().slice(0, 10);
  // Written in another way: the year is all that is certain.
  return /(?:^|\D)((?:1[5-9]|20)\d{2})(?:\D|$)/.exec(text)?.[1];
}

/** Addresses of references: those of records here, and web addresses. */
const addresses = (base: string, values: readonly JsonValue[]): string[] =>
  texts(values).flatMap((text) => {
    const ark = parseArk(text)?.stored;
    if (ark !== undefined && !isHttp(text)) return [addressOf(base, ark)];
    return isHttp(text) ? [text] : [];
  });

/** Records that values refer to, read together. */
class References {
  readonly #documents = new Map<string, JsonObject>();
  readonly #records: Pick<Deps["records"], "findMany">;
  readonly #base: string;
  readonly #entities: EntityIds | undefined;

  constructor({ records, baseUrl }: FactDeps, crate: string | null) {
    this.#records = records;
    this.#base = baseUrl();
    this.#entities = crate === null ? undefined : new EntityIds(crate);
  }

  /** Reads the records that the values refer to. */
  async read(values: readonly JsonValue[]): Promise<void> {
    const arks = [...new Set(values.flatMap((value) => this.#arkOf(value) ?? []))].slice(0, MOST);
    if (arks.length === 0) return;
    for (const [index, found] of (await this.#records.findMany(arks)).entries())
      if (found && !found.tombstone) this.#documents.set(arks[index]!, landmarksOf(found).document);
  }

  /** What is known of a value: its own members, and those of the record that it refers to. */
  of(value: JsonValue): JsonObject {
    const own = isObject(value) ? value : {};
    const ark = this.#arkOf(value);
    const known = ark === undefined ? undefined : this.#documents.get(ark);
    const id = idOf(value);
    if (known) {
      const url = id !== undefined && isHttp(id) ? id : addressOf(this.#base, ark!);
      return { ...known, ...own, "@id": url };
    }
    if (isObject(value)) return value;
    const text = textOf(value);
    if (text === null) return {};
    return isHttp(text) || ark !== undefined ? { "@id": text } : { name: text };
  }

  #arkOf(value: JsonValue): string | undefined {
    const id = idOf(value);
    if (id === undefined) return undefined;
    if (!isHttp(id)) return parseArk(id)?.stored;
    const entity = this.#entities?.of(id, "");
    return entity?.rule === "url" ? entity.ark : undefined;
  }
}

const idOf = (value: JsonValue): string | undefined => {
  const id = isObject(value) ? value["@id"] : value;
  return typeof id === "string" ? id : undefined;
};

/** The agents that one value names: a text may name several. */
function agentsOf(value: JsonValue, references: References): Agent[] {
  const known = references.of(value);
  const ids = [
    ...texts(
      [
        known["@id"],
        ...listOf(known["identifier"]),
        ...listOf(known["sameAs"]),
        ...listOf(known["url"]),
      ].filter((id) => id !== undefined),
    ),
  ];
  const orcid = ids.flatMap((id) => ORCID.exec(id)?.[1]?.toUpperCase() ?? [])[0];
  const ror = ids.flatMap((id) => ROR.exec(id)?.[1]?.toLowerCase() ?? [])[0];
  const types = texts(listOf(known["@type"])).join(" ");
  const given = textOf(known["givenName"]);
  const family = textOf(known["familyName"]);
  const name =
    textOf(known["name"]) ??
    (given && family ? `${given} ${family}` : null) ??
    orcid ??
    textOf(known["@id"]);
  if (name === null || name === undefined) return [];
  const url = orcid
    ? `https://orcid.org/${orcid}`
    : ror
      ? `https://ror.org/${ror}`
      : ids.find(isHttp);
  const affiliations = listOf(known["affiliation"]).flatMap((value) => {
    const organization = references.of(value);
    const called = textOf(organization["name"]);
    const id = texts([organization["@id"] ?? null, ...listOf(organization["identifier"])]).flatMap(
      (one) => ROR.exec(one)?.[1]?.toLowerCase() ?? [],
    )[0];
    return called === null ? [] : [{ name: called, ...(id === undefined ? {} : { ror: id }) }];
  });
  const more = {
    ...(url === undefined ? {} : { url }),
    ...(orcid === undefined ? {} : { orcid }),
    ...(ror === undefined ? {} : { ror }),
    affiliations,
  };
  const isStated = isObject(value) || Object.keys(known).some((key) => key !== "name");
  const names = isStated ? [name] : namesIn(name);
  return names.map((one): Agent => {
    const isOrganization =
      ror !== undefined ||
      /Organization|Project|Consortium|Corporation/.test(types) ||
      (!/Person/.test(types) && orcid === undefined && ORGANIZATION.test(one));
    if (isOrganization) return { name: one, isOrganization, ...more };
    const parts = given && family ? { given, family } : partsOf(one);
    return { name: one, ...parts, isOrganization, ...more };
  });
}

/** Names in one text: `Ada Lovelace; Grace Hopper`, `Ada Lovelace, Grace Hopper`. */
function namesIn(text: string): string[] {
  const apart = text.split(/\s*;\s*|\s+and\s+/).filter((name) => name !== "");
  if (apart.length > 1) return apart;
  const parts = text.split(/\s*,\s*/).filter((name) => name !== "");
  return parts.length > 1 && parts.every((part) => /\S\s+\S/.test(part)) ? parts : [text];
}

/** Family and given name of a person's name; neither where they cannot be told. */
function partsOf(name: string): { given?: string; family?: string } {
  // Not a name of a person, or one that BibTeX would take for two.
  if (!/^[\p{L}\p{M}\s.,'’‐-]+$/u.test(name) || /\sand(?:\s|$)/i.test(name)) return {};
  const [, family, given] = /^([^,]+),\s*([^,]+)$/.exec(name) ?? [];
  if (family && given) return { family, given };
  const words = name.replace(/\.$/, "").trim().split(/\s+/);
  // `Lovelace A`, as PubMed writes names.
  if (words.length > 1 && words.length < 5 && /^\p{Lu}{1,3}$/u.test(words.at(-1)!))
    return { family: words.slice(0, -1).join(" "), given: words.at(-1)! };
  if (words.length < 2 || words.length > 5) return {};
  // Particles belong to the family name.
  let first = words.length - 1;
  while (
    first > 1 &&
    /^(?:van|von|der|den|de|del|della|di|da|la|le|ter|ten|zu)$/i.test(words[first - 1]!)
  )
    first--;
  return { given: words.slice(0, first).join(" "), family: words.slice(first).join(" ") };
}

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
    const name = textOf(known["name"]) ?? spdx ?? stated[0];
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
  const sha256 = textOf(fields.first("sha256")?.value);
  return {
    ...stated,
    size: sizeOf(fields),
    sha256: sha256 !== null && /^[0-9a-f]{64}$/i.test(sha256) ? sha256.toLowerCase() : null,
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
