/**
 * An intake in a thread or process of its own: what it is told, what it asks, and how it is run.
 */
import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { type ErrorCode, ServiceError } from "../../../errors.js";
import type { Progress } from "../../../jobs/port.js";
import type { Finding } from "../../../model/findings.js";
import type { KindName } from "../../../model/kind.js";
import { threadModule } from "../../../package-root.js";
import type { ObjectsLocation } from "../../../storage/objects/location.js";
import type { CrateRecord } from "../build-records.js";
import { CrateError, crateError } from "../findings.js";
import type { IdentifySettings, RegisteredCrate } from "../identifiers/identify.js";
import type { CrateFormat, CrateLimits } from "../upload.js";

/** Start data of a thread. Holds no secret. */
export interface IntakeInput {
  objects: ObjectsLocation;
  /** `staged` names bytes that are not stored under their key. */
  archive: { sha256: string; name: string; staged?: string };
  format: CrateFormat;
  limits: CrateLimits;
  identify: IdentifySettings;
  baseUrl: string;
  /** ARK of the uploader. */
  owner: string;
  /** Sent to update a crate. */
  update?: boolean;
  /** Reports all findings, to the end of the crate, and stores nothing. */
  dryRun?: boolean;
}

/** An identifier that the crate is about to register. */
export interface Claim {
  ark: string;
  kind: KindName;
  root: boolean;
  /** `@id` as the crate writes it. */
  id: string;
  /** The `@id` is an ARK and is preserved; otherwise one is minted. */
  kept: boolean;
  /**
   * A crate that the uploader registered apart from this one: described by its own metadata file
   * here, or only named.
   */
  linked?: "described" | "named";
  file: string;
  pointer: string;
}
/** A claim that is refused, by its place in the list. */
export interface Refusal {
  index: number;
  code: "CRATE_EXISTS" | "IDENTIFIER_TAKEN" | "IDENTIFIER_BELOW" | "INVALID_ID";
  message: string;
}

/** Services that the intake needs from the process with the record store. */
export interface IntakeHost {
  progress(progress: Progress): void;
  /** Announces that these objects are about to be put; resolves when they may be put. */
  intend(sha256s: string[]): Promise<void>;
  /**
   * Which of these are live crates of the uploader's that were registered apart from the crate
   * `root`.
   */
  registered(arks: string[], root: string | undefined): Promise<RegisteredCrate[]>;
  claim(claims: Claim[]): Promise<Refusal[]>;
  /** Passes on a batch of records; it may be transferred, not copied. */
  records(records: CrateRecord[]): void;
}
export type IntakeResult =
  { root: string; warnings: Finding[] } | { errors: Finding[]; warnings: Finding[] };

/** Thread to main side. */
export type FromThread =
  | { type: "progress"; progress: Progress }
  | { type: "intend"; id: number; sha256s: string[] }
  | { type: "registered"; id: number; arks: string[]; root: string | undefined }
  | { type: "claim"; id: number; claims: Claim[] }
  | { type: "records"; records: CrateRecord[] }
  | { type: "result"; result: IntakeResult }
  /** From the separate process of a crate: its thread exceeded its memory limit. */
  | { type: "outOfMemory" }
  /** A fault that is not the crate's: a retry may help. */
  | {
      type: "fault";
      message: string;
      /** Present if callers may see it. */ code?: ErrorCode;
    };
/** Main side to thread. */
export type ToThread =
  | { id: number; refusals?: Refusal[]; registered?: RegisteredCrate[]; fault?: string }
  | { stop: true };

/** Code of the error of a thread that exceeded its memory limit. */
export const OUT_OF_MEMORY = "ERR_WORKER_OUT_OF_MEMORY";
const outOfMemory = ({ memory }: ThreadLimits) =>
  crateError(
    "OUT_OF_MEMORY",
    `Ingesting the crate needed more than INTAKE_MEMORY=${memory} bytes of memory; send ` +
      "a smaller crate, or ask the operator to raise the setting.",
  );

/** How long (ms) a thread may take to stop. */
const LAST_WORDS = 1000;

/** Channel to a crate's thread, or its process. */
interface Side {
  on(event: "message", listener: (message: FromThread) => void): unknown;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  on(
    event: "exit",
    listener: (code: number | null, signal?: NodeJS.Signals | null) => void,
  ): unknown;
  postMessage(message: ToThread): void;
  terminate(): unknown;
}

