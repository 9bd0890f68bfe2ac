/**
 * Entities of a crate become records; statements that cannot be stored are repaired or left out,
 * with a finding.
 */
import { arkKey } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { listOf } from "../../model/field.js";
import { step } from "../../model/json/pointer.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { licenceOf } from "../../model/licences.js";
import { plainText, textOf } from "../../model/texts.js";
import { ContextLimit } from "../../rdf/contexts.js";
import type { GraphInput, RecordGraph } from "../../rdf/emit.js";
import type { SoundContexts } from "../../rdf/graph.js";
import { FALLBACK_VOCABULARY, safeIri } from "../../rdf/terms.js";
import { linksByUrl } from "../../rdf/url-links.js";
import type { ObjectReference, RecordWrite, SearchText } from "../../storage/records/port.js";
import { withoutArks } from "../../storage/records/text.js";
import { mediaTypeOf } from "../records/stored-content.js";
import {
  MOST_TEXT,
  reservedFields,
  reservedIn,
  withOwner,
  withoutLines,
} from "../records/reserved.js";
import type { StoredFile } from "./files/match-files.js";
import { crateError, type Findings, objectFrom, type Place, quoted } from "./findings.js";
import type { IdScope } from "./identifiers/identify.js";
import { Rewriter } from "./identifiers/rewrite.js";
import { type CrateDescription, DESCRIPTOR, describedCrate } from "./layout.js";
import type { PreparedCrate, PreparedEntity } from "./prepare.js";
import { documentOf, wholeDocument, withContent } from "./records/document.js";
import type { CrateLimits } from "./upload.js";

/** Function of `src/rdf/graph.ts`; injected, so that plans can run without RDF. */
export type GraphsOf = (
  context: JsonValue | undefined,
  inputs: readonly GraphInput[],
) => Promise<RecordGraph[]>;
interface PlacedInput {
  input: GraphInput;
  place: Place;
}

/**
 * Builds graphs of entities that cannot be expanded together. A member that is invalid JSON-LD
 * affects only itself: it stays in the document as sent, is stored in the graph as a JSON literal
 * (JSON-LD 1.1, section 4.2.2) under the registry's fallback vocabulary, and is reported. An
 * invalid context is refused: without it terms would have no meaning.
 * @param error of the expansion of all
 * @throws CrateError when the shared context is invalid; `error`, or another fault, when the crate
 * is valid
 */
async function repairedGraphs(
  error: unknown,
  context: JsonValue | undefined,
  entities: readonly PlacedInput[],
  graphsOf: GraphsOf,
  findings: Findings,
): Promise<RecordGraph[]> {
  faultOf(error);
  const { file = null } = entities[0]!.place;
  if (await broken(graphsOf(context, []), findings, { file, pointer: "/@context" }))
    findings.throwIfErrors();
  const graphs: RecordGraph[] = [];
  for (const { input, place } of entities) {
    const found = await graphsOf(context, [input]).catch(
      (cause: unknown) => faultOf(cause) && undefined,
    );
    graphs.push(found?.[0] ?? (await repairedGraph(context, input, place, graphsOf, findings)));
  }
  return graphs;
}

/** Graph of a refused entity: its record is never written. */
const EMPTY: RecordGraph = { quads: "", links: [], lostTerms: [] };

