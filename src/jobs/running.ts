/** Why the signal of a job was aborted. */
export class JobAborted extends Error {
  constructor(readonly reason: "cancelled" | "stopping" | "superseded" | "deferred") {
    super(`The job was ended: ${reason}.`);
    this.name = "JobAborted";
  }
}

/** How long a handler has to stop after it was asked to, ms. */
const STOP_TIMEOUT = 2000;

interface RunningJob<T> {
  abort: AbortController;
  done: Promise<T>;
}

/** The submissions that this process runs now; `T` is the result of their jobs. */
export class Running<T> {
  readonly #jobs = new Map<string, RunningJob<T>>();

  get size(): number {
    return this.#jobs.size;
  }

  has(id: string): boolean {
    return this.#jobs.has(id);
  }

  /** The result of a job that is not done yet. */
  done(id: string): Promise<T> | undefined {
    return this.#jobs.get(id)?.done;
  }

  ids(): string[] {
    return [...this.#jobs.keys()];
  }

  /** Runs `job`, which must not reject, and tracks it until it is done. */
  track(id: string, job: (abort: AbortController) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const done = job(abort).finally(() => {
      if (this.#jobs.get(id)?.abort === abort) this.#jobs.delete(id);
    });
    this.#jobs.set(id, { abort, done });
    return done;
  }

  /** False when it does not run here. */
  abort(id: string, reason: JobAborted["reason"]): boolean {
    const job = this.#jobs.get(id);
    job?.abort.abort(new JobAborted(reason));
    return job !== undefined;
  }

  /** Waits up to `grace` ms for running jobs, then asks the rest to stop. */
  async end(grace: number): Promise<void> {
    await this.#settledWithin(grace);
    for (const id of this.ids()) this.abort(id, "stopping");
    // A handler that obeys its signal ends at once; one that does not must not delay the stop.
    await this.#settledWithin(STOP_TIMEOUT);
  }

  async #settledWithin(ms: number): Promise<void> {
    if (this.#jobs.size === 0) return;
    await within(ms, Promise.all([...this.#jobs.values()].map(({ done }) => done)));
  }
}

/** Resolves with `done`, and after `ms` at the latest. */
export async function within(ms: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
