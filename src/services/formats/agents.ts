/** People and organizations of a record, and who is cited as its author. */
import { parseArk } from "../../identifiers/ark.js";
import { EntityIds } from "../../identifiers/entity-ids.js";
import { type AgentName, nameOf, nameOfAgent, namesIn } from "../../model/agent-names.js";
import { isObject, type JsonObject, type JsonValue, listOf } from "../../model/field.js";
import { plainLine, textOf } from "../../model/texts.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { landmarksOf } from "../records/list.js";
import { parseDocument } from "../records/view.js";
import { Fields, isInformative } from "../scoring/facts/fields.js";
import { addressOf } from "./signposting.js";
import { pairs } from "../../pairs.js";
import { AS_CREATED } from "../records/pages.js";

/** A person or an organization, as far as it is known. */
export interface Agent {
  name: string;
  /** Of a person whose name could be taken apart. */
  given?: string;
  family?: string;
  /** `Jr.`, behind `family`. */
  suffix?: string;
  isOrganization: boolean;
  /** ARK or URL that the record refers to it by. */
  id?: string;
  /** Address of the agent: ORCID, ROR, a page, or that of its record here. */
  url?: string;
  orcid?: string;
  ror?: string;
  affiliations: { name: string; ror?: string }[];
}

/** `King, Martin Luther, Jr.`; a name that was not taken apart as it is. */
export const invertedName = ({ name, family, given, suffix }: Agent): string =>
  family && given ? [family, given, ...(suffix ? [suffix] : [])].join(", ") : name;

type AgentDeps = Pick<Deps, "baseUrl"> & {
  records: Pick<Deps["records"], "findMany" | "select" | "linksFrom">;
};

/** Most values of a member, and most agents, that a document lists. */
export const MAX_AGENTS = 200;
/**
 * Parts of a crate, and runs, that are read for their authors where nobody else is stated, and
 * bytes of them: a citation of a crate of 100,000 parts reads no more.
 */
export const MAX_PARTS = 100;
const PART_BYTES = 4 * 2 ** 20;

const ORCID = /(?:^|orcid\.org\/|orcid:\s*)(\d{4}-\d{4}-\d{4}-\d{3}[\dX])\/?$/i;
const ROR = /^(?:https?:\/\/)?(?:www\.)?ror\.org\/(0[a-hj-km-np-tv-z0-9]{6}\d{2})\/?$/i;

