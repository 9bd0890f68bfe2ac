/** Items and sets that harvesters see, over OAI-PMH and in the catalog. */
import { type Ark, lookupArk } from "../../identifiers/ark.js";
import { OF_PROJECT } from "../../model/connections.js";
import { KIND_NAMES, type KindName, type PublicationStatus } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { SelectionPage, StoredRecord } from "../../storage/records/port.js";
import type { RecordFilter } from "../../storage/records/port/selection.js";
import type { Deps } from "../deps.js";
import { withoutForgotten } from "../records/forgotten.js";
import { within } from "../records/select.js";
import { type Datestamps, OaiError } from "./oai-arguments.js";
import { pairs } from "../../pairs.js";

/** Accounts of people are in no feed. */
export const LEFT_OUT: readonly KindName[] = ["user"];
/** Statuses of records that anyone may find. */
export const OPEN: readonly PublicationStatus[] = ["PUBLISHED", "EMBARGOED", "ARCHIVED"];

/** What a set holds: its live records, and the deletions that its harvesters need. */
interface SetFilters {
  live: RecordFilter;
  deleted: RecordFilter;
}

/** Characters of a setSpec (OAI-PMH 2.0, section 2.6), colons left out: no set is within another. */
const SPEC = /^[A-Za-z0-9\-_.!~*'()]+$/;

/** An identifier in a setSpec: `99999.name`; other characters are bytes, as `!2F`. */
const specOfArk = (ark: string): string => {
  const [, naan = "", name = ""] = /^ark:([^/]*)\/(.*)$/s.exec(ark) ?? [];
  const escaped = Array.from(Buffer.from(name, "utf8"), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9_.~-]/.test(character)
      ? character
      : `!${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
  return `${naan}.${escaped.join("")}`;
};

function arkOfSpec(text: string): Ark | undefined {
  const dot = text.indexOf(".");
  const name = text
    .slice(dot + 1)
    .replace(/%/g, "%25")
    .replace(/!([0-9A-F]{2})/g, "%$1");
  try {
    return dot < 0 ? undefined : lookupArk(`ark:${text.slice(0, dot)}/${decodeURIComponent(name)}`);
  } catch {
    return undefined;
  }
}

/**
 * What a set holds; `undefined` for a set that this registry never has.
 * @throws OaiError `badArgument` for characters that no set has
 */
export function filtersOf(spec: string): SetFilters | undefined {
  if (!SPEC.test(spec) || spec.length > 4096)
    throw new OaiError(
      "badArgument",
      "The argument set holds characters that no set has; ListSets returns the sets.",
    );
  const [, type, rest = ""] = /^(\w+)\.(.*)$/.exec(spec) ?? [];
  if (type === "kind") {
    const kind = KIND_NAMES.find((name) => name === rest && !LEFT_OUT.includes(name));
    return kind && { live: { kinds: [kind] }, deleted: { kinds: [kind] } };
  }
  const ark = arkOfSpec(rest);
  if (!ark) return undefined;
  const { stored, key } = ark;
  switch (type) {
    case "crate":
      return { live: { crates: [stored] }, deleted: { crates: [stored] } };
    case "owner":
      return { live: { owners: [key] }, deleted: { owners: [key] } };
    case "project": {
      const linked = { linked: { key, out: OF_PROJECT.out, in: OF_PROJECT.in } };
      // The links of a deleted record are gone with it, its last document is not.
      return { live: linked, deleted: { or: [linked, { owners: [key] }, { mentions: stored }] } };
    }
    default:
      return undefined;
  }
}

/** Links of one record that are read to find its projects. */
const MAX_LINKS = 50;

/** The sets of each record, for its header. */
export async function setsOf(
  { records }: Pick<Deps, "records">,
  items: readonly StoredRecord[],
): Promise<string[][]> {
  const live = items.filter(({ tombstone }) => tombstone === null);
  const [from, to] =
    live.length === 0
      ? [[], []]
      : await Promise.all([
          records.linksFrom(
            live.map(({ ark }) => ark),
            { predicates: OF_PROJECT.in, distinct: true, limit: MAX_LINKS },
          ),
          records.linksTo(
            live.map(({ key }) => key),
            {
              predicates: OF_PROJECT.out,
              kinds: ["project"],
              distinct: true,
              limit: MAX_LINKS,
            },
          ),
        ]);
  const targets = from.flatMap((page) => page.items.map(({ targetKey }) => targetKey));
  const holders = await records.holders([...new Set(targets)]);
  const projects = new Map(
    holders.flatMap(({ key, ark, kind }) => (kind === "project" ? [[key, ark] as const] : [])),
  );
  const found = new Map(
    pairs(live, pairs(from, to)).map(([{ ark }, [stated, others]]) => [
      ark,
      new Set([
        ...stated.items.flatMap(({ targetKey }) => projects.get(targetKey) ?? []),
        ...others.items.map(({ source }) => source),
      ]),
    ]),
  );
  return items.map(({ ark, kind, crate, owner }) => [
    `kind.${kind}`,
    ...(crate === null ? [] : [`crate.${specOfArk(crate)}`]),
    ...(owner === null ? [] : [`owner.${specOfArk(owner)}`]),
    ...Array.from(found.get(ark) ?? [], (project) => `project.${specOfArk(project)}`),
  ]);
}

interface NamedSet {
  spec: string;
  name: string;
}

/** Sets of one page of ListSets, and where the next page begins. */
export interface SetPage {
  sets: NamedSet[];
  next?: string;
}

/** Owners that ListSets names: those of the most records. The sets of others can be harvested. */
const MAX_OWNERS = 1000;

/**
 * A page of the sets with records: kinds and owners first, then crates, then projects.
 * @param after where the page begins, from {@link SetPage.next}
 */
export async function listSets(
  deps: Deps,
  limit: number,
  after: string | undefined,
): Promise<SetPage> {
  if (after === undefined)
    return { sets: [...(await kindSets(deps)), ...(await ownerSets(deps))], next: "crate" };
  const [type = "", position] = after.split(/ (.*)/s, 2);
  const kind: KindName = type === "project" ? "project" : "rocrate";
  const page = await within((signal) =>
    deps.records.select(
      {
        filter: { kinds: [kind], statuses: OPEN },
        order: { by: "created", descending: false },
        limit,
        ...(position === undefined ? {} : { after: position }),
      },
      signal,
    ),
  );
  const sets = page.items.map(({ ark, name }) => ({
    spec: `${type}.${specOfArk(ark)}`,
    name: `${kind === "project" ? "Project" : "Crate"}: ${name ?? ark}`,
  }));
  if (page.more) return { sets, next: `${type} ${page.positions.at(-1)}` };
  return type === "crate" ? { sets, next: "project" } : { sets };
}

async function kindSets(deps: Deps): Promise<NamedSet[]> {
  const { groups } = await within((signal) =>
    deps.records.statistics({ ...DISCLOSED, by: ["kind"], limit: KIND_NAMES.length }, signal),
  );
  const held = new Set(groups.map(({ values: [kind] }) => kind));
  return KIND_NAMES.filter((kind) => held.has(kind)).map((kind) => ({
    spec: `kind.${kind}`,
    name: `Kind: ${KINDS[kind].typeName}`,
  }));
}

async function ownerSets(deps: Deps): Promise<NamedSet[]> {
  const { groups } = await within((signal) =>
    deps.records.statistics({ ...DISCLOSED, by: ["owner"], limit: MAX_OWNERS }, signal),
  );
  const owners = groups.flatMap(({ values: [owner] }) => owner ?? []);
  const found = await deps.records.findMany(owners);
  return owners.map((owner, index) => {
    const record = found[index];
    // Names of people are for callers with a token.
    const isNamed =
      record &&
      record.tombstone === null &&
      OPEN.includes(record.publicationStatus) &&
      !LEFT_OUT.includes(record.kind);
    return {
      spec: `owner.${specOfArk(owner)}`,
      name: `Owner: ${(isNamed ? record.name : null) ?? owner}`,
    };
  });
}

const DISCLOSED = { filter: { disclosed: true }, without: LEFT_OUT } as const;

/** An item of the repository: a record that is or was open to everyone. */
export interface OaiItem {
  record: StoredRecord;
  /** A tombstone, or a record that became a draft again: only its header is shown. */
  isDeleted: boolean;
}

/**
 * How far a list is read: a position among live records, and one among deleted ones. Both are by
 * the time of the last change, so a record that changes meanwhile moves behind the position, and
 * comes again.
 */
export type ItemPosition = readonly [live: string | null, deleted: string | null];

interface ItemPage {
  items: OaiItem[];
  position: ItemPosition;
  more: boolean;
}

/** What a record is as an item; `undefined` where it is none. */
export async function itemOf(
  { records }: Pick<Deps, "records">,
  record: StoredRecord,
): Promise<OaiItem | undefined> {
  if (LEFT_OUT.includes(record.kind)) return undefined;
  const isDraft = record.publicationStatus === "DRAFT";
  if (isDraft && !(await wasPublished(records, record.ark))) return undefined;
  return { record, isDeleted: isDraft || record.tombstone !== null };
}

/** Revisions in one read. */
const REVISIONS = 1000;

/** Only an act of publication sets a status. */
async function wasPublished(records: Deps["records"], ark: string): Promise<boolean> {
  for (let before: number | undefined; ;) {
    const page = await records.history(ark, {
      limit: REVISIONS,
      ...(before === undefined ? {} : { before }),
    });
    if (page.some(({ action }) => action === "publish")) return true;
    if (page.length < REVISIONS) return false;
    before = page.at(-1)?.revision;
  }
}

/** A page of items by the time of their last change. */
export async function itemsOf(
  deps: Deps,
  sets: SetFilters | null,
  { since, before }: Datestamps,
  position: ItemPosition,
  limit: number,
): Promise<ItemPage> {
  const times = {
    ...(since === undefined ? {} : { since }),
    ...(before === undefined ? {} : { before }),
  };
  const read = (filter: RecordFilter, after: string | null): Promise<SelectionPage> =>
    within(
      (signal) =>
        deps.records.select(
          {
            filter: { disclosed: true, ...filter },
            without: LEFT_OUT,
            order: { by: "modified", descending: false },
            limit,
            bytes: deps.config.MAX_PAGE_BYTES,
            ...(after === null ? {} : { after }),
          },
          signal,
        ),
      "The list",
      "harvest a shorter time with from and until, or a smaller set",
    );
  const inSet = (filter: RecordFilter | undefined): RecordFilter =>
    filter ? { and: [filter] } : {};
  const [live, gone] = await Promise.all([
    read(
      {
        ...inSet(sets?.live),
        ...(since === undefined && before === undefined ? {} : { modified: times }),
      },
      position[0],
    ),
    read({ ...inSet(sets?.deleted), deleted: times }, position[1]),
  ]);
  return merged(deps, live, gone, position, limit);
}

/** The first of both pages; what does not fit is read again with the next page. */
async function merged(
  deps: Deps,
  live: SelectionPage,
  gone: SelectionPage,
  position: ItemPosition,
  limit: number,
): Promise<ItemPage> {
  const chosen: StoredRecord[] = [];
  let [l, g] = [0, 0];
  while (chosen.length < limit && (l < live.items.length || g < gone.items.length)) {
    const [one, other] = [live.items[l], gone.items[g]];
    if (one && (!other || one.modifiedAt <= other.modifiedAt)) {
      chosen.push(one);
      l++;
    } else if (other) {
      chosen.push(other);
      g++;
    }
  }
  const records = await withoutForgotten(deps, chosen);
  return {
    items: records.map((record) => ({
      record,
      isDeleted: record.tombstone !== null || record.publicationStatus === "DRAFT",
    })),
    position: [live.positions[l - 1] ?? position[0], gone.positions[g - 1] ?? position[1]],
    more: live.more || gone.more || l < live.items.length || g < gone.items.length,
  };
}

/** The first datestamp; `undefined` for an empty repository. */
export async function earliestOf(deps: Deps): Promise<number | undefined> {
  const { items } = await itemsOf(deps, null, {}, [null, null], 1);
  return items[0]?.record.modifiedAt;
}