/** Options of a crate's thread, in this process or in another. */
export const threadOptions = (input: IntakeInput, memory: number): WorkerOptions => ({
  workerData: input,
  name: "intake",
  env: {},
  resourceLimits: {
    maxYoungGenerationSizeMb: 6,
    maxOldGenerationSizeMb: Math.max(64, Math.floor(memory / 2 ** 20)),
    stackSizeMb: 16,
  },
});

/** First message to the process of a crate. */
export interface ProcessInput {
  input: IntakeInput;
  memory: number;
}

/** The same thread in a separate process, whose crash does not end the service. */
function processOf(input: IntakeInput, memory: number): Side {
  const child = fork(fileURLToPath(threadModule("src/services/crates/intake-process")), {
    serialization: "advanced",
    env: {},
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const gone = () => {};
  child.send({ input, memory } satisfies ProcessInput, gone);
  return {
    on: (event: string, listener: (...values: never[]) => void) =>
      child.on(event, listener as (...values: unknown[]) => void),
    postMessage: (message) => void (child.connected && child.send(message, gone)),
    terminate: () => child.kill("SIGKILL"),
  };
}

export interface ThreadLimits {
  /** In a separate process. */
  apart?: boolean;
  /** Setting INTAKE_TIMEOUT in ms. */
  timeout: number;
  /** Setting INTAKE_MEMORY in bytes. */
  memory: number;
}

/**
 * Runs one intake in a separate thread, or in a separate process, which ends with it.
 * @throws CrateError when a limit ends it; the signal's reason when the signal does; else a fault
 * that may be temporary
 */
export async function runThread(
  input: IntakeInput,
  host: IntakeHost,
  signal: AbortSignal,
  limits: ThreadLimits,
): Promise<IntakeResult> {
  signal.throwIfAborted();
  const worker: Side = limits.apart
    ? processOf(input, limits.memory)
    : new Worker(
        threadModule("src/services/crates/intake-thread"),
        threadOptions(input, limits.memory),
      );
  let end = () => {};
  let reported = false;
  const ended = new Promise<void>((resolve) => worker.on("exit", () => resolve()));
  try {
    return await new Promise<IntakeResult>((resolve, reject) => {
      const timer = setTimeout(
        () =>
          reject(
            crateError(
              "INTAKE_TIMEOUT",
              `Ingesting the crate took longer than INTAKE_TIMEOUT=${limits.timeout} ms; ` +
                "send a smaller crate, or ask the operator to raise the setting.",
            ),
          ),
        limits.timeout,
      );
      const abort = () => reject(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
      };
      worker.on("message", (message: FromThread) => {
        if (message.type === "result") {
          reported = true;
          resolve(message.result);
        } else if (message.type === "outOfMemory") reject(outOfMemory(limits));
        else if (message.type === "fault")
          reject(
            message.code
              ? new ServiceError(message.code, message.message)
              : new Error(message.message),
          );
        else handle(message, host, (answer) => worker.postMessage(answer), reject);
      });
      worker.on("error", (error: NodeJS.ErrnoException) =>
        reject(error.code === OUT_OF_MEMORY ? outOfMemory(limits) : error),
      );
      worker.on("exit", (code, signal) =>
        reject(
          new Error(
            `the intake ${limits.apart ? "process" : "thread"} ended with ` +
              (signal ? `signal ${signal}` : `code ${code}`),
          ),
        ),
      );
    });
  } finally {
    end();
    if (!reported) {
      // So that the thread removes files in progress; a thread that is still computing is
      // terminated.
      worker.postMessage({ stop: true } satisfies ToThread);
      await Promise.race([ended, sleep(LAST_WORDS, undefined, { ref: false })]);
    }
    await worker.terminate();
  }
}

function handle(
  message: Exclude<FromThread, { type: "result" | "fault" | "outOfMemory" }>,
  host: IntakeHost,
  answer: (answer: ToThread) => void,
  reject: (error: Error) => void,
): void {
  if (message.type === "progress") return host.progress(message.progress);
  if (message.type === "records") return host.records(message.records);
  const { id } = message;
  const done = (async () => {
    if (message.type === "intend") {
      await host.intend(message.sha256s);
      answer({ id });
    } else if (message.type === "registered")
      answer({ id, registered: await host.registered(message.arks, message.root) });
    else answer({ id, refusals: await host.claim(message.claims) });
  })();
  // The error itself ends the job here; the thread is only asked to stop waiting.
  done.catch((error: Error) => {
    reject(error);
    answer({ id, fault: error instanceof CrateError ? "refused" : "the store is unavailable" });
  });
}
