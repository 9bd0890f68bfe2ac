import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { ServiceError } from "../../errors.js";
import { type Ark, lookupArk } from "../../identifiers/ark.js";
import { KIND_NAMES, type KindName } from "../../model/kind.js";
import type { ObjectReference, StoredRecord } from "../../storage/records/port.js";
import type { Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { type Content, contentOf } from "../files/content.js";
import { archivePage } from "./datasheet.js";
import { findLive } from "../records/find.js";
import { DESCRIPTOR, DESCRIPTOR_END, describedCrate, descriptorArk } from "../crates/layout.js";
import { PREVIEW_PAGE, previewPage } from "../crates/upload.js";
import {
  type CrateArchive,
  crateArchive,
  type FolderArchive,
  folderArchive,
} from "../crates/export/archive.js";
import { crateRecords, stateOf } from "../records/of-crate.js";
import { crateMetadata, surveyCrate } from "../crates/export/metadata.js";
import { AS_CREATED } from "../records/pages.js";

/** RO-Crate metadata of a crate, before serialization. */
export interface CrateMetadata {
  root: StoredRecord;
  /** Differs after every change of the crate or of its contents. */
  state: string;
  /** JSON text. */
  open(): Promise<Readable>;
}

/** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
export async function readCrateMetadata(deps: Deps, ark: Ark): Promise<CrateMetadata> {
  const root = await findLive(deps, ark, "rocrate");
  return {
    root,
    state: await stateOf(deps, root),
    open: async () => {
      const survey = await surveyCrate(deps, root);
      const names = {
        context: survey.context,
        known: survey.known,
        paths: new Map([[descriptorArk(root.ark), DESCRIPTOR]]),
      };
      return Readable.from(crateMetadata(deps, root, survey, names), { objectMode: false });
    },
  };
}

/**
 * The bytes of that text, counted as it is written.
 * @throws as {@link readCrateMetadata}
 */
export async function metadataSize(deps: Deps, ark: Ark): Promise<number> {
  const { open } = await readCrateMetadata(deps, ark);
  let size = 0;
  for await (const chunk of await open()) size += Buffer.byteLength(chunk as string | Buffer);
  return size;
}

/**
 * The crate as an archive; files that the caller may not read are left out.
 * @throws as {@link readCrateMetadata}
 */
export async function readCrateArchive(
  deps: Pick<Deps, "records" | "objects" | "log" | "config" | "baseUrl">,
  ark: Ark,
  caller: Caller | null,
): Promise<CrateArchive> {
  const root = await findLive(deps, ark, "rocrate");
  const archive = await crateArchive(deps, root, caller);
  if (archive.hasPage) return archive;
  const html = await archivePage(deps, root, archive.files);
  const page = previewPage(html);
  // Intake reads a page up to this size.
  if (Buffer.byteLength(page) > deps.config.MAX_METADATA_BYTES) return archive;
  return {
    ...archive,
    state: `${archive.state}-${createHash("sha256").update(page).digest("hex").slice(0, 8)}`,
    open: (form) => archive.open(form, page),
  };
}

/**
 * A folder of the crate as an archive.
 * @throws as {@link readCrateMetadata}; `NOT_FOUND` for a folder that the crate has not
 */
export async function readFolderArchive(
  deps: Deps,
  ark: Ark,
  folder: string,
  caller: Caller | null,
): Promise<FolderArchive> {
  return folderArchive(deps, await findLive(deps, ark, "rocrate"), folder, caller);
}

/**
 * The page that came with a crate. Anything may be in it: it is only for a sandbox.
 * @throws ServiceError as `contentOf`
 */
export async function cratePage(deps: Deps, ark: Ark, caller: Caller | null): Promise<Content> {
  const root = await findLive(deps, ark, "rocrate");
  const page = lookupArk(`${root.ark}/${PREVIEW_PAGE}`);
  const content = page && (await contentOf(deps, page, caller).catch(absent));
  const holder = content?.record.crate ?? content?.record.ark;
  if (content && (holder === root.ark || holder === root.crate)) return content;
  throw new ServiceError("NOT_FOUND", `${root.ark} has no ${PREVIEW_PAGE}.`);
}

function absent(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.code !== "NOT_FOUND") throw error;
  return undefined;
}

/**
 * Where a crate can be downloaded. `uploaded` is null when that archive is not stored any more,
 * `page` when the crate came without one.
 */
export async function crateAddresses(
  { records, baseUrl }: Pick<Deps, "records" | "baseUrl">,
  ark: string,
): Promise<{ metadata: string; current: string; uploaded: string | null; page: string | null }> {
  const crate = `${baseUrl()}/rocrate/${encodeURI(ark)}`;
  const [uploaded] = await records.objectsOf(ark, { role: "archive" });
  const [page] = await records.objectsOf(ark, { role: "member", name: PREVIEW_PAGE });
  const [described] = page
    ? []
    : await records.objectsOf(`${ark}/${PREVIEW_PAGE}`, { role: "content" });
  return {
    metadata: crate,
    current: `${crate}?format=zip`,
    uploaded: uploaded ? `${baseUrl()}/rocrate/download/${encodeURI(ark)}` : null,
    page: (page ?? described) ? `${baseUrl()}/rocrate/page/${encodeURI(ark)}` : null,
  };
}

