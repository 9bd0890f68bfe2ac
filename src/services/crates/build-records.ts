/** Builds the records of a crate's entities. */
import { arkKey } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { isObject, listOf } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { labelOf } from "../../model/labels.js";
import { licenceOf } from "../../model/licences.js";
import { statedPublication } from "../../model/publication-date.js";
import { plainText, textOf } from "../../model/texts.js";
import type { RecordGraph } from "../../rdf/emit.js";
import { safeIri } from "../../rdf/terms.js";
import { linksByUrl } from "../../rdf/url-links.js";
import type { ObjectReference, SearchText } from "../../storage/records/port.js";
import { withoutArks } from "../../storage/records/text.js";
import { mediaTypeOf } from "../records/stored-content.js";
import {
  MAX_TEXT,
  reservedFields,
  reservedIn,
  withOwner,
  withoutLines,
} from "../records/reserved.js";
import type { StoredFile } from "./files/match-files.js";
import { crateError, type Findings, type Place } from "./findings.js";
import { type IdScope, placeOf } from "./identifiers/identify.js";
import type { Rewriter } from "./identifiers/rewrite.js";
import { DESCRIPTOR, describedCrate } from "./layout.js";
import { documentOf, wholeDocument, withContent } from "./records/document.js";
import {
  type ContextBounds,
  type Draft,
  type GraphsOf,
  graphsFor,
  RepairedContexts,
  withinLimits,
} from "./records/graphs.js";
import type { CrateLimits } from "./upload.js";
import type { CrateRecord, ResolvedCrate, ResolvedEntity } from "./steps.js";

/**
 * Length limits of records written over the API are only advice for an entity of a crate. The other
 * required fields are this registry's own rule, not RO-Crate's: crates get no warning about them.
 */
export function adviseOn(
  kind: KindName,
  document: JsonObject,
  place: Place,
  findings: Findings,
): void {
  const { typeName, fields } = KINDS[kind];
  for (const [name, { maxLength, minLength }] of Object.entries(fields)) {
    const value = document[name];
    if (typeof value !== "string" || (maxLength === undefined && minLength === undefined)) continue;
    // Lengths count code points.
    const length = [...value].length;
    const at = { ...place, pointer: `${place.pointer ?? ""}/${name}` };
    if (maxLength !== undefined && length > maxLength)
      findings.warn(
        "FIELD_LENGTH",
        `The ${name} has ${length} characters; ${maxLength} are usual for a ${typeName}.`,
        at,
      );
    if (minLength !== undefined && length < minLength)
      findings.warn(
        "FIELD_LENGTH",
        `The ${name} has ${length} characters; a ${typeName} has at least ${minLength}.`,
        at,
      );
  }
}

const NO_TEXT: SearchText = { name: "", description: "", keywords: "", other: "" };

function keywordsOf(value: JsonValue | undefined): string[] {
  if (typeof value === "string")
    return value
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
  return listOf(value).filter((word): word is string => typeof word === "string" && word !== "");
}

