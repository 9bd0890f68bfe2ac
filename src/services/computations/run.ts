import { setTimeout as sleep } from "node:timers/promises";
import {
  type ContainerEngine,
  type ContainerRun,
  EngineRefusal,
  type RunState,
} from "../../adapters/containers/port.js";
import type { Config } from "../../config/config.js";
import type { Job } from "../../jobs/port.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Deps } from "../deps.js";
import { quoted, RunError } from "./findings.js";
import { filesFor, type RunInput } from "./inputs.js";
import { outputsTooLarge, type RunFacts } from "./results.js";

type RunDeps = Pick<Deps, "config" | "records" | "objects" | "log">;

/** Pauses between two polls of a run, ms. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1000;
/** Bytes of a run's output that the engine stores, for each byte that may be reported. */
const KEPT = 4;

/**
 * Runs a container to its end and passes it to `use` before it is removed; the container is gone
 * when this returns.
 * @throws RunError when the run failed; EngineAway, EngineRefusal for faults outside the run
 */
export async function runContainer<T>(
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
  log: KEPT * config.EXECUTION_LOG_BYTES,
});

async function untilEnded(
  run: ContainerRun,
  { signal, report }: Job,
  config: Config,
): Promise<Extract<RunState, { running: false }>> {
  const began = Date.now();
  let looked = began;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(1.5 * pause, LONGEST_PAUSE)) {
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
const LONGEST_COMMAND = 128 * 2 ** 10;

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
  const [first, ...rest] = parts as [string, ...string[]];
  const last = rest.pop()!;
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
  if (words.reduce((sum, word) => sum + Buffer.byteLength(word), 0) > LONGEST_COMMAND)
    throw new RunError(
      "COMMAND_INVALID",
      `The command is longer than ${LONGEST_COMMAND} bytes: put it into a file of the software.`,
      "/command",
    );
  if (words.length === 0) return {};
  return typeof command === "string"
    ? { entrypoint: ["/bin/sh", "-c"], command: words }
    : { command: words };
}
