/** Links between records: both ways, in numbers, as RDF, and those that lead nowhere. */
import { setImmediate } from "node:timers/promises";
import { Writer } from "n3";
import { type Ark, arkKey } from "../../identifiers/ark.js";
import type { Connection } from "../../model/connections.js";
import { isObject, type JsonObject, type JsonValue, PREFIXES } from "../../model/field.js";
import { graphOf } from "../../rdf/graph.js";
import { literalTerm, parseNQuadsInParts } from "../../rdf/terms.js";
import type {
  DanglingLink,
  FoundLink,
  ObjectReference,
  Page,
  RecordStore,
  StoredRecord,
} from "../../storage/records/port.js";
import { holderOf, partsOf } from "../crates/export/contents.js";
import { step } from "../crates/findings.js";
import { DESCRIPTOR_END } from "../crates/layout.js";
import type { Deps } from "../deps.js";
import { withoutForgotten } from "../evidence/stored/document.js";
import { accessOf, CITED } from "../formats/facts.js";
import { findLive } from "./find.js";
import { within } from "./select.js";
import { parseDocument, type RecordView } from "./view.js";

type Reads = Pick<Deps, "records">;
type LinksFrom = NonNullable<Parameters<RecordStore["linksFrom"]>[1]>;
type LinksTo = NonNullable<Parameters<RecordStore["linksTo"]>[1]>;

/**
 * The live records of many identifiers in one read, in the requested order; `undefined` for
 * tombstones and for identifiers without a record.
 */
export async function liveRecords(
  deps: Reads,
  arks: readonly string[],
): Promise<(StoredRecord | undefined)[]> {
  const found = await deps.records.findMany(arks);
  const live = found.filter((record) => record !== undefined && !record.tombstone);
  const shown = new Map(
    (await withoutForgotten(deps, live as StoredRecord[])).map((record) => [record.ark, record]),
  );
  return found.map((record) => record && shown.get(record.ark));
}

/** A page of the statements of each record. With several predicates each target counts once. */
export const linksFrom = (
  { records }: Reads,
  arks: readonly string[],
  options: LinksFrom,
): Promise<Page<FoundLink>[]> => records.linksFrom(arks, once(options));

/** A page of the statements about each key. With several predicates each source counts once. */
export const linksTo = (
  { records }: Reads,
  keys: readonly string[],
  options: LinksTo,
): Promise<Page<FoundLink>[]> => records.linksTo(keys, once(options));

const once = <T extends { predicates?: readonly string[] }>(
  options: T,
): T & { distinct: boolean } => ({
  ...options,
  distinct: (options.predicates?.length ?? 0) > 1,
});

/**
 * How many records a connection leads to from each record, as its pages list them.
 * @throws ServiceError `QUERY_TIMEOUT`
 */
export const countLinks = (
  { records }: Reads,
  arks: readonly string[],
  { out, in: back, inKinds }: Connection,
): Promise<number[]> =>
  within(
    (signal) =>
      records.countLinks(
        {
          arks,
          from: once({ predicates: out }),
          to: once({
            predicates: back,
            unlessBack: out,
            ...(inKinds === undefined ? {} : { kinds: inKinds }),
          }),
        },
        signal,
      ),
    "Counting the links",
    "ask for totalCount of fewer records at a time",
  );

/** Data that a landing page shows beside the record itself. */
export interface Surroundings {
  /** The record's content; for a crate the archive of its upload. */
  object: ObjectReference | undefined;
  from: Page<FoundLink>;
  to: Page<FoundLink>;
  /** Names of the linked records, by identifier; deleted records have none. */
  names: ReadonlyMap<string, string>;
}

