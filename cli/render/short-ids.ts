/** A record and what lies below it: `ark:99999/crate/data/a.csv` lies below `ark:99999/crate`. */
const BELOW = /^ark:[^/]+\/[^/]+\//;

/**
 * Short forms of identifiers that are shown together. Those of one crate all begin alike; the short form leaves room for
 * what differs. Only the crate with most of them is shortened, so that a short form has one meaning.
 */
export class ShortIds {
  readonly #start: string | undefined;

  constructor(ids: readonly string[]) {
    const times = new Map<string, number>();
    for (const id of ids) {
      const start = BELOW.exec(id)?.[0];
      if (start !== undefined) times.set(start, (times.get(start) ?? 0) + 1);
    }
    const [most] = [...times].toSorted(([, a], [, b]) => b - a);
    this.#start = most !== undefined && most[1] > 1 ? most[0] : undefined;
  }

  shorten(text: string): string {
    return this.#start === undefined ? text : text.replaceAll(this.#start, "…/");
  }

  /** What the short form stands for; `undefined` where there is none. */
  get legend(): string | undefined {
    return this.#start === undefined ? undefined : `…/ stands for ${this.#start}`;
  }
}
