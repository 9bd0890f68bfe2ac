/** What is said of a record that is withdrawn: deleted, or archived. */
import { ValidationError, type ValidationItem } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";

/** What is wrong with the name of a successor; pages and links lead to it. */
export const successorProblem = (successor: string): ValidationItem | undefined =>
  lookupArk(successor)
    ? undefined
    : {
        loc: ["successor"],
        msg:
          "Value error, not an ARK; name the record to use instead, " +
          "for example ark:99999/dataset-images",
        type: "value_error",
      };

export interface GivenWithdrawal {
  reason?: string | null | undefined;
  successor?: string | null | undefined;
}

/** A reason and a successor as they are stored; an empty text is none. */
export function statedWithdrawal(given: GivenWithdrawal): { reason?: string; successor?: string } {
  const successor = given.successor ? lookupArk(given.successor)?.stored : undefined;
  return {
    ...(given.reason ? { reason: given.reason } : {}),
    ...(successor === undefined ? {} : { successor }),
  };
}

/**
 * The same of a request.
 * @param at where the successor is in the request
 * @throws ValidationError
 */
export function checkedWithdrawal(
  given: GivenWithdrawal,
  at: readonly string[],
): ReturnType<typeof statedWithdrawal> {
  const problem = given.successor ? successorProblem(given.successor) : undefined;
  if (problem) throw new ValidationError([{ ...problem, loc: [...at, ...problem.loc] }]);
  return statedWithdrawal(given);
}
