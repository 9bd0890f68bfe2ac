/** ms between two: under a stream of commits they are read in lots. */
const EACH = 40;

/** Tells of the newest commit: at once when it is the first for a while or when somebody waits for it, else soon. */
export class Announcements {
  latest = 0;
  #at = Number.NEGATIVE_INFINITY;
  #next: NodeJS.Timeout | undefined;

  constructor(private readonly tell: (sequence: number) => void) {}

  soon(sequence: number): void {
    this.latest = Math.max(this.latest, sequence);
    if (this.#next) return;
    const wait = this.#at + EACH - performance.now();
    if (wait > 0) this.#next = setTimeout(() => this.#tell(), wait).unref();
    else this.#tell();
  }

  now(sequence: number): void {
    this.latest = Math.max(this.latest, sequence);
    this.#tell();
  }

  close(): void {
    clearTimeout(this.#next);
  }

  #tell(): void {
    clearTimeout(this.#next);
    this.#next = undefined;
    this.#at = performance.now();
    this.tell(this.latest);
  }
}
