import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf } from "../json-path.js";
import { ADDED_TERMS } from "../records/context-terms.js";
import { TermMeanings, termsOf } from "./term-meanings.js";

/** Version of RO-Crate that crates are written in: the first whose root may be named by an ARK. */
export const RO_CRATE = "https://w3id.org/ro/crate/1.2";

/** Keywords of a context that change what values mean. */
const SETTINGS = ["@language", "@base", "@direction"];

/**
 * The one context of a crate whose records each carry their own: RO-Crate's, then that of the root, which thereby
 * keeps its word. An entity whose terms mean something else under it keeps a context of its own.
 */
export class CrateContext {
  readonly whole: JsonValue;
  private readonly meanings: TermMeanings;
  private readonly others = new Map<string, TermMeanings>();

  /**
   * @param root context of the root's record
   * @param added terms that the registry put into records of this crate
   */
  constructor(root: JsonValue | undefined, added: Iterable<string>) {
    const parts = withoutAdded(root).filter((part) => part !== `${RO_CRATE}/context`);
    const base = [`${RO_CRATE}/context`, ...parts];
    const known = new TermMeanings(base);
    const missing = [...added].filter((term) => known.of(term) !== new TermMeanings(ADDED_TERMS).of(term));
    this.whole = missing.length > 0 ? [...base, Object.fromEntries(missing.map((term) => [term, ADDED_TERMS[term]!]))] : base.length === 1 ? base[0]! : base;
    this.meanings = new TermMeanings(this.whole);
  }

  /** The context that an entity must carry itself; undefined where the crate's says the same. */
  own(context: JsonValue | undefined, entity: JsonObject): JsonValue | undefined {
    const key = JSON.stringify(context) ?? "";
    let meanings = this.others.get(key);
    if (!meanings) this.others.set(key, meanings = new TermMeanings(context ?? null));
    for (const setting of SETTINGS) if (meanings.setting(setting) !== this.meanings.setting(setting)) return [null, ...listOf(context)];
    for (const term of termsOf(entity)) if (meanings.of(term) !== this.meanings.of(term)) return [null, ...listOf(context)];
    return undefined;
  }
}

function withoutAdded(context: JsonValue | undefined): JsonValue[] {
  return listOf(context).filter((part) => part !== null && !isAdded(part));
}

/** What the registry added to the context of a record, and nobody else. */
function isAdded(part: JsonValue): boolean {
  return isObject(part) && Object.keys(part).length > 0 && Object.entries(part).every(([term, meaning]) => isDeepStrictEqual(ADDED_TERMS[term], meaning));
}

/** Terms that the registry explains in a record's own context. */
export function addedTerms(context: JsonValue | undefined): string[] {
  return listOf(context).filter(isAdded).flatMap((part) => Object.keys(part as JsonObject));
}
