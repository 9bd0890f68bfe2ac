import type { Row } from "../reader/row.js";

/** How many columns the rows of a table have. */
export class Widths {
  rows = 0;
  least = Infinity;
  most = 0;
  /** By number of columns: how many rows, and where the first of them is. */
  readonly #found = new Map<number, { times: number; row: number; line: number }>();

  see({ count, number, line }: Row): void {
    this.rows++;
    if (count < this.least) this.least = count;
    if (count > this.most) this.most = count;
    const found = this.#found.get(count);
    if (found) found.times++;
    else this.#found.set(count, { times: 1, row: number, line });
  }

  /**
   * One sentence where the rows have different numbers of columns, or another one than the header.
   * @param header columns of the header; 0 for none
   */
  remark(header: number): string | undefined {
    if (this.rows === 0) return undefined;
    if (this.least === this.most) return header === 0 || header === this.most ? undefined : `rows have ${this.most} columns, the header has ${header}`;
    const [usual] = [...this.#found].toSorted(([, a], [, b]) => b.times - a.times || a.row - b.row)[0]!;
    const expected = header === 0 ? usual : header;
    const first = [...this.#found].filter(([count]) => count !== expected).toSorted(([, a], [, b]) => a.row - b.row)[0]![1];
    return `rows have ${this.least} to ${this.most} columns, ${header === 0 ? `most have ${usual}` : `the header has ${header}`}: the first other one is row ${first.row} (line ${first.line})`;
  }
}
