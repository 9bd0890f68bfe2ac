import type { Finding } from "../../model/finding.js";
import { FINDING_CODES, type AdviceCode, type FindingCode, type RefusalCode } from "./finding-codes.js";

/** Of one code; more would help nobody, fill the submissions table and hide the rest. */
const MOST_OF_ONE = 200;

/** What is wrong with a crate itself: the submission ends failed, and trying again would not help. */
export class CrateError extends Error {
  constructor(readonly findings: Finding[], readonly warnings: Finding[] = []) {
    super(findings.map(({ code, message }) => `${code}: ${message}`).join("; "));
    this.name = "CrateError";
  }
}

/** Where in the crate: member of the archive, JSON pointer inside it. */
export interface Place { file?: string | null; pointer?: string | null; /** From 1, of text that is not JSON as it should be. */ line?: number; column?: number }

export function finding(code: FindingCode, message: string, { file = null, pointer = null, line, column }: Place = {}): Finding {
  return { file: file && shortened(file), pointer: pointer && bounded(pointer), message: shortened(message), code, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
}

/** Longer names and texts of a hostile crate would fill the screen and the submissions table. */
const LONGEST = 1000;

/** A text of the crate as findings quote it. */
export const quoted = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
/** A pointer to what holds the place, when its own would be too long. */
const bounded = (pointer: string): string => (pointer.length > LONGEST ? pointer.slice(0, pointer.lastIndexOf("/", LONGEST)) : pointer);

/** A {@link CrateError} with one finding. */
export function crateError(code: RefusalCode, message: string, place?: Place): CrateError {
  return new CrateError([finding(code, message, place)]);
}

/** Gathers errors and warnings, so that a crate's author sees all of them at once. */
export class Findings {
  private readonly errors = new FindingList();
  private readonly warnings = new FindingList();

  error(code: RefusalCode, message: string, place?: Place): void {
    this.errors.add(code, message, place);
  }

  warn(code: AdviceCode, message: string, place?: Place): void {
    this.warnings.add(code, message, place);
  }

  /** Takes over what ended a part of the work, so that the rest is looked at too. */
  take({ findings, warnings }: CrateError): void {
    this.errors.append(findings);
    this.warnings.append(warnings);
  }

  /** True when an error of this code was found. */
  refuses(code: RefusalCode): boolean {
    return this.errors.has(code);
  }

  /** @throws CrateError with all that was found, when an error is among it */
  throwIfErrors(): void {
    const errors = this.errors.all();
    if (errors.length > 0) throw new CrateError(errors, this.warnings.all());
  }

  allWarnings(): Finding[] {
    return this.warnings.all();
  }
}

class FindingList {
  private readonly kept: Finding[] = [];
  private readonly counts = new Map<FindingCode, number>();

  has(code: FindingCode): boolean {
    return this.counts.has(code);
  }

  append(findings: readonly Finding[]): void {
    for (const each of findings) this.count(each.code as FindingCode, () => each);
  }

  add(code: FindingCode, message: string, place?: Place): void {
    this.count(code, () => finding(code, message, place));
  }

  private count(code: FindingCode, make: () => Finding): void {
    const count = (this.counts.get(code) ?? 0) + 1;
    this.counts.set(code, count);
    if (count <= MOST_OF_ONE) this.kept.push(make());
  }

  all(): Finding[] {
    const more = [...this.counts].filter(([, count]) => count > MOST_OF_ONE);
    return [...this.kept, ...more.map(([code, count]) => finding("MORE_FINDINGS", `${count - MOST_OF_ONE} more of ${code} are not listed.`))];
  }
}

/** HTTP status that a failed intake answers with when a client waits for it: 409 for conflicts, 413 for limits, else 422. */
export function statusOfFindings(findings: readonly Finding[]): 409 | 413 | 422 {
  const statuses = findings.map(({ code }) => (FINDING_CODES as Partial<Record<string, { status: 409 | 413 | 422 }>>)[code]?.status ?? 422);
  return statuses.includes(409) ? 409 : statuses.includes(413) ? 413 : 422;
}
