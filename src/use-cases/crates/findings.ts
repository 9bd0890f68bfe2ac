import type { Finding } from "../../model/finding.js";
import { FINDING_CODES, type FindingCode } from "./finding-codes.js";

/** More would help nobody and would fill the submissions table. */
const MOST = 1000;

/** What is wrong with a crate itself: the submission ends failed, and trying again would not help. */
export class CrateError extends Error {
  constructor(readonly findings: Finding[], readonly warnings: Finding[] = []) {
    super(findings.map(({ code, message }) => `${code}: ${message}`).join("; "));
    this.name = "CrateError";
  }
}

/** Where in the crate: member of the archive, JSON pointer inside it. */
export interface Place { file?: string | null; pointer?: string | null }

export function finding(code: FindingCode, message: string, { file = null, pointer = null }: Place = {}): Finding {
  return { file, pointer, message, code };
}

/** A {@link CrateError} with one finding. */
export function crateError(code: FindingCode, message: string, place?: Place): CrateError {
  return new CrateError([finding(code, message, place)]);
}

/** Gathers errors and warnings, so that a crate's author sees all of them at once. */
export class Findings {
  readonly errors: Finding[] = [];
  readonly warnings: Finding[] = [];
  private moreErrors = 0;
  private moreWarnings = 0;

  error(code: FindingCode, message: string, place?: Place): void {
    if (this.errors.length < MOST) this.errors.push(finding(code, message, place));
    else this.moreErrors++;
  }

  warn(code: FindingCode, message: string, place?: Place): void {
    if (this.warnings.length < MOST) this.warnings.push(finding(code, message, place));
    else this.moreWarnings++;
  }

  /** @throws CrateError with all that was found, when an error is among it */
  throwIfErrors(): void {
    if (this.errors.length > 0) throw new CrateError(this.allErrors(), this.allWarnings());
  }

  allErrors(): Finding[] {
    return this.moreErrors === 0 ? this.errors : [...this.errors, finding("MORE_FINDINGS", `${this.moreErrors} more errors are not listed.`)];
  }

  allWarnings(): Finding[] {
    return this.moreWarnings === 0 ? this.warnings : [...this.warnings, finding("MORE_FINDINGS", `${this.moreWarnings} more warnings are not listed.`)];
  }
}

/** HTTP status that a failed intake answers with when a client waits for it: 409 for conflicts, 413 for limits, else 422. */
export function statusOfFindings(findings: readonly Finding[]): 409 | 413 | 422 {
  const statuses = findings.map(({ code }) => (FINDING_CODES as Partial<Record<string, { status: 409 | 413 | 422 }>>)[code]?.status ?? 422);
  return statuses.includes(409) ? 409 : statuses.includes(413) ? 413 : 422;
}
