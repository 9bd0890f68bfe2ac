import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { eventLoop } from "../src/event-loop-budget.js";

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

test("work that waits for turns goes on in its order, and lets others be served after 10 ms", async () => {
  const order: string[] = [];
  const work = async (name: string): Promise<void> => {
    for (let part = 1; part <= 2; part++) {
      await eventLoop.nextTurn();
      const end = performance.now() + 12;
      while (performance.now() < end);
      order.push(`${name}${part}`);
    }
  };
  // A timer fires where the event loop serves others: once in each of its rounds.
  const others = setInterval(() => order.push("others"), 1);
  await Promise.all([work("a"), work("b"), work("c")]);
  clearInterval(others);
  expect(order.filter((name) => name !== "others")).toEqual(["a1", "b1", "c1", "a2", "b2", "c2"]);
  for (const name of ["b1", "c1", "a2", "b2", "c2"])
    expect(order[order.indexOf(name) - 1]).toBe("others");
});

test("short work that waits for turns goes on together", async () => {
  const order: string[] = [];
  const others = setImmediate(() => order.push("others"));
  await Promise.all(
    ["a", "b", "c"].map(async (name) => {
      await eventLoop.nextTurn();
      order.push(name);
    }),
  );
  clearImmediate(others);
  expect(order).toEqual(["others", "a", "b", "c"]);
});
