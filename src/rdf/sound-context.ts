import type { JsonObject, JsonValue } from "../model/field.js";
import { BoundedContexts, type ContextLimits } from "./bounded-contexts.js";
import { JsonLdError } from "./json-ld-error.js";
import { contextProblem } from "./graph.js";

/** A definition that was left out of a context: where, and what is wrong with it. */
export interface DroppedTerm { term: string; pointer: string; message: string }
export interface SoundContext { context: JsonValue; dropped: DroppedTerm[] }

/** Expansions that finding the wrong definitions of one crate may take; each of them takes about a dozen. */
const MOST_TRIALS = 300;

/**
 * Leaves definitions out of contexts that make them invalid (JSON-LD 1.1 API, section 4.2: one wrong definition
 * invalidates the whole context). One instance serves all contexts of a crate, so that hostile ones together cost a few
 * seconds.
 */
export class SoundContexts {
  readonly #bounded: BoundedContexts;
  #trials = 0;

  constructor({ MAX_CRATE_CONTEXTS, MAX_CRATE_TERMS }: ContextLimits) {
    this.#bounded = new BoundedContexts({ MAX_CRATE_CONTEXTS: MAX_CRATE_CONTEXTS + MOST_TRIALS, MAX_CRATE_TERMS });
  }

  /**
   * The context without the definitions that are wrong in it.
   * @param before contexts that it follows, which are sound
   * @returns undefined for what is no context at all, or is wrong in more places than are worth looking for
   */
  async of(context: JsonValue, before: readonly JsonValue[] = []): Promise<SoundContext | undefined> {
    const dropped: DroppedTerm[] = [];
    const sound = await this.#sound(context, [...before], "", dropped);
    return sound && { context: sound.context, dropped };
  }

  async #sound(context: JsonValue, before: JsonValue[], pointer: string, dropped: DroppedTerm[]): Promise<{ context: JsonValue } | undefined> {
    if (Array.isArray(context)) {
      const parts: JsonValue[] = [];
      for (const [index, part] of context.entries()) {
        const sound = await this.#sound(part, [...before, ...parts], `${pointer}/${index}`, dropped);
        if (!sound) return undefined;
        parts.push(sound.context);
      }
      return { context: parts };
    }
    const problem = (part: JsonValue) => {
      if (++this.#trials > MOST_TRIALS) throw new TooManyTrials();
      return contextProblem([...before, part], this.#bounded);
    };
    try {
      if (!(await problem(context))) return { context };
      // No context at all, or what is wrong is before it.
      if (typeof context !== "object" || context === null || (await problem({}))) return undefined;
      return { context: await withoutWrong(context, problem, pointer, dropped) };
    } catch (error) {
      // Nested deeper than can be expanded, or too much to look for.
      if (error instanceof TooManyTrials || this.#bounded.exceeded || error instanceof RangeError) return undefined;
      throw error;
    }
  }
}

class TooManyTrials extends Error {}

/** A definition is text, an object or nothing (JSON-LD 1.1, section 9.15.1). */
const isDefinition = ([term, value]: readonly [string, JsonValue]): boolean =>
  term.startsWith("@") || value === null || typeof value === "string" || (typeof value === "object" && !Array.isArray(value));

/**
 * Finds the wrong definitions by halving: the shortest beginning that is wrong ends with one. Compact IRIs come after
 * plain terms, because one is only right beside its prefix.
 */
async function withoutWrong(
  context: JsonObject, problem: (part: JsonValue) => Promise<JsonLdError | undefined>, pointer: string, dropped: DroppedTerm[],
): Promise<JsonObject> {
  const isCompact = ([term]: readonly [string, JsonValue]): number => Number(/[:/]/.test(term));
  const entries = Object.entries(context).filter(isDefinition).toSorted((a, b) => isCompact(a) - isCompact(b));
  const wrong = new Set<string>();
  const drop = (term: string, message: string) => {
    wrong.add(term);
    dropped.push({ term, pointer: `${pointer}/${term.replaceAll("~", "~0").replaceAll("/", "~1")}`, message });
  };
  for (const entry of Object.entries(context)) if (!isDefinition(entry)) drop(entry[0], "it is neither text nor an object.");
  const upTo = (count: number): JsonObject => Object.fromEntries(entries.slice(0, count).filter(([term]) => !wrong.has(term)));
  let sound = 0;
  for (let found = await problem(upTo(entries.length)); found; found = await problem(upTo(entries.length))) {
    let end = entries.length;
    let cause = found;
    while (end - sound > 1) {
      const middle = Math.floor((sound + end) / 2);
      const early = await problem(upTo(middle));
      if (early) [end, cause] = [middle, early];
      else sound = middle;
    }
    drop(entries[end - 1]![0], cause.message);
    sound = end;
  }
  return Object.fromEntries(Object.entries(context).filter(([term]) => !wrong.has(term)));
}
