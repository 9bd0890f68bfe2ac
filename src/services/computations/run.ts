/** A run of a computation: the job, its container, and what becomes of it. */
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  type ContainerEngine,
  type ContainerRun,
  EngineAway,
  EngineRefusal,
  type RunState,
} from "../../adapters/containers/port.js";
import type { Config } from "../../config/config.js";
import { ServiceError } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import { type Job, type JobHandler, reached } from "../../jobs/port.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Finding } from "../../model/findings.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Submission } from "../../storage/records/port/submissions.js";
import { assertMayChange, type Caller } from "../access/rules.js";
import { queued } from "../crates/submissions.js";
import type { Deps } from "../deps.js";
import { announce } from "../objects/damage.js";
import { askedArk, findLive } from "../records/find.js";
import { parseDocument } from "../records/view.js";
import { quoted, RunError, runFinding } from "./findings.js";
import { filesFor, gatherInputs, type RunInput, usedBy } from "./inputs.js";
import {
  outputsTooLarge,
  type RunFacts,
  type RunOutput,
  receiveOutputs,
  resultRecords,
  runRevision,
} from "./results.js";

type RunDeps = Pick<Deps, "config" | "records" | "objects" | "log">;

/** Pauses between two polls of a run, ms. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;
/** Bytes of a run's output that the engine stores, for each byte that may be reported. */
const STORED_PER_REPORTED_BYTE = 4;

/**
 * Runs a container to its end and passes it to `use` before it is removed; the container is gone
 * when this returns.
 * @throws RunError when the run failed; EngineAway, EngineRefusal for faults outside the run
 */
async function runContainer<T>(
  engine: ContainerEngine,
  deps: RunDeps,
  job: Job,
  { image, ...what }: RunDescription,
  files: readonly RunInput[],
  use: (run: ContainerRun, facts: RunFacts) => Promise<T>,
): Promise<T> {
  const { config } = deps;
  const {
    submission: { id: submission, attempt },
    signal,
    report,
  } = job;
  report({ stage: "preparing", done: 0, total: null, unit: "bytes" });
  const present = await engine.image(image);
  if (!present)
    throw new RunError(
      "IMAGE_ABSENT",
      `The image ${image} is not present on the container engine, and images are never ` +
        "fetched: ask the operator to pull it there, or name another.",
      "/container",
    );
  signal.throwIfAborted();
  const run = await engine.create({
    owner: { submission, attempt },
    image: present.id,
    ...what,
    user: config.EXECUTION_USER,
    limits: limitsOf(config),
  });
  try {
    const total = files.reduce((sum, { object }) => sum + object.size, 0);
    let done = 0;
    const reported = (bytes: number) => {
      signal.throwIfAborted();
      report({ stage: "preparing", done: (done += bytes), total, unit: "bytes" });
    };
    for (const place of ["inputs", "software"] as const)
      await run.put(place, filesFor(place, files, deps, reported));
    signal.throwIfAborted();
    await run.start().catch((error: unknown) => {
      throw error instanceof EngineRefusal
        ? new RunError(
            "NOT_STARTED",
            `The engine did not start the command in ${image}: ${error.message}`,
            "/command",
          )
        : error;
    });
    const end = await untilEnded(run, job, config);
    if (end.exitCode !== 0 || end.outOfMemory) throw await failure(run, end, config);
    const [began, ended] = [instant(end.startedAt), instant(end.finishedAt)];
    // Engines read the two times from different clocks: a short run may end a few milliseconds
    // before its start.
    return await use(run, {
      containerId: run.id,
      image: present.digest ?? present.id,
      began,
      ended: ended < began ? began : ended,
    });
  } finally {
    // The sweep removes a container that remains.
    await run
      .remove()
      .catch((err: unknown) =>
        deps.log.warn(
          { err, submission, attempt },
          "a run could not be removed from the container engine",
        ),
      );
  }
}

/** The engine's clock, to the millisecond. */
const instant = (text: string): string =>
  (Number.isNaN(Date.parse(text)) ? new Date() : new Date(text)).toISOString();

