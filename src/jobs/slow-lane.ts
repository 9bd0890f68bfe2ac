/** Settings of work that may be set aside. */
export interface SlowOptions {
  /** Setting JOB_SLOW_AFTER, ms. */
  after: number;
  /** Setting JOB_SLOW_CONCURRENCY. */
  concurrency: number;
}

/** Places for work that takes long, so that it leaves its place to others: jobs begin where they are quick, and move here. */
export class SlowLane {
  private readonly ids = new Set<string>();

  constructor(readonly options: SlowOptions) {}

  has(id: string): boolean {
    return this.ids.has(id);
  }

  get size(): number {
    return this.ids.size;
  }

  get isFull(): boolean {
    return this.ids.size >= this.options.concurrency;
  }

  /** False when there is no place. */
  enter(id: string): boolean {
    if (this.isFull) return false;
    this.ids.add(id);
    return true;
  }

  leave(id: string): void {
    this.ids.delete(id);
  }
}
