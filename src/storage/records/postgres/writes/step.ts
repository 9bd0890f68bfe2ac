/** Numbers that the row `counter` gives out. */
export interface Counters {
  sequence: number;
  record: number;
  object: number;
  submission: number;
}

/** One commit while it is decided. */
export interface Step {
  /** Number of the commit, if it changes records. */
  readonly sequence: number;
  readonly at: number;
  readonly by: string | null;
  /** Records that it changes. */
  readonly changed: Set<number>;
}
