import { MAX_ITEMS, type ValidationItem } from "../errors.js";

/** One finding in the input of a job: its place, the fault, and the fix. */
export interface Finding {
  /** Name of the member of the archive, or null for the archive itself. */
  file: string | null;
  /** JSON pointer (RFC 6901) inside the file, or null. */
  pointer: string | null;
  /** Where in a text that is not JSON as it should be; from 1. */
  line?: number;
  /** From 1, in UTF-16 units. */
  column?: number;
  message: string;
  code: string;
}

/**
 * Most broken rules that one answer lists: a body can hold millions, and the first ones are enough.
 */
export const MAX_FINDINGS = MAX_ITEMS;

/** Gathers the broken rules of one body. */
export class Findings {
  readonly items: ValidationItem[] = [];

  readonly #at: readonly (string | number)[];

  constructor(at: readonly (string | number)[]) {
    this.#at = at;
  }

  /** True when no more are listed; a caller that walks a long list may stop. */
  get full(): boolean {
    return this.items.length > MAX_FINDINGS;
  }

  add(
    loc: readonly (string | number)[],
    type: string,
    msg: string,
    ctx?: Record<string, unknown>,
  ): void {
    if (this.full) return;
    if (this.items.length === MAX_FINDINGS) {
      this.items.push({
        loc: [...this.#at],
        msg: `The input breaks more rules; the first ${MAX_FINDINGS} are listed`,
        type: "too_many_errors",
        ctx: { max_errors: MAX_FINDINGS },
      });
      return;
    }
    this.items.push({ loc: [...this.#at, ...loc], msg, type, ...(ctx ? { ctx } : {}) });
  }
}
