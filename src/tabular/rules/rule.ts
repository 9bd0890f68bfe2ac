import type { ErrorKind } from "../summary.js";

/** One keyword of a schema, ready to judge a value that was converted. */
export interface Rule<T> {
  keyword: string;
  /** True when the value keeps it. */
  keeps(value: T): boolean;
  /** The contract's sentence about a value that does not: the value as text… */
  text(value: T): string;
  /** …and what is said of it. */
  after: string;
}

/** The types a value of a column can have once converted; whole numbers beyond 2^53 stay exact. */
export type Scalar = string | number | bigint | boolean;

/** What rules need beyond the schema, loaded once before the first row. */
export interface RuleEnvironment {
  /** Compiles a pattern for the chosen engine. @throws TabularError `SCHEMA` when the engine does not know it */
  pattern(pattern: string, property: string): (text: string) => boolean;
  /** Makes the kind of error that breaking a rule is. */
  kind(keyword: string | null, property: string | null, before: string, after: string): ErrorKind;
  /** The test of a format, or `undefined` for one that is not known: then it judges nothing. */
  format(name: string): ((text: string) => boolean) | undefined;
}
