/** Chances that fall the same for one seed. */
export interface Dice {
  /** A whole number from 0 to `below` - 1. */
  roll(below: number): number;
  of<T>(items: readonly T[]): T;
  /** True once in `times`. */
  once(times: number): boolean;
}

/** Mulberry32, a small generator with 32 bits of state. */
export function dice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const roll = (below: number) => Math.floor(next() * below);
  return { roll, of: (items) => items[roll(items.length)]!, once: (times) => roll(times) === 0 };
}