/** @param limit links of each direction */
export async function surroundingsOf(
  { records }: Reads,
  record: StoredRecord,
  limit: number,
): Promise<Surroundings> {
  const [object] = await records.objectsOf(record.ark, {
    role: record.kind === "rocrate" ? "archive" : "content",
  });
  const [[from], [to]] = await Promise.all([
    records.linksFrom([record.ark], { limit }),
    records.linksTo([record.key], { limit }),
  ]);
  const arks = [...from!.items.map((link) => link.target), ...to!.items.map((link) => link.source)];
  const linked = await records.findMany(arks);
  const names = new Map(
    linked.flatMap((other, index) =>
      other?.name && !other.tombstone ? [[arks[index]!, other.name] as const] : [],
    ),
  );
  return { object, from: from!, to: to!, names };
}

/**
 * Members of a crate that names no parts: nothing else on its page would link to them.
 * @param limit one more is read, to see whether there are more
 */
export async function unnamedMembers(
  { records }: Reads,
  { ark, kind, crate }: StoredRecord,
  limit: number,
): Promise<{ members: StoredRecord[]; more: boolean }> {
  if (kind !== "rocrate" || crate !== null) return { members: [], more: false };
  const [parts] = await records.linksFrom([ark], { predicates: ["schema:hasPart"], limit: 1 });
  if (parts!.items.length > 0) return { members: [], more: false };
  const { items, next } = await records.list({
    crate: ark,
    notEndingWith: DESCRIPTOR_END,
    limit: limit + 1,
  });
  const members = items.filter((member) => member.ark !== ark);
  return { members: members.slice(0, limit), more: next !== undefined || members.length > limit };
}

/** The statements of a record as N-Quads, without inferred ones. */
export async function quadsOf({ records }: Reads, { record, past }: RecordView): Promise<string> {
  if (!past) return (await records.quads(record.ark)) ?? "";
  const { ark, kind, crate } = record;
  return (await graphOf({ ark, kind, document: past, fromCrate: crate !== null })).quads;
}

/** Media types of a record as RDF text. */
export type RdfFormat =
  "text/turtle" | "application/n-quads" | "application/n-triples" | "application/trig";

/**
 * The statements of a record, without inferred ones. N-Quads are those of the graph. The other
 * formats are for catalogues as well: they say who may read the content, and who publishes what
 * states no publisher.
 */
export async function rdfText(deps: Deps, view: RecordView, format: RdfFormat): Promise<string> {
  const end = ` <${view.record.ark}> .`;
  const lines = (await quadsOf(deps, view)).split("\n").filter((line) => line.endsWith(end));
  if (format === "application/n-quads") return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  const about = catalogued(deps, view.record, lines);
  if (format === "application/n-triples")
    return [...lines.map((line) => `${line.slice(0, -end.length)} .`), ...about]
      .map((line) => `${line}\n`)
      .join("");
  const writer = new Writer({ format, prefixes: PREFIXES });
  for await (const quads of parseNQuadsInParts([...lines, ...about]))
    for (const { subject, predicate, object, graph } of quads)
      if (format === "application/trig") writer.addQuad(subject, predicate, object, graph);
      else writer.addQuad(subject, predicate, object);
  return new Promise((resolve, reject) =>
    writer.end((error, result: string) => (error ? reject(error) : resolve(result))),
  );
}

/** Statements of the registry about a record: access right and publisher, as N-Triples. */
function catalogued(
  { config, baseUrl }: Pick<Deps, "config" | "baseUrl">,
  record: StoredRecord,
  stated: readonly string[],
): string[] {
  if (!CITED.includes(record.kind)) return [];
  const { dcterms, schema } = PREFIXES;
  const publisher = `<${schema}publisher>`;
  return [
    `<${record.ark}> <${dcterms}accessRights> <${accessOf(record).coar}> .`,
    ...(stated.some((line) => line.startsWith(`<${record.ark}> ${publisher} `))
      ? []
      : [
          `<${record.ark}> ${publisher} <${baseUrl()}> .`,
          `<${baseUrl()}> <${schema}name> ${literalTerm(config.REGISTRY_NAME)} .`,
        ]),
  ];
}

/** Links that are examined in one read: few enough not to delay other readers. */
const EXAMINED = 1000;

