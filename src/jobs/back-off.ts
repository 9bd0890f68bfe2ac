/**
 * How long to wait after an attempt that failed, ms: doubled each time from `least` up to `most`, and up to a half
 * less by chance, so that what failed together is not tried together.
 */
export function backOff({ least, most }: { least: number; most: number }): (attempt: number) => number {
  return (attempt) => Math.round(Math.min(least * 2 ** Math.min(attempt - 1, 30), most) * (1 - Math.random() / 2));
}
