import type { Config } from "../../config.js";
import type { Finding } from "../../model/finding.js";
import { KINDS } from "../../model/kinds/index.js";
import type { ObjectsLocation } from "../../stores/objects/location.js";
import type { RecordStore } from "../../stores/records/port.js";
import type { CrateRecord } from "./build-records.js";
import { CrateError, finding, quoted, type Place } from "./findings.js";
import { FINDING_CODES, type FindingCode, type Severity } from "./finding-codes.js";
import { crateLimits } from "./limits.js";
import { findConflicts, withoutKnown } from "./run/conflicts.js";
import type { Claim, CrateFormat } from "./run/protocol.js";
import { runThread } from "./run/thread.js";

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
  /** Records that the uploader has already and that say the same. */
  known: PlannedIdentifier[];
  /** Identifiers that are taken. */
  conflicting: (PlannedIdentifier & PlanFinding)[];
  warned: PlanFinding[];
  /** Everything else that an upload would be refused for. */
  refused: PlanFinding[];
}

/** Bytes in the object store: published under their hash, or staged. */
export interface PlannedUpload { sha256: string; staged?: string; name?: string; format?: CrateFormat; /** ARK of who would upload it. */ user: string }
export interface PlanDeps { records: Pick<RecordStore, "findMany">; objectsLocation: ObjectsLocation; config: Config; baseUrl: () => string }

/** Goes through the whole intake of a crate, in a thread of its own, and stores and changes nothing. */
export async function planCrate(deps: PlanDeps, { sha256, staged, name = "crate.zip", format = "zip", user }: PlannedUpload, signal: AbortSignal): Promise<CratePlan> {
  const { config } = deps;
  const gathered = new Gathered();
  try {
    const result = await runThread(
      {
        objects: deps.objectsLocation, format, archive: { sha256, name, ...(staged === undefined ? {} : { staged }) }, limits: crateLimits(config), dryRun: true,
        identify: { naan: config.ARK_NAAN, acceptedNaans: config.ACCEPTED_NAANS }, baseUrl: deps.baseUrl(), owner: user,
      },
      {
        progress: () => {},
        intend: async () => {},
        claim: async (claims) => {
          const { refusals, own } = await findConflicts(deps.records, claims, user);
          gathered.claimed(claims, refusals, own);
          return [];
        },
        records: (batch) => gathered.built(batch),
      },
      signal, { timeout: config.INTAKE_TIMEOUT, memory: config.INTAKE_MEMORY },
    );
    const { writes, errors } = await withoutKnown(deps.records, gathered.compared, gathered.own);
    gathered.compare(writes, errors);
    return gathered.plan("errors" in result ? result.errors : [], result.warnings, config.PLAN_LIST_LIMIT);
  } catch (error) {
    if (error instanceof CrateError) return gathered.plan(error.findings, error.warnings, config.PLAN_LIST_LIMIT);
    throw error;
  }
}

/** What a run tells of a crate, until the plan is made of it. */
class Gathered {
  private readonly claims: Claim[] = [];
  private readonly conflicts = new Map<string, Finding>();
  private readonly known = new Set<string>();
  readonly own = new Map<string, Place>();
  /** Records whose identifiers the uploader has already; of the others nothing is kept. */
  readonly compared: CrateRecord[] = [];

  claimed(claims: readonly Claim[], refusals: readonly { index: number; code: FindingCode; message: string }[], own: ReadonlyMap<string, Place>): void {
    this.claims.push(...claims);
    for (const { index, code, message } of refusals) this.conflicts.set(claims[index]!.ark, finding(code, message, claims[index]));
    for (const [ark, place] of own) this.own.set(ark, place);
  }

  built(records: readonly CrateRecord[]): void {
    for (const record of records) if (this.own.has(record.ark)) this.compared.push(record);
  }

  compare(writes: readonly CrateRecord[], errors: readonly Finding[]): void {
    const others = new Set(writes.map(({ ark }) => ark));
    const at = new Map(errors.map((error) => [`${error.file} ${error.pointer}`, error]));
    for (const { ark } of this.compared) {
      const place = this.own.get(ark)!;
      if (others.has(ark)) this.conflicts.set(ark, at.get(`${place.file} ${place.pointer}`)!);
      else this.known.add(ark);
    }
  }

  plan(errors: readonly Finding[], warnings: readonly Finding[], most: number): CratePlan {
    const lists = { minted: [] as PlannedIdentifier[], kept: [] as PlannedIdentifier[], known: [] as PlannedIdentifier[], conflicting: [] as CratePlan["conflicting"] };
    const counts = { minted: 0, kept: 0, known: 0, conflicting: 0 };
    const conforms = errors.length === 0 && this.conflicts.size === 0;
    const records = new Map<string, number>();
    for (const claim of this.claims) {
      const planned: PlannedIdentifier = { entity: quoted(claim.id), identifier: claim.ark, kind: KINDS[claim.kind].typeName };
      const conflict = this.conflicts.get(claim.ark);
      const list = conflict ? "conflicting" : this.known.has(claim.ark) ? "known" : claim.kept ? "kept" : "minted";
      counts[list]++;
      if (conforms && list !== "known") records.set(planned.kind, (records.get(planned.kind) ?? 0) + 1);
      if (lists[list].length >= most) continue;
      if (conflict) lists.conflicting.push({ ...planned, ...planFinding(conflict, "REQUIRED") });
      else lists[list as "minted"].push(planned);
    }
    return {
      conforms, rocrateIdentifier: this.claims.find(({ root }) => root)?.ark ?? null, records: [...records].map(([kind, count]) => ({ kind, count })), counts, ...lists,
      warned: warnings.map((each) => planFinding(each, "RECOMMENDED")), refused: errors.map((each) => planFinding(each, "REQUIRED")),
    };
  }
}

function planFinding({ file, pointer, line, column, code, message }: Finding, severity: Severity): PlanFinding {
  return { file, pointer, line: line ?? null, column: column ?? null, severity, code, message, fix: FINDING_CODES[code as FindingCode].fix };
}
