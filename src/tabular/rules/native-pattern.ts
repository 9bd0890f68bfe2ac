/** Compiles a pattern for V8: by code points where it can be, else as older patterns with idle escapes need it. */
export function nativePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    // `\-` and `\_` outside a class are errors under `u`, and common in patterns written for other languages.
    return new RegExp(pattern);
  }
}

/** Why a pattern is no regular expression. */
export function patternProblem(pattern: string): string | undefined {
  try {
    nativePattern(pattern);
    return undefined;
  } catch (error) {
    const reason = (error as Error).message.split(": ").at(-1)!;
    return `its pattern ${pattern} is not a regular expression: ${reason}`;
  }
}