export const isHttp = (text: string): boolean =>
  /^https?:\/\/[^\s<>"{}|\\^`]+$/i.test(text) && URL.canParse(text);

/** The values of the first of these members with a meaningful one. */
export const valuesOf = (fields: Fields, names: readonly string[]): JsonValue[] => {
  const field = names.map((name) => fields.first(name)).find((found) => found !== undefined);
  return listOf(field?.value)
    .flatMap((value) =>
      isObject(value) ? listOf(value["@list"] ?? value["@set"] ?? value) : value,
    )
    .filter((value) => isInformative(value))
    .slice(0, MAX_AGENTS);
};

/** Texts and identifiers of values. */
export const texts = (values: readonly JsonValue[]): string[] =>
  values.flatMap(
    (value) =>
      (isObject(value)
        ? (textOf(value["@id"]) ?? textOf(value["value"]) ?? textOf(value))
        : textOf(value)) ?? [],
  );

const idOf = (value: JsonValue): string | undefined => {
  const id = isObject(value) ? value["@id"] : value;
  return typeof id === "string" ? id : undefined;
};

/**
 * Finds the record that an identifier in a record's document leads to: an ARK does, and a URL by
 * which the crate of the record names an entity.
 */
export function recordsNamed({ ark, kind, crate: holder }: StoredRecord) {
  const crate = holder ?? (kind === "rocrate" ? ark : null);
  const entities = crate === null ? undefined : new EntityIds(crate);
  return (id: string): string | undefined => {
    if (!isHttp(id)) return parseArk(id)?.stored;
    const entity = entities?.of(id, "");
    return entity?.rule === "url" ? entity.ark : undefined;
  };
}

/** Records that values refer to, read together. */
export class References {
  readonly #documents = new Map<string, JsonObject>();
  readonly #records: Pick<Deps["records"], "findMany">;
  readonly #base: string;
  readonly #named: (id: string) => string | undefined;

  /** @param record that has the values: its crate may name entities by URLs */
  constructor(
    { records, baseUrl }: Pick<Deps, "baseUrl"> & { records: Pick<Deps["records"], "findMany"> },
    record: StoredRecord,
  ) {
    this.#records = records;
    this.#base = baseUrl();
    this.#named = recordsNamed(record);
  }

  /** Reads the records that the values refer to. */
  async read(values: readonly JsonValue[]): Promise<void> {
    const arks = [...new Set(values.flatMap((value) => this.#arkOf(value) ?? []))]
      .filter((ark) => !this.#documents.has(ark))
      .slice(0, MAX_AGENTS);
    if (arks.length === 0) return;
    for (const [ark, found] of pairs(arks, await this.#records.findMany(arks)))
      if (found && !found.tombstone) this.#documents.set(ark, landmarksOf(found).document);
  }

  /** What is known of a value: its own members, and those of the record that it refers to. */
  of(value: JsonValue): JsonObject {
    const own = isObject(value) ? value : {};
    const ark = this.#arkOf(value);
    const known = ark === undefined ? undefined : this.#documents.get(ark);
    const id = idOf(value);
    if (ark !== undefined && known) {
      const url = id !== undefined && isHttp(id) ? id : addressOf(this.#base, ark);
      return { ...known, ...own, "@id": url };
    }
    if (isObject(value)) return value;
    const text = textOf(value);
    if (text === null) return {};
    return isHttp(text) || ark !== undefined ? { "@id": text } : { name: text };
  }

  /** How the record refers to an agent: an ARK as stored, or a URL. */
  idOf(value: JsonValue): string | undefined {
    const id = idOf(value);
    return id !== undefined && isHttp(id) ? id : this.#arkOf(value);
  }

  #arkOf(value: JsonValue): string | undefined {
    const id = idOf(value);
    return id === undefined ? undefined : this.#named(id);
  }
}

/** The agents that one value names: a text may name several. One without a name is none. */
function agentsOf(value: JsonValue, references: References): Agent[] {
  const known = references.of(value);
  const ids = texts(
    [
      known["@id"],
      ...listOf(known["identifier"]),
      ...listOf(known["sameAs"]),
      ...listOf(known["url"]),
    ].filter((id) => id !== undefined),
  );
  const isStated = isObject(value) || Object.keys(known).some((key) => key !== "name");
  const stated = isStated ? undefined : textOf(known["name"]);
  // `Ada Lovelace (0000-0002-1825-0097)`
  const inText = /\b\d{4}-\d{4}-\d{4}-\d{3}[\dX]\b/i.exec(stated ?? "")?.[0];
  const names = stated === undefined ? [nameOfAgent(known)] : namesIn(stated ?? "");
  const orcid =
    ids.flatMap((id) => ORCID.exec(id)?.[1]?.toUpperCase() ?? [])[0] ??
    (names.length === 1 ? inText?.toUpperCase() : undefined);
  const ror = ids.flatMap((id) => ROR.exec(id)?.[1]?.toLowerCase() ?? [])[0];
  const url = orcid
    ? `https://orcid.org/${orcid}`
    : ror
      ? `https://ror.org/${ror}`
      : ids.find(isHttp);
  const id = references.idOf(value);
  const affiliations = listOf(known["affiliation"]).flatMap((one) =>
    affiliationOf(one, references),
  );
  return names.flatMap((found): Agent[] => {
    if (found === undefined) return [];
    // An identifier of a person, or of an organization, says more than the words of a name.
    const { kind, ...name }: AgentName =
      ror !== undefined
        ? { name: found.name, kind: "organization" }
        : orcid !== undefined && found.kind === null
          ? nameOf(found.name, "person")
          : found;
    return [
      {
        ...name,
        isOrganization: kind === "organization",
        ...(id === undefined ? {} : { id }),
        ...(url === undefined ? {} : { url }),
        ...(orcid === undefined ? {} : { orcid }),
        ...(ror === undefined ? {} : { ror }),
        affiliations,
      },
    ];
  });
}

function affiliationOf(value: JsonValue, references: References): Agent["affiliations"] {
  const known = references.of(value);
  const name = nameOfAgent(known)?.name;
  const ror = texts([known["@id"] ?? null, ...listOf(known["identifier"])]).flatMap(
    (one) => ROR.exec(one)?.[1]?.toLowerCase() ?? [],
  )[0];
  return name === undefined ? [] : [{ name, ...(ror === undefined ? {} : { ror }) }];
}

/** Reads the agents that values name, with their affiliations. */
export async function readAgents(
  values: readonly JsonValue[],
  references: References,
): Promise<Agent[]> {
  await references.read(values);
  await references.read(values.flatMap((agent) => listOf(references.of(agent)["affiliation"])));
  return values.flatMap((value) => agentsOf(value, references)).slice(0, MAX_AGENTS);
}

/** Who is cited as author of a record. */
export interface Creators {
  agents: Agent[];
  /**
   * Agents that are stated and have no name, by their ARKs or URLs, null where there is neither:
   * they are left out.
   */
  unnamed: (string | null)[];
}

const NOBODY: Creators = { agents: [], unnamed: [] };
/** Whose work a record is, by the names of the members, where one without the next is enough. */
const AUTHORS = ["author", "creator"] as const;
const LESS = [["collector", "compiler"], ["contributor"]] as const;
/** Members of a record, any of which names its authors. */
export const STATED_AUTHORS: readonly string[] = [...AUTHORS, "creditText", ...LESS.flat()];

/** What a record states of its authors, of whom a crate states it for its parts as well. */
export type AuthorFields = Readonly<Record<"authors" | "credit" | "others", JsonValue[]>>;

export const authorFields = (fields: Fields): AuthorFields => ({
  authors: valuesOf(fields, AUTHORS),
  credit: valuesOf(fields, ["creditText"]),
  others:
    LESS.map((names) =>
      names.flatMap((name) => valuesOf(fields, [name])).slice(0, MAX_AGENTS),
    ).find((values) => values.length > 0) ?? [],
});

/**
 * The authors of a record: those that it states; else those of its main entity, `creditText`,
 * collectors and compilers, contributors; else of a crate the authors of its parts, and the agents
 * of its runs; else what the crate that it came in states. Never who uploaded it.
 * @param crate what the crate of the record states, where it came in one
 */
export async function creatorsOf(
  deps: AgentDeps,
  record: StoredRecord,
  fields: Fields,
  crate?: AuthorFields,
): Promise<Creators> {
  const references = new References(deps, record);
  const own = authorFields(fields);
  const read = async (values: readonly JsonValue[]): Promise<Creators> => {
    const agents = await readAgents(values, references);
    const unnamed = values
      .filter((value) => agentsOf(value, references).length === 0)
      .map((value) => references.idOf(value) ?? null);
    return { agents, unnamed };
  };
  if (own.authors.length > 0) return read(own.authors);
  const ofMain = await authorsOfEntities(valuesOf(fields, ["mainEntity"]), references);
  if (ofMain.length > 0) return read(ofMain);
  const credited = own.credit.flatMap((text) => creditedIn(textOf(text) ?? ""));
  if (credited.length > 0) return { agents: credited, unnamed: [] };
  if (own.others.length > 0) return read(own.others);
  if (record.kind === "rocrate") {
    const ofParts = await authorsOfParts(deps, record);
    if (ofParts.length > 0) return read(ofParts);
    const ofRuns = record.crate === null ? await agentsOfRuns(deps, record) : [];
    await references.read(ofRuns);
    const people = ofRuns.filter((agent) => !isProgram(references.of(agent)));
    if (people.length > 0) return read(people);
  }
  if (crate === undefined) return NOBODY;
  if (crate.authors.length > 0) return read(crate.authors);
  const ofCrate = crate.credit.flatMap((text) => creditedIn(textOf(text) ?? ""));
  return ofCrate.length > 0 ? { agents: ofCrate, unnamed: [] } : read(crate.others);
}

/** A run may name the program that carried it out. */
const isProgram = (agent: JsonObject): boolean =>
  texts([...listOf(agent["@type"]), ...listOf(agent["metadataType"])]).some((type) =>
    /Software/.test(type),
  );

/** Longest credit that is a name. */
const MAX_CREDIT_CHARS = 200;

/**
 * The names in a credit line. One that goes on as a citation does, `Clara Collector (collector),
 * 2006. Texts of a language.`, names them before its year.
 */
function creditedIn(text: string): Agent[] {
  const line = plainLine(text);
  const dated = /^(.{2,}?)[\s,.;]*\(?\b(?:1[5-9]|20)\d\d\b/.exec(line)?.[1];
  const names = dated ?? (line.length <= MAX_CREDIT_CHARS ? line : "");
  return namesIn(
    names.replace(/^(?:(?:photo|image|credits?|courtesy of|data|©)\s*:?\s*)+/i, ""),
  ).map(({ kind, ...name }) => ({
    ...name,
    isOrganization: kind === "organization",
    affiliations: [],
  }));
}

/** The authors that the records state which values refer to. */
async function authorsOfEntities(
  values: readonly JsonValue[],
  references: References,
): Promise<JsonValue[]> {
  await references.read(values);
  return distinct(
    values.flatMap((value) => {
      const { "@id": id, ...rest } = references.of(value);
      return Object.keys(rest).length === 0 ? [] : statedAuthors(textOf(id) ?? "", rest);
    }),
  );
}

const statedAuthors = (ark: string, document: JsonObject): JsonValue[] =>
  valuesOf(new Fields(ark, document), AUTHORS);

/** One agent of each: many parts have one author. */
const distinct = (values: readonly JsonValue[]): JsonValue[] => [
  ...new Map(values.map((value) => [idOf(value) ?? JSON.stringify(value), value])).values(),
];

async function authorsOfParts(deps: AgentDeps, record: StoredRecord): Promise<JsonValue[]> {
  const [page] = await deps.records.linksFrom([record.ark], {
    predicates: ["schema:hasPart"],
    distinct: true,
    limit: MAX_PARTS,
  });
  const arks = (page?.items ?? []).map(({ target }) => target);
  const authors: JsonValue[] = [];
  let bytes = 0;
  for (let start = 0; start < arks.length && bytes < PART_BYTES; start += 20)
    for (const part of await deps.records.findMany(arks.slice(start, start + 20))) {
      if (!part || part.tombstone) continue;
      bytes += part.document.length;
      for (const author of statedAuthors(part.ark, parseDocument(part.document)))
        authors.push(author);
    }
  return distinct(authors).slice(0, MAX_AGENTS);
}

async function agentsOfRuns(deps: AgentDeps, record: StoredRecord): Promise<JsonValue[]> {
  const agents: JsonValue[] = [];
  for (const kind of ["computation", "experiment"] as const) {
    const { items } = await deps.records.select({
      filter: { kinds: [kind], crates: [record.crate ?? record.ark] },
      order: AS_CREATED,
      limit: MAX_PARTS,
      bytes: PART_BYTES,
    });
    for (const run of items) {
      const fields = new Fields(run.ark, parseDocument(run.document));
      for (const agent of valuesOf(fields, ["agent", "runBy"])) agents.push(agent);
    }
  }
  return distinct(agents).slice(0, MAX_AGENTS);
}
