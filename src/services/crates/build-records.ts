import { arkKey } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { licenceOf } from "../../model/licences.js";
import { ContextLimit } from "../../rdf/contexts.js";
import type { GraphInput, RecordGraph } from "../../rdf/plain.js";
import type { ObjectReference, RecordWrite, SearchText } from "../../storage/records/port.js";
import { withoutArks } from "../../storage/records/text.js";
import { mediaTypeOf } from "../files/stored-content.js";
import {
  MOST_TEXT,
  reservedFields,
  reservedIn,
  withoutLines,
  withOwner,
} from "../records/reserved.js";
import type { StoredFile } from "./files/match-files.js";
import { crateError, type Findings, isObject, listOf, type Place } from "./findings.js";
import type { IdScope } from "./identifiers/identify.js";
import { Rewriter } from "./identifiers/rewrite.js";
import { describedCrate } from "./layout.js";
import type { CrateLimits } from "./limits.js";
import type { PreparedCrate, PreparedEntity } from "./prepare.js";
import { documentOf, wholeDocument, withContent } from "./records/document.js";
import {
  type ContextBounds,
  type GraphsOf,
  repairedGraphs,
  RepairedContexts,
} from "./records/repair.js";

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

export const NO_TEXT: SearchText = { name: "", description: "", keywords: "", other: "" };

/** The first text of a value that may be a list or carry a language. */
function firstText(value: JsonValue | undefined): string | null {
  for (const item of listOf(value)) {
    const text = isObject(item) ? item["@value"] : item;
    if (typeof text === "string" && text !== "") return text;
  }
  return null;
}

function keywordsOf(value: JsonValue | undefined): string[] {
  if (typeof value === "string")
    return value
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
  return listOf(value).filter((word): word is string => typeof word === "string" && word !== "");
}

/** The text of an entity for keyword search. */
function searchTextOf(document: JsonObject): SearchText {
  const texts = (key: string) =>
    listOf(document[key])
      .map((value) => firstText(value) ?? "")
      .filter((text) => text !== "");
  return {
    name: texts("name").join(" ").slice(0, MOST_TEXT),
    description: texts("description").join(" ").slice(0, MOST_TEXT),
    keywords: keywordsOf(document["keywords"]).join(" ").slice(0, MOST_TEXT),
    other: ["author", "alternateName", "identifier"]
      .flatMap(texts)
      .map(withoutArks)
      .join(" ")
      .slice(0, MOST_TEXT),
  };
}

export type CrateRecord = Extract<RecordWrite, { op: "create" }>;

interface BuildSettings {
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

interface Draft {
  entity: PreparedEntity;
  crateContext: JsonValue | undefined;
  body: JsonObject;
}

/**
 * The records of a crate, in batches.
 * @param stored stored files of the archive, by member. Invalid JSON-LD is reported among the
 * crate's findings; there an invalid context is an error.
 */
export async function* buildRecords(
  crate: PreparedCrate,
  stored: ReadonlyMap<string, StoredFile>,
  settings: BuildSettings,
  graphsOf: GraphsOf,
): AsyncGenerator<CrateRecord[]> {
  const contexts = new RepairedContexts(settings.limits, graphsOf, crate.findings);
  const rewriters = new Map<IdScope, Rewriter>();
  for (const { parts } of crate.entities) {
    for (const { scope } of parts) {
      if (rewriters.has(scope)) continue;
      await withinLimits(contexts.repairDescription(scope.description), {
        file: scope.description.file,
        pointer: "/@context",
      });
      rewriters.set(scope, new Rewriter(scope));
    }
  }
  const lost = new LostTerms();
  const size = new RecordBytes(settings.limits);
  const entities = crate.entities.filter(({ linked }) => linked !== "named");
  for (let start = 0; start < entities.length; start += BATCH) {
    const batch = entities.slice(start, start + BATCH);
    for (const entity of batch) await withinLimits(contexts.repairEntity(entity), placeOf(entity));
    const drafts = batch.map((entity) =>
      draft(entity, stored, settings, rewriters, crate.findings),
    );
    const graphs = await graphsFor(drafts, graphsOf, crate.findings);
    yield drafts.map(({ entity, ...document }, index) => {
      const graph = graphs[index]!;
      lost.add(graph.lostTerms, entity);
      const claims = reservedIn(graph.quads);
      if (
        claims.length > 0 ||
        reservedFields(KINDS[entity.kind]).some((name) => Object.hasOwn(document.body, name))
      )
        reportReserved(entity, crate.findings);
      return size.counted(
        record(
          crate,
          entity,
          wholeDocument(document),
          { ...graph, quads: withoutLines(graph.quads, claims) },
          stored,
          settings,
        ),
        entity,
      );
    });
  }
  lost.report(crate.findings);
}

/**
 * Total size of all records: many records repeat a long context, or an entity inside another one.
 */
class RecordBytes {
  #bytes = 0;

  readonly #limits: BuildSettings["limits"];

  constructor(limits: BuildSettings["limits"]) {
    this.#limits = limits;
  }

