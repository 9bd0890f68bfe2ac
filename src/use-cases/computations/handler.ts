import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "../../errors.js";
import { EngineAway, EngineRefusal } from "../../containers/port.js";
import { reached } from "../../jobs/moments.js";
import type { Job, JobHandler } from "../../jobs/port.js";
import type { Finding } from "../../model/finding.js";
import type { StoredRecord } from "../../stores/records/port.js";
import { assertMayChange } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { announce } from "../objects/announce.js";
import { findLive } from "../records/find.js";
import { parseDocument } from "../records/view.js";
import { describeRun } from "./description.js";
import type { RunSubmissionInput } from "./execute.js";
import { RunError, runFinding } from "./findings.js";
import { gatherInputs, usedBy } from "./inputs.js";
import { receiveOutputs, type RunOutput } from "./outputs.js";
import { resultRecords, runRevision, type RunFacts } from "./results.js";
import { runContainer } from "./run.js";
import { removeEarlier } from "./sweep.js";

/** How often somebody else's write may come between before that is a fault. */
const COMMIT_ATTEMPTS = 5;

/**
 * The handler of submissions of type `computation`: the results and the computation's next revision become visible in one
 * commit with the end of the submission, or nothing of them. What the run itself is at fault for ends it as failed; any other
 * fault is thrown, and the queue tries again.
 */
export function executionHandler(deps: Deps): JobHandler {
  return async (job) => {
    const { submission: { id, attempt }, signal } = job;
    const warnings: Finding[] = [];
    const release = () => deps.records.release({ kind: "submission", id });
    try {
      await execute(deps, job, warnings);
    } catch (error) {
      if ((error as Error).name === "FenceLost") return;
      if (signal.aborted) {
        if ((signal.reason as { reason?: string } | undefined)?.reason === "cancelled") await release();
        throw error;
      }
      if (await isAnothers(deps, job)) return;
      const found = findingOf(error, job);
      if (!found) throw error;
      await deps.records.closeSubmission({ id, attempt, status: "failed", error: [found], warnings }, Date.now());
      // What was stored is swept once nobody announces it any more.
      await release();
    }
  };
}

/** A later attempt has taken the container away: then the fault is its doing, and the end of the submission its business. */
async function isAnothers({ records }: Deps, { submission: { id, attempt } }: Job): Promise<boolean> {
  const now = await records.submission(id);
  return now !== undefined && (now.status !== "running" || now.attempt !== attempt);
}

function findingOf(error: unknown, job: Job): Finding | undefined {
  if (error instanceof RunError) return error.finding;
  if (error instanceof EngineAway || error instanceof EngineRefusal) {
    if (!job.isLastWith(error)) return undefined;
    return error instanceof EngineAway ? runFinding("ENGINE_AWAY", "The container engine could not be reached, for as long as the registry waits for it (OUTAGE_PATIENCE): ask for the run again once it is back.")
      : runFinding("ENGINE_REFUSED", `The container engine refused, however often that was tried: ${error.message}; the operator can tell why.`);
  }
  if (!(error instanceof ServiceError)) return undefined;
  if (error.code === "GONE" || error.code === "NOT_FOUND") return runFinding("CHANGED_MEANWHILE", error.message);
  return error.code === "FORBIDDEN" ? runFinding("INPUT_REFUSED", error.message) : undefined;
}

async function execute(deps: Deps, job: Job, warnings: Finding[]): Promise<void> {
  const { config, records, containers } = deps;
  const { submission, signal, report } = job;
  if (!containers) throw new RunError("NO_CONTAINER_ENGINE", "This registry has no container engine any more (CONTAINER_HOST); nothing was run.");
  await removeEarlier(deps, containers, submission);
  const { ark } = submission.input as unknown as RunSubmissionInput;
  const caller = { user: submission.user, admin: (await records.accountOf(submission.user))?.admin === true };
  const computation = await findLive(deps, ark, "computation");
  await assertMayChange(records, caller, computation);
  const description = describeRun(parseDocument(computation.document), config.CONTAINER_IMAGES);
  const inputs = await gatherInputs(deps, computation, caller);
  for (const warning of inputs.warnings) warnings.push(warning);
  const asked = await askedOf(deps, computation);
  const outputs: RunOutput[] = [];
  const stored = new Set<RunOutput>();
  try {
    const facts = await runContainer(containers, deps, job, description, inputs.files, async (run, facts) => {
      report({ stage: "storing results", done: 0, total: null, unit: "bytes" });
      const skipped = await receiveOutputs(run, deps.objects, config, signal, (output, done) => {
        outputs.push(output);
        report({ stage: "storing results", done, total: null, unit: "bytes" });
      });
      for (const warning of skipped) warnings.push(warning);
      return facts;
    });
    signal.throwIfAborted();
    await announce(deps, { kind: "submission", id: submission.id, attempt: submission.attempt }, [...new Set(outputs.map(({ object }) => object.sha256))]);
    reached({ submission: submission.id, moment: "files announced" });
    for (const output of outputs) {
      await output.object.publish();
      stored.add(output);
    }
    report({ stage: "committing", done: 0, total: outputs.length + 2, unit: "records" });
    await commit(deps, job, asked, outputs, facts, warnings);
  } finally {
    await Promise.all(outputs.filter((output) => !stored.has(output)).map(({ object }) => object.discard().catch((err: unknown) => deps.log.warn({ err }, "a staged result could not be discarded"))));
  }
}

/** What decides what is run: when it is another at the end, the results are not those of this computation. */
async function askedOf(deps: Pick<Deps, "config" | "records" | "objects">, record: StoredRecord): Promise<unknown> {
  const { container = null, command = null } = parseDocument(record.document);
  return { container, command, used: await usedBy(deps, record) };
}

async function commit(deps: Deps, { submission, signal }: Job, asked: unknown, outputs: readonly RunOutput[], facts: RunFacts, warnings: Finding[]): Promise<void> {
  const { records, config } = deps;
  const { ark } = submission.input as unknown as RunSubmissionInput;
  for (let attempt = 1; ; attempt++) {
    const record = await findLive(deps, ark, "computation");
    if (!isDeepStrictEqual(await askedOf(deps, record), asked)) throw new RunError("CHANGED_MEANWHILE", `${ark} was changed while it ran, and describes another run now: ask for that one.`);
    const { writes, dataset, generated } = await resultRecords(deps, record, record.owner ?? submission.user, outputs, facts);
    signal.throwIfAborted();
    try {
      await records.commit({
        by: submission.user, at: Date.now(), records: [...writes, await runRevision(deps, record, generated, facts)], within: config.COMMIT_LIMIT,
        submission: { id: submission.id, attempt: submission.attempt, status: "finished", warnings, identifiersMinted: writes.length, rocrateIdentifier: dataset },
      });
      reached({ submission: submission.id, moment: "committed" });
      return;
    } catch (error) {
      // Somebody else wrote the computation, or a name that was minted is taken: both are looked at anew.
      if (error instanceof ServiceError && error.code === "TOO_LARGE")
        throw new RunError("COMMIT_TOO_LONG", `Making the ${outputs.length} files that the run left visible in one step would keep other writes waiting for longer than COMMIT_LIMIT=${config.COMMIT_LIMIT} ms: pack them into fewer, or ask for the setting to be raised.`);
      const again = error instanceof ServiceError && (error.code === "REVISION_MISMATCH" || error.code === "DUPLICATE");
      if (!again || attempt === COMMIT_ATTEMPTS) throw error;
    }
  }
}

