import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { eventLoop } from "../../src/graphql/resolvers/event-loop-budget.js";

const WRITES = 60;
// Writes of an earlier test have used up a part of their turn.
beforeEach(async () => {
  await turn();
  await turn();
});

test(
  "writes that come together leave turns of the event loop to others, and keep their order, " +
    "and the first ones do not wait",
  async () => {
    const done: number[] = [];
    const write = async (index: number): Promise<void> => {
      const waits = eventLoop.turnOfWrite();
      if (waits) await waits;
      const end = performance.now() + 1;
      while (performance.now() < end);
      done.push(index);
    };
    const all = Array.from({ length: WRITES }, (_, index) => write(index));
    const first = done.length;
    expect(first).toBeGreaterThan(0);
    const each = [first];
    while (done.length < WRITES) {
      await turn();
      each.push(done.length);
    }
    await Promise.all(all);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    // 4 ms of writes begin in a turn, and each takes 1 ms or more.
    for (const [index, count] of each.entries())
      expect(count - (each[index - 1] ?? 0)).toBeLessThanOrEqual(6);
  },
);

test("writes one after the other do not wait", async () => {
  for (let index = 0; index < 5; index++) {
    expect(eventLoop.turnOfWrite()).toBeUndefined();
    await turn();
    await turn();
  }
});
