import { Outage } from "../../errors.js";

/** A file to put into an archive. */
export interface TarFile {
  /** Relative, with `/` between its parts. */
  path: string;
  size: number;
  /** Exactly `size` bytes. */
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/** The engine cannot be reached or does not answer: accepted jobs wait for it. */
export class EngineAway extends Outage {
  override readonly name = "EngineAway";
}

/** The engine answered, and refused; its own words are in the message. */
export class EngineRefusal extends Error {
  override readonly name = "EngineRefusal";
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Which attempt at which submission a container belongs to; containers and volumes carry it as
 * labels.
 */
export interface RunOwner {
  submission: string;
  attempt: number;
}

/** An image that is present on the engine. */
export interface EngineImage {
  /** The engine's identifier of these very bytes: `sha256:…`. */
  id: string;
  /** `name@sha256:…` in an image registry, where the image came from one. */
  digest: string | null;
}

/** Limits of one run; sizes in bytes. */
export interface RunLimits {
  memory: number;
  cpus: number;
  pids: number;
  openFiles: number;
  /** Of `/tmp`, which counts as memory. */ temporary: number;
  /** Of one file that it writes. */ fileSize: number;
  /** Of what the engine keeps of its output. */ log: number;
}

export interface RunSpec {
  owner: RunOwner;
  /** {@link EngineImage.id} */
  image: string;
  /** Takes the place of the image's entry point; absent: that stays. */
  entrypoint?: readonly string[];
  /** Absent: the image's own command. */
  command?: readonly string[];
  /** `user:group` as numbers, none of them 0. */
  user: string;
  limits: RunLimits;
}

/** Where a run finds its inputs, read-only. */
export type InputPlace = "inputs" | "software";

export type RunState =
  | { running: true }
  | {
      running: false;
      exitCode: number;
      outOfMemory: boolean;
      /** RFC 3339. */ startedAt: string;
      finishedAt: string;
    };

/**
 * A result of a run under `/outputs`, in any order; the content is read before the next one is
 * requested, or passed over.
 */
export interface OutputEntry {
  /** Below `/outputs`, with `/`; null when it is no text. */
  path: string | null;
  type: "file" | "folder" | "link" | "other";
  size: number;
  content(): AsyncIterable<Uint8Array>;
}

/** One container with its volumes. The caller that made it removes it, however it ended. */
export interface ContainerRun {
  /** The engine's identifier of the container. */
  readonly id: string;
  /** Puts files where the run finds them; before {@link start}. */
  put(place: InputPlace, files: AsyncIterable<TarFile>): Promise<void>;
  /** @throws EngineRefusal when the image cannot run that command */
  start(): Promise<void>;
  /** @throws EngineRefusal with status 404 when another caller removed it */
  state(): Promise<RunState>;
  /** Bytes under `/outputs` as of now; `undefined` where the engine does not count. */
  outputSize(): Promise<number | undefined>;
  /** The end of its standard output and error, at most so many bytes of UTF-8. */
  log(bytes: number): Promise<string>;
  outputs(): AsyncGenerator<OutputEntry>;
  /** Ends the running container, and removes container and volumes; a second call does no harm. */
  remove(): Promise<void>;
}

/**
 * Runs containers. It never fetches an image: the engine has the image, or the call fails. Every
 * call throws {@link EngineAway} when it gets no answer.
 */
export interface ContainerEngine {
  /** `undefined` when it is not present. */
  image(reference: string): Promise<EngineImage | undefined>;
  /** Makes container and volumes, not started. When it throws, none of them remains. */
  create(spec: RunSpec): Promise<ContainerRun>;
  /** The owners of this registry's containers and volumes on the engine. */
  owners(): Promise<RunOwner[]>;
  /** Removes the container and volumes of one attempt. */
  remove(owner: RunOwner): Promise<void>;
  health(): Promise<void>;
}