type Named = Pick<StoredRecord, "ark" | "kind" | "name">;

/**
 * The contents of a crate: the number of records of each kind, their names, and the files that no
 * entity describes.
 */
export interface CrateSummary {
  root: StoredRecord;
  counts: Partial<Record<KindName, number>>;
  /** Number of all files that no entity describes. */
  fileCount: number;
  members: Named[];
  files: ObjectReference[];
  /** Position of the next page. */
  next?: string;
}

/** One section of the list; `total` is zero when the section is empty. */
interface Section {
  total: number;
  read(after: string | undefined, limit: number): Promise<{ next?: string }>;
}

/**
 * Records first, then files; together at most `limit` in one page.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `BAD_REQUEST` for a position that is not
 * from an earlier summary
 */
export async function crateSummary(
  deps: Deps,
  ark: Ark,
  { limit, after = "0." }: { limit: number; after?: string },
): Promise<CrateSummary> {
  const root = await findLive(deps, ark, "rocrate");
  const members: Named[] = [];
  const files: ObjectReference[] = [];
  const described = await (root.crate === null
    ? describedByCrate(deps, root, members)
    : describedWithin(deps, root, members));
  const undescribed = await deps.records.objectsOf(root.ark, { role: "member" });
  const sections = [...described.sections, sectionOf(undescribed, files)];

  const [, first = "", position] = /^(\d)\.(.*)$/.exec(after) ?? [];
  let section = Number(first);
  if (first === "" || section >= sections.length)
    throw new ServiceError(
      "BAD_REQUEST",
      "The cursor is not from this list; start again without it.",
    );
  let at = position === "" ? undefined : position;
  let next: string | undefined;
  for (; next === undefined && section < sections.length; section++, at = undefined) {
    const { total, read } = sections[section]!;
    const space = limit - members.length - files.length;
    if (total === 0) continue;
    if (space === 0) next = `${section}.`;
    else {
      const page = await read(at, space);
      if (page.next !== undefined) next = `${section}.${page.next}`;
    }
  }
  return {
    root,
    counts: described.counts,
    members,
    fileCount: undescribed.length,
    files,
    ...(next === undefined ? {} : { next }),
  };
}

/** Records minted for the crate, by key; then the other records that the crate uses. */
async function describedByCrate(
  { records }: Deps,
  { ark: crate }: StoredRecord,
  into: Named[],
): Promise<{ counts: CrateSummary["counts"]; sections: Section[] }> {
  const used = (await records.findMany(await records.usesOf(crate))).filter(
    (record) => record !== undefined && describedCrate(record.ark) === undefined,
  ) as StoredRecord[];
  const counts = countsOf(used);
  let minted = 0;
  const described = { filter: { crates: [crate] }, notEndingWith: DESCRIPTOR_END };
  const byKind = { ...described, by: ["kind"] as const, limit: KIND_NAMES.length };
  for (const { values, records: count } of (await records.statistics(byKind)).groups) {
    const [kind] = values as [KindName];
    minted += count;
    counts[kind] = (counts[kind] ?? 0) + count;
  }
  const read: Section["read"] = async (after, limit) => {
    const page = await records.select({
      ...described,
      order: AS_CREATED,
      limit,
      ...(after === undefined ? {} : { after }),
    });
    for (const item of page.items) into.push(item);
    return page.more ? { next: page.positions.at(-1)! } : {};
  };
  return { counts, sections: [{ total: minted, read }, sectionOf(used, into)] };
}

/** The same for a crate that came within another. */
async function describedWithin(
  deps: Deps,
  root: StoredRecord,
  into: Named[],
): Promise<{ counts: CrateSummary["counts"]; sections: Section[] }> {
  const found: Named[] = [];
  for await (const page of crateRecords(deps, root))
    for (const { ark, kind, name } of page)
      if (ark !== root.ark && describedCrate(ark) === undefined) found.push({ ark, kind, name });
  return { counts: countsOf(found), sections: [sectionOf(found, into)] };
}

function countsOf(records: readonly Named[]): CrateSummary["counts"] {
  const counts: CrateSummary["counts"] = {};
  for (const { kind } of records) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Section for a list in memory, by index. */
function sectionOf<T>(all: readonly T[], into: T[]): Section {
  return {
    total: all.length,
    async read(after, limit) {
      const begin = Number(after ?? 0);
      if (!Number.isSafeInteger(begin))
        throw new ServiceError(
          "BAD_REQUEST",
          "The cursor is not from this list; start again without it.",
        );
      for (const item of all.slice(begin, begin + limit)) into.push(item);
      return begin + limit < all.length ? { next: String(begin + limit) } : {};
    },
  };
}
