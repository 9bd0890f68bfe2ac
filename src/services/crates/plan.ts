/**
 * The dry run of an upload: what would be stored, and what an update would change in each record.
 */
import type { Config } from "../../config/config.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Finding } from "../../model/findings.js";
import { KINDS } from "../../model/kinds.js";
import type { ObjectsLocation } from "../../storage/objects/location.js";
import type { RecordStore, RecordWrite } from "../../storage/records/port.js";
import type { Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import type { IncomingFile } from "../records/stored-content.js";
import { withoutForgotten } from "../records/forgotten.js";
import { type Difference, differencesAt } from "../records/read.js";
import { parseDocument } from "../records/view.js";
import type { CrateRecord } from "./build-records.js";
import {
  CrateError,
  FINDING_CODES,
  type FindingCode,
  finding,
  type Place,
  quoted,
  type Severity,
} from "./findings.js";
import { describedCrate } from "./layout.js";
import {
  alike,
  findConflicts,
  NewIdentifiers,
  registeredCrates,
  withoutKnown,
} from "./run/conflicts.js";
import { type Claim, runThread } from "./run/thread.js";
import { CrateUpdate } from "./run/update.js";
import { beginningOf, namedCrate, type UploadOptions } from "./submissions.js";
import { type CrateFormat, crateLimits, uploadLimit } from "./upload.js";

/** Differences of one record, and characters of one value, in a plan. */
const [MOST, LONGEST] = [20, 1000];
/** Records in one read. */
const BATCH = 100;

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
  for (let start = 0; start < writes.length; start += BATCH) {
    const batch = writes.slice(start, start + BATCH);
    const found = (await records.findMany(batch.map(({ ark }) => ark))).flatMap(
      (record) => record ?? [],
    );
    const stored = new Map(
      (await withoutForgotten({ records }, found)).map((record) => [record.ark, record]),
    );
    for (const { ark, changed, name, document } of batch) {
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
    differences: differencesAt(pointers.slice(0, MOST), before, after).map(
      ({ pointer, kind, before: old = null, after: current = null }) => ({
        pointer,
        kind,
        ...shortenedPair(old, current),
      }),
    ),
    furtherDifferences: Math.max(0, pointers.length - MOST),
  };
}

function shortenedPair(
  before: JsonValue,
  after: JsonValue,
): Pick<PlannedDifference, "before" | "after" | "shortened"> {
  if (lengthOf(before) <= LONGEST && lengthOf(after) <= LONGEST)
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
  if (lengthOf(value) <= LONGEST) return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `${text.slice(0, LONGEST).toWellFormed()}…`;
}

/** The first entries, as many as a value may have characters. */
function fitting(list: readonly JsonValue[]): JsonValue[] {
  const fit: JsonValue[] = [];
  let space = LONGEST;
  for (const item of list) {
    const short = cut(item);
    if ((space -= lengthOf(short)) < 0 && fit.length > 0) break;
    fit.push(short);
  }
  return fit;
}

/** Collects the messages of a run about a crate, until the plan is built from them. */
class Gathered {
  readonly #claims: Claim[] = [];
  readonly #conflicts = new Map<string, Finding>();
  readonly #known = new Set<string>();
  readonly own = new Map<string, Place>();
  /**
   * Records whose identifiers the uploader has already; of the other records the plan stores
   * nothing except, for an update, their identifiers.
   */
  readonly compared: CrateRecord[] = [];
  #builtAll = 0;
  #changes: ReadonlyMap<string, ChangeName> | undefined;
  #differences: ReadonlyMap<string, PlannedDifferences> = new Map();
  #removed: { identifier: string; kind: string }[] = [];
  /** Conflicts of records that the crate does not describe any more. */
  readonly #elsewhere: Finding[] = [];

  readonly #update: Pick<CrateUpdate, "has" | "plan"> | undefined;

  constructor(update?: Pick<CrateUpdate, "has" | "plan">) {
    this.#update = update;
  }

  claimed(
    claims: readonly Claim[],
    refusals: readonly { index: number; code: FindingCode; message: string }[],
    own: ReadonlyMap<string, Place>,
  ): void {
    for (const claim of claims) {
      this.#claims.push(claim);
      if (claim.linked !== "named") continue;
      this.#builtAll++;
      this.#known.add(claim.ark);
    }
    for (const { index, code, message } of refusals)
      this.#conflicts.set(claims[index]!.ark, finding(code, message, claims[index]));
    for (const [ark, place] of own) this.own.set(ark, place);
  }

  built(records: readonly CrateRecord[]): void {
    this.#builtAll += records.length;
    for (const record of records) {
      if (this.own.has(record.ark) || this.#update?.has(record.ark)) this.compared.push(record);
      else if (this.#update)
        this.compared.push({
          ...record,
          ...(describedCrate(record.ark) === undefined ? { document: NOTHING } : {}),
          quads: "",
          objects: [],
        });
    }
  }

  /**
   * Computes the writes of the update, once every record is built: a record that is not built yet
   * would count as deleted.
   * @param most records whose differences are read
   */
  async compareWith(
    update: Pick<CrateUpdate, "has" | "plan">,
    deps: Parameters<typeof plannedDifferences>[0],
    most: number,
  ): Promise<void> {
    const claimed = new Map(this.#claims.map((claim) => [claim.ark, claim]));
    for (const ark of claimed.keys()) if (update.has(ark)) this.#known.add(ark);
    if (this.#claims.length === 0 || this.#builtAll < this.#claims.length) return;
    const { writes, conflicts, removed } = await update.plan(this.compared);
    for (const { ark, code, message } of conflicts) {
      if (claimed.has(ark)) this.#conflicts.set(ark, finding(code, message, claimed.get(ark)));
      else this.#elsewhere.push(finding(code, message));
    }
    const changes = new Map<string, ChangeName>();
    for (const write of writes) {
      if (write.op === "create") changes.set(write.ark, "created");
      else if (!changes.has(write.ark))
        changes.set(write.ark, write.op === "replace" && write.revive ? "revived" : "changed");
    }
    this.#changes = changes;
    const revised = new Map(
      writes
        .filter((write) => write.op === "replace")
        .filter(({ revive }) => !revive)
        .map((write) => [write.ark, write]),
    );
    const first = this.#claims.flatMap(({ ark }) => revised.get(ark) ?? []).slice(0, most);
    this.#differences = await plannedDifferences(deps, first);
    this.#removed = removed.map(({ ark, kind }) => ({
      identifier: ark,
      kind: KINDS[kind].typeName,
    }));
  }

  compare(writes: readonly CrateRecord[], errors: readonly Finding[]): void {
    const others = new Set(writes.map(({ ark }) => ark));
    const at = new Map(errors.map((error) => [`${error.file} ${error.pointer}`, error]));
    for (const { ark } of this.compared) {
      const place = this.own.get(ark)!;
      if (others.has(ark)) this.#conflicts.set(ark, at.get(`${place.file} ${place.pointer}`)!);
      else this.#known.add(ark);
    }
  }

  plan(errors: readonly Finding[], warnings: readonly Finding[], most: number): CratePlan {
    const lists = {
      minted: [] as PlannedIdentifier[],
      kept: [] as PlannedIdentifier[],
      known: [] as PlannedIdentifier[],
      conflicting: [] as CratePlan["conflicting"],
    };
    const counts = { minted: 0, kept: 0, known: 0, conflicting: 0 };
    const refused = [...errors, ...this.#elsewhere];
    const conforms = refused.length === 0 && this.#conflicts.size === 0;
    const records = new Map<string, number>();
    for (const claim of this.#claims) {
      const identifier = planned(claim);
      const conflict = this.#conflicts.get(claim.ark);
      // A crate always includes its descriptor: the descriptor counts only where it causes a
      // conflict.
      if (!conflict && describedCrate(claim.ark) !== undefined) continue;
      const list = conflict
        ? "conflicting"
        : this.#known.has(claim.ark)
          ? "known"
          : claim.kept
            ? "kept"
            : "minted";
      counts[list]++;
      if (conforms && list !== "known")
        records.set(identifier.kind, (records.get(identifier.kind) ?? 0) + 1);
      if (lists[list].length >= most) continue;
      if (conflict) lists.conflicting.push({ ...identifier, ...planFinding(conflict, "REQUIRED") });
      else lists[list as "minted"].push(identifier);
    }
    return {
      conforms,
      rocrateIdentifier: this.#claims.find(({ root }) => root)?.ark ?? null,
      records: [...records].map(([kind, count]) => ({ kind, count })),
      counts,
      ...lists,
      warned: warnings.map((each) => planFinding(each, "RECOMMENDED")),
      refused: refused.map((each) => planFinding(each, "REQUIRED")),
      changes: this.#changesOf(this.#changes, most),
    };
  }

  #changesOf(
    changes: ReadonlyMap<string, ChangeName> | undefined,
    most: number,
  ): CrateChanges | null {
    if (!changes) return null;
    const counts = {
      created: 0,
      changed: 0,
      unchanged: 0,
      removed: this.#removed.length,
      revived: 0,
    };
    const lists = {
      created: [] as PlannedIdentifier[],
      changed: [] as PlannedChange[],
      unchanged: [] as PlannedIdentifier[],
      revived: [] as PlannedIdentifier[],
    };
    for (const claim of this.#claims) {
      if (this.#conflicts.has(claim.ark)) continue;
      const change = (changes.get(claim.ark) ?? "unchanged") as keyof typeof lists;
      if (change !== "changed" && describedCrate(claim.ark) !== undefined) continue;
      counts[change]++;
      if (lists[change].length >= most) continue;
      if (change === "changed")
        lists.changed.push({
          ...planned(claim),
          ...(this.#differences.get(claim.ark) ?? NOT_COMPARED),
        });
      else lists[change].push(planned(claim));
    }
    return { counts, ...lists, removed: this.#removed.slice(0, most) };
  }
}

const NOTHING = new Uint8Array();
const NOT_COMPARED = { name: null, differences: null, furtherDifferences: null };
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

/** Bytes in the object store: published under their hash, or staged. */
interface PlannedUpload {
  sha256: string;
  staged?: string;
  name?: string;
  format?: CrateFormat;
  /** ARK of the future uploader. */ user: string;
  /** The upload would be an update. */ update?: boolean;
  /** The update may remove all statements of a linked crate. */ emptyLinked?: boolean;
  /** ARK of the crate that the upload would update. */ crate?: string;
}
interface PlanDeps {
  records: Pick<
    RecordStore,
    | "accountOf"
    | "findMany"
    | "holders"
    | "list"
    | "objectsOf"
    | "quads"
    | "usedElsewhere"
    | "usesOf"
  >;
  objectsLocation: ObjectsLocation;
  config: Config;
  baseUrl: () => string;
}

/** Runs the whole intake of a crate in a separate thread, without storing or changing anything. */
export async function planCrate(
  deps: PlanDeps,
  {
    sha256,
    staged,
    name = "crate.zip",
    format = "zip",
    user,
    update: isUpdate = false,
    emptyLinked = false,
    crate,
  }: PlannedUpload,
  signal: AbortSignal,
): Promise<CratePlan> {
  const { config } = deps;
  const identifiers = new NewIdentifiers(deps.records, user);
  const update = isUpdate
    ? new CrateUpdate(
        deps.records,
        user,
        { keepsFiles: format === "metadata", mayEmptyLinked: emptyLinked },
        identifiers,
      )
    : undefined;
  const gathered = new Gathered(update);
  let isNamed = crate !== undefined;
  let root: Pick<CrateRecord, "ark" | "name"> | undefined;
  try {
    const result = await runThread(
      {
        objects: deps.objectsLocation,
        format,
        archive: { sha256, name, ...(staged === undefined ? {} : { staged }) },
        limits: crateLimits(config),
        dryRun: true,
        identify: {
          naan: config.ARK_NAAN,
          acceptedNaans: config.ACCEPTED_NAANS,
          ...(crate === undefined ? {} : { crate }),
        },
        baseUrl: deps.baseUrl(),
        owner: user,
        update: isUpdate,
      },
      {
        progress: () => {},
        intend: async () => {},
        registered: (arks, root) => registeredCrates(deps.records, arks, root, user),
        claim: async (claims) => {
          isNamed ||= claims.some((claim) => claim.root && claim.kept);
          const { refusals, own } = update
            ? { refusals: await update.claim(claims), own: new Map<string, Place>() }
            : await findConflicts(deps.records, claims, user, identifiers);
          gathered.claimed(claims, refusals, own);
          return [];
        },
        records: (batch) => {
          root ??= batch[0];
          gathered.built(batch);
        },
      },
      signal,
      { timeout: config.INTAKE_TIMEOUT, memory: config.INTAKE_MEMORY },
    );
    if (update) await gathered.compareWith(update, deps, config.PLAN_DIFFERENCES);
    else {
      const { writes, errors } = await withoutKnown(deps.records, gathered.compared, gathered.own);
      gathered.compare(writes, errors);
    }
    const similar = isNamed || !root ? undefined : await alike(deps.records, root, user);
    if (similar) result.warnings.push(similar);
    return gathered.plan(
      "errors" in result ? result.errors : [],
      result.warnings,
      config.PLAN_LIST_LIMIT,
    );
  } catch (error) {
    if (error instanceof CrateError)
      return gathered.plan(error.findings, error.warnings, config.PLAN_LIST_LIMIT);
    throw error;
  }
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
  { user }: Caller,
  file: IncomingFile,
  { update = false, emptyLinked = false, crate: named }: UploadOptions,
  signal: AbortSignal,
): Promise<CratePlan> {
  const { stream, isJson } = await beginningOf(file.stream);
  const format = isJson ? "metadata" : formatOf(file);
  const crate = named === undefined ? undefined : await namedCrate(deps, user, named);
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
