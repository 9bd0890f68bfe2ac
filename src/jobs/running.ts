import { JobAborted } from "./endings.js";

/** How long a handler that was told to stop may take to do so, ms. */
const LAST_WORDS = 2000;

/** What this process works on now. */
export class Running {
  private readonly jobs = new Map<string, { abort: AbortController; done: Promise<unknown> }>();

  get size(): number {
    return this.jobs.size;
  }

  has(id: string): boolean {
    return this.jobs.has(id);
  }

  /** What {@link track} answered for work that is not done yet. */
  done<T>(id: string): Promise<T> | undefined {
    return this.jobs.get(id)?.done as Promise<T> | undefined;
  }

  ids(): string[] {
    return [...this.jobs.keys()];
  }

  /** Runs `work`, which must not reject, and knows of it until it is done. */
  track<T>(id: string, work: (abort: AbortController) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const done = work(abort).finally(() => {
      if (this.jobs.get(id)?.abort === abort) this.jobs.delete(id);
    });
    this.jobs.set(id, { abort, done });
    return done;
  }

  /** False when it does not run here. */
  abort(id: string, reason: JobAborted["reason"]): boolean {
    const job = this.jobs.get(id);
    job?.abort.abort(new JobAborted(reason));
    return job !== undefined;
  }

  /** Waits up to `grace` ms for what runs, then tells the rest to stop; answers what did not mind. */
  async end(grace: number): Promise<string[]> {
    await this.settledWithin(grace);
    for (const id of this.ids()) this.abort(id, "stopping");
    // A handler that minds its signal is gone at once; one that does not must not hold up the stop.
    await this.settledWithin(LAST_WORDS);
    return this.ids();
  }

  private async settledWithin(ms: number): Promise<void> {
    if (this.jobs.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      Promise.all([...this.jobs.values()].map(({ done }) => done)),
      new Promise((resolve) => (timer = setTimeout(resolve, ms))),
    ]);
    clearTimeout(timer);
  }
}