async function repairedGraph(
  context: JsonValue | undefined,
  input: GraphInput,
  place: Place,
  graphsOf: GraphsOf,
  findings: Findings,
): Promise<RecordGraph> {
  const { "@context": own, ...members } = input.document;
  const shared: JsonObject = own === undefined ? {} : { "@context": own };
  const graphWith = async (document: JsonObject) =>
    (await graphsOf(context, [{ ...input, document: { ...shared, ...document } }]))[0]!;
  if (
    await broken(graphWith({}), findings, { ...place, pointer: `${place.pointer ?? ""}/@context` })
  )
    return EMPTY;
  const wrong = new Map<string, string>();
  for (const [key, value] of Object.entries(members)) {
    if (key === "@id") continue;
    const cause = await graphWith(objectFrom([[key, value]])).then(() => undefined, faultOf);
    if (cause === undefined) continue;
    wrong.set(key, cause.message);
  }
  // Members that are valid separately but not together, such as an alias of a keyword beside that
  // keyword.
  const together = () =>
    objectFrom(
      Object.entries(members).map(([key, value]): [string, JsonValue] =>
        wrong.has(key) ? [FALLBACK_VOCABULARY + key, literal(value)] : [key, value],
      ),
    );
  let graph = await graphWith(together()).catch((cause: unknown) => faultOf(cause));
  if (!("quads" in graph)) {
    for (const key of Object.keys(members))
      if (key !== "@id" && key !== "@type" && !wrong.has(key)) wrong.set(key, graph.message);
    graph = await graphWith(together()).catch((cause: unknown) => faultOf(cause));
  }
  // Too deep even for a literal, where MAX_JSON_DEPTH was raised that far: only the document holds
  // it.
  if (!("quads" in graph)) graph = await graphWith({});
  for (const [key, message] of wrong)
    findings.warn(
      "JSONLD_INVALID",
      `${message} The member ${JSON.stringify(key.slice(0, 100))} is stored unchanged, ` +
        "in the graph as a JSON literal; write it as valid JSON-LD.",
      { ...place, pointer: (place.pointer ?? "") + step(key) },
    );
  return { ...graph, lostTerms: graph.lostTerms.filter((term) => !wrong.has(term)) };
}

const literal = (value: JsonValue): JsonObject => ({ "@type": "@json", "@value": value });

/** True, after reporting it, when a context is invalid. */
async function broken(
  expansion: Promise<unknown>,
  findings: Findings,
  place: Place,
): Promise<boolean> {
  const cause = await expansion.then(() => undefined, faultOf);
  if (cause === undefined) return false;
  findings.error(cause.code, cause.message, place);
  return true;
}

/** @throws the error itself when it is not a fault of the crate */
function faultOf(error: unknown): { code: "CONTEXT_INVALID"; message: string } {
  const { name, message } = error as Error;
  if (name === "JsonLdError") return { code: "CONTEXT_INVALID", message };
  // Nested as deep as MAX_JSON_DEPTH allows where that was raised beyond the depth that can be
  // expanded.
  if (error instanceof RangeError)
    return { code: "CONTEXT_INVALID", message: "It nests deeper than can be expanded." };
  throw error;
}

type ContextBounds = Pick<CrateLimits, "MAX_CRATE_CONTEXTS" | "MAX_CRATE_TERMS">;

/** An empty entity, to test a context with. */
const NOTHING = {
  ark: "ark:99999/context",
  kind: "entity",
  fromCrate: true,
} as const satisfies Omit<GraphInput, "document">;

/**
 * Removes invalid definitions from the contexts of a crate, with a warning that names each.
 * Otherwise one invalid definition would make every term meaningless. A context that cannot be read
 * at all is left unchanged.
 */
class RepairedContexts {
  readonly #known = new Map<string, JsonValue>();
  #sound: Promise<SoundContexts> | undefined;

  readonly #limits: ContextBounds;
  readonly #graphsOf: GraphsOf;
  readonly #findings: Findings;

  constructor(limits: ContextBounds, graphsOf: GraphsOf, findings: Findings) {
    this.#limits = limits;
    this.#graphsOf = graphsOf;
    this.#findings = findings;
  }

