import { ValidationError, type ValidationItem } from "../../errors.js";
import type { JsonProblem } from "./strict-json.js";

/**
 * What a text is refused with that is no JSON, or holds what no document may.
 * @param at where the JSON is in the request; in a whole body the offset of what is no JSON is part of its place
 */
export function jsonRefusal(problems: readonly JsonProblem[], at: readonly (string | number)[]): ValidationError {
  return new ValidationError(problems.map((problem): ValidationItem => {
    if (problem.code === "json_invalid") return { loc: at.length > 1 ? [...at] : [...at, problem.offset ?? 0], msg: "JSON decode error", type: "json_invalid", ctx: { error: problem.message } };
    return { loc: [...at, ...pointerSegments(problem.pointer)], msg: problem.message, type: problem.code };
  }));
}

/** The steps of a JSON pointer; what looks like an index is one. */
export function pointerSegments(pointer: string): (string | number)[] {
  return pointer.split("/").slice(1).map((segment) => (/^(?:0|[1-9]\d*)$/.test(segment) ? Number(segment) : segment.replaceAll("~1", "/").replaceAll("~0", "~")));
}
