/** What is stored of a document, and the writes that make it a record's first or next state. */
import { isDeepStrictEqual } from "node:util";
import { eventLoop } from "../../event-loop-budget.js";
import { arkKey } from "../../identifiers/ark.js";
import { EntityIds } from "../../identifiers/entity-ids.js";
import type { JsonObject } from "../../model/field.js";
import { step } from "../../model/json/pointer.js";
import type { Kind } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { textOf } from "../../model/texts.js";
import { linksByUrl, urlsIn } from "../../rdf/url-links.js";
import { packLinks, unpackLinks, unpackQuads } from "../../storage/records/codecs.js";
import type { RecordState, RecordWrite, StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import {
  type ClaimedState,
  reservedFields,
  type Stated,
  stated,
  withoutReserved,
} from "./reserved.js";
import { ownerOf } from "./validate.js";
import { documentBytes, parseDocument } from "./view.js";

/** Bytes of a document up to which the serving thread may expand it itself. */
const MAX_EXPANDED_BYTES = 16 * 2 ** 10;
/** Values of a document of scalars, each of which costs 2 to 3 µs. */
const MAX_SCALARS = 2_000;
/** Values of one that holds objects, each of which costs the JSON-LD processor about 40 µs. */
const MAX_NESTED_VALUES = 100;

/**
 * Whether a document is expanded in about 5 ms at most: this is usual, and starting a thread for it
 * would take longer. Contexts inside the document, and contexts that it only names, cost as much as
 * their terms.
 * @param size bytes of the document as JSON
 */
function isLight(document: JsonObject, size: number): boolean {
  if (size > MAX_EXPANDED_BYTES) return false;
  let values = 0;
  let nested = false;
  const open: object[] = [document];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const members: unknown[] = Array.isArray(holder) ? holder : Object.values(holder);
    values += members.length;
    if (values > (nested ? MAX_NESTED_VALUES : MAX_SCALARS)) return false;
    if (
      holder !== document &&
      (Object.hasOwn(holder, "@context") || Object.hasOwn(holder, "@import"))
    )
      return false;
    for (const member of members) {
      if (typeof member !== "object" || member === null) continue;
      if (!Array.isArray(member) && member !== document["@context"]) nested = true;
      open.push(member);
    }
  }
  const context = document["@context"];
  return (
    values <= (nested ? MAX_NESTED_VALUES : MAX_SCALARS) &&
    (context === undefined ||
      context === null ||
      (typeof context === "object" && !Array.isArray(context)))
  );
}

/** What decides about a document's statements besides the document. */
interface StateOptions {
  /** The document's context defines its terms. */
  fromCrate?: boolean | undefined;
  /** Owner of the record where the document names none. */
  ownerBefore?: string | null;
  /** Name of the record where the document states none: of a crate that of its archive. */
  nameBefore?: string | null;
}

/**
 * Everything that is stored for one state of a record: document, quads, links, search text. A large
 * document is expanded in a separate thread.
 * @throws ValidationError when the document is no valid JSON-LD; ServiceError as
 * `DocumentThread.ask`
 */
export async function stateOf(
  deps: Pick<Deps, "documents">,
  kind: Kind,
  ark: string,
  document: JsonObject,
  options?: StateOptions,
): Promise<RecordState> {
  return (await claimedState(deps, kind, ark, document, options)).state;
}

/**
 * The same with the lines among its quads that only the registry may state.
 * @throws as {@link stateOf}
 */
export async function claimedState(
  { documents }: Pick<Deps, "documents">,
  kind: Kind,
  ark: string,
  document: JsonObject,
  { fromCrate = kind.loose === true, ownerBefore = null, nameBefore = null }: StateOptions = {},
): Promise<ClaimedState> {
  const bytes = documentBytes(document);
  const named = ownerOf(kind, document);
  const owner = named?.stored ?? null;
  const input = {
    ark,
    kind: kind.name,
    owner: owner ?? ownerBefore,
    ...(fromCrate ? { fromCrate } : {}),
  };
  let claimed: Stated;
  if (isLight(document, bytes.length))
    claimed = await stated({ ...input, document, known: named ?? undefined });
  else {
    // Writing and copying megabytes take a turn of the event loop each.
    await eventLoop.nextTurn();
    // A copy: the bytes are stored as well.
    const copy = new Uint8Array(bytes);
    claimed = await documents.ask("state", { ...input, document: copy }, [copy]);
  }
  const { reserved, ...rest } = claimed;
  return {
    state: {
      kind: kind.name,
      name: textOf(document["name"]) ?? nameBefore,
      owner,
      document: bytes,
      ...rest,
    },
    reserved,
  };
}