  /** @throws CrateError beyond MAX_CRATE_RECORD_BYTES */
  counted(record: CrateRecord, entity: PreparedEntity): CrateRecord {
    const { MAX_CRATE_RECORD_BYTES } = this.#limits;
    this.#bytes += record.document.byteLength + record.quads.length;
    if (this.#bytes > MAX_CRATE_RECORD_BYTES)
      throw crateError(
        "RECORDS_TOO_LARGE",
        "The records of the crate have more than " +
          `MAX_CRATE_RECORD_BYTES=${MAX_CRATE_RECORD_BYTES} bytes. Shorten parts that many ` +
          "entities repeat, such as a long @context.",
        placeOf(entity),
      );
    return record;
  }
}

function draft(
  entity: PreparedEntity,
  stored: ReadonlyMap<string, StoredFile>,
  { baseUrl }: BuildSettings,
  rewriters: ReadonlyMap<IdScope, Rewriter>,
  findings: Findings,
): Draft {
  const document = documentOf(entity, rewriters);
  const content = entity.file && stored.get(entity.file.file.member);
  adviseOn(entity.kind, document.body, placeOf(entity), findings);
  return {
    entity,
    ...(content ? withContent(document, entity.kind, entity.ark, content, baseUrl) : document),
  };
}

/** Graphs of a batch, in its order; entities with the same context are expanded together. */
async function graphsFor(
  drafts: readonly Draft[],
  graphsOf: GraphsOf,
  findings: Findings,
): Promise<RecordGraph[]> {
  const byContext = new Map<string, number[]>();
  for (const [index, { crateContext }] of drafts.entries()) {
    const key = JSON.stringify(crateContext) ?? "";
    byContext.set(key, [...(byContext.get(key) ?? []), index]);
  }
  const graphs: RecordGraph[] = [];
  for (const indexes of byContext.values()) {
    const { crateContext } = drafts[indexes[0]!]!;
    const inputs = indexes.map((index) => inputOf(drafts[index]!));
    const found = await withinLimits(
      graphsOf(crateContext, inputs).catch((error: unknown) =>
        repairedGraphs(
          error,
          crateContext,
          inputs.map((input, position) => ({
            input,
            place: placeOf(drafts[indexes[position]!]!.entity),
          })),
          graphsOf,
          findings,
        ),
      ),
      { ...placeOf(drafts[indexes[0]!]!.entity), pointer: "/@context" },
    );
    for (const [position, index] of indexes.entries()) graphs[index] = found[position]!;
  }
  return graphs;
}

/** An exceeded context limit is reported with its place. @throws CrateError */
const withinLimits = <T>(work: Promise<T>, place: Place): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof ContextLimit ? crateError(error.code, error.message, place) : error;
  });

/**
 * The crate's identifier is its ARK, also if the crate came with a URL: it is exported under the
 * ARK, and an update names the ARK.
 */
const inputOf = ({ entity, body }: Draft): GraphInput => ({
  ark: entity.ark,
  kind: entity.kind,
  document: body,
  fromCrate: true,
  ...(entity.url === undefined || entity.role === "root" ? {} : { subject: entity.url }),
});

function record(
  crate: PreparedCrate,
  entity: PreparedEntity,
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
    name: firstText(document["name"]),
    owner: settings.owner,
    document: new TextEncoder().encode(JSON.stringify(document)),
    quads: graph.quads,
    links: withOwner(entity.kind, graph.links, settings.owner),
    ...searchedOf(entity.ark, document),
    licence: licenceOf(KINDS[entity.kind], document),
    objects: objectsOf(crate, entity, document, stored, settings),
    ...(isRoot
      ? {}
      : {
          crate: (settings.update ? entity.parts[0]!.scope.home : undefined) ?? crate.root.ark,
          mayShareKey: true,
        }),
    ...(entity.embargoed ? { publicationStatus: "EMBARGOED" as const } : {}),
  };
}

/**
 * Nobody searches for a metadata file: its own statements, such as a license, would appear in
 * results beside the data they describe.
 */
const searchedOf = (ark: string, document: JsonObject): Pick<CrateRecord, "text" | "keywords"> =>
  describedCrate(ark) === undefined
    ? { text: searchTextOf(document), keywords: keywordsOf(document["keywords"]) }
    : { text: NO_TEXT, keywords: [] };

function objectsOf(
  crate: PreparedCrate,
  entity: PreparedEntity,
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
  if (entity.metadata !== undefined)
    add(entity.metadata, "ro-crate-metadata.json", "metadata", "application/ld+json");
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

const reportReserved = (entity: PreparedEntity, findings: Findings): void =>
  findings.warn(
    "FIELD_RESERVED",
    "The containerDigest is stored in the document only: in the graph it is stated by runs " +
      "in this registry.",
    placeOf(entity),
  );

export function placeOf({ parts: [part] }: PreparedEntity): { file: string; pointer: string } {
  return { file: part!.scope.description.file, pointer: part!.entity.pointer };
}

/** Terms without a meaning, each reported once. */
class LostTerms {
  readonly #terms = new Map<string, { count: number; entity: PreparedEntity }>();

  add(terms: readonly string[], entity: PreparedEntity): void {
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
