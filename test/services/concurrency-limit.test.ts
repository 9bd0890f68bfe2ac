import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ConcurrencyLimit } from "../../src/services/limits.js";

const never = new AbortController().signal;

describe("the concurrency limit", () => {
  it("runs a limited number of jobs at a time, in the order of arrival", async () => {
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

  it("continues after a job that failed, and skips callers that left", async () => {
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

  it("refuses callers when the queue is full, and only those", async () => {
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

  it("ends with the registry, for running and queued jobs", async () => {
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