/**
 * JSON pointers (RFC 6901) of the members that differ between two documents, at the first level.
 */
export function changedPointers(before: JsonObject, after: JsonObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter(
      (name) =>
        Object.hasOwn(before, name) !== Object.hasOwn(after, name) ||
        !isDeepStrictEqual(before[name], after[name]),
    )
    .map(step);
}

/** Size of two documents, in bytes, that the serving thread compares itself. */
const MAX_COMPARED_BYTES = 64 * 2 ** 10;

/** {@link changedPointers} of two stored documents; large ones are compared in another thread. */
export async function changedBetween(
  { documents }: Pick<Deps, "documents">,
  before: Uint8Array,
  after: Uint8Array,
): Promise<string[]> {
  if (before.length + after.length <= MAX_COMPARED_BYTES)
    return changedPointers(parseDocument(before), parseDocument(after));
  const copies = { before: new Uint8Array(before), after: new Uint8Array(after) };
  return documents.ask("changed", copies, [copies.before, copies.after]);
}

/**
 * The write that makes a document the first state of a record.
 * @throws as {@link stateOf}; ValidationError for a statement that only the registry may make
 */
export async function creationOf(
  deps: Pick<Deps, "documents">,
  kind: Kind,
  ark: string,
  document: JsonObject,
  options?: StateOptions,
): Promise<Extract<RecordWrite, { op: "create" }>> {
  const claimed = await claimedState(deps, kind, ark, document, options);
  return { op: "create", ark, key: arkKey(ark), ...withoutReserved(kind, document, claimed) };
}

/**
 * The write that makes a document the next state of a record: fields that only the registry sets
 * stay as they are, or absent. The document need not have every field that clients of the API must
 * fill in, nor state its owner: a crate's record belongs to its uploader.
 * @param fromCrate by default the context of a crate's record goes on defining its terms
 * @throws as {@link creationOf}
 */
export async function revisionOf(
  deps: Pick<Deps, "documents" | "records">,
  record: StoredRecord,
  document: JsonObject,
  fromCrate = KINDS[record.kind].loose === true || record.crate !== null,
): Promise<Extract<RecordWrite, { op: "replace" }>> {
  const kind = KINDS[record.kind];
  const claimed = await claimedState(deps, kind, record.ark, document, {
    fromCrate,
    ownerBefore: record.owner,
    ...(record.kind === "rocrate" ? { nameBefore: record.name } : {}),
  });
  const mayStateReserved = claimed.reserved.length > 0 || reservedFields(kind).length > 0;
  const allowed = mayStateReserved
    ? withoutReserved(kind, document, claimed, {
        document: parseDocument(record.document),
        quads: (await deps.records.quads(record.ark)) ?? "",
        fromCrate: record.crate !== null,
      })
    : claimed.state;
  const state = await withUrlLinks(deps, record, allowed);
  return {
    op: "replace",
    ark: record.ark,
    ifRevision: record.revision,
    changed: await changedBetween(deps, record.document, state.document),
    ...state,
    owner: state.owner ?? record.owner,
  };
}

/** URLs of one record that are looked up among the entities of its crate. */
const MAX_URLS = 1000;
/** Statements that this thread unpacks for them, in bytes. */
const MAX_PACKED_BYTES = 2 ** 20;

/** The state with links to the records of its crate that it names by URLs. */
async function withUrlLinks(
  { records }: Pick<Deps, "records">,
  { ark, kind, crate: holder }: StoredRecord,
  state: RecordState,
): Promise<RecordState> {
  const crate = holder ?? (kind === "rocrate" ? ark : null);
  if (crate === null || state.quads.length > MAX_PACKED_BYTES) return state;
  const quads = typeof state.quads === "string" ? state.quads : unpackQuads(state.quads);
  const urls = urlsIn(quads, ark).slice(0, MAX_URLS);
  if (urls.length === 0) return state;
  const ids = new EntityIds(crate);
  const arks = new Map(
    urls.flatMap((url) => {
      const entity = ids.of(url, "");
      return entity.rule === "url" ? [[url, entity.ark] as const] : [];
    }),
  );
  const holders = await records.holders([...arks.values()].map(arkKey));
  const held = new Set(holders.flatMap((one) => (one.deleted ? [] : [one.ark])));
  const links = linksByUrl(quads, ark, (url) => {
    const target = arks.get(url);
    return target !== undefined && held.has(target) ? target : undefined;
  });
  return links.length === 0
    ? state
    : { ...state, links: packLinks([...unpackLinks(state.links), ...links]) };
}
