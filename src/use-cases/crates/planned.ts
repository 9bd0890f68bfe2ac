import type { Finding } from "../../model/finding.js";
import { KINDS } from "../../model/kinds/index.js";
import type { CrateRecord } from "./build-records.js";
import { finding, quoted, type Place } from "./findings.js";
import { FINDING_CODES, type FindingCode, type Severity } from "./finding-codes.js";
import { describedCrate } from "./layout/descriptor.js";
import type { ChangeName, CrateChanges, CratePlan, PlanFinding, PlannedIdentifier } from "./plan.js";
import type { Claim } from "./run/protocol.js";
import type { CrateUpdate } from "./run/update.js";

/** What a run tells of a crate, until the plan is made of it. */
export class Gathered {
  private readonly claims: Claim[] = [];
  private readonly conflicts = new Map<string, Finding>();
  private readonly known = new Set<string>();
  readonly own = new Map<string, Place>();
  /** Records whose identifiers the uploader has already; of the others nothing is kept but, for an update, who they are. */
  readonly compared: CrateRecord[] = [];
  private builtAll = 0;
  private changes: ReadonlyMap<string, ChangeName> | undefined;
  private removed: { identifier: string; kind: string }[] = [];
  /** Conflicts of records that the crate does not describe any more. */
  private readonly elsewhere: Finding[] = [];

  constructor(private readonly update?: Pick<CrateUpdate, "has" | "plan">) {}

  claimed(claims: readonly Claim[], refusals: readonly { index: number; code: FindingCode; message: string }[], own: ReadonlyMap<string, Place>): void {
    for (const claim of claims) {
      this.claims.push(claim);
      if (claim.linked !== "named") continue;
      this.builtAll++;
      this.known.add(claim.ark);
    }
    for (const { index, code, message } of refusals) this.conflicts.set(claims[index]!.ark, finding(code, message, claims[index]));
    for (const [ark, place] of own) this.own.set(ark, place);
  }

  built(records: readonly CrateRecord[]): void {
    this.builtAll += records.length;
    for (const record of records) {
      if (this.own.has(record.ark) || this.update?.has(record.ark)) this.compared.push(record);
      else if (this.update) this.compared.push({ ...record, ...(describedCrate(record.ark) === undefined ? { document: NOTHING } : {}), quads: "", objects: [] });
    }
  }

  /** What the update would write. Without every record it would seem to delete those that are missing. */
  async compareWith(update: Pick<CrateUpdate, "has" | "plan">): Promise<void> {
    const claimed = new Map(this.claims.map((claim) => [claim.ark, claim]));
    for (const ark of claimed.keys()) if (update.has(ark)) this.known.add(ark);
    if (this.claims.length === 0 || this.builtAll < this.claims.length) return;
    const { writes, conflicts, removed } = await update.plan(this.compared);
    for (const { ark, code, message } of conflicts) {
      if (claimed.has(ark)) this.conflicts.set(ark, finding(code, message, claimed.get(ark)));
      else this.elsewhere.push(finding(code, message));
    }
    const changes = new Map<string, ChangeName>();
    for (const write of writes) {
      if (write.op === "create") changes.set(write.ark, "created");
      else if (!changes.has(write.ark)) changes.set(write.ark, write.op === "replace" && write.revive ? "revived" : "changed");
    }
    this.changes = changes;
    this.removed = removed.map(({ ark, kind }) => ({ identifier: ark, kind: KINDS[kind].typeName }));
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
    const refused = [...errors, ...this.elsewhere];
    const conforms = refused.length === 0 && this.conflicts.size === 0;
    const records = new Map<string, number>();
    for (const claim of this.claims) {
      const identifier = planned(claim);
      const conflict = this.conflicts.get(claim.ark);
      // A crate always brings its descriptor along: it counts where it stands in the way.
      if (!conflict && describedCrate(claim.ark) !== undefined) continue;
      const list = conflict ? "conflicting" : this.known.has(claim.ark) ? "known" : claim.kept ? "kept" : "minted";
      counts[list]++;
      if (conforms && list !== "known") records.set(identifier.kind, (records.get(identifier.kind) ?? 0) + 1);
      if (lists[list].length >= most) continue;
      if (conflict) lists.conflicting.push({ ...identifier, ...planFinding(conflict, "REQUIRED") });
      else lists[list as "minted"].push(identifier);
    }
    return {
      conforms, rocrateIdentifier: this.claims.find(({ root }) => root)?.ark ?? null, records: [...records].map(([kind, count]) => ({ kind, count })), counts, ...lists,
      warned: warnings.map((each) => planFinding(each, "RECOMMENDED")), refused: refused.map((each) => planFinding(each, "REQUIRED")), changes: this.changesOf(this.changes, most),
    };
  }

  private changesOf(changes: ReadonlyMap<string, ChangeName> | undefined, most: number): CrateChanges | null {
    if (!changes) return null;
    const counts = { created: 0, changed: 0, unchanged: 0, removed: this.removed.length, revived: 0 };
    const lists = { created: [] as PlannedIdentifier[], changed: [] as PlannedIdentifier[], unchanged: [] as PlannedIdentifier[], revived: [] as PlannedIdentifier[] };
    for (const claim of this.claims) {
      if (this.conflicts.has(claim.ark)) continue;
      const change = (changes.get(claim.ark) ?? "unchanged") as keyof typeof lists;
      if (change !== "changed" && describedCrate(claim.ark) !== undefined) continue;
      counts[change]++;
      if (lists[change].length < most) lists[change].push(planned(claim));
    }
    return { counts, ...lists, removed: this.removed.slice(0, most) };
  }
}

const NOTHING = new Uint8Array();
const planned = ({ id, ark, kind }: Claim): PlannedIdentifier => ({ entity: quoted(id), identifier: ark, kind: KINDS[kind].typeName });

function planFinding({ file, pointer, line, column, code, message }: Finding, severity: Severity): PlanFinding {
  return { file, pointer, line: line ?? null, column: column ?? null, severity, code, message, fix: FINDING_CODES[code as FindingCode].fix };
}
