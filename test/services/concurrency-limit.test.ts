import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ConcurrencyLimit } from "../../src/services/concurrency-limit.js";

const never = new AbortController().signal;

describe("turns", () => {
  it("let so many works run at a time, in the order they came", async () => {
    const limit = new ConcurrencyLimit(2);
    const order: string[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from("abcdef", (name) =>
        limit.run(never, async () => {
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
    const limit = new ConcurrencyLimit(1);
    const leaving = new AbortController();
    let end = () => {};
    const first = limit.run(
      never,
      () =>
        new Promise<void>((_, reject) => {
          end = () => reject(new Error("broken"));
        }),
    );
    const second = limit.run(leaving.signal, async () => "second");
    const third = limit.run(never, async () => "third");
    leaving.abort(new Error("left"));
    await expect(second).rejects.toThrow("left");
    end();
    await expect(first).rejects.toThrow("broken");
    expect(await third).toBe("third");
  });

  it("refuse those who come when the line is full, and only those", async () => {
    const limit = new ConcurrencyLimit(1, 1);
    let end = () => {};
    const first = limit.run(
      never,
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    const second = limit.run(never, async () => "second");
    await expect(limit.run(never, async () => "third")).rejects.toMatchObject({
      code: "BUSY",
      headers: { "Retry-After": "2" },
    });
    end();
    await first;
    expect(await second).toBe("second");
  });

  it("end with the registry, those that run and those that wait", async () => {
    const limit = new ConcurrencyLimit(1);
    const running = limit.run(
      never,
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    );
    const waiting = limit.run(never, async () => "never");
    limit.close();
    await expect(running).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    await expect(waiting).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    await expect(limit.run(never, async () => "late")).rejects.toMatchObject({
      code: "SHUTTING_DOWN",
    });
  });
});
