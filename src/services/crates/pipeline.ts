/**
 * The pipeline of an uploaded crate:
 *
 * 1. read its metadata and the list of its files (`read.ts`),
 * 2. resolve its identifiers, and store its files (`resolve.ts`, `files/store-files.ts`),
 * 3. build its records (`build-records.ts`),
 * 4. compare them with what is stored (`compare/comparison.ts`),
 * 5. commit (`intake.ts`) or report (`plan.ts`).
 *
 * A dry run is all but the commit, and stores no files. An update is an upload whose comparison may
 * find records of the same crate.
 */
import type { Config } from "../../config/config.js";
import type { Progress } from "../../jobs/port.js";
import type { Finding } from "../../model/findings.js";
import { wholeStoreOf } from "../access/seen.js";
import type { ObjectsLocation } from "../../storage/objects/location.js";
import { NOT_COMPARED } from "./build-records.js";
import { type ComparedRecords, Comparison, type CrateWrites } from "./compare/comparison.js";
import { alike, registeredCrates } from "./compare/stored.js";
import { CrateError } from "./findings.js";
import { describedCrate } from "./layout.js";
import { runIntake } from "./run-intake.js";
import { crateLimits } from "./upload.js";
import type {
  Claim,
  Conflict,
  CrateRecord,
  CrateUpload,
  IntakeHost,
  IntakeInput,
  IntakeResult,
} from "./steps.js";

export interface PipelineDeps {
  records: ComparedRecords;
  objectsLocation: ObjectsLocation;
  config: Config;
  /** Public address without a slash at the end. */
  baseUrl: () => string;
  /** Runs the first three steps; in a thread of its own by default. */
  ingest?: typeof runIntake;
}

/** What the pipeline reports and asks while it runs. */
interface PipelineRun {
  signal: AbortSignal;
  progress(progress: Progress): void;
  /** Resolves when objects with these hashes may be put. */
  announce(sha256s: string[]): Promise<void>;
  /** In a separate process. */
  apart?: boolean;
}

/** A crate that was compared with the stored records; nothing of it is visible. */
export interface ComparedCrate {
  /** Identifiers of the crate, the root's first; of a dry run only. */
  claims: readonly Claim[];
  conflicts: readonly Conflict[];
  /** Other reasons to refuse the crate. */
  errors: readonly Finding[];
  warnings: Finding[];
  /** The uploader has this record: it states the same, or an update changes it. */
  isKnown: (ark: string) => boolean;
  /** Absent where the crate was refused earlier, or not all of its records could be built. */
  changes?: CrateWrites;
}

/**
 * The pipeline up to its last step.
 * @throws any error that is not a fault of the crate
 */
export async function compareCrate(
  upload: CrateUpload,
  deps: PipelineDeps,
  run: PipelineRun,
): Promise<ComparedCrate> {
  const { user, update, dryRun } = upload;
  // Identifiers of private records are taken, too: also in a dry run, which reads as the caller.
  const comparison = new Comparison(wholeStoreOf(deps.records), upload);

  // 1. to 3.: read, resolve identifiers, build records.
  const { claims, conflicts, built, errors, warnings, isWhole } = await recordsOf(
    upload,
    comparison,
    deps,
    run,
  );
  if (errors.length > 0 && !dryRun)
    return { claims, conflicts, errors, warnings, isKnown: () => false };

  // 4.: compare. A record that could not be built would count as missing in an update.
  run.progress({ stage: "committing", done: 0, total: built.length, unit: "records" });
  const changes = isWhole || !update ? await comparison.compare(built) : undefined;
  for (const conflict of changes?.conflicts ?? []) conflicts.push(conflict);
  const shared = new Set(changes?.uses.arks);
  const isNew = upload.crate === undefined && !comparison.isNamed;
  const [root] = isNew && (dryRun || conflicts.length === 0) ? built : [];
  const other = root && (await alike(deps.records, root, user));
  return {
    claims,
    conflicts,
    errors,
    warnings: other ? [...warnings, other] : warnings,
    isKnown: (ark) => (update ? comparison.has(ark) : shared.has(ark)),
    ...(changes ? { changes } : {}),
  };
}

/** What the first three steps found and built. */
interface CrateRecords extends Pick<ComparedCrate, "claims" | "errors" | "warnings"> {
  /** Identifiers that the crate cannot use; of a dry run, for others they end the steps. */
  conflicts: Conflict[];
  built: CrateRecord[];
  /** Every entity has its record. */
  isWhole: boolean;
}

async function recordsOf(
  upload: CrateUpload,
  comparison: Comparison,
  deps: PipelineDeps,
  run: PipelineRun,
): Promise<CrateRecords> {
  const { records, config, ingest = runIntake } = deps;
  const claims: Claim[] = [];
  const conflicts: Conflict[] = [];
  const built: CrateRecord[] = [];
  let expected = 0;
  const host: IntakeHost = {
    progress: (progress) => run.progress(progress),
    intend: (sha256s) => run.announce(sha256s),
    registered: (arks, root) => registeredCrates(records, arks, root, upload.user),
    claim: async (batch) => {
      const found = await comparison.claim(batch);
      expected += batch.filter(({ linked }) => linked !== "named").length;
      if (!upload.dryRun) return found;
      for (const claim of batch) claims.push(claim);
      for (const conflict of found) conflicts.push(conflict);
      return [];
    },
    records: (batch) => {
      for (const record of batch)
        built.push(upload.dryRun ? outlineOf(record, comparison) : record);
    },
  };
  const input: IntakeInput = {
    ...upload,
    objects: deps.objectsLocation,
    limits: crateLimits(config),
    naan: config.ARK_NAAN,
    acceptedNaans: config.ACCEPTED_NAANS,
    baseUrl: deps.baseUrl(),
  };
  const made = await ingest(input, host, run.signal, {
    timeout: config.INTAKE_TIMEOUT,
    memory: config.INTAKE_MEMORY,
    apart: run.apart === true,
  }).catch(asRefusal);
  const errors = "errors" in made ? made.errors : [];
  const isWhole = errors.length === 0 || (expected > 0 && built.length === expected);
  return { claims, conflicts, built, errors, warnings: made.warnings, isWhole };
}

/** A dry run holds the content of those records alone that the store has too. */
const outlineOf = (record: CrateRecord, comparison: Comparison): CrateRecord =>
  comparison.has(record.ark)
    ? { ...record, ...NOT_COMPARED }
    : {
        ...record,
        ...NOT_COMPARED,
        ...(describedCrate(record.ark) === undefined ? { document: NOTHING } : {}),
        quads: "",
        objects: [],
      };
const NOTHING = new Uint8Array();

function asRefusal(error: unknown): IntakeResult {
  if (error instanceof CrateError) return { errors: error.findings, warnings: error.warnings };
  throw error;
}