const limitsOf = (config: Config) => ({
  memory: config.EXECUTION_MEMORY,
  cpus: config.EXECUTION_CPUS,
  pids: config.EXECUTION_PIDS,
  openFiles: config.EXECUTION_OPEN_FILES,
  temporary: config.EXECUTION_TMP_BYTES,
  fileSize: config.EXECUTION_OUTPUT_BYTES,
  log: STORED_PER_REPORTED_BYTE * config.EXECUTION_LOG_BYTES,
});

async function untilEnded(
  run: ContainerRun,
  { signal, report }: Job,
  config: Config,
): Promise<Extract<RunState, { running: false }>> {
  const began = Date.now();
  let looked = began;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(1.5 * pause, MAX_PAUSE_MS)) {
    const state = await run.state();
    if (!state.running) return state;
    const now = Date.now();
    if (now - began > config.EXECUTION_TIMEOUT)
      throw new RunError(
        "RUN_TIMEOUT",
        withLog(
          "The run was ended: it took longer than " +
            `EXECUTION_TIMEOUT=${config.EXECUTION_TIMEOUT} ms.`,
          await run.log(config.EXECUTION_LOG_BYTES),
        ),
      );
    if (now - looked > config.EXECUTION_OUTPUT_CHECK) {
      if (((await run.outputSize()) ?? 0) > config.EXECUTION_OUTPUT_BYTES)
        throw outputsTooLarge(config);
      looked = Date.now();
    }
    report({
      stage: "running",
      done: Math.floor((now - began) / 1000),
      total: null,
      unit: "seconds",
    });
    await sleep(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

async function failure(
  run: ContainerRun,
  { exitCode, outOfMemory }: Extract<RunState, { running: false }>,
  config: Config,
): Promise<RunError> {
  const log = await run.log(config.EXECUTION_LOG_BYTES);
  if (outOfMemory)
    return new RunError(
      "OUT_OF_MEMORY",
      withLog(
        `The run needed more than EXECUTION_MEMORY=${config.EXECUTION_MEMORY} bytes and was ended.`,
        log,
      ),
    );
  const why =
    exitCode === 137
      ? ", killed: most likely it needed more than EXECUTION_MEMORY"
      : exitCode === 127
        ? ": a program was not found"
        : "";
  return new RunError(
    "COMMAND_FAILED",
    withLog(`The command ended with status ${exitCode}${why}.`, log),
    "/command",
  );
}

const withLog = (sentence: string, log: string): string =>
  log === ""
    ? `${sentence} It printed nothing.`
    : `${sentence} The end of what it printed:\n${log}`;

/** The fields of a computation's document that define how to run it. */
interface RunDescription {
  image: string;
  /** Replaces the image's entry point. */
  entrypoint?: readonly string[];
  /** Absent: the image's own command. */
  command?: readonly string[];
}

/**
 * Registry, path, tag and digest, by the distribution specification of OCI; the engine decides
 * which of them exist.
 */
const REFERENCE = /^(?!.*(?:\.\.|\/\/))[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$/;
/** The limit of execve on common systems, all arguments together. */
const MAX_COMMAND_BYTES = 128 * 2 ** 10;

/**
 * @param allowed setting CONTAINER_IMAGES
 * @throws RunError `NO_IMAGE`, `IMAGE_NOT_ALLOWED`, `COMMAND_INVALID`
 */
export function describeRun(document: JsonObject, allowed: string): RunDescription {
  const stated = document["container"];
  if (typeof stated !== "string" || stated.trim() === "")
    throw new RunError(
      "NO_IMAGE",
      "The computation names no image: give one as container, such as localhost/lab/count:1.",
      "/container",
    );
  const image = stated.trim().replace(/^docker:\/\//, "");
  if (!REFERENCE.test(image))
    throw new RunError(
      "NO_IMAGE",
      `${quoted(stated)} is not the name of an image: give one as container, such as ` +
        "localhost/lab/count:1.",
      "/container",
    );
  if (!allowed.split(",").some((pattern) => matches(pattern.trim(), image)))
    throw new RunError(
      "IMAGE_NOT_ALLOWED",
      `The image ${image} is not among those that this registry runs, CONTAINER_IMAGES=${allowed}.`,
      "/container",
    );
  return { image, ...commandOf(document["command"]) };
}

function matches(pattern: string, image: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return pattern === image;
  const [first = "", ...rest] = parts;
  const last = rest.pop() ?? "";
  if (
    !image.startsWith(first) ||
    !image.endsWith(last) ||
    image.length < first.length + last.length
  )
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = image.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= image.length - last.length;
}

/**
 * A string is a line for the shell, a list holds the arguments of the image's entry point, as in
 * Docker's own clients.
 */
function commandOf(command: JsonValue | undefined): Omit<RunDescription, "image"> {
  if (command === undefined || command === null) return {};
  const words = typeof command === "string" ? [command] : command;
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string"))
    throw new RunError(
      "COMMAND_INVALID",
      "The command is neither a string nor a list of strings.",
      "/command",
    );
  if (words.reduce((sum, word) => sum + Buffer.byteLength(word), 0) > MAX_COMMAND_BYTES)
    throw new RunError(
      "COMMAND_INVALID",
      `The command is longer than ${MAX_COMMAND_BYTES} bytes: put it into a file of the software.`,
      "/command",
    );
  if (words.length === 0) return {};
  return typeof command === "string"
    ? { entrypoint: ["/bin/sh", "-c"], command: words }
    : { command: words };
}

/**
 * Removes containers of earlier attempts at a submission; their process may be dead or only slow.
 */
async function removeEarlier(
  { log }: Pick<Deps, "log">,
  containers: ContainerEngine,
  { id, attempt }: Pick<Submission, "id" | "attempt">,
): Promise<void> {
  for (const owner of await containers.owners()) {
    if (owner.submission !== id || owner.attempt >= attempt) continue;
    await containers.remove(owner);
    log.info(
      { submission: id, attempt: owner.attempt },
      "removed containers and files of an earlier run from the container engine",
    );
  }
}

/**
 * Removes containers of runs whose submission has ended or continues with another attempt: their
 * process was killed. Containers of current attempts, on any node, stay.
 * @returns the number of removed containers
 */
export async function sweepRuns(
  { records, log }: Pick<Deps, "records" | "log">,
  containers: ContainerEngine,
): Promise<number> {
  let removed = 0;
  for (const owner of await containers.owners()) {
    const submission = await records.submission(owner.submission);
    if (
      submission?.status === "running" &&
      submission.attempt === owner.attempt &&
      !submission.cancelled
    )
      continue;
    await containers.remove(owner);
    removed++;
  }
  if (removed > 0)
    log.info({ removed }, "removed containers and files of earlier runs from the container engine");
  return removed;
}

/** Most attempts after conflicting writes of other users; then the conflict is a fault. */
const COMMIT_ATTEMPTS = 5;

/**
 * The handler of submissions of type `computation`: the results, the computation's next revision
 * and the end of the submission are committed atomically. An error of the run itself ends the
 * submission as failed; any other fault is thrown, and the queue retries.
 */
export function executionHandler(deps: Deps): JobHandler {
  return async (job) => {
    const {
      submission: { id, attempt },
      signal,
    } = job;
    const warnings: Finding[] = [];
    const release = () => deps.records.release({ kind: "submission", id });
    try {
      await execute(deps, job, warnings);
    } catch (error) {
      if ((error as Error).name === "FenceLost") return;
      if (signal.aborted) {
        if ((signal.reason as { reason?: string } | undefined)?.reason === "cancelled")
          await release();
        throw error;
      }
      if (await isAnothers(deps, job)) return;
      const found = findingOf(error, job);
      if (!found) throw error;
      await deps.records.closeSubmission(
        { id, attempt, status: "failed", error: [found], warnings },
        Date.now(),
      );
      // A sweep removes the stored bytes when no intent announces them any more.
      await release();
    }
  };
}

/**
 * Whether a later attempt has taken over: it removed the container and caused the fault, and it
 * ends the submission.
 */
async function isAnothers(
  { records }: Deps,
  { submission: { id, attempt } }: Job,
): Promise<boolean> {
  const now = await records.submission(id);
  return now !== undefined && (now.status !== "running" || now.attempt !== attempt);
}

function findingOf(error: unknown, job: Job): Finding | undefined {
  if (error instanceof RunError) return error.finding;
  if (error instanceof EngineAway || error instanceof EngineRefusal) {
    if (!job.isLastWith(error)) return undefined;
    return error instanceof EngineAway
      ? runFinding(
          "ENGINE_AWAY",
          "The container engine was unavailable during the whole retry window " +
            "(OUTAGE_PATIENCE): submit the run again once it is available.",
        )
      : runFinding(
          "ENGINE_REFUSED",
          `The container engine refused every attempt: ${error.message}; ask the ` +
            "operator for the reason.",
        );
  }
  if (!(error instanceof ServiceError)) return undefined;
  if (error.code === "GONE" || error.code === "NOT_FOUND")
    return runFinding("CHANGED_MEANWHILE", error.message);
  return error.code === "FORBIDDEN" ? runFinding("INPUT_REFUSED", error.message) : undefined;
}

async function execute(deps: Deps, job: Job, warnings: Finding[]): Promise<void> {
  const { config, records, containers } = deps;
  const { submission, signal, report } = job;
  if (!containers)
    throw new RunError(
      "NO_CONTAINER_ENGINE",
      "This registry has no container engine any more (CONTAINER_HOST); nothing was run.",
    );
  await removeEarlier(deps, containers, submission);
  const { ark } = submission.input as unknown as RunSubmissionInput;
  const caller = {
    user: submission.user,
    admin: (await records.accountOf(submission.user))?.admin === true,
  };
  const computation = await findLive(deps, askedArk(ark), "computation");
  await assertMayChange(records, caller, computation);
  const description = describeRun(parseDocument(computation.document), config.CONTAINER_IMAGES);
  const inputs = await gatherInputs(deps, computation, caller);
  for (const warning of inputs.warnings) warnings.push(warning);
  const asked = await askedOf(deps, computation);
  const outputs: RunOutput[] = [];
  const stored = new Set<RunOutput>();
  try {
    const facts = await runContainer(
      containers,
      deps,
      job,
      description,
      inputs.files,
      async (run, facts) => {
        report({ stage: "storing results", done: 0, total: null, unit: "bytes" });
        const skipped = await receiveOutputs(run, deps.objects, config, signal, (output, done) => {
          outputs.push(output);
          report({ stage: "storing results", done, total: null, unit: "bytes" });
        });
        for (const warning of skipped) warnings.push(warning);
        return facts;
      },
    );
    signal.throwIfAborted();
    await announce(deps, { kind: "submission", id: submission.id, attempt: submission.attempt }, [
      ...new Set(outputs.map(({ object }) => object.sha256)),
    ]);
    reached({ submission: submission.id, event: "files announced" });
    for (const output of outputs) {
      await output.object.publish();
      stored.add(output);
    }
    report({ stage: "committing", done: 0, total: outputs.length + 2, unit: "records" });
    await commit(deps, job, asked, outputs, facts, warnings);
  } finally {
    await Promise.all(
      outputs
        .filter((output) => !stored.has(output))
        .map(({ object }) =>
          object
            .discard()
            .catch((err: unknown) =>
              deps.log.warn({ err }, "a staged result could not be discarded"),
            ),
        ),
    );
  }
}

/**
 * The fields that define the run: if they differ at the end, the results do not belong to this
 * computation.
 */
async function askedOf(
  deps: Pick<Deps, "config" | "records" | "objects">,
  record: StoredRecord,
): Promise<unknown> {
  const { container = null, command = null } = parseDocument(record.document);
  return { container, command, used: await usedBy(deps, record) };
}

async function commit(
  deps: Deps,
  { submission, signal }: Job,
  asked: unknown,
  outputs: readonly RunOutput[],
  facts: RunFacts,
  warnings: Finding[],
): Promise<void> {
  const { records, config } = deps;
  const { ark } = submission.input as unknown as RunSubmissionInput;
  for (let attempt = 1; ; attempt++) {
    const record = await findLive(deps, askedArk(ark), "computation");
    if (!isDeepStrictEqual(await askedOf(deps, record), asked))
      throw new RunError(
        "CHANGED_MEANWHILE",
        `${ark} was changed during the run, and now describes another run: submit that one.`,
      );
    const { writes, dataset, generated } = await resultRecords(
      deps,
      record,
      record.owner ?? submission.user,
      outputs,
      facts,
    );
    signal.throwIfAborted();
    try {
      await records.commit({
        by: submission.user,
        at: Date.now(),
        records: [...writes, await runRevision(deps, record, generated, facts)],
        within: config.COMMIT_LIMIT,
        submission: {
          id: submission.id,
          attempt: submission.attempt,
          status: "finished",
          warnings,
          identifiersMinted: writes.length,
          rocrateIdentifier: dataset,
        },
      });
      reached({ submission: submission.id, event: "committed" });
      return;
    } catch (error) {
      // Another user changed the computation, or a minted name is taken: read the record and mint
      // again.
      if (error instanceof ServiceError && error.code === "TOO_LARGE")
        throw new RunError(
          "COMMIT_TOO_LONG",
          `Committing the ${outputs.length} output files of the run at once would delay ` +
            `other writes for longer than COMMIT_LIMIT=${config.COMMIT_LIMIT} ms: pack ` +
            "them into fewer files, or ask the operator to raise the setting.",
        );
      const again =
        error instanceof ServiceError &&
        (error.code === "REVISION_MISMATCH" || error.code === "DUPLICATE");
      if (!again || attempt === COMMIT_ATTEMPTS) throw error;
    }
  }
}

/** Input of a submission of type `computation`. */
interface RunSubmissionInput {
  /** Stored form of the computation's ARK. */
  ark: string;
  /** Name of the request that queued the run, for logs. */
  request?: string;
  /** The span of that request, as W3C Trace Context writes it. */
  trace?: string;
}

/**
 * Queues a run of a computation's container. If an earlier run of the caller still waits or runs,
 * the answer is that run. The run evaluates the computation's description, and ends as failed if it
 * is invalid.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `FORBIDDEN` (also for
 * content that it used), `NO_CONTAINER_ENGINE`
 */
export async function executeComputation(
  deps: Deps,
  asked: Ark,
  who: Caller,
  origin: { request?: string; trace?: string } = {},
): Promise<Submission> {
  const record = await findLive(deps, asked, "computation");
  await assertMayChange(deps.records, who, record);
  if (!deps.containers)
    throw new ServiceError(
      "NO_CONTAINER_ENGINE",
      `${record.ark} cannot be run: this registry has no container engine (CONTAINER_HOST); ` +
        "nothing was changed.",
      {},
      { "Retry-After": "3600" },
    );
  // A caller without read access to the inputs is refused now; the run reports exceeded limits.
  await gatherInputs(deps, record, who).catch((error: unknown) => {
    if (!(error instanceof RunError)) throw error;
  });
  const { ark } = record;
  // The hash of its ARK merges two requests for the same run, also simultaneous ones; a run that
  // has ended does not count.
  const sha256 = createHash("sha256").update(ark).digest("hex");
  const { submission, existing } = await deps.records.submit({
    id: randomUUID(),
    type: "computation",
    user: who.user,
    sha256,
    input: { ark, ...origin } satisfies RunSubmissionInput,
    update: true,
    at: Date.now(),
  });
  return existing ? submission : queued(deps, submission);
}
