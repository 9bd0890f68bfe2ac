/** Places that one answer names for one criterion, at the most. */
export const MOST_EVIDENCE = 10;

/** How many of some things have what is asked for, and where to look. */
export class Share {
  total = 0;
  good = 0;
  /** Some of those that have it, and of those that lack it: JSON pointers behind the record's identifier. */
  readonly having: string[] = [];
  readonly lacking: string[] = [];

  add(isGood: boolean, place: string): void {
    this.total++;
    if (isGood) this.good++;
    const places = isGood ? this.having : this.lacking;
    if (places.length < MOST_EVIDENCE) places.push(place);
  }

  /** What decided: where something lacks, that first. */
  get evidence(): string[] {
    return [...this.lacking, ...this.having].slice(0, MOST_EVIDENCE);
  }
}
