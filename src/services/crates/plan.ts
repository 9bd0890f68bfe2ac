/**
 * The dry run of an upload: what would be stored, and what an update would change in each record.
 */
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Finding } from "../../model/findings.js";
import { KINDS } from "../../model/kinds.js";
import type { RecordStore, RecordWrite } from "../../storage/records/port.js";
import type { Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { withoutForgotten } from "../records/forgotten.js";
import { type Difference, differencesAt } from "../records/read.js";
import type { IncomingFile } from "../records/stored-content.js";
import { parseDocument } from "../records/view.js";
import { inStore } from "./compare/stored.js";
import { FINDING_CODES, type FindingCode, finding, quoted, type Severity } from "./findings.js";
import { describedCrate } from "./layout.js";
import { compareCrate, type ComparedCrate, type PipelineDeps } from "./pipeline.js";
import { beginningOf, namedCrate, type UploadOptions } from "./submissions.js";
import { type CrateFormat, uploadLimit } from "./upload.js";
import type { Claim, Conflict, CrateUpload } from "./steps.js";

/** Differences of one record in a plan. */
const MAX_DIFFERENCES = 20;
/** Characters of one value in a plan. */
const MAX_VALUE_CHARS = 1000;

/** A property of a record that an update would change. */
export interface PlannedDifference {
  /** JSON pointer (RFC 6901) of the property. */
  pointer: string;
  kind: Difference["kind"];
  /** As it is stored; null where it would be added. */
  before: JsonValue;
  /** As the upload states it; null where it would be removed. */
  after: JsonValue;
  /**
   * A value is long: of two lists only the entries that differ are here, and other values are text
   * that is cut.
   */
  shortened: boolean;
}

/** What an update would change in a record. */
interface PlannedDifferences {
  /** Name of the record, as the upload states it. */
  name: string | null;
  differences: PlannedDifference[];
  /** Further properties that would change. */
  furtherDifferences: number;
}

type Replacing = Extract<RecordWrite, { op: "replace" }>;

/** What these writes would change, by identifier of the record. */
async function plannedDifferences(
  { records }: { records: Pick<RecordStore, "findMany" | "holders"> },
  writes: readonly Replacing[],
): Promise<Map<string, PlannedDifferences>> {
  const planned = new Map<string, PlannedDifferences>();
  for await (const batch of inStore(records, writes)) {
    const found = batch.flatMap(([, record]) => record ?? []);
    const stored = new Map(
      (await withoutForgotten({ records }, found)).map((record) => [record.ark, record]),
    );
    for (const [{ ark, changed, name, document }] of batch) {
      const before = stored.get(ark);
      if (!before) continue;
      planned.set(ark, {
        name,
        ...between(changed, parseDocument(before.document), parseDocument(document)),
      });
    }
  }
  return planned;
}

function between(
  pointers: readonly string[],
  before: JsonObject,
  after: JsonObject,
): Omit<PlannedDifferences, "name"> {
  return {
    differences: differencesAt(pointers.slice(0, MAX_DIFFERENCES), before, after).map(
      ({ pointer, kind, before: old = null, after: current = null }) => ({
        pointer,
        kind,
        ...shortenedPair(old, current),
      }),
    ),
    furtherDifferences: Math.max(0, pointers.length - MAX_DIFFERENCES),
  };
}

function shortenedPair(
  before: JsonValue,
  after: JsonValue,
): Pick<PlannedDifference, "before" | "after" | "shortened"> {
  if (lengthOf(before) <= MAX_VALUE_CHARS && lengthOf(after) <= MAX_VALUE_CHARS)
    return { before, after, shortened: false };
  if (!Array.isArray(before) || !Array.isArray(after))
    return { before: cut(before), after: cut(after), shortened: true };
  const [old, current] = [textsOf(before), textsOf(after)];
  return {
    before: fitting(before.filter((item) => !current.has(JSON.stringify(item)))),
    after: fitting(after.filter((item) => !old.has(JSON.stringify(item)))),
    shortened: true,
  };
}

const lengthOf = (value: JsonValue): number =>
  typeof value === "string" ? value.length : JSON.stringify(value).length;
const textsOf = (list: readonly JsonValue[]): Set<string> =>
  new Set(list.map((item) => JSON.stringify(item)));

function cut(value: JsonValue): JsonValue {
  if (lengthOf(value) <= MAX_VALUE_CHARS) return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `${text.slice(0, MAX_VALUE_CHARS).toWellFormed()}…`;
}

/** The first entries, as many as a value may have characters. */
function fitting(list: readonly JsonValue[]): JsonValue[] {
  const fit: JsonValue[] = [];
  let space = MAX_VALUE_CHARS;
  for (const item of list) {
    const short = cut(item);
    if ((space -= lengthOf(short)) < 0 && fit.length > 0) break;
    fit.push(short);
  }
  return fit;
}

/** Counts all items, and holds the first of them. */
class ShortList<T> {
  count = 0;
  readonly items: T[] = [];

  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(make: () => T): void {
    if (this.count++ < this.#most) this.items.push(make());
  }
}

/** What an upload would do, in lists of at most `most` items. */
function planOf(
  { claims, conflicts: found, errors, warnings, isKnown }: ComparedCrate,
  changes: CrateChanges | null,
  most: number,
): CratePlan {
  const conflicts = new Map(found.map((conflict) => [conflict.ark, conflict]));
  const claimed = new Set(claims.map(({ ark }) => ark));
  const refused = [
    ...errors,
    // Conflicts of records that the crate does not describe any more.
    ...found.filter(({ ark }) => !claimed.has(ark)).map((each) => findingOf(each)),
  ];
  const conforms = refused.length === 0 && conflicts.size === 0;
  const minted = new ShortList<PlannedIdentifier>(most);
  const kept = new ShortList<PlannedIdentifier>(most);
  const known = new ShortList<PlannedIdentifier>(most);
  const conflicting = new ShortList<PlannedIdentifier & PlanFinding>(most);
  const records = new Map<string, number>();
  for (const claim of claims) {
    const identifier = planned(claim);
    const conflict = conflicts.get(claim.ark);
    if (conflict) {
      conflicting.add(() => ({ ...identifier, ...planFinding(findingOf(conflict), "REQUIRED") }));
      continue;
    }
    // A crate always includes its descriptor: it counts only where it causes a conflict.
    if (describedCrate(claim.ark) !== undefined) continue;
    const isOld = isKnown(claim.ark);
    (isOld ? known : claim.kept ? kept : minted).add(() => identifier);
    if (conforms && !isOld) records.set(identifier.kind, (records.get(identifier.kind) ?? 0) + 1);
  }
  return {
    conforms,
    rocrateIdentifier: claims.find(({ root }) => root)?.ark ?? null,
    records: [...records].map(([kind, count]) => ({ kind, count })),
    counts: {
      minted: minted.count,
      kept: kept.count,
      known: known.count,
      conflicting: conflicting.count,
    },
    minted: minted.items,
    kept: kept.items,
    known: known.items,
    conflicting: conflicting.items,
    warned: warnings.map((each) => planFinding(each, "RECOMMENDED")),
    refused: refused.map((each) => planFinding(each, "REQUIRED")),
    changes,
  };
}

/** What an update would change; null where none was requested, or where it is not known. */
async function changesOf(
  { claims, conflicts, changes }: ComparedCrate,
  deps: PipelineDeps,
): Promise<CrateChanges | null> {
  if (!changes) return null;
  const { PLAN_LIST_LIMIT, PLAN_DIFFERENCES } = deps.config;
  const names = new Map<string, "created" | "changed" | "revived">();
  const revised = new Map<string, Replacing>();
  for (const write of changes.writes) {
    const { ark } = write;
    if (write.op === "create") names.set(ark, "created");
    else if (!names.has(ark))
      names.set(ark, write.op === "replace" && write.revive ? "revived" : "changed");
    if (write.op === "replace" && !write.revive) revised.set(ark, write);
  }
  const differences = await plannedDifferences(
    deps,
    claims.flatMap(({ ark }) => revised.get(ark) ?? []).slice(0, PLAN_DIFFERENCES),
  );
  const created = new ShortList<PlannedIdentifier>(PLAN_LIST_LIMIT);
  const changed = new ShortList<PlannedChange>(PLAN_LIST_LIMIT);
  const unchanged = new ShortList<PlannedIdentifier>(PLAN_LIST_LIMIT);
  const revived = new ShortList<PlannedIdentifier>(PLAN_LIST_LIMIT);
  const removed = new ShortList<CrateChanges["removed"][number]>(PLAN_LIST_LIMIT);
  const refused = new Set(conflicts.map(({ ark }) => ark));
  const lists = { created, unchanged, revived };
  for (const claim of claims) {
    if (refused.has(claim.ark)) continue;
    const name = names.get(claim.ark) ?? "unchanged";
    if (name === "changed")
      changed.add(() => ({
        ...planned(claim),
        ...(differences.get(claim.ark) ?? DIFFERENCES_UNREAD),
      }));
    else if (describedCrate(claim.ark) === undefined) lists[name].add(() => planned(claim));
  }
  for (const { ark, kind } of changes.removed)
    removed.add(() => ({ identifier: ark, kind: KINDS[kind].typeName }));
  return {
    counts: {
      created: created.count,
      changed: changed.count,
      unchanged: unchanged.count,
      removed: removed.count,
      revived: revived.count,
    },
    created: created.items,
    changed: changed.items,
    unchanged: unchanged.items,
    removed: removed.items,
    revived: revived.items,
  };
}

const DIFFERENCES_UNREAD = { name: null, differences: null, furtherDifferences: null };
const planned = ({ id, ark, kind }: Claim): PlannedIdentifier => ({
  entity: quoted(id),
  identifier: ark,
  kind: KINDS[kind].typeName,
});

function planFinding(
  { file, pointer, line, column, code, message }: Finding,
  severity: Severity,
): PlanFinding {
  return {
    file,
    pointer,
    line: line ?? null,
    column: column ?? null,
    severity,
    code,
    message,
    fix: FINDING_CODES[code as FindingCode].fix,
  };
}

const findingOf = ({ code, message, ...place }: Conflict): Finding => finding(code, message, place);

/** A finding with its severity and fix. */
export interface PlanFinding {
  file: string | null;
  pointer: string | null;
  line: number | null;
  column: number | null;
  severity: Severity;
  code: string;
  message: string;
  fix: string;
}
/** The effect of an upload on one entity's identifier. */
interface PlannedIdentifier {
  /** `@id` as the crate writes it, the first 200 characters. */
  entity: string;
  /** ARK of the record. */
  identifier: string;
  /** Name of the kind's type, `Dataset`. */
  kind: string;
}
/** The result of a dry run: what an upload of a crate would do. */
export interface CratePlan {
  /** The upload would be accepted: nothing conflicts and nothing is refused. */
  conforms: boolean;
  /**
   * Identifier of the crate. A minted identifier differs from the one that the upload will mint.
   * Null when the metadata cannot be read.
   */
  rocrateIdentifier: string | null;
  /** How many records of each kind an upload would create; none when it would be refused. */
  records: { kind: string; count: number }[];
  /** Counts of all identifiers; the lists below end at PLAN_LIST_LIMIT. */
  counts: { minted: number; kept: number; known: number; conflicting: number };
  /** Identifiers that would be minted. */
  minted: PlannedIdentifier[];
  /** ARKs of the crate that would be accepted unchanged. */
  kept: PlannedIdentifier[];
  /** Records that the uploader has already: they state the same, or an update changes them. */
  known: PlannedIdentifier[];
  /** Identifiers that are taken. */
  conflicting: (PlannedIdentifier & PlanFinding)[];
  warned: PlanFinding[];
  /** All other reasons for which an upload would be refused. */
  refused: PlanFinding[];
  /**
   * The effect of an update; null where none was requested, and where not every entity could be
   * read to its end.
   */
  changes: CrateChanges | null;
}
/** A record that gets a new revision; null behind the first PLAN_DIFFERENCES. */
type PlannedChange = PlannedIdentifier & {
  [name in keyof PlannedDifferences]: PlannedDifferences[name] | null;
};
/** Records that an update would write, and records that it would leave unchanged. */
interface CrateChanges {
  /** Counts of all records; the lists below end at PLAN_LIST_LIMIT. */
  counts: Record<ChangeName, number>;
  created: PlannedIdentifier[];
  /** Records that get a new revision. */
  changed: PlannedChange[];
  unchanged: PlannedIdentifier[];
  /**
   * Stored records of the crate that the upload no longer describes: they are deleted, and their
   * identifiers remain as tombstones.
   */
  removed: Omit<PlannedIdentifier, "entity">[];
  /** Deleted records that are described again. */
  revived: PlannedIdentifier[];
}
type ChangeName = "created" | "changed" | "unchanged" | "removed" | "revived";

/** Runs the pipeline of an upload without storing or changing anything. */
export async function planCrate(
  deps: PipelineDeps,
  upload: CrateUpload,
  signal: AbortSignal,
): Promise<CratePlan> {
  const compared = await compareCrate({ ...upload, dryRun: true }, deps, {
    signal,
    progress: () => {},
    announce: async () => {},
  });
  const changes = upload.update ? await changesOf(compared, deps) : null;
  return planOf(compared, changes, deps.config.PLAN_LIST_LIMIT);
}

/**
 * The form of a file by its media type, or else its name: a metadata document, or an archive
 * (`.zip`, `.eln`).
 */
function formatOf({ mediaType, name }: Pick<IncomingFile, "mediaType" | "name">): CrateFormat {
  return /^application\/(?:[\w.-]+\+)?json$/i.test(mediaType) || /\.json(?:ld)?$/i.test(name)
    ? "metadata"
    : "zip";
}

/**
 * Does a dry run of the caller's upload of this file. The bytes are in a temporary place during the
 * run, which leaves no object, submission or record.
 * @throws ServiceError as {@link namedCrate}, `TOO_LARGE`, `SHUTTING_DOWN`;
 * any error of the stream; the signal's reason
 */
export async function planUpload(
  deps: Deps,
  caller: Caller,
  file: IncomingFile,
  { update = false, emptyLinked = false, crate: named }: UploadOptions,
  signal: AbortSignal,
): Promise<CratePlan> {
  const { stream, isJson } = await beginningOf(file.stream);
  const format = isJson ? "metadata" : formatOf(file);
  const { user } = caller;
  const crate = named === undefined ? undefined : await namedCrate(deps, caller, named);
  const staged = await deps.objects.stage(stream, {
    ...uploadLimit(deps.config, format),
    signal,
  });
  try {
    const name = file.name || (format === "zip" ? "crate.zip" : "ro-crate-metadata.json");
    return await deps.planLimit.run(signal, (either) =>
      planCrate(
        deps,
        {
          sha256: staged.sha256,
          staged: staged.place,
          name,
          format,
          user,
          update: update || crate !== undefined,
          emptyLinked,
          ...(crate === undefined ? {} : { crate }),
        },
        either,
      ),
    );
  } finally {
    await staged.discard();
  }
}
