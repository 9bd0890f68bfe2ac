import { setTimeout as sleep } from "node:timers/promises";
import type { Finding } from "../../src/model/findings.js";
import type { SubmissionView as Submission } from "../../src/services/crates/submissions.js";
import { Failure } from "../failure.js";
import { visible } from "../render/table.js";
import { ConnectionError, Refusal, type Registry } from "./registry.js";

export type { Finding, Submission };

/** Ms between two polls: short at first, then longer. */
const SOONEST = 150;
const LATEST = 2000;
/** How long (ms) the registry may be unavailable before polling ends. */
const PATIENCE = 600_000;

export const readStatus = (registry: Registry, id: string): Promise<Submission> =>
  registry.json<Submission>(`/rocrate/upload/status/${encodeURIComponent(id)}`);

/**
 * Polls until the submission has ended. A restarted registry continues the submission, so temporary
 * errors are retried.
 * @param changed is called with each state, or with the reason while the registry does not answer
 * @throws Failure when the registry stays unavailable, or refuses
 */
export async function followSubmission(
  registry: Registry,
  id: string,
  changed: (state: Submission | { unavailable: string }) => void,
  signal: AbortSignal,
): Promise<Submission> {
  let pause = SOONEST;
  let unavailable: number | undefined;
  for (;;) {
    try {
      const submission = await readStatus(registry, id);
      unavailable = undefined;
      changed(submission);
      if (submission.completed) return submission;
    } catch (error) {
      if (!mayPass(error)) throw error;
      unavailable ??= Date.now();
      if (Date.now() - unavailable > PATIENCE)
        throw new Failure(
          `${(error as Error).message}; the upload may continue: ${resumeHint(id)}`,
          {
            cause: error,
          },
        );
      changed({ unavailable: (error as Error).message });
    }
    await sleep(pause, undefined, { signal });
    pause = Math.min(LATEST, pause * 1.3);
  }
}

const mayPass = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof Refusal && [429, 502, 503, 504].includes(error.status));

export const resumeHint = (id: string): string =>
  `see its progress with arkgraph status ${id} --wait`;

/** One finding on one line. */
export const findingLine = ({ file, pointer, message, code }: Finding): string => {
  const place = [file, pointer].filter((part) => part !== null && part !== "").join("#");
  const colon = file === null && (pointer ?? "") === "" ? "" : ": ";
  return visible(`${place}${colon}${message} (${code})`);
};

/** Findings of one code on one line: the first finding, and their number. */
export function groupedFindings(findings: readonly Finding[]): string[] {
  const byCode = new Map<string, Finding[]>();
  for (const finding of findings) {
    const group = byCode.get(finding.code);
    if (group) group.push(finding);
    else byCode.set(finding.code, [finding]);
  }
  return [...byCode.values()].map((group) => {
    const first = findingLine(group[0]!);
    return group.length === 1 ? first : first.replace(/\)$/, `, ${group.length} times)`);
  });
}

/** The address of all findings, if a group contains several. */
export const allWarnings = ({ submissionUUID, warnings }: Submission): string =>
  `see all ${warnings.length} warnings with arkgraph status ${submissionUUID} --json`;

/** The reason of the failure, as one sentence. */
export function failureOf({ error, submissionUUID }: Submission): Failure {
  const [first, ...more] = error ?? [];
  const rest =
    more.length === 0 ? "" : `, and ${more.length} more: arkgraph status ${submissionUUID}`;
  return new Failure(
    `the crate was not ingested: ${first ? findingLine(first) : "no reason was given"}${rest}`,
  );
}
