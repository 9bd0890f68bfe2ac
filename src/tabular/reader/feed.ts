import type { Row } from "./row.js";

/** Runs work that must not take too long; see `timeGuard`. */
export type Guard = (work: () => void) => void;

/**
 * A source of rows. It calls back for each row, many in one step of the generator: a promise for every row would
 * cost more than reading it. After each step the caller may look at what has come together, or stop.
 */
export type RowFeed = (row: Row, each: () => void, guard: Guard) => AsyncGenerator<void, void>;

/** Without a limit of time. */
export const unguarded: Guard = (work) => work();
