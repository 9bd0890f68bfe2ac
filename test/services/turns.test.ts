import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Turns } from "../../src/services/turns.js";

const never = new AbortController().signal;

describe("turns", () => {
  it("let so many works run at a time, in the order they came", async () => {
    const turns = new Turns(2);
    const order: string[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from("abcdef", (name) =>
        turns.run(never, async () => {
          order.push(name);
          most = Math.max(most, ++running);
          await sleep(2);
          running--;
        }),
      ),
    );
    expect(order.join("")).toBe("abcdef");
    expect(most).toBe(2);
  });

  it("go on after a work that failed, and pass over those that left", async () => {
    const turns = new Turns(1);
    const leaving = new AbortController();
    let end = () => {};
    const first = turns.run(
      never,
      () =>
        new Promise<void>((_, reject) => {
          end = () => reject(new Error("broken"));
        }),
    );
    const second = turns.run(leaving.signal, async () => "second");
    const third = turns.run(never, async () => "third");
    leaving.abort(new Error("left"));
    await expect(second).rejects.toThrow("left");
    end();
    await expect(first).rejects.toThrow("broken");
    expect(await third).toBe("third");
  });

  it("refuse those who come when the line is full, and only those", async () => {
    const turns = new Turns(1, 1);
    let end = () => {};
    const first = turns.run(
      never,
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    const second = turns.run(never, async () => "second");
    await expect(turns.run(never, async () => "third")).rejects.toMatchObject({
      code: "BUSY",
      headers: { "Retry-After": "2" },
    });
    end();
    await first;
    expect(await second).toBe("second");
  });

  it("end with the registry, those that run and those that wait", async () => {
    const turns = new Turns(1);
    const running = turns.run(
      never,
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    );
    const waiting = turns.run(never, async () => "never");
    turns.close();
    await expect(running).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    await expect(waiting).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    await expect(turns.run(never, async () => "late")).rejects.toMatchObject({
      code: "SHUTTING_DOWN",
    });
  });
});
