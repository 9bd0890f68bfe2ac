/**
 * Protocol of {@link RecordStore.openFeed}: post a {@link FeedRequest}, receive one
 * {@link FeedAnswer}. Private records are not in it. `all` pages through every live graph (start
 * with `after: 0`, go on with `next`); `since` gives the current graph of every record changed
 * after a sequence, oldest change first. A commit is never cut: `limit` ends an answer after the
 * commit that reaches it, so one answer holds at least one whole commit.
 */
export type FeedRequest =
  | { id: number; all: { after: number; limit: number } }
  | { id: number; since: { sequence: number; limit: number } };

export interface FeedAnswer {
  id: number;
  error?: string;
  graphs: FeedGraph[];
  /** For `all`: position to go on after, absent at the end. */
  next?: number;
  /**
   * For `all`: the last sequence before reading began. For `since`: the sequence these graphs bring
   * the reader to.
   */
  sequence: number;
  /** For `since`: more is waiting. */
  more?: boolean;
  /** For `all`: live open records in all, for progress. */
  total?: number;
}

/** `nquads` is canonical N-Quads text; null when the record was deleted, or is private. */
export interface FeedGraph {
  ark: string;
  nquads: string | null;
}