/** The text of an entity for keyword search. */
function searchTextOf(document: JsonObject, url: string | undefined): SearchText {
  const texts = (key: string) =>
    listOf(document[key])
      .map((value) => plainText(textOf(value) ?? ""))
      .filter((text) => text !== "");
  return {
    name: texts("name").join(" ").slice(0, MAX_TEXT),
    description: texts("description").join(" ").slice(0, MAX_TEXT),
    keywords: keywordsOf(document["keywords"]).join(" ").slice(0, MAX_TEXT),
    // The address names people and articles: an ORCID iD or a DOI is looked for by it.
    other: [
      ...["author", "alternateName", "identifier"].flatMap(texts),
      url?.replace(/^https?:\/\//, "") ?? "",
    ]
      .map(withoutArks)
      .join(" ")
      .slice(0, MAX_TEXT),
  };
}

export interface BuildSettings {
  limits: Pick<CrateLimits, "MAX_CRATE_RECORD_BYTES"> & ContextBounds;
  /** Public address of the registry, without a slash at the end. */
  baseUrl: string;
  /** ARK of the uploader, who owns the records. */
  owner: string;
  archive?: ObjectReference;
  /** New records of a registered crate within the crate belong to that inner crate. */
  update?: boolean;
}

/**
 * Entities expanded together: the context is looked up once for all of them. Of many more the young
 * generation of this thread cannot hold what is made of them, and old objects are costly to collect.
 */
const BATCH = 100;

/** In place of what no comparison with stored records needs. */
export const NOT_COMPARED = {
  links: [],
  text: NO_TEXT,
  keywords: [],
} satisfies Partial<CrateRecord>;

/**
 * The records of a crate, in batches.
 * @param stored stored files of the archive, by member. Invalid JSON-LD is reported among the
 * crate's findings; there an invalid context is an error.
 */
export async function* buildRecords(
  crate: ResolvedCrate,
  stored: ReadonlyMap<string, StoredFile>,
  settings: BuildSettings,
  graphsOf: GraphsOf,
): AsyncGenerator<CrateRecord[]> {
  const contexts = new RepairedContexts(settings.limits, graphsOf, crate.findings);
  const scopes = new Set(crate.entities.flatMap(({ parts }) => parts.map(({ scope }) => scope)));
  for (const { description } of scopes)
    await withinLimits(contexts.repairDescription(description), {
      file: description.file,
      pointer: "/@context",
    });
  const rewriters = new Map<IdScope, Rewriter>();
  const byUrl = new Map(
    crate.entities.flatMap(({ ark, url }) => (url === undefined ? [] : [[safeIri(url), ark]])),
  );
  const lost = new LostTerms();
  const counted = recordCounter(settings);
  const entities = crate.entities.filter(({ linked }) => linked !== "named");
  for (let start = 0; start < entities.length; start += BATCH) {
    const batch = entities.slice(start, start + BATCH);
    for (const entity of batch) await withinLimits(contexts.repairEntity(entity), placeOf(entity));
    const drafts = batch.map((entity) =>
      draft(entity, stored, settings, rewriters, crate.findings),
    );
    const graphs = await graphsFor(drafts, graphsOf, crate.findings);
    yield [...graphs].map(([{ entity, ...document }, graph]) => {
      lost.add(graph.lostTerms, entity);
      const claims = reservedIn(graph.quads);
      if (
        claims.length > 0 ||
        reservedFields(KINDS[entity.kind]).some((name) => Object.hasOwn(document.body, name))
      )
        reportReserved(entity, crate.findings);
      return counted(
        record(
          crate,
          entity,
          wholeDocument(document),
          {
            ...graph,
            quads: withoutLines(graph.quads, claims),
            links: [...graph.links, ...urlLinks(graph, entity, byUrl)],
          },
          stored,
          settings,
        ),
        entity,
      );
    });
  }
  lost.report(crate.findings);
}

/** Links to entities of the crate that are named by URLs. */
const urlLinks = (
  { quads }: RecordGraph,
  { ark, url }: ResolvedEntity,
  byUrl: ReadonlyMap<string, string>,
): RecordGraph["links"] =>
  byUrl.size === 0
    ? []
    : linksByUrl(quads, ark, (iri) => byUrl.get(iri), url === undefined ? undefined : safeIri(url));

/**
 * Counts the size of all records: many records repeat a long context, or an entity inside another
 * one.
 * @throws CrateError beyond MAX_CRATE_RECORD_BYTES
 */
function recordCounter({
  limits: { MAX_CRATE_RECORD_BYTES },
}: BuildSettings): (record: CrateRecord, entity: ResolvedEntity) => CrateRecord {
  let bytes = 0;
  return (record, entity) => {
    bytes += record.document.byteLength + record.quads.length;
    if (bytes <= MAX_CRATE_RECORD_BYTES) return record;
    throw crateError(
      "RECORDS_TOO_LARGE",
      "The records of the crate have more than " +
        `MAX_CRATE_RECORD_BYTES=${MAX_CRATE_RECORD_BYTES} bytes. Shorten parts that many ` +
        "entities repeat, such as a long @context.",
      placeOf(entity),
    );
  };
}

function draft(
  entity: ResolvedEntity,
  stored: ReadonlyMap<string, StoredFile>,
  { baseUrl }: BuildSettings,
  rewriters: Map<IdScope, Rewriter>,
  findings: Findings,
): Draft {
  const document = documentOf(entity, rewriters);
  const content = entity.file && stored.get(entity.file.file.member);
  adviseOn(entity.kind, document.body, placeOf(entity), findings);
  if (!content) return { entity, ...document };
  const withFacts = (body: JsonObject) =>
    withContent({ ...document, body }, entity.kind, entity.ark, content, baseUrl);
  return {
    entity,
    ...withFacts(document.body),
    ...(document.linked ? { linked: withFacts(document.linked).body } : {}),
  };
}

function record(
  crate: ResolvedCrate,
  entity: ResolvedEntity,
  document: JsonObject,
  graph: RecordGraph,
  stored: ReadonlyMap<string, StoredFile>,
  settings: BuildSettings,
): CrateRecord {
  const isRoot = entity === crate.root;
  return {
    op: "create",
    ark: entity.ark,
    key: arkKey(entity.ark),
    kind: entity.kind,
    name:
      textOf(document["name"]) ?? (isRoot ? nameOfCrate(crate, document, settings.archive) : null),
    owner: settings.owner,
    document: new TextEncoder().encode(JSON.stringify(document)),
    quads: graph.quads,
    links: withOwner(entity.kind, graph.links, settings.owner),
    ...searchedOf(entity, document),
    licence: licenceOf(KINDS[entity.kind], document),
    statedAt: statedPublication(KINDS[entity.kind], document, Date.now()),
    objects: objectsOf(crate, entity, document, stored, settings),
    ...(isRoot
      ? {}
      : {
          crate: (settings.update ? entity.parts[0].scope.home : undefined) ?? crate.root.ark,
          mayShareKey: true,
        }),
    ...(entity.embargoed ? { publicationStatus: "EMBARGOED" as const } : {}),
  };
}

/** What a crate without a name is called: as what it is mainly about, else as its file. */
function nameOfCrate(
  { entities }: ResolvedCrate,
  document: JsonObject,
  archive: BuildSettings["archive"],
): string | null {
  const [main] = listOf(document["mainEntity"]);
  const id = isObject(main) ? main["@id"] : main;
  const entity = entities.find(({ ark, url }) => id !== undefined && (ark === id || url === id));
  const label = entity && labelOf(entity.parts[0].entity.value);
  // An upload without a name of its file is stored as `crate.zip`.
  const file = archive?.name.replace(/\.zip$/i, "").trim() ?? "";
  return label ?? (file === "" || file === "crate" ? null : file);
}

/**
 * Nobody searches for a metadata file: its own statements, such as a license, would appear in
 * results beside the data they describe.
 */
const searchedOf = (
  { ark, url }: Pick<ResolvedEntity, "ark" | "url">,
  document: JsonObject,
): Pick<CrateRecord, "text" | "keywords"> =>
  describedCrate(ark) === undefined
    ? { text: searchTextOf(document, url), keywords: keywordsOf(document["keywords"]) }
    : { text: NO_TEXT, keywords: [] };

function objectsOf(
  crate: ResolvedCrate,
  entity: ResolvedEntity,
  document: JsonObject,
  stored: ReadonlyMap<string, StoredFile>,
  { archive }: BuildSettings,
): ObjectReference[] {
  const references: ObjectReference[] = [];
  const add = (member: string, name: string, role: ObjectReference["role"], mediaType: string) => {
    const file = stored.get(member);
    if (file) references.push({ sha256: file.sha256, size: file.size, mediaType, name, role });
  };
  if (entity === crate.root && archive) references.push(archive);
  // Its path in the crate: an export writes it there again.
  if (entity.metadata !== undefined)
    add(entity.metadata, metadataPath(entity), "metadata", "application/ld+json");
  if (entity.file) {
    const { member, path } = entity.file.file;
    add(
      member,
      path.slice(path.lastIndexOf("/") + 1),
      "content",
      mediaTypeOf(path, document["encodingFormat"]),
    );
  }
  if (entity === crate.root)
    for (const { member, path } of crate.undescribed)
      add(member, path, "member", mediaTypeOf(path));
  return references;
}

const metadataPath = ({ parts }: ResolvedEntity): string =>
  `${parts.find(({ scope, entity }) => scope.description.root === entity)?.scope.folder ?? ""}${DESCRIPTOR}`;

const reportReserved = (entity: ResolvedEntity, findings: Findings): void =>
  findings.warn(
    "FIELD_RESERVED",
    "The containerDigest is stored in the document only: in the graph it is stated by runs " +
      "in this registry.",
    placeOf(entity),
  );

/** Terms without a meaning, each reported once. */
class LostTerms {
  readonly #terms = new Map<string, { count: number; entity: ResolvedEntity }>();

  add(terms: readonly string[], entity: ResolvedEntity): void {
    for (const term of terms) {
      const known = this.#terms.get(term);
      if (known) known.count++;
      else this.#terms.set(term, { count: 1, entity });
    }
  }

  report(findings: Findings): void {
    for (const [term, { count, entity }] of this.#terms) {
      const also = count === 1 ? "" : ` (and in ${count - 1} more)`;
      findings.warn(
        "LOST_TERM",
        `No context explains the term ${JSON.stringify(term.slice(0, 200))}${also}; it ` +
          "is stored under a vocabulary of the registry.",
        placeOf(entity),
      );
    }
  }
}
