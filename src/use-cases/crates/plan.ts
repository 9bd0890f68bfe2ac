import type { Config } from "../../config.js";
import type { Finding } from "../../model/finding.js";
import type { KindName } from "../../model/kind.js";
import type { ObjectsLocation } from "../../stores/objects/location.js";
import type { RecordStore } from "../../stores/records/port.js";
import type { CrateRecord } from "./build-records.js";
import { CrateError } from "./findings.js";
import { crateLimits } from "./limits.js";
import { findConflicts, withoutKnown } from "./run/conflicts.js";
import type { CrateFormat } from "./run/protocol.js";
import { runThread } from "./run/thread.js";

/** What an upload of a crate would come to. */
export interface CratePlan {
  /** Identifier of the crate; a minted one is another at the upload. Null when there are errors. */
  root: string | null;
  /** Records that would be created. */
  records: CrateRecord[];
  counts: Partial<Record<KindName, number>>;
  errors: Finding[];
  warnings: Finding[];
}

/** An archive or metadata file in the object store. */
export interface PlannedUpload { sha256: string; name?: string; format?: CrateFormat; /** ARK of who would upload it. */ user: string }

/** Goes through the whole intake of a crate, and stores and changes nothing. */
export async function planCrate(
  deps: { records: Pick<RecordStore, "findMany">; objects: ObjectsLocation; config: Config; baseUrl: () => string },
  { sha256, name = "crate.zip", format = "zip", user }: PlannedUpload,
  signal: AbortSignal,
): Promise<CratePlan> {
  const { config } = deps;
  const records: CrateRecord[] = [];
  const own = new Set<string>();
  const refused = (errors: Finding[], warnings: Finding[]): CratePlan => ({ root: null, records: [], counts: {}, errors, warnings });
  try {
    const result = await runThread(
      {
        objects: deps.objects, format, archive: { sha256, name }, limits: crateLimits(config), dryRun: true,
        identify: { naan: config.ARK_NAAN, acceptedNaans: config.ACCEPTED_NAANS }, baseUrl: deps.baseUrl(), owner: user,
      },
      {
        progress: () => {},
        intend: async () => {},
        claim: async (claims) => {
          const found = await findConflicts(deps.records, claims, user);
          for (const ark of found.own) own.add(ark);
          return found.refusals;
        },
        records: (batch) => {
          for (const record of batch) records.push(record);
        },
      },
      signal, { timeout: config.INTAKE_TIMEOUT, memory: config.INTAKE_MEMORY },
    );
    if ("errors" in result) return refused(result.errors, result.warnings);
    const { writes, errors } = await withoutKnown(deps.records, records, own);
    if (errors.length > 0) return refused(errors, result.warnings);
    const counts: CratePlan["counts"] = {};
    for (const { kind } of writes) counts[kind] = (counts[kind] ?? 0) + 1;
    return { root: result.root, records: writes, counts, errors: [], warnings: result.warnings };
  } catch (error) {
    if (error instanceof CrateError) return refused(error.findings, error.warnings);
    throw error;
  }
}
