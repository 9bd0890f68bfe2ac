import { Script } from "node:vm";
import { PATTERN_BYTES_PER_SECOND, type TableLimits, TabularError } from "../limits.js";
import type { Guard } from "../reader/row.js";

/** The guarded operation, for the message and the budget. */
export interface GuardedWork {
  /** Property whose pattern was last asked. */
  property: string;
  bytes: number;
}

const ENTRY = Symbol.for("arkgraph.guarded");
const entry = globalThis as { [ENTRY]?: (() => void) | undefined };
const script = new Script(`globalThis[Symbol.for("arkgraph.guarded")]()`);

/**
 * Ends work that takes longer than the file's budget. V8 leaves a pattern that backtracks for ever
 * only when its execution is terminated, which is what the time-out of a script does; everything
 * the script calls counts.
 */
export function timeGuard(state: GuardedWork, limits: TableLimits): Guard {
  let spent = 0;
  return (work) => {
    const budget = limits.patternSeconds * 1000 + (state.bytes / PATTERN_BYTES_PER_SECOND) * 1000;
    const began = performance.now();
    const outer = entry[ENTRY];
    entry[ENTRY] = work;
    try {
      script.runInThisContext({ timeout: Math.max(1, Math.ceil(budget - spent)) });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw new TabularError(
        "LIMIT",
        `the pattern of property ${state.property} takes too long: make it simpler, or ` +
          `raise ${limits.names.patternSeconds} (now ${limits.patternSeconds})`,
      );
    } finally {
      entry[ENTRY] = outer;
      spent += performance.now() - began;
    }
  };
}