  /** Repairs the context of a metadata file. @throws ContextLimit */
  async repairDescription(description: CrateDescription): Promise<void> {
    const { context, file } = description;
    if (context === undefined || context === null) return;
    description.context = await this.#repaired(context, [], { file, pointer: "/@context" }, () =>
      this.#graphsOf(context, []),
    );
  }

  /** Repairs an entity's own contexts. @throws ContextLimit */
  async repairEntity({ parts }: PreparedEntity): Promise<void> {
    for (const {
      scope: {
        description: { context, file },
      },
      entity: { value, pointer },
    } of parts) {
      const own = value["@context"];
      if (own === undefined || own === null) continue;
      const place = { file, pointer: `${pointer}/@context` };
      const before = context === undefined ? [] : [context];
      value["@context"] = await this.#repaired(own, before, place, () =>
        this.#graphsOf(context, [{ ...NOTHING, document: { "@context": own } }]),
      );
    }
  }

  async #repaired(
    context: JsonValue,
    before: readonly JsonValue[],
    place: Place,
    attempt: () => Promise<unknown>,
  ): Promise<JsonValue> {
    const key = JSON.stringify([context, before]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const isSound = await attempt().then(
      () => true,
      (error: Error) => {
        if (error.name !== "JsonLdError" && !(error instanceof RangeError)) throw error;
        return false;
      },
    );
    const repaired = isSound ? context : await this.#without(context, before, place);
    this.#known.set(key, repaired);
    return repaired;
  }

  async #without(
    context: JsonValue,
    before: readonly JsonValue[],
    place: Place,
  ): Promise<JsonValue> {
    // Loaded on demand, like all RDF code.
    this.#sound ??= import("../../rdf/graph.js").then(
      (module) => new module.SoundContexts(this.#limits),
    );
    const sound = await (await this.#sound).of(context, before);
    if (!sound) return context;
    for (const { term, pointer, message } of sound.dropped) {
      this.#findings.warn(
        "TERM_INVALID",
        `The definition of ${JSON.stringify(quoted(term))} is left out of @context: ${message}`,
        { ...place, pointer: `${place.pointer ?? ""}${pointer}` },
      );
    }
    return sound.context;
  }
}

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
    name: texts("name").join(" ").slice(0, MOST_TEXT),
    description: texts("description").join(" ").slice(0, MOST_TEXT),
    keywords: keywordsOf(document["keywords"]).join(" ").slice(0, MOST_TEXT),
    // The address names people and articles: an ORCID iD or a DOI is looked for by it.
    other: [
      ...["author", "alternateName", "identifier"].flatMap(texts),
      url?.replace(/^https?:\/\//, "") ?? "",
    ]
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
  linked?: JsonObject;
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
  const byUrl = new Map(
    crate.entities.flatMap(({ ark, url }) => (url === undefined ? [] : [[safeIri(url), ark]])),
  );
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
  { ark, url }: PreparedEntity,
  byUrl: ReadonlyMap<string, string>,
): RecordGraph["links"] =>
  byUrl.size === 0
    ? []
    : linksByUrl(quads, ark, (iri) => byUrl.get(iri), url === undefined ? undefined : safeIri(url));

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
  if (!content) return { entity, ...document };
  const withFacts = (body: JsonObject) =>
    withContent({ ...document, body }, entity.kind, entity.ark, content, baseUrl);
  return {
    entity,
    ...withFacts(document.body),
    ...(document.linked ? { linked: withFacts(document.linked).body } : {}),
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
const inputOf = ({ entity, body, linked }: Draft): GraphInput => ({
  ark: entity.ark,
  kind: entity.kind,
  document: linked ?? body,
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
    name: textOf(document["name"]),
    owner: settings.owner,
    document: new TextEncoder().encode(JSON.stringify(document)),
    quads: graph.quads,
    links: withOwner(entity.kind, graph.links, settings.owner),
    ...searchedOf(entity, document),
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
const searchedOf = (
  { ark, url }: Pick<PreparedEntity, "ark" | "url">,
  document: JsonObject,
): Pick<CrateRecord, "text" | "keywords"> =>
  describedCrate(ark) === undefined
    ? { text: searchTextOf(document, url), keywords: keywordsOf(document["keywords"]) }
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

const metadataPath = ({ parts }: PreparedEntity): string =>
  `${parts.find(({ scope, entity }) => scope.description.root === entity)?.scope.folder ?? ""}${DESCRIPTOR}`;

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
