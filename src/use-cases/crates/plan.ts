import type { Config } from "../../config.js";
import type { ObjectsLocation } from "../../stores/objects/location.js";
import type { RecordStore } from "../../stores/records/port.js";
import type { CrateRecord } from "./build-records.js";
import { CrateError, type Place } from "./findings.js";
import type { Severity } from "./finding-codes.js";
import { crateLimits } from "./limits.js";
import { Gathered } from "./planned.js";
import { alike } from "./run/alike.js";
import { findConflicts, registeredCrates, withoutKnown } from "./run/conflicts.js";
import { NewIdentifiers } from "./run/new-identifiers.js";
import type { CrateFormat } from "./run/protocol.js";
import { runThread } from "./run/thread.js";
import { CrateUpdate } from "./run/update.js";

/** A finding with its weight and what to do about it. */
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
/** What an upload would do about one entity's identifier. */
export interface PlannedIdentifier {
  /** `@id` as the crate writes it, the first 200 characters. */
  entity: string;
  /** ARK of the record. */
  identifier: string;
  /** Name of the kind's type, `Dataset`. */
  kind: string;
}
/** What an upload of a crate would come to. */
export interface CratePlan {
  /** The upload would be taken in: nothing conflicts and nothing is refused. */
  conforms: boolean;
  /** Identifier of the crate. One that is minted is another at the upload. Null when the metadata cannot be read. */
  rocrateIdentifier: string | null;
  /** How many records of each kind an upload would create; none when it would be refused. */
  records: { kind: string; count: number }[];
  /** Of identifiers, all of them; the lists below end at PLAN_LIST_LIMIT. */
  counts: { minted: number; kept: number; known: number; conflicting: number };
  /** Identifiers that would be made. */
  minted: PlannedIdentifier[];
  /** ARKs of the crate that would be taken as they are. */
  kept: PlannedIdentifier[];
  /** Records that the uploader has already: they say the same, or an update brings them up to date. */
  known: PlannedIdentifier[];
  /** Identifiers that are taken. */
  conflicting: (PlannedIdentifier & PlanFinding)[];
  warned: PlanFinding[];
  /** Everything else that an upload would be refused for. */
  refused: PlanFinding[];
  /** What an update would do; null where none was asked for, and where not every entity could be read to its end. */
  changes: CrateChanges | null;
}
/** Records that an update would write, and those that it would leave as they are. */
export interface CrateChanges {
  /** All of them; the lists below end at PLAN_LIST_LIMIT. */
  counts: Record<ChangeName, number>;
  created: PlannedIdentifier[];
  /** Records that get another revision. */
  changed: PlannedIdentifier[];
  unchanged: PlannedIdentifier[];
  /** Records of the crate as it is stored that are not described any more: they are deleted, and their identifiers stay tombstones. */
  removed: Omit<PlannedIdentifier, "entity">[];
  /** Deleted records that are described again. */
  revived: PlannedIdentifier[];
}
export type ChangeName = "created" | "changed" | "unchanged" | "removed" | "revived";

/** Bytes in the object store: published under their hash, or staged. */
export interface PlannedUpload { sha256: string; staged?: string; name?: string; format?: CrateFormat; /** ARK of who would upload it. */ user: string; /** The upload would be an update. */ update?: boolean; /** ARK of the crate that it would update. */ crate?: string }
export interface PlanDeps { records: Pick<RecordStore, "accountOf" | "findMany" | "holders" | "list" | "objectsOf" | "quads" | "usedElsewhere" | "usesOf">; objectsLocation: ObjectsLocation; config: Config; baseUrl: () => string }

/** Goes through the whole intake of a crate, in a thread of its own, and stores and changes nothing. */
export async function planCrate(deps: PlanDeps, { sha256, staged, name = "crate.zip", format = "zip", user, update: isUpdate = false, crate }: PlannedUpload, signal: AbortSignal): Promise<CratePlan> {
  const { config } = deps;
  const identifiers = new NewIdentifiers(deps.records, user);
  const update = isUpdate ? new CrateUpdate(deps.records, user, format === "metadata", identifiers) : undefined;
  const gathered = new Gathered(update);
  let isNamed = crate !== undefined;
  let root: Pick<CrateRecord, "ark" | "name"> | undefined;
  try {
    const result = await runThread(
      {
        objects: deps.objectsLocation, format, archive: { sha256, name, ...(staged === undefined ? {} : { staged }) }, limits: crateLimits(config), dryRun: true,
        identify: { naan: config.ARK_NAAN, acceptedNaans: config.ACCEPTED_NAANS, ...(crate === undefined ? {} : { crate }) }, baseUrl: deps.baseUrl(), owner: user, update: isUpdate,
      },
      {
        progress: () => {},
        intend: async () => {},
        registered: (arks, root) => registeredCrates(deps.records, arks, root, user),
        claim: async (claims) => {
          isNamed ||= claims.some((claim) => claim.root && claim.kept);
          const { refusals, own } = update ? { refusals: await update.claim(claims), own: new Map<string, Place>() } : await findConflicts(deps.records, claims, user, identifiers);
          gathered.claimed(claims, refusals, own);
          return [];
        },
        records: (batch) => {
          root ??= batch[0];
          gathered.built(batch);
        },
      },
      signal, { timeout: config.INTAKE_TIMEOUT, memory: config.INTAKE_MEMORY },
    );
    if (update) await gathered.compareWith(update);
    else {
      const { writes, errors } = await withoutKnown(deps.records, gathered.compared, gathered.own);
      gathered.compare(writes, errors);
    }
    const similar = isNamed || !root ? undefined : await alike(deps.records, root, user);
    if (similar) result.warnings.push(similar);
    return gathered.plan("errors" in result ? result.errors : [], result.warnings, config.PLAN_LIST_LIMIT);
  } catch (error) {
    if (error instanceof CrateError) return gathered.plan(error.findings, error.warnings, config.PLAN_LIST_LIMIT);
    throw error;
  }
}