/** A reference of a crate's record that leads to nothing. */
export interface DanglingReference {
  /** The record that states it. */
  source: StoredRecord;
  /** CURIE or IRI of the property. */
  predicate: string;
  /** JSON pointer (RFC 6901) to the reference in the record's document; null where it is elsewhere. */
  pointer: string | null;
  /** The identifier, as the record states it. */
  target: string;
  /** The target was deleted; otherwise no record has the identifier. */
  deleted: boolean;
  /** The record to use in place of a deleted one, where its tombstone names one. */
  successor: string | null;
  position: string;
}

/**
 * References of a crate and of its records that lead to no live record, in order of the records.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `WRONG_KIND`; `BAD_REQUEST` for another
 * list's cursor; `QUERY_TIMEOUT`
 */
export async function danglingReferences(
  deps: Deps,
  ark: Ark,
  { limit, after }: { limit: number; after?: string },
): Promise<{ items: DanglingReference[]; next?: string }> {
  const root = await findLive(deps, ark, "rocrate");
  const links = await within(
    (signal) => linksOf(deps, root, { after, most: limit + 1, signal }),
    "Looking for references that lead nowhere",
    "ask for fewer with first",
  );
  const items = await described(deps, links.slice(0, limit));
  return links.length > limit ? { items, next: links[limit - 1]!.position } : { items };
}

async function linksOf(
  deps: Deps,
  root: StoredRecord,
  { after, most, signal }: { after: string | undefined; most: number; signal: AbortSignal },
): Promise<DanglingLink[]> {
  // The records of a crate within another are among those of the outer crate.
  const parts = root.crate === null ? undefined : await partsOf(deps, root);
  const found: DanglingLink[] = [];
  for (let next = after; ;) {
    const page = await deps.records.danglingLinks(holderOf(root), {
      limit: EXAMINED,
      ...(next === undefined ? {} : { after: next }),
    });
    for (const link of page.items)
      if (!parts || parts.has(link.source) || link.source.startsWith(`${root.ark}/`))
        found.push(link);
    next = page.next;
    if (next === undefined || found.length >= most) return found.slice(0, most);
    await setImmediate();
    signal.throwIfAborted();
  }
}

async function described(
  { records }: Pick<Deps, "records">,
  links: readonly DanglingLink[],
): Promise<DanglingReference[]> {
  const sources = await records.findMany(links.map(({ source }) => source));
  const targets = await records.findMany(links.map(({ target }) => target));
  const documents = new Map<string, JsonObject>();
  return links.flatMap(({ predicate, target, deleted, position }, index) => {
    const source = sources[index];
    // Deleted between the reads.
    if (!source || source.tombstone) return [];
    let document = documents.get(source.ark);
    if (!document) documents.set(source.ark, (document = parseDocument(source.document)));
    return {
      source,
      predicate,
      pointer: referencePointer(document, target) ?? null,
      target,
      deleted,
      successor: targets[index]?.tombstone?.successor ?? null,
      position,
    };
  });
}

/** Deepest value that is searched for a reference. */
const DEEPEST = 20;

/** JSON pointer to the first place where a document refers to an identifier, however it is spelled. */
export function referencePointer(document: JsonObject, target: string): string | undefined {
  const key = arkKey(target);
  const refers = (text: string): boolean =>
    text === target || (text.includes("ark:") && arkKey(text.slice(text.indexOf("ark:"))) === key);
  return pointerTo(document, refers, 0);
}

function pointerTo(
  value: JsonValue | JsonObject,
  refers: (text: string) => boolean,
  depth: number,
): string | undefined {
  if (typeof value === "string") return refers(value) ? "" : undefined;
  if (depth > DEEPEST || (!Array.isArray(value) && !isObject(value))) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (depth === 0 && (key === "@id" || key === "@context")) continue;
    const found = pointerTo(inner, refers, depth + 1);
    if (found !== undefined) return step(key) + found;
  }
  return undefined;
}
