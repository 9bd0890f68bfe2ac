/** The registry as one caller sees it: private records that it may not change are not there. */
import { arkKey } from "../../identifiers/ark.js";
import type { RecordStore, StoredRecord, Viewer } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import type { Caller } from "./rules.js";

interface Scope {
  whole: RecordStore;
  viewer: Viewer;
}
/** Of the stores that {@link storeSeenBy} returns. */
const scopes = new WeakMap<object, Scope>();

/** A reader who is not signed in. */
export const NOBODY: Viewer = { user: null };

/** `undefined` for administrators, who see everything. */
const viewerOf = (caller: Pick<Caller, "user" | "admin"> | null): Viewer | undefined =>
  caller === null ? NOBODY : caller.admin ? undefined : { user: arkKey(caller.user) };

/** The same store; its reads are those of a viewer. Writes, and checks within them, are not. */
function storeSeenBy(whole: RecordStore, viewer: Viewer): RecordStore {
  const seen: RecordStore = {
    ...whole,
    find: (ark) => whole.find(ark, viewer),
    findMany: (arks) => whole.findMany(arks, viewer),
    holders: (keys) => whole.holders(keys, viewer),
    list: (query) => whole.list({ viewer, ...query }),
    count: (query) => whole.count({ viewer, ...query }),
    select: (query, signal) => whole.select({ viewer, ...query }, signal),
    countSelected: (selection, signal) => whole.countSelected({ viewer, ...selection }, signal),
    statistics: (query, signal) => whole.statistics({ viewer, ...query }, signal),
    search: (query, signal) => whole.search({ viewer, ...query }, signal),
    linksTo: (keys, options) => whole.linksTo(keys, { viewer, ...options }),
    countLinks: (query, signal) => whole.countLinks({ viewer, ...query }, signal),
    filesOf: (crate, options) => whole.filesOf(crate, { viewer, ...options }),
    usesOf: (crate) => whole.usesOf(crate, viewer),
    danglingLinks: (crate, options) => whole.danglingLinks(crate, { viewer, ...options }),
  };
  scopes.set(seen, { whole, viewer });
  return seen;
}

/** The store itself: for what is cached for all viewers, and for checks of what is stored. */
export const wholeStoreOf = <R extends object>(records: R): R =>
  (scopes.get(records)?.whole as R | undefined) ?? records;

/**
 * Name of the viewer of a store, where it sees a private record; the empty text where it sees what
 * everybody sees. The stores have the counts ready.
 */
export async function privateViewerOf(records: Pick<RecordStore, "count">): Promise<string> {
  const scope = scopes.get(records);
  if (scope?.viewer.user === null) return "";
  const [seen, open] = await Promise.all([records.count({}), records.count({ viewer: NOBODY })]);
  return seen > open ? (scope?.viewer.user ?? "everything") : "";
}

type Seeing = Pick<Deps, "records">;
const ofNobody = new WeakMap<object, Seeing>();

/**
 * Everything that a use case depends on, as the caller may see it: each request gets this, so that
 * no read of one can return a private record of others.
 */
export function seenBy<D extends Seeing>(
  deps: D,
  caller: Pick<Caller, "user" | "admin"> | null,
): D {
  const viewer = viewerOf(caller);
  if (viewer === undefined) return deps;
  if (viewer.user !== null) return { ...deps, records: storeSeenBy(deps.records, viewer) };
  let seen = ofNobody.get(deps);
  if (!seen) ofNobody.set(deps, (seen = { ...deps, records: storeSeenBy(deps.records, viewer) }));
  return seen as D;
}

/**
 * The registry as all see it who see a record: what is derived from other records for all of them
 * may not depend on the one who asks first.
 */
export function seenWith<D extends Seeing>(
  deps: D,
  { private: isPrivate, owner }: Pick<StoredRecord, "private" | "owner">,
): D {
  const whole = { ...deps, records: wholeStoreOf(deps.records) };
  return seenBy(whole, isPrivate && owner !== null ? { user: owner, admin: false } : null);
}
