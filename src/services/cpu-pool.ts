import type { MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import { threadModule } from "../package-root.js";

/** A job needed more memory than its thread may use. */
export class OutOfMemory extends Error {}

/** A function of a module that threads load. */
export interface Job {
  /** For {@link threadModule}. */
  module: string;
  /** Name of the exported function. */
  name: string;
}

interface RunOptions {
  /** Most bytes of the thread's heap. */
  memory: number;
  /** Ends the job with its thread, also in the midst of a loop. */
  signal: AbortSignal;
  /** Parts of the input that are moved to the thread, not copied. */
  transfer?: (ArrayBuffer | MessagePort)[];
}

/** Far more than callers run at a time: their own limits decide who waits. */
const MAX_THREADS = 64;
/** ms after which an idle thread ends. */
const IDLE_TIMEOUT = 10_000;
/** Documents may be nested deeply. */
const STACK_MB = 8;

/**
 * Threads for work that would keep the serving thread busy for long, such as parsing what a client
 * sent. A thread has one job at a time, and does others later; one that exceeds its time or memory
 * ends.
 */
export class CpuPool {
  /** The package sets the memory of threads by pool. */
  readonly #pools = new Map<number, Piscina>();

  /**
   * @throws the signal's reason; {@link OutOfMemory}; the error of the function, without its class
   */
  async run<Run extends (input: never) => unknown>(
    { module, name }: Job,
    input: Parameters<Run>[0],
    { memory, signal, transfer = [] }: RunOptions,
  ): Promise<Awaited<ReturnType<Run>>> {
    signal.throwIfAborted();
    try {
      return (await this.#poolOf(memory).run(input, {
        filename: threadModule(module).href,
        name,
        signal,
        transferList: transfer,
      })) as Awaited<ReturnType<Run>>;
    } catch (error) {
      signal.throwIfAborted();
      if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY")
        throw new OutOfMemory();
      throw error;
    }
  }

  /** Ends all threads, with their jobs. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #poolOf(memory: number): Piscina {
    const known = this.#pools.get(memory);
    if (known) return known;
    const pool = new Piscina({
      minThreads: 0,
      maxThreads: MAX_THREADS,
      idleTimeout: IDLE_TIMEOUT,
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: Math.max(64, Math.floor(memory / 2 ** 20)),
        stackSizeMb: STACK_MB,
      },
    });
    // A thread that fails between two jobs is replaced.
    pool.on("error", () => undefined);
    this.#pools.set(memory, pool);
    return pool;
  }
}
