/** The registry as one caller sees it: private records that it may not change are not there. */
import { arkKey } from "../../identifiers/ark.js";
import { NOBODY, viewerKey } from "../../storage/records/visibility.js";
import type {
  Found,
  RecordStore,
  Selection,
  StoredRecord,
  Viewer,
} from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { AnonymousReads } from "./anonymous-store.js";
import { noteReview, type Review } from "./review.js";
import { type Caller, mayChange } from "./rules.js";

interface Scope {
  whole: RecordStore;
  viewer: Viewer;
  /** A token of a user that is bound to this, so that it sees more of it than of all others. */
  bound?: string;
}
/** Of the stores that {@link storeSeenBy} returns. */
const scopes = new WeakMap<object, Scope>();

type Reader = Pick<Caller, "user" | "admin" | "boundTo">;

/**
 * `undefined` for administrators, who see everything. A token that is bound to a group, organization
 * or project sees what that one owns.
 */
const viewerOf = (caller: Reader | null): Viewer | undefined =>
  caller === null
    ? NOBODY
    : caller.admin
      ? undefined
      : { user: arkKey(caller.boundTo ?? caller.user) };

/** A store with other reads; whatever else it can do is that of the first. */
const over = (store: RecordStore, reads: Partial<RecordStore>): RecordStore =>
  Object.assign(Object.create(store) as RecordStore, reads);

/** The registry, read by a link from here on. */
export const readBy = <D extends object>(deps: D, review: Review | undefined): D =>
  review ? { ...deps, review } : deps;

/** The same store; its reads are those of a viewer. Writes, and checks within them, are not. */
function storeSeenBy(whole: RecordStore, viewer: Viewer): RecordStore {
  const reads: Partial<RecordStore> = {
    find: (ark) => whole.find(ark, viewer),
    findMany: (arks) => whole.findMany(arks, viewer),
    holders: (keys) => whole.holders(keys, viewer),
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
  const seen = over(whole, reads);
  scopes.set(seen, { whole, viewer });
  return seen;
}

/**
 * What a token that is bound to a crate sees beside that: the crate and its records, by their
 * identifiers and as the crate's contents. Other lists and searches have none of them.
 */
function withinBound(seen: RecordStore, whole: RecordStore, caller: Reader): RecordStore {
  const maker: Viewer = { user: arkKey(caller.user) };
  const own = async (record: StoredRecord | undefined): Promise<StoredRecord | undefined> =>
    record && (await mayChange(whole, caller, record)) ? record : undefined;
  const ofCrate = async (crate: string): Promise<RecordStore> => {
    const [found] = await whole.findMany([crate], maker);
    return (await own(found)) ? storeSeenBy(whole, maker) : seen;
  };
  // Other conditions could ask what links lead to.
  const ofContents = async ({ filter }: Selection): Promise<RecordStore> => {
    const { crates: [crate, ...others] = [], kinds: _, ...more } = filter;
    const isContents = others.length === 0 && Object.keys(more).length === 0;
    return crate !== undefined && isContents ? ofCrate(crate) : seen;
  };
  return over(seen, {
    async find(ark): Promise<Found | undefined> {
      const open = await seen.find(ark);
      if (open) return open;
      const found = await whole.find(ark, maker);
      return found && "record" in found && (await own(found.record)) ? found : undefined;
    },
    async findMany(arks) {
      const [open, all] = await Promise.all([seen.findMany(arks), whole.findMany(arks, maker)]);
      return Promise.all(open.map(async (record, at) => record ?? own(all[at])));
    },
    select: async (query, signal) => (await ofContents(query)).select(query, signal),
    countSelected: async (query, signal) => (await ofContents(query)).countSelected(query, signal),
    statistics: async (query, signal) => (await ofContents(query)).statistics(query, signal),
    filesOf: async (crate, options) => (await ofCrate(crate)).filesOf(crate, options),
    usesOf: async (crate) => (await ofCrate(crate)).usesOf(crate),
    danglingLinks: async (crate, options) => (await ofCrate(crate)).danglingLinks(crate, options),
  });
}

/** What is cached for all viewers has names: a store without them is its own whole. */
function withoutNames(shown: RecordStore): RecordStore {
  const records = over(shown, new AnonymousReads(shown).reads());
  scopes.set(records, { whole: records, viewer: scopes.get(shown)!.viewer });
  return records;
}

/** The store itself: for what is cached for all viewers, and for checks of what is stored. */
export const wholeStoreOf = <R extends object>(records: R): R =>
  (scopes.get(records)?.whole as R | undefined) ?? records;

/**
 * Name of the viewer of a store, where it sees a private record; the empty text where it sees what
 * everybody sees. The stores have the counts ready.
 */
export async function privateViewerOf(
  records: Pick<RecordStore, "countSelected">,
): Promise<string> {
  const scope = scopes.get(records);
  if (scope?.viewer.link !== undefined) return viewerKey(scope.viewer) ?? "";
  if (scope?.bound !== undefined) return `bound ${scope.bound}`;
  if (scope?.viewer.user === null) return "";
  const [seen, open] = await Promise.all([
    records.countSelected({ filter: {} }),
    records.countSelected({ filter: {}, viewer: NOBODY }),
  ]);
  return seen > open ? (scope?.viewer.user ?? "everything") : "";
}

type Seeing = Pick<Deps, "records" | "review">;
const ofNobody = new WeakMap<object, Seeing>();

/**
 * Everything that a use case depends on, as the caller may see it: each request gets this, so that
 * no read of one can return a private record of others.
 */
export function seenBy<D extends Seeing>(deps: D, caller: Reader | null): D {
  if (deps.review) {
    const { review, records: whole } = deps;
    const shown = storeSeenBy(whole, { user: null, link: review.hash });
    const records = review.anonymous ? withoutNames(shown) : shown;
    noteReview(records, { review, whole });
    return { ...deps, records };
  }
  const viewer = viewerOf(caller);
  if (viewer === undefined) return deps;
  if (caller?.boundTo !== undefined) {
    const records = withinBound(storeSeenBy(deps.records, viewer), deps.records, caller);
    const bound = `${caller.boundTo} ${caller.user}`;
    scopes.set(records, { whole: deps.records, viewer, bound });
    return { ...deps, records };
  }
  if (viewer.user !== null) return { ...deps, records: storeSeenBy(deps.records, viewer) };
  let seen = ofNobody.get(deps);
  if (!seen) ofNobody.set(deps, (seen = { ...deps, records: storeSeenBy(deps.records, viewer) }));
  return seen as D;
}

/** The registry as it is harvested: the same for each reader, so that a cache may have it. */
export const seenByAll = <D extends Seeing>(deps: D): D =>
  seenBy({ ...deps, records: wholeStoreOf(deps.records), review: undefined }, null);

/**
 * The registry as all see it who see a record: what is derived from other records for all of them
 * may not depend on the one who asks first.
 */
export function seenWith<D extends Seeing>(
  deps: D,
  { private: isPrivate, owner }: Pick<StoredRecord, "private" | "owner">,
): D {
  if (deps.review?.anonymous) return deps;
  const whole = { ...deps, records: wholeStoreOf(deps.records), review: undefined };
  return seenBy(whole, isPrivate && owner !== null ? { user: owner, admin: false } : null);
}
